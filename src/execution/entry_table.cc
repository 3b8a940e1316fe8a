// SPDX-License-Identifier: MIT
#include "execution/entry_table.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "execution/check_tensors.h"
#include "execution/host_steps.h"
#include "execution/key_order.h"
#include "execution/launch.h"
#include "execution/run_bag.h"

namespace sheaf {
namespace {

class TableMaker {
 public:
  TableMaker(const BagGradientPlan& plan, const BagMemory& memory, const Queue& queue)
      : plan_(plan),
        nest_(plan.bag().nest()),
        request_(gradient_request(plan)),
        memory_(memory),
        queue_(queue),
        table_(std::make_shared<EntryTable>(plan.bag())) {}

  std::shared_ptr<const EntryTable> make() {
    check_inputs();
    table_->offsets = bag_offsets(plan_.bag(), memory_.segments, true);
    resolve_indices();
    find_bags();
    if (plan_.of() != BagGradientOf::kWeights) {
      sort();
    }
    return std::move(table_);
  }

 private:
  void check_inputs() const {
    const BagSpecs& specs = plan_.bag().request().specs;
    for (const NamedTensor& input :
         {NamedTensor{"indices", memory_.indices, spec_or_null(specs.indices)},
          NamedTensor{"segments", memory_.segments, spec_or_null(specs.segments)}}) {
      if (input.spec != nullptr) {
        check_address(request_, input);
      }
    }
  }

  void resolve_indices() {
    table_->row_of = new_numbers(request_, nest_.entries);
    std::atomic<bool> good{true};
    with_index_type(nest_.index_type, [&](auto zero) {
      const EntryReader<decltype(zero)> reader(nest_,
                                               static_cast<const std::byte*>(memory_.indices));
      in_ranges(nest_.entries, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          table_->row_of[p] = safe_row(reader.row(p));
          if (table_->row_of[p] == kOutside && nest_.out_of_range == OutOfRange::kFail) {
            good = false;
          }
        }
      });
    });
    if (!good) {
      throw_bad_index_met(*plan_.bag().checked_gather(), memory_.indices);
    }
  }

  // Also under kTrust, whose promise may be broken, no row is outside the table.
  int64_t safe_row(int64_t row) const {
    const bool may_be_outside =
        nest_.out_of_range == OutOfRange::kFill || nest_.out_of_range == OutOfRange::kFail;
    if (row == kOutside && may_be_outside) {
      return row;
    }
    return row >= 0 && row < nest_.extent ? row : kLeftOut;
  }

  void find_bags() {
    table_->bag_of = new_numbers(request_, nest_.entries);
    table_->counts = new_numbers(request_, nest_.bags);
    in_ranges(nest_.bags, [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        const EntryRange entries = entries_of(nest_, table_->offsets.get(), s);
        int64_t count = 0;
        for (int64_t p = entries.begin; p < entries.end; ++p) {
          table_->bag_of[p] = s;
          count += table_->row_of[p] != kLeftOut ? 1 : 0;
        }
        table_->counts[s] = count;
      }
    });
    const int64_t end = nest_.bags == 0 ? 0
                                        : entries_of(nest_, table_->offsets.get(), nest_.bags - 1)
                                              .end;  // entries behind the last bag are in none
    std::fill(table_->bag_of.get() + end, table_->bag_of.get() + nest_.entries, int64_t{-1});
  }

  void sort() {
    const auto size = static_cast<size_t>(nest_.entries);
    const std::unique_ptr<KeyedEntry[]> entries(new (std::nothrow) KeyedEntry[size]);
    const std::unique_ptr<KeyedEntry[]> spare(new (std::nothrow) KeyedEntry[size]);
    if (entries == nullptr || spare == nullptr) {
      refuse_gradient_memory(request_);
    }
    CancelPoint cancel(current_cancel_scope());
    int64_t kept = 0;
    for (int64_t p = 0; p < nest_.entries && !cancel.before(sizeof(KeyedEntry)); ++p) {
      if (table_->row_of[p] >= 0 && table_->bag_of[p] >= 0) {
        entries.get()[kept++] = {table_->row_of[p], p};
      }
    }
    throw_if_cancelled(current_cancel_scope(), request_.name);
    table_->kept = kept;
    keep(sort_by_key(request_.name, entries.get(), spare.get(), kept, nest_.extent, queue_));
  }

  // The order, and where rows begin in it.
  void keep(const KeyedEntry* sorted) {
    EntryTable& t = *table_;
    const auto begins_row = [&](int64_t i) { return i == 0 || sorted[i].key != sorted[i - 1].key; };
    t.order = new_numbers(request_, t.kept);
    CancelPoint cancel(current_cancel_scope());
    for (int64_t i = 0; i < t.kept && !cancel.before(sizeof(KeyedEntry)); ++i) {
      t.order[i] = sorted[i].entry;
      t.distinct += begins_row(i) ? 1 : 0;
    }
    t.rows = new_numbers(request_, t.distinct);
    t.begins = new_numbers(request_, t.distinct + 1);
    int64_t row = 0;
    for (int64_t i = 0; i < t.kept && !cancel.before(sizeof(KeyedEntry)); ++i) {
      if (begins_row(i)) {
        t.rows[row] = sorted[i].key;
        t.begins[row++] = i;
      }
    }
    t.begins[t.distinct] = t.kept;
    t.sorted = true;
    throw_if_cancelled(current_cancel_scope(), request_.name);
  }

  template <class Work>
  void in_ranges(int64_t count, const Work& work) {
    run_ranges(request_.name, count, saturating_mul(nest_.entries, 2 * sizeof(int64_t)), queue_,
               work);
  }

  const BagGradientPlan& plan_;
  const BagNest& nest_;
  BagRequest request_;
  const BagMemory& memory_;
  const Queue& queue_;
  std::shared_ptr<EntryTable> table_;
};

}  // namespace

void refuse_gradient_memory(const BagRequest& request) {
  refuse_as(ErrorCode::kOutOfMemory, request, {Reason::kMemory}, "out of memory",
            "the entries, sorted by the rows that they name, do not fit into memory",
            "fewer bags per call");
}

Numbers new_numbers(const BagRequest& request, int64_t count) {
  std::unique_ptr<int64_t[]> numbers(new (std::nothrow) int64_t[static_cast<size_t>(count)]);
  if (numbers == nullptr) {
    refuse_gradient_memory(request);
  }
  return numbers;
}

std::shared_ptr<const EntryTable> read_entries(const BagGradientPlan& plan, const BagMemory& memory,
                                               const Queue& queue) {
  return TableMaker(plan, memory, queue).make();
}

Numbers begins_of_all_rows(const EntryTable& table, const BagRequest& request) {
  const int64_t extent = table.bag.nest().extent;
  Numbers begins = new_numbers(request, extent + 1);
  CancelPoint cancel(current_cancel_scope());
  int64_t next = 0;
  for (int64_t r = 0; r <= extent && !cancel.before(sizeof(int64_t)); ++r) {
    begins[r] = table.begins[next];
    next += next < table.distinct && table.rows[next] == r ? 1 : 0;
  }
  throw_if_cancelled(current_cancel_scope(), request.name);
  return begins;
}

}  // namespace sheaf
