// SPDX-License-Identifier: MIT
//
// The gradient of a weight: the products of a row and of its bag's gradient, summed in order.
#include "execution/host_steps.h"
#include "execution/row_pieces.h"
#include "execution/run_bag_gradient.h"
#include "support/checked.h"

namespace sheaf {
namespace {

template <class Computed>
class WeightSums {
 public:
  WeightSums(const GradientRun& run, const int64_t* picked)
      : run_(run),
        nest_(run.nest()),
        data_(nest_.rows, nest_.rows_per_entry, run.data()),
        gradient_(run.gradient_rows, 1, run.gradient()),
        picked_(picked),
        type_(run.plan.output().dtype),
        places_(entry_places(run.plan.output())),
        output_(static_cast<std::byte*>(run.memory.output)) {}

  void write(int64_t p) const {
    store_float(type_, gradient_of(p), output_ + places_.at(p) * type_.bytes());
  }

 private:
  Computed gradient_of(int64_t p) const {
    const int64_t row = run_.table.row_of[p];
    const int64_t s = run_.table.bag_of[p];
    if (row == kLeftOut || s < 0) {
      return Computed{};
    }
    Computed sum{};
    for (int64_t begin = 0; begin < nest_.elements; begin += kPieceColumns) {
      sum = joined(sum, p, row, s, begin);
    }
    return pooled(nest_.pool, sum, run_.table.counts[s]);
  }

  // With the products of one piece of columns.
  Computed joined(Computed sum, int64_t p, int64_t row, int64_t s, int64_t begin) const {
    const int64_t count = std::min(kPieceColumns, nest_.elements - begin);
    Computed values[kPieceColumns];
    Computed gradient[kPieceColumns];
    if (row == kOutside) {
      std::fill_n(values, count, loaded<Computed>(nest_.fill));
    } else {
      data_.read(row, begin, count, values);
    }
    gradient_.read(s, begin, count, gradient);
    const int64_t* const picked =
        picked_ == nullptr ? nullptr : picked_ + s * nest_.elements + begin;
    for (int64_t i = 0; i < count; ++i) {
      if (picked == nullptr || picked[i] == p) {
        sum = reduced<Reduction::kAdd>(sum, reduced<Reduction::kMul>(gradient[i], values[i]));
      }
    }
    return sum;
  }

  const GradientRun& run_;
  const BagNest& nest_;
  RowPieces<Computed> data_;
  RowPieces<Computed> gradient_;
  const int64_t* picked_;
  DType type_;
  EntryPlaces places_;
  std::byte* output_;
};

}  // namespace

void write_weight_gradient(const GradientRun& run, const int64_t* picked) {
  const BagNest& nest = run.nest();
  const int64_t bytes = saturating_mul(nest.entries, saturating_mul(nest.elements, 8));
  with_gradient_type(nest.computed, [&](auto zero) {
    const WeightSums<decltype(zero)> sums(run, picked);
    run_ranges(run.request.name, nest.entries, bytes, run.queue, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        sums.write(p);
      }
    });
  });
}

}  // namespace sheaf
