// SPDX-License-Identifier: MIT
//
// Arrays in: anything NumPy, DLPack or the buffer protocol describes, as a tensor, without a copy.
// Arrays out: memory for a result, and the array object that the caller gets to see.
//
// NumPy's C interface has one copy for the whole extension. Built with the headers of NumPy 2, it
// runs with NumPy 1.22 and later. module.cc loads it (and defines SHEAF_LOAD_NUMPY to do so).
#pragma once

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL sheaf_numpy_api
#ifndef SHEAF_LOAD_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <nanobind/nanobind.h>
#include <numpy/arrayobject.h>

#include <memory>
#include <string_view>

#include "libraries.h"
#include "sheaf/dlpack.h"
#include "sheaf/queue.h"
#include "sheaf/tensor.h"

namespace sheaf::python {

inline PyArrayObject* as_array(PyObject* object) {
  return reinterpret_cast<PyArrayObject*>(object);
}

// Owns what a capsule held; calls its deleter exactly once.
class Import {
 public:
  // Calls object.__dlpack__(), for version 1 if the object knows it, with `stream` if that is an
  // object. Errors of the object pass through unchanged.
  Import(nb::handle object, const nb::object& stream);
  ~Import();
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;

  const DLTensor& tensor() const { return *tensor_; }
  bool read_only() const { return read_only_; }

 private:
  void take_from(nb::handle capsule);

  void* managed_ = nullptr;  // the producer's struct, of either version
  bool versioned_ = false;
  bool read_only_ = false;
  const DLTensor* tensor_ = nullptr;
};

enum class Role {
  kData,
  kIndices,
  kUpdates,
  kOutput,
  // Of bags and encoded tables.
  kSegments,
  kWeights,
  kStored,
  kScales,
  kZeros,
};

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
  // Not 0: elements of so many bytes, more than the library's largest. `tensor` then has one more
  // dimension, the last, of bytes.
  int64_t large_bytes = 0;

  bool is_numpy() const { return !foreign; }
  bool on_gpu() const { return is_gpu(device); }
  int rank() const { return tensor.spec.rank() - (large_bytes != 0 ? 1 : 0); }
  // The NumPy dtype, or null if the array is not NumPy's.
  PyArray_Descr* descr() const { return reinterpret_cast<PyArray_Descr*>(dtype.ptr()); }
};

// Fills in a fresh `view`. Refuses what is no array (lists and numbers are fine as input), element
// types that cannot be copied bit by bit, memory that this build does not reach, and outputs that
// are read-only. Indices in another byte order are copied. Strides of dimensions with at most one
// entry are the contiguous ones: they mean nothing, and arrays of equal meaning become equal.
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

// Refuses elements that no plan has: those of more than 64 bytes, which are moved as rows of bytes.
void refuse_large_elements(const View& view);

// The element type of a NumPy dtype; one of another byte order is opaque. Refuses references.
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

// A contiguous array of the given shape, of the same kind and device as `like`, and of its dtype
// unless `spec` has another. It is written to through memory() and then handed over by finish().
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

// Device memory as an object that exports it by DLPack.
nb::object exported_memory(std::unique_ptr<DeviceMemory> memory, const TensorSpec& spec,
                           const DLDataType& type, const DLDevice& device);

// Copies the elements of `source` to `out`, which has its sizes, whatever strides `out` has.
void copy_into(const View& out, const Tensor& source, std::string_view call);

// The same on a GPU, by the library of `out`, in the order of its stream.
void assign(const View& out, nb::handle values);

// Device memory that runs on `placement` may use, from the allocator of the placement's library.
struct GpuMemory {
  nb::object owner;
  WorkspaceView view;
};
GpuMemory gpu_memory(const Placement& placement, size_t bytes);

}  // namespace sheaf::python
