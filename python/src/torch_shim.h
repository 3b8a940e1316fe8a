// SPDX-License-Identifier: MIT
//
// The few functions of PyTorch's stable C interface that make a tensor without a call of Python.
// They are looked up in the libtorch that the process has loaded, so the package is built without
// PyTorch, and one build serves all versions.
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

// A tensor of PyTorch's that Python has not seen yet.
class TorchTensor {
 public:
  // Contiguous and uninitialised. Throws std::bad_alloc if PyTorch has no memory.
  TorchTensor(const TorchKind& kind, const Dims& sizes, const Dims& strides);
  ~TorchTensor();
  TorchTensor(const TorchTensor&) = delete;
  TorchTensor& operator=(const TorchTensor&) = delete;

  void* memory() const { return memory_; }
  nb::object to_python() const;

 private:
  void* handle_ = nullptr;
  void* memory_ = nullptr;
};

// Whether PyTorch, of version 2.14 or later, has been imported. The functions below need it.
bool has_torch_shim();

// Those of a tensor.
TorchKind torch_kind_of(nb::handle tensor);

// Bytes on the same device.
TorchKind torch_bytes_like(const TorchKind& kind);

}  // namespace sheaf::python
