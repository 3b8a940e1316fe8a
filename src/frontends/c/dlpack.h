// SPDX-License-Identifier: MIT
//
// Between DLPack's tensors and ours, for every face that meets other array libraries.
#pragma once

#include <string>
#include <string_view>

#include "sheaf/dlpack.h"
#include "sheaf/tensor.h"

namespace sheaf {

// Who was handed a tensor, and as what; the first words of a refusal: {"gather", "indices"}.
struct DlpackArgument {
  std::string_view call;
  std::string_view name;
};

// Type, sizes and strides, wherever the memory is. Refuses a null shape, a rank outside
// [0, kMaxRank] and types without whole bytes; sizes are left for make_plan to judge, which can
// show all tensors of the call. Strides of dimensions with at most one entry are the contiguous
// ones: those that producers write there differ, and mean nothing.
TensorSpec spec_from_dlpack(const DLTensor& tensor, const DlpackArgument& argument);

// The same with the memory, which must be the host's, pinned or not.
Tensor tensor_from_dlpack(const DLTensor& tensor, const DlpackArgument& argument);

// Where all tensors of a call are: the host, or one device of this build.
class Placement {
 public:
  // The tensor's place. Refuses memory of other devices, and a place that differs from that of the
  // tensors before.
  Tensor place(const DLTensor& tensor, const DlpackArgument& argument);

  std::string_view device() const { return device_; }  // empty: the host

 private:
  void check(const DLTensor& tensor, const DlpackArgument& argument);

  std::string_view device_;
  std::string first_;  // the name of the first tensor
};

// The device of this build that DLPack means; empty for the host. Refuses others, and a device that
// is not the calling thread's.
std::string_view device_from_dlpack(DLDevice device, const DlpackArgument& argument,
                                    const std::string& shape);

// Refuses a null pointer.
const DLTensor& required_tensor(const DLTensor* tensor, const DlpackArgument& argument);

// The type of `argument`. Several lanes are one opaque element, and so are the float8 formats that
// Sheaf has no name for: a gather only copies them.
DType dtype_from_dlpack(DLDataType type, const DlpackArgument& argument);

// Opaque elements become lanes of bytes.
DLDataType dtype_to_dlpack(DType type);

// "float32", "float4_e2m1fn x2"
std::string to_string(DLDataType type);

inline bool same_type(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

}  // namespace sheaf
