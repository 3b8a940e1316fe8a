// SPDX-License-Identifier: MIT
//
// Arrays in: anything NumPy, DLPack or the buffer protocol describes, as a tensor, without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string_view>

#include "dlpack.h"
#include "numpy_api.h"
#include "sheaf/tensor.h"

namespace sheaf::python {

enum class Role { kData, kIndices, kUpdates, kOutput };

// An element type, and the NumPy dtype if it has one.
struct Elements {
  DType dtype;
  PyArray_Descr* descr = nullptr;
};

// Who was handed an array, and as what: the first words of a refusal.
struct Argument {
  std::string_view call;
  Role role;
  const Elements* like = nullptr;  // what lists and numbers, which have no dtype, become
};

// An array seen as a tensor. The memory lives as long as this does.
struct View {
  nb::object object;               // what the caller passed, or a NumPy array made of it
  nb::object copy;                 // memory made for this call, if any was needed
  std::shared_ptr<Import> import;  // set if the array came by DLPack
  Tensor tensor;                   // inputs are only ever read
  bool whole_strides = true;       // false: an output whose strides are not whole elements

  bool is_numpy() const { return import == nullptr; }
  // The NumPy dtype, or null if the array is not NumPy's.
  PyArray_Descr* descr() const {
    return is_numpy() ? PyArray_DESCR(as_array(object.ptr())) : nullptr;
  }
};

// Fills in a fresh `view`. Refuses what is no array (lists and numbers are fine as input), element
// types that cannot be copied bit by bit, other byte orders, memory of a device, and outputs that
// are read-only. Strides of dimensions with at most one entry are the contiguous ones: they mean
// nothing, and arrays of equal meaning become equal.
void view_array(View& view, nb::handle object, const Argument& argument);

// True unless both are NumPy's and mean different things by the same bytes: records of other
// fields, dates of other units.
bool same_meaning(const View& a, const View& b);

// The element type of a NumPy dtype. Refuses references and other byte orders.
DType dtype_from_numpy(PyArray_Descr* descr, std::string_view call);

// Gives dimensions of at most one entry the contiguous strides.
void tidy_strides(TensorSpec& spec);

// Lets dimensions of one entry, and missing leading ones, repeat as NumPy's broadcasting does.
// Where that does not give `sizes`, the view stays as it was.
void stretch(View& view, const Dims& sizes);

// The same elements in row-major order as one dimension: a view where that is possible.
View flattened(const View& view);

// A NumPy array over the same elements, which are plain bytes to it: for copies that no dtype need
// know about.
nb::object raw_numpy_view(const View& view);
nb::object raw_numpy_view(const Tensor& tensor);

}  // namespace sheaf::python
