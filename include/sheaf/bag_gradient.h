// SPDX-License-Identifier: MIT
//
// Gradients of bags (sheaf/bag.h), for a gradient g of the output:
//
//   factor(p)  = weights[p] over the bag's divisor: 1, the number of rows (mean) or its root
//   (sqrtn) row r      = sum of g[bag of p] * factor(p) over the entries p that name r, in order
//   weight p   = sum of g[bag of p] * decode(data[indices[p]]) over the columns, in order, over the
//                divisor
//
// Each product, sum and quotient rounds once, in the type that the bag computes in. Under max and
// min an element of g goes to the first entry that has the largest (smallest) element of the bag,
// or to its first NaN. Entries that are left out have no gradient.
//
//   sheaf::BagGradientPlan plan = sheaf::plan_bag_gradient(bag, sheaf::BagGradientOf::kRows);
//   sheaf::BagEntries entries = plan.entries(memory.bag);
//   // … memory for entries.rows() rows
//   plan.run(entries, memory);
//
// On a device nothing is known of the entries before they have been read there. So there is memory
// for as many rows as there can be:
//
//   sheaf::run(plan, memory, queue);           // returns
//   sheaf::finish(plan, queue);                // waits; throws
//   int64_t n = sheaf::named_rows(plan, queue);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sheaf/bag.h"

#pragma GCC visibility push(default)

namespace sheaf {

enum class BagGradientOf : uint8_t {
  kRows,     // of the rows that entries name, ascending, each once: what sparse optimisers take
  kData,     // of the whole table
  kWeights,  // of the weights
};

std::string_view to_string(BagGradientOf of);  // "rows", "data", "weights"

struct BagGradientOptions {
  std::optional<TensorSpec> gradient = {};  // nothing: contiguous
  std::optional<TensorSpec> output = {};    // kData, kWeights; nothing: contiguous
  bool add = false;  // kData: each row's sum is added to what the output holds
};

// The entries of one bag by the rows that they name: what its segments and indices say, read once.
// Cheap to copy, and safe to use from many threads.
class BagEntries {
 public:
  int64_t rows() const;  // how many rows are named

 private:
  friend class BagGradientPlan;
  std::shared_ptr<const struct EntryTable> table_;
};

struct BagGradientMemory {
  BagMemory bag;  // its output is not used; the table is read under max and min, and by kWeights
  const void* gradient = nullptr;
  void* rows = nullptr;    // kRows: i64, entries.rows() of them
  void* output = nullptr;  // kRows: as many rows; kData: the table; kWeights: one per entry
};

// Immutable, cheap to copy, and safe to run from many threads.
class BagGradientPlan {
 public:
  const BagPlan& bag() const { return bag_; }
  BagGradientOf of() const { return of_; }
  const BagGradientOptions& options() const { return options_; }
  const TensorSpec& gradient() const { return *options_.gradient; }
  // kRows: of as many rows as there can be; run() writes the first of them.
  const TensorSpec& output() const { return *options_.output; }

  // Reads segments and indices. Throws as the bag does: on segments that are none, or a bad index
  // under kFail.
  BagEntries entries(const BagMemory& memory, const RunOptions& = {}) const;

  // Throws, with the output untouched, on a null pointer, an output that overlaps an input, or
  // entries of another plan. RunOptions::kernel names the kernel of the bag that sums the rows.
  void run(const BagEntries& entries, const BagGradientMemory& memory,
           const RunOptions& = {}) const;

  std::string str() const;  // the loops, one line per loop

 private:
  friend BagGradientPlan plan_bag_gradient(const BagPlan& bag, BagGradientOf of,
                                           const BagGradientOptions& options);
  explicit BagGradientPlan(BagPlan bag) : bag_(std::move(bag)) {}

  BagPlan bag_;
  BagGradientOf of_ = BagGradientOf::kRows;
  BagGradientOptions options_;
};

// The gradient has the type of the bag's output: f32, f64, f16 or bf16; so has that of the table.
// Throws on other types, on pool mul, and on kWeights of a bag without weights.
BagGradientPlan plan_bag_gradient(const BagPlan& bag, BagGradientOf of,
                                  const BagGradientOptions& = {});

// Runs on memory of the queue, in the order of its stream. kRows: memory.rows and memory.output
// have room for output().sizes[0] rows; behind the last that is named, numbers are -1 and values 0.
// What is wrong with segments and indices is thrown by finish(), with rows and output untouched.
// Throws kUnsupported on a device that has no kernels for gradients.
void run(const BagGradientPlan& plan, const BagGradientMemory& memory, const Queue& queue,
         const RunOptions& = {});
void finish(const BagGradientPlan& plan, const Queue& queue);
size_t workspace_bytes(const BagGradientPlan& plan, const Queue& queue, const RunOptions& = {});

// After finish(): how many rows the last run of kRows on the queue's workspace found. Throws on a
// queue of the host, where BagEntries knows.
int64_t named_rows(const BagGradientPlan& plan, const Queue& queue);

// One-shot, into new Arrays. The table of `tensors` may be null where it is not read.
struct BagRowGradient {
  Array rows;    // i64[n], ascending
  Array values;  // [n, …]
};
BagRowGradient bag_row_gradient(const BagTensors& tensors, const ConstTensor& gradient,
                                const BagOptions& = {});
Array bag_data_gradient(const BagTensors& tensors, const ConstTensor& gradient,
                        const BagOptions& = {});
Array bag_weight_gradient(const BagTensors& tensors, const ConstTensor& gradient,
                          const BagOptions& = {});

}  // namespace sheaf

#pragma GCC visibility pop
