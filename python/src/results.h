// SPDX-License-Identifier: MIT
//
// Arrays out: memory for a result, and the array object that the caller gets to see.
#pragma once

#include "arrays.h"

namespace sheaf::python {

// A contiguous array of the given shape, of the same kind, dtype and device as `like`. It is
// written to through memory() and then handed over by finish().
class Result {
 public:
  Result(const View& like, const TensorSpec& spec);

  void* memory() const { return memory_; }

  // NumPy in, NumPy out; else the namespace of the array (torch, jax.numpy, …) takes the memory
  // over by its from_dlpack. `scalar`: a NumPy result without dimensions becomes a NumPy scalar.
  nb::object finish(bool scalar);

 private:
  void take_torch_memory(const View& like, const TensorSpec& spec);
  void take_gpu_memory(const View& like, const TensorSpec& spec);

  nb::object object_;  // the array, or an exporter of DLPack
  nb::object like_;    // whose library takes the exporter over; empty if `object_` is the array
  void* memory_ = nullptr;
};

// Copies the elements of `source` to `out`, which has its sizes, whatever strides `out` has.
void copy_into(const View& out, const Tensor& source, std::string_view call);

// The same on a GPU, by the library of `out`, in the order of its stream.
void assign(const View& out, nb::handle values);

// Device memory that runs on `placement` may use, from the allocator of the placement's library.
struct GpuMemory {
  nb::object owner;
  cuda::WorkspaceView view;
};
GpuMemory gpu_memory(const Placement& placement, size_t bytes);

}  // namespace sheaf::python
