// SPDX-License-Identifier: MIT
//
// The scatters: the gathers read the other way. Each comes as a plan (make once, run often), as a
// one-shot call into an output the caller owns, and as a call that returns a new Array.
// docs/semantics.md has them on one page.
//
// The output is `data` with the updates reduced into it, in row-major order of the updates. Pass
// the same tensor as data and output to scatter in place. While a call runs, no one else may use
// any of the output: elements without an update keep their value, but may be written.
#pragma once

#include "sheaf/index_rule.h"
#include "sheaf/plan.h"
#include "sheaf/reduction.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

// scatter: whole slices along one axis, the inverse of gather.
//   output[pre, indices[q], post] (reduce)= updates[pre, q, post]
// OpenVINO ScatterUpdate, torch.index_copy, index_add and index_reduce.
struct ScatterOptions {
  int64_t axis = 0;        // negative counts from the end of data's dimensions
  int64_t batch_dims = 0;  // leading dimensions that data and indices share
  Reduction reduction = Reduction::kNone;
  bool include_self = true;     // false: what was there is not part of the reduction
  bool onto_zeros = false;      // start from zeros; data is not read
  bool relaxed = false;         // a backend may reduce in another order, if that is faster: on
                                // a GPU it often is; the other backends keep the order
  bool accumulate_f32 = false;  // f16, bf16 and f8: reduce in f32, in order, and round once at the
                                // end; NaN then becomes the one NaN of the type. f32 is as without
  IndexRule rule = {};
};

// scatter_elements: one index per update, the inverse of gather_elements.
//   output[indices[i, j, k], j, k] (reduce)= updates[i, j, k]   (axis 0)
// DML_SCATTER_ELEMENTS, ONNX ScatterElements, torch.scatter_reduce, numpy.put_along_axis.
struct ScatterElementsOptions {
  int64_t axis = 0;
  Reduction reduction = Reduction::kNone;
  bool include_self = true;
  bool onto_zeros = false;
  bool relaxed = false;
  bool accumulate_f32 = false;
  IndexRule rule = {};
};

// scatter_nd: tuples pick the element or slice that an update goes to, the inverse of gather_nd.
//   output[b, indices[b, g, 0], indices[b, g, 1], …, s] (reduce)= updates[b, g, s]
// DML_SCATTER_ND, BNNSScatterND, ONNX ScatterND, tf.tensor_scatter_nd_update.
struct ScatterNdOptions {
  int64_t batch_dims = 0;  // negative: from the end of indices' dimensions
  Reduction reduction = Reduction::kNone;
  bool include_self = true;
  bool onto_zeros = false;
  bool relaxed = false;
  bool accumulate_f32 = false;
  IndexRule rule = {};
};

// The general scatter of XLA and StableHLO; names and meanings are those of its specification.
struct XlaScatterOptions {
  Dims update_window_dims = {};
  Dims inserted_window_dims = {};
  Dims input_batching_dims = {};
  Dims scatter_indices_batching_dims = {};
  Dims scatter_dims_to_operand_dims = {};
  int64_t index_vector_dim = 0;
  Reduction reduction = Reduction::kNone;
  bool include_self = true;
  bool onto_zeros = false;
  bool relaxed = false;
  bool accumulate_f32 = false;
  // A window that is partly outside, under kSkip: false leaves out the elements outside
  // (StableHLO), true the whole window (XLA).
  bool skip_whole_window = false;
  IndexRule rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kSkip};
};

// Plans. Without `output` the output is contiguous; with it, its sizes and type must be those of
// data and its strides are free.
Plan plan_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                  const ScatterOptions& = {});
Plan plan_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                  const TensorSpec& output, const ScatterOptions& = {});
Plan plan_scatter_elements(const TensorSpec& data, const TensorSpec& indices,
                           const TensorSpec& updates, const ScatterElementsOptions& = {});
Plan plan_scatter_elements(const TensorSpec& data, const TensorSpec& indices,
                           const TensorSpec& updates, const TensorSpec& output,
                           const ScatterElementsOptions& = {});
Plan plan_scatter_nd(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                     const ScatterNdOptions& = {});
Plan plan_scatter_nd(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                     const TensorSpec& output, const ScatterNdOptions& = {});
Plan plan_xla_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                      const XlaScatterOptions&);
Plan plan_xla_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                      const TensorSpec& output, const XlaScatterOptions&);

// One-shot, into `output`, which may be `data` itself.
void scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
             const Tensor& output, const ScatterOptions& = {});
void scatter_elements(const ConstTensor& data, const ConstTensor& indices,
                      const ConstTensor& updates, const Tensor& output,
                      const ScatterElementsOptions& = {});
void scatter_nd(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                const Tensor& output, const ScatterNdOptions& = {});
void xla_scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                 const Tensor& output, const XlaScatterOptions&);

// One-shot, into a new Array.
Array scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
              const ScatterOptions& = {});
Array scatter_elements(const ConstTensor& data, const ConstTensor& indices,
                       const ConstTensor& updates, const ScatterElementsOptions& = {});
Array scatter_nd(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                 const ScatterNdOptions& = {});
Array xla_scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                  const XlaScatterOptions&);

// The gradient of a plan as another plan (a vector-Jacobian product).
//   of a gather:          the gradient of data: a scatter-add onto zeros; the updates are the
//                         gradient of the output
//   of a scatter (none or add): the gradient of the updates: a gather from the gradient of the
//                         output. (Of several updates to one element under none, only the last
//                         counts, but all of them get a gradient here.)
// All tensors of the new plan but the indices are contiguous; indices stay as they are; where
// gather_elements stretched them (broadcast), they are given stretched, with strides of 0. Indices
// that the plan skipped or filled are skipped or filled with 0. Refuses other reductions, and what
// the other operator refuses (a gather from an empty axis).
Plan vjp(const Plan& plan);

}  // namespace sheaf

#pragma GCC visibility pop
