// SPDX-License-Identifier: MIT
//
// Gathers from encoded tables: the same gathers, of elements that are decoded on the way. Any axis,
// any of the three operators; what is read is only what the indices name.
//
//   sheaf::Array rows = sheaf::gather_encoded(table, sheaf::view(ids));  // f32 rows
//
// To move rows as they are stored, gather the bytes (and the scales) as plain tensors.
#pragma once

#include <memory>
#include <string>

#include "sheaf/encoding.h"
#include "sheaf/gather.h"
#include "sheaf/plan.h"

#pragma GCC visibility push(default)

namespace sheaf {

// Where the tensors of a planned gather are; null for those that the encoding does not have.
struct EncodedGatherMemory {
  const void* stored = nullptr;
  const void* scales = nullptr;
  const void* zeros = nullptr;
  const void* indices = nullptr;
  void* output = nullptr;
};

struct EncodedNest;
struct Queue;

// Immutable, cheap to copy, and safe to run from many threads.
class EncodedGatherPlan {
 public:
  const TensorSpec& output() const { return named_->output(); }
  const EncodedSpec& data() const { return *data_; }
  // The same gather of the decoded tensor: its shapes, its rule for indices, its words.
  const Plan& decoded_gather() const { return *named_; }
  const EncodedNest& nest() const { return *nest_; }

  // Runs on host memory. Throws as Plan::run does.
  void run(const EncodedGatherMemory& memory, const RunOptions& = {}) const;

  std::string str() const;

 private:
  friend EncodedGatherPlan make_encoded_gather(const EncodedSpec& data, const Request& request,
                                               DType type);
  EncodedGatherPlan() = default;

  std::shared_ptr<const EncodedSpec> data_;
  std::shared_ptr<const Plan> named_;
  std::shared_ptr<const EncodedNest> nest_;
};

// `type` is f32, f16 or bf16: each element is decoded in f32 and rounded once. With `output`, that
// tensor's type and strides.
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const GatherOptions& = {}, DType type = f32);
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const GatherElementsOptions&, DType type = f32);
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const GatherNdOptions&, DType type = f32);
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const TensorSpec& output, const GatherOptions& = {});
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const TensorSpec& output, const GatherElementsOptions&);
EncodedGatherPlan plan_gather_encoded(const EncodedSpec& data, const TensorSpec& indices,
                                      const TensorSpec& output, const GatherNdOptions&);

// Runs on memory of a queue. On a device, finish() reports bad indices.
void run(const EncodedGatherPlan& plan, const EncodedGatherMemory& memory, const Queue& queue,
         const RunOptions& = {});
void finish(const EncodedGatherPlan& plan, const Queue& queue);
size_t workspace_bytes(const EncodedGatherPlan& plan, const Queue& queue, const RunOptions& = {});

// One-shot, into a new Array.
Array gather_encoded(const Encoded& data, const ConstTensor& indices, const GatherOptions& = {},
                     DType type = f32);
Array gather_encoded(const Encoded& data, const ConstTensor& indices, const GatherElementsOptions&,
                     DType type = f32);
Array gather_encoded(const Encoded& data, const ConstTensor& indices, const GatherNdOptions&,
                     DType type = f32);

}  // namespace sheaf

#pragma GCC visibility pop
