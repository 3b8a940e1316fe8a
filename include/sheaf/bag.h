// SPDX-License-Identifier: MIT
//
// Bags: rows that are pooled on the way.
//
//   rows[p]   = decode(data[indices[p]]) * weights[p]
//   output[s] = pool of rows[p] for p in segment s, in order
//
// The bits are those of a gather, a conversion, a product and a scatter with a reduction, each of
// which rounds once; the rows in between are never stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sheaf/encoding.h"
#include "sheaf/index_rule.h"
#include "sheaf/plan.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

enum class Pool : uint8_t {
  kSum,
  kMean,  // the sum over the number of rows; integers are rounded down
  kMax,
  kMin,
  kMul,
  kSqrtN,  // the sum over the square root of the number of rows
};

// What the segments tensor holds.
enum class SegmentForm : uint8_t {
  kOffsets,  // where each bag begins: 0 first, never less than before
  kLengths,  // how many entries each bag has
  kIds,      // for each entry the number of its bag, ascending
};

std::string_view to_string(Pool pool);         // "sum", "mean", …
std::string_view to_string(SegmentForm form);  // "offsets", "lengths", "ids"

struct BagOptions {
  Pool pool = Pool::kSum;
  SegmentForm segments = SegmentForm::kOffsets;
  bool last_offset = false;                   // offsets has one more entry: the end of the last bag
  int64_t bags = -1;                          // with ids: how many there are
  std::optional<int64_t> padding_index = {};  // entries that name this row are left out
  Scalar empty_value = {};                    // of a bag without rows
  // Products and sums of floats narrower than f32, and of encoded rows, are computed in f32 and
  // rounded once at the end. false: in the output's type.
  bool accumulate_f32 = true;
  // f32, f16 or bf16 for encoded rows and floats narrower than f32; for anything else the data's
  // type. Nothing: f32 for encoded rows, otherwise the data's type.
  std::optional<DType> output_type = {};
  // kSkip leaves entries out that are out of range.
  IndexRule rule = {};
};

// Sizes of a bag's tensors. Without indices rows are pooled in the order in which they lie. Without
// segments indices is a matrix, and each of its rows a bag.
struct BagSpecs {
  EncodedSpec data;
  std::optional<TensorSpec> indices = {};
  std::optional<TensorSpec> segments = {};
  std::optional<TensorSpec> weights = {};  // in the sizes of indices
};

struct BagTensors {
  Encoded data;
  std::optional<ConstTensor> indices = {};
  std::optional<ConstTensor> segments = {};
  std::optional<ConstTensor> weights = {};
};

// Where the tensors of a planned bag are; null for those that it does not have.
struct BagMemory {
  const void* stored = nullptr;
  const void* scales = nullptr;
  const void* zeros = nullptr;
  const void* indices = nullptr;
  const void* segments = nullptr;
  const void* weights = nullptr;
  void* output = nullptr;
};

struct BagNest;
struct BagRequest;
struct Queue;

// A bag, decided. Immutable, cheap to copy, and safe to run from many threads.
class BagPlan {
 public:
  const TensorSpec& output() const;  // [bags, …]
  int64_t bags() const;
  const BagNest& nest() const { return *nest_; }
  const BagRequest& request() const { return *request_; }
  // The gather of the rows, which has the bag's rule for indices; null where no index can fail.
  const Plan* checked_gather() const { return checked_.get(); }

  // Runs on host memory. Throws, with the output untouched, on a null pointer, an output that
  // overlaps an input, segments that are none, or a bad index under kFail.
  void run(const BagMemory& memory, const RunOptions& = {}) const;

  std::string str() const;  // the loop nest, one line per loop
  std::string json() const;

 private:
  friend BagPlan make_bag_plan(const BagRequest& request);
  BagPlan() = default;

  std::shared_ptr<const BagNest> nest_;
  std::shared_ptr<const BagRequest> request_;
  std::shared_ptr<const Plan> checked_;
};

// Without `output` the output is contiguous.
BagPlan plan_bag(const BagSpecs& specs, const BagOptions& = {});
BagPlan plan_bag(const BagSpecs& specs, const TensorSpec& output, const BagOptions& = {});

// Runs on memory of a queue. On a device, finish() reports bad indices and segments.
void run(const BagPlan& plan, const BagMemory& memory, const Queue& queue, const RunOptions& = {});
void finish(const BagPlan& plan, const Queue& queue);
size_t workspace_bytes(const BagPlan& plan, const Queue& queue, const RunOptions& = {});

// One-shot, into `output` or into a new Array.
void bag(const BagTensors& tensors, const Tensor& output, const BagOptions& = {});
Array bag(const BagTensors& tensors, const BagOptions& = {});

}  // namespace sheaf

#pragma GCC visibility pop
