// SPDX-License-Identifier: MIT
//
// Arrays in: anything NumPy, DLPack or the buffer protocol describes, as a tensor, without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string_view>

#include "dlpack.h"
#include "libraries.h"
#include "numpy_api.h"
#include "sheaf/tensor.h"

namespace sheaf::python {

enum class Role { kData, kIndices, kUpdates, kOutput };

const char* to_string(Role role);

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
  Placement* placement = nullptr;  // of the call; null: only the layout counts
};

// What an array said of itself when it was read.
struct Snapshot {
  const void* address = nullptr;
  Dims sizes;
  Dims strides;        // in bytes if the array is NumPy's, else in elements
  bool known = false;  // false: the array cannot be asked without running code of its own
};

// An array seen as a tensor. The memory lives as long as this does.
struct View {
  Role role = Role::kData;
  nb::object object;               // what the caller passed, or a NumPy array made of it
  nb::object dtype;                // the NumPy dtype, if the array is NumPy's
  nb::object copy;                 // memory made for this call, if any was needed
  bool foreign = false;            // another library's: what follows comes from DLPack
  std::shared_ptr<Import> import;  // what keeps the memory, if the object alone does not
  DLDevice device{kDLCPU, 0};
  DLDataType type{};
  Snapshot as_read;
  Tensor tensor;              // inputs are only ever read
  bool whole_strides = true;  // false: an output whose strides are not whole elements

  bool is_numpy() const { return !foreign; }
  bool on_gpu() const { return is_gpu(device); }
  // The NumPy dtype, or null if the array is not NumPy's.
  PyArray_Descr* descr() const { return reinterpret_cast<PyArray_Descr*>(dtype.ptr()); }
};

// Fills in a fresh `view`. Refuses what is no array (lists and numbers are fine as input), element
// types that cannot be copied bit by bit, other byte orders, memory that this build does not reach,
// and outputs that are read-only. Strides of dimensions with at most one entry are the contiguous
// ones: they mean nothing, and arrays of equal meaning become equal.
void view_array(View& view, nb::handle object, const Argument& argument);

// The part of it for arrays of other libraries.
void view_dlpack(View& view, nb::handle object, const Argument& argument);

// Refuses an array that no longer is what it was when it was read: other memory, shape or dtype.
// Runs no code of the caller's.
void refuse_if_changed(const View& view, std::string_view call);

// The part of it for arrays of other libraries.
bool dlpack_changed(const View& view);

// Raises `error`, which code of the array or of its library raised, as a refusal of Sheaf's, unless
// it is one already.
[[noreturn]] void refuse_unreadable(nb::python_error& error, const Argument& argument);

[[noreturn]] void refuse_read_only(nb::handle object, const Argument& argument);

// True unless both are NumPy's and mean different things by the same bytes: records of other
// fields, dates of other units.
bool same_meaning(const View& a, const View& b);

// The element type of a NumPy dtype. Refuses references and other byte orders.
DType dtype_from_numpy(PyArray_Descr* descr, const Argument& argument);

// Gives dimensions of at most one entry the contiguous strides.
void tidy_strides(TensorSpec& spec);

// Lets dimensions of one entry, and missing leading ones, repeat as NumPy's broadcasting does.
// Where that does not give `sizes`, the view stays as it was.
void stretch(View& view, const Dims& sizes);

// The same elements in row-major order as one dimension: a view where that is possible, else a copy
// where `view` is, for a call on `placement`.
View flattened(const View& view, Placement& placement, std::string_view call);

// A NumPy array over the same elements, which are plain bytes to it: for copies that no dtype need
// know about.
nb::object raw_numpy_view(const View& view);
nb::object raw_numpy_view(const Tensor& tensor);

}  // namespace sheaf::python
