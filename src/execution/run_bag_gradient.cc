// SPDX-License-Identifier: MIT
//
// Running the gradient of a bag. Rows are themselves bags: of the gradient's rows, with the entries
// that name a row as the bag, and their factors as weights.
#include "execution/run_bag_gradient.h"

#include <algorithm>
#include <new>

#include "execution/check_tensors.h"
#include "execution/host_steps.h"
#include "execution/row_pieces.h"
#include "support/float_mode.h"

namespace sheaf {
namespace {

// The factors of sorted entries, in the type that is computed in.
class Factors {
 public:
  explicit Factors(const GradientRun& run) {
    const EntryTable& table = run.table;
    const BagNest& nest = run.nest();
    if (!has_factors(nest)) {
      return;
    }
    const auto bytes = static_cast<size_t>(table.kept * nest.computed.bytes());
    memory_.reset(new (std::nothrow) std::byte[bytes]);
    if (memory_ == nullptr) {
      refuse_gradient_memory(run.request);
    }
    with_gradient_type(nest.computed, [&](auto zero) { fill(run, zero); });
  }

  const std::byte* memory() const { return memory_.get(); }

 private:
  template <class Computed>
  void fill(const GradientRun& run, Computed /*type*/) {
    const EntryTable& table = run.table;
    const BagNest& nest = run.nest();
    run_ranges(run.request.name, table.kept, saturating_mul(table.kept, 64), run.queue,
               [&](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) {
                   const int64_t p = table.order[k];
                   const auto weight = weight_of_entry<Computed>(nest, run.weights(), p);
                   const Computed factor = pooled(nest.pool, weight, table.counts[table.bag_of[p]]);
                   std::memcpy(memory_.get() + k * static_cast<int64_t>(sizeof factor), &factor,
                               sizeof factor);
                 }
               });
  }

  std::unique_ptr<std::byte[]> memory_;
};

// Writes rows by the kernels of bags.
class RowSums {
 public:
  explicit RowSums(const GradientRun& run)
      : run_(run), bags_(new_numbers(run.request, run.table.kept)), factors_(run) {
    const EntryTable& table = run.table;
    run_ranges(run.request.name, table.kept, saturating_mul(table.kept, 64), run.queue,
               [&](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) {
                   bags_[k] = table.bag_of[table.order[k]];
                 }
               });
  }

  void write(const WantedRows& wanted) const {
    const BagNest& nest = run_.nest();
    const int64_t entries = run_.table.kept;
    BagRequest request;
    request.name = run_.request.name;
    request.output = wanted.spec;
    request.specs.data = run_.plan.gradient();
    request.specs.indices = TensorSpec(i64, {entries});
    request.specs.segments = TensorSpec(i64, {wanted.count + 1});
    if (factors_.memory() != nullptr) {
      request.specs.weights = TensorSpec(nest.computed, {entries});
    }
    request.options.last_offset = true;
    request.options.accumulate_f32 = nest.computed == f32;
    request.options.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kTrust};
    run(make_bag_plan(request),
        {.stored = run_.memory.gradient,
         .indices = bags_.get(),
         .segments = wanted.begins,
         .weights = factors_.memory(),
         .output = wanted.output},
        run_.queue, {.threads = run_.queue.threads, .kernel = run_.kernel});
  }

 private:
  const GradientRun& run_;
  Numbers bags_;
  Factors factors_;
};

void write_zeros(const GradientRun& run, const TensorSpec& spec, std::byte* output) {
  const EncodedRows rows = *plain_rows(spec);
  const auto bytes = static_cast<size_t>(spec.dtype.bytes());
  const int64_t all = saturating_mul(rows.rows, saturating_mul(rows.elements, spec.dtype.bytes()));
  run_ranges(run.request.name, rows.rows, all, run.queue, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t e = 0; e < rows.elements; ++e) {
        std::memset(output + r * rows.row_stride + e * rows.element_stride, 0, bytes);
      }
    }
  });
}

void write_rows(const GradientRun& run, const WantedRows& wanted) {
  if (picks_one(run.nest().pool)) {
    write_picked_rows(run, picked_entries(run).get(), wanted);
  } else {
    RowSums(run).write(wanted);
  }
}

template <class T>
void add_to_table(const GradientRun& run, const std::byte* values) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  const EncodedRows rows = *plain_rows(run.plan.output());
  const int64_t count = run.table.distinct;
  run_ranges(run.request.name, count, saturating_mul(count, rows.elements * kBytes), run.queue,
             [&](int64_t begin, int64_t end) {
               for (int64_t r = begin; r < end; ++r) {
                 const std::byte* from = values + r * rows.elements * kBytes;
                 std::byte* to = static_cast<std::byte*>(run.memory.output) +
                                 run.table.rows[r] * rows.row_stride;
                 for (int64_t e = 0; e < rows.elements; ++e) {
                   const T sum = reduced<Reduction::kAdd>(loaded<T>(to), loaded<T>(from));
                   std::memcpy(to, &sum, sizeof sum);
                   from += kBytes;
                   to += rows.element_stride;
                 }
               }
             });
}

