// SPDX-License-Identifier: MIT
//
// Arrays out: memory for a result, and the array object that the caller gets to see.
#pragma once

#include "arrays.h"

namespace sheaf::python {

// A contiguous array of the given shape, of the same kind and dtype as `like`. It is written to
// through memory() and then handed over by finish().
class Result {
 public:
  Result(const View& like, const TensorSpec& spec);

  void* memory() const { return memory_; }

  // NumPy in, NumPy out; else the namespace of the array (torch, jax.numpy, …) takes the memory
  // over by its from_dlpack. `scalar`: a NumPy result without dimensions becomes a NumPy scalar.
  nb::object finish(bool scalar);

 private:
  nb::object object_;  // a NumPy array, or an exporter of DLPack
  nb::object like_;    // empty for NumPy
  void* memory_ = nullptr;
};

// Copies the elements of `source` to `out`, which has its sizes, whatever strides `out` has.
void copy_into(const View& out, const Tensor& source);

}  // namespace sheaf::python
