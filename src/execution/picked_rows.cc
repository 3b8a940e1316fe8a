// SPDX-License-Identifier: MIT
//
// max and min: an element of a bag's gradient goes to the entry that the element came from.
#include "execution/host_steps.h"
#include "execution/row_pieces.h"
#include "execution/run_bag_gradient.h"
#include "support/checked.h"

namespace sheaf {
namespace {

template <class T>
auto comparable(T value) {
  if constexpr (SmallFloat<T>::value) {
    return widened(value);
  } else {
    return value;
  }
}

// Whether `value` takes the place of `best`: of equals, and of NaNs, the first stays.
template <class T>
bool takes_place(Pool pool, T value, T best) {
  const auto v = comparable(value);
  const auto b = comparable(best);
  if (b != b || v != v) {
    return b == b;
  }
  return pool == Pool::kMax ? v > b : v < b;
}

template <class Computed>
class Picker {
 public:
  Picker(const GradientRun& run, int64_t* picked)
      : run_(run),
        nest_(run.nest()),
        rows_(nest_.rows, nest_.rows_per_entry, run.data()),
        picked_(picked) {}

  void pick(int64_t s, int64_t begin, int64_t count) const {
    int64_t* const picked = picked_ + s * nest_.elements + begin;
    std::fill_n(picked, count, int64_t{-1});
    Computed best[kPieceColumns];
    Computed values[kPieceColumns];
    const EntryRange entries = entries_of(nest_, run_.table.offsets.get(), s);
    bool first = true;
    for (int64_t p = entries.begin; p < entries.end; ++p) {
      const int64_t row = run_.table.row_of[p];
      if (row == kLeftOut) {
        continue;
      }
      read(row, p, begin, count, values);
      for (int64_t i = 0; i < count; ++i) {
        if (first || takes_place(nest_.pool, values[i], best[i])) {
          best[i] = values[i];
          picked[i] = p;
        }
      }
      first = false;
    }
  }

 private:
  void read(int64_t row, int64_t p, int64_t begin, int64_t count, Computed* values) const {
    if (row == kOutside) {
      std::fill_n(values, count, loaded<Computed>(nest_.fill));
    } else {
      rows_.read(row, begin, count, values);
    }
    if (nest_.weighted) {
      const auto weight = weight_of_entry<Computed>(nest_, run_.weights(), p);
      for (int64_t i = 0; i < count; ++i) {
        values[i] = reduced<Reduction::kMul>(values[i], weight);
      }
    }
  }

  const GradientRun& run_;
  const BagNest& nest_;
  RowPieces<Computed> rows_;
  int64_t* picked_;
};

template <class Computed>
class PickedRows {
 public:
  PickedRows(const GradientRun& run, const int64_t* picked, const WantedRows& wanted)
      : run_(run),
        nest_(run.nest()),
        gradient_(run.gradient_rows, 1, run.gradient()),
        picked_(picked),
        wanted_(wanted),
        output_(*plain_rows(wanted.spec)) {}

  void write(int64_t r, int64_t begin, int64_t count) const {
    Computed sums[kPieceColumns];
    Computed values[kPieceColumns];
    std::fill_n(sums, count, Computed{});
    for (int64_t k = wanted_.begins[r]; k < wanted_.begins[r + 1]; ++k) {
      const int64_t p = run_.table.order[k];
      const int64_t s = run_.table.bag_of[p];
      const auto weight = weight_of_entry<Computed>(nest_, run_.weights(), p);
      const int64_t* const picked = picked_ + s * nest_.elements + begin;
      gradient_.read(s, begin, count, values);
      for (int64_t i = 0; i < count; ++i) {
        if (picked[i] == p) {
          const Computed product =
              nest_.weighted ? reduced<Reduction::kMul>(values[i], weight) : values[i];
          sums[i] = reduced<Reduction::kAdd>(sums[i], product);
        }
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      store_float(nest_.output_type, sums[i],
                  wanted_.output + r * output_.row_stride + (begin + i) * output_.element_stride);
    }
  }

 private:
  const GradientRun& run_;
  const BagNest& nest_;
  RowPieces<Computed> gradient_;
  const int64_t* picked_;
  const WantedRows& wanted_;
  EncodedRows output_;
};

// Calls work(item, begin, count) for each item and piece of columns, from many threads. There are
// no more of them than elements in the outputs, which were counted when the plan was made.
template <class Work>
void for_each_piece(const GradientRun& run, int64_t items, const Work& work) {
  const int64_t elements = run.nest().elements;
  const int64_t pieces = pieces_of(elements, kPieceColumns);
  const int64_t bytes =
      saturating_mul(saturating_mul(saturating_add(run.nest().entries, items), elements), 8);
  run_ranges(run.request.name, items * pieces, bytes, run.queue, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = i % pieces * kPieceColumns;
      work(i / pieces, begin, std::min(kPieceColumns, elements - begin));
    }
  });
}

}  // namespace

Numbers picked_entries(const GradientRun& run) {
  const BagNest& nest = run.nest();
  Numbers picked = new_numbers(run.request, nest.bags * nest.elements);
  with_gradient_type(nest.computed, [&](auto zero) {
    const Picker<decltype(zero)> picker(run, picked.get());
    for_each_piece(run, nest.bags, [&](int64_t s, int64_t begin, int64_t columns) {
      picker.pick(s, begin, columns);
    });
  });
  return picked;
}

void write_picked_rows(const GradientRun& run, const int64_t* picked, const WantedRows& wanted) {
  with_gradient_type(run.nest().computed, [&](auto zero) {
    const PickedRows<decltype(zero)> rows(run, picked, wanted);
    for_each_piece(run, wanted.count, [&](int64_t r, int64_t begin, int64_t columns) {
      rows.write(r, begin, columns);
    });
  });
}

}  // namespace sheaf