// The sums of all rows come first, in memory of their own: what fails, fails before the table has
// changed.
void add_rows(const GradientRun& run) {
  Dims sizes = run.plan.output().sizes;
  sizes[0] = run.table.distinct;
  const TensorSpec spec(run.nest().output_type, sizes);
  const auto bytes = static_cast<size_t>(element_count(sizes) * spec.dtype.bytes());
  const std::unique_ptr<std::byte[]> values(new (std::nothrow) std::byte[bytes]);
  if (values == nullptr) {
    refuse_gradient_memory(run.request);
  }
  write_rows(run, {run.table.begins.get(), run.table.distinct, spec, values.get()});
  with_gradient_type(spec.dtype,
                     [&](auto zero) { add_to_table<decltype(zero)>(run, values.get()); });
}

void run_rows(const GradientRun& run, const TensorSpec& values) {
  const EntryTable& table = run.table;
  auto* const output = static_cast<std::byte*>(run.memory.output);
  if (table.distinct > 0 && run.nest().elements > 0) {
    write_rows(run, {table.begins.get(), table.distinct, values, output});
  }
  std::copy_n(reinterpret_cast<const std::byte*>(table.rows.get()),
              table.distinct * static_cast<int64_t>(sizeof(int64_t)),
              static_cast<std::byte*>(run.memory.rows));
}

void run_data(const GradientRun& run) {
  const TensorSpec& spec = run.plan.output();
  auto* const output = static_cast<std::byte*>(run.memory.output);
  if (run.nest().elements == 0 || run.nest().extent == 0) {
    return;
  }
  const bool nothing = run.table.kept == 0;
  if (run.plan.options().add) {
    if (!nothing) {
      add_rows(run);
    }
  } else if (nothing) {
    write_zeros(run, spec, output);
  } else {
    const Numbers begins = begins_of_all_rows(run.table, run.request);
    write_rows(run, {begins.get(), run.nest().extent, spec, output});
  }
}

void check_entries(const BagGradientPlan& plan, const EntryTable* table) {
  const bool fits = table != nullptr && &table->bag.nest() == &plan.bag().nest() &&
                    (table->sorted || plan.of() == BagGradientOf::kWeights);
  if (!fits) {
    refuse(gradient_request(plan), {Reason::kPlan}, "entries of another plan",
           "these were not read by this plan, nor by one of the rows or data of the same bag",
           "entries() of this plan");
  }
}

}  // namespace

void check_gradient_memory(const BagGradientPlan& plan, const BagGradientMemory& memory,
                           const BagRequest& request, const TensorSpec& output, int64_t rows) {
  const BagSpecs& specs = plan.bag().request().specs;
  const BagMemory& bag = memory.bag;
  const bool reads = reads_table(plan);
  const NamedTensor inputs[] = {
      {"gradient", memory.gradient, &plan.gradient()},
      {"data", bag.stored, reads ? &specs.data.stored : nullptr},
      {"scales", bag.scales, reads ? spec_or_null(specs.data.scales) : nullptr},
      {"zeros", bag.zeros, reads ? spec_or_null(specs.data.zeros) : nullptr},
      {"weights", bag.weights, spec_or_null(specs.weights)}};
  check_tensors(request, inputs, {"output", memory.output, &output});
  if (plan.of() == BagGradientOf::kRows) {
    const TensorSpec numbers(i64, {rows});
    const NamedTensor values[] = {{"output", memory.output, &output}};
    check_tensors(request, inputs, {"rows", memory.rows, &numbers});
    check_tensors(request, values, {"rows", memory.rows, &numbers});
  }
}

int64_t BagEntries::rows() const { return table_ == nullptr ? 0 : table_->distinct; }

BagEntries BagGradientPlan::entries(const BagMemory& memory, const RunOptions& options) const {
  BagEntries entries;
  entries.table_ = read_entries(*this, memory, {.threads = options.threads});
  return entries;
}

void BagGradientPlan::run(const BagEntries& entries, const BagGradientMemory& memory,
                          const RunOptions& options) const {
  check_entries(*this, entries.table_.get());
  const EntryTable& table = *entries.table_;
  TensorSpec written = output();
  if (of_ == BagGradientOf::kRows) {
    Dims sizes = written.sizes;
    sizes[0] = table.distinct;
    written = TensorSpec(written.dtype, sizes);
  }
  const GradientRun run{.plan = *this,
                        .table = table,
                        .memory = memory,
                        .request = gradient_request(*this),
                        .gradient_rows = *plain_rows(gradient()),
                        .queue = {.threads = options.threads},
                        .kernel = options.kernel};
  check_gradient_memory(*this, memory, run.request, written, table.distinct);
  const DefaultFloatMode mode;
  switch (of_) {
    case BagGradientOf::kRows: return run_rows(run, written);
    case BagGradientOf::kData: return run_data(run);
    case BagGradientOf::kWeights: {
      const Numbers picked = picks_one(run.nest().pool) ? picked_entries(run) : Numbers();
      return write_weight_gradient(run, picked.get());
    }
  }
}

}  // namespace sheaf
