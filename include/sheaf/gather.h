// SPDX-License-Identifier: MIT
//
// The gathers. Each comes as a plan (make once, run often), as a one-shot call into an output the
// caller owns, and as a call that returns a new Array. docs/semantics.md has them on one page.
#pragma once

#include "sheaf/index_rule.h"
#include "sheaf/plan.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

// gather: whole slices along one axis.
//   output[pre, q, post] = data[pre, indices[q], post]
// DML_GATHER, ONNX Gather, numpy.take, torch.index_select, BNNSGather with a vector of indices.
struct GatherOptions {
  int64_t axis = 0;        // negative counts from the end of data's dimensions
  int64_t batch_dims = 0;  // leading dimensions that data and indices share; negative: from
                           // the end of indices' dimensions
  IndexRule rule = {};
};

// gather_elements: one index per output element.
//   output[i, j, k] = data[indices[i, j, k], j, k]   (axis 0)
// DML_GATHER_ELEMENTS, ONNX GatherElements, torch.gather, numpy.take_along_axis.
struct GatherElementsOptions {
  int64_t axis = 0;
  bool broadcast = false;  // false: indices may be smaller than data off the axis (ONNX, PyTorch);
                           // true: off the axis, dimensions of size 1 stretch (NumPy)
  IndexRule rule = {};
};

// gather_nd: the last dimension of indices holds tuples that pick an element or a slice.
//   output[b, g, s] = data[b, indices[b, g, 0], indices[b, g, 1], …, s]
// DML_GATHER_ND, DML_GATHER_ND1, BNNSGatherND, ONNX GatherND, tf.gather_nd.
struct GatherNdOptions {
  int64_t batch_dims = 0;  // negative: from the end of indices' dimensions
  IndexRule rule = {};
};

// The general gather of XLA and StableHLO; names and meanings are those of its specification.
// A start index is clamped so that the whole window stays inside.
struct XlaGatherOptions {
  Dims offset_dims = {};
  Dims collapsed_slice_dims = {};
  Dims operand_batching_dims = {};
  Dims start_indices_batching_dims = {};
  Dims start_index_map = {};
  int64_t index_vector_dim = 0;
  Dims slice_sizes = {};
  IndexRule rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kClamp};

  friend bool operator==(const XlaGatherOptions&, const XlaGatherOptions&) = default;
};

// Plans. Without `output` the output is contiguous; with it, its sizes and type must be the
// computed ones and its strides are free.
Plan plan_gather(const TensorSpec& data, const TensorSpec& indices, const GatherOptions& = {});
Plan plan_gather(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& output,
                 const GatherOptions& = {});
Plan plan_gather_elements(const TensorSpec& data, const TensorSpec& indices,
                          const GatherElementsOptions& = {});
Plan plan_gather_elements(const TensorSpec& data, const TensorSpec& indices,
                          const TensorSpec& output, const GatherElementsOptions& = {});
Plan plan_gather_nd(const TensorSpec& data, const TensorSpec& indices, const GatherNdOptions& = {});
Plan plan_gather_nd(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& output,
                    const GatherNdOptions& = {});
Plan plan_xla_gather(const TensorSpec& data, const TensorSpec& indices, const XlaGatherOptions&);
Plan plan_xla_gather(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& output,
                     const XlaGatherOptions&);

// One-shot, into `output`.
void gather(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
            const GatherOptions& = {});
void gather_elements(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
                     const GatherElementsOptions& = {});
void gather_nd(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
               const GatherNdOptions& = {});
void xla_gather(const ConstTensor& data, const ConstTensor& indices, const Tensor& output,
                const XlaGatherOptions&);

// One-shot, into a new Array.
Array gather(const ConstTensor& data, const ConstTensor& indices, const GatherOptions& = {});
Array gather_elements(const ConstTensor& data, const ConstTensor& indices,
                      const GatherElementsOptions& = {});
Array gather_nd(const ConstTensor& data, const ConstTensor& indices, const GatherNdOptions& = {});
Array xla_gather(const ConstTensor& data, const ConstTensor& indices, const XlaGatherOptions&);

}  // namespace sheaf

#pragma GCC visibility pop
