// SPDX-License-Identifier: MIT
//
// New tensors of PyTorch's own, without a call of Python: by a few functions of its stable C
// interface and, before version 2.14, by the C++ function that makes a tensor an object of Python.
// They are looked up in the libtorch that the process has loaded, so the package is built without
// PyTorch, and one build serves all versions. Where one is missing, new_empty() is called.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "sheaf/tensor.h"

namespace sheaf::python {

namespace nb = nanobind;

// What torch.dtype and torch.device are in that interface.
struct TorchKind {
  int32_t dtype = 0;
  int32_t device_type = 0;
  int32_t device = 0;
};

// A tensor that the caller has not seen yet.
class TorchTensor {
 public:
  // Contiguous and uninitialised, of the kind of `like`. Throws std::bad_alloc or PyTorch's error
  // if there is no memory.
  TorchTensor(const TorchKind& kind, nb::handle like, const TensorSpec& spec);
  ~TorchTensor();
  TorchTensor(const TorchTensor&) = delete;
  TorchTensor& operator=(const TorchTensor&) = delete;

  void* memory() const { return memory_; }
  nb::object to_python() const;

 private:
  void* handle_ = nullptr;  // of the shim, if there is one
  nb::object object_;       // else the tensor
  void* memory_ = nullptr;
};

// Whether PyTorch has been imported, in a version that has those functions.
bool has_torch_shim();

// That of a tensor. Needs the shim.
TorchKind torch_kind_of(nb::handle tensor);

// like.new_empty(sizes): a tensor, if `like` is one of PyTorch's own class.
nb::object new_empty(nb::handle like, const Dims& sizes);

}  // namespace sheaf::python
