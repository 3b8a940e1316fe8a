// SPDX-License-Identifier: MIT
//
// Which library an array belongs to, which device it is on, and where a call on it runs. What is
// known of a type is found out once.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "sheaf/dlpack.h"

namespace sheaf::python {

namespace nb = nanobind;

// DLPack's C functions between libraries, of version 1.3: what a type's __dlpack_c_exchange_api__
// points to. They neither wait nor tell streams of each other.
struct ExchangeApi {
  struct Header {
    DLPackVersion version;
    Header* older;
  };
  Header header;
  void* allocate;  // this and the next two are not called here
  void* export_owned;
  void* import_owned;
  int (*view)(PyObject* array, DLTensor* view);  // may be null; the array still owns everything
  int (*current_stream)(DLDeviceType device, int32_t id, void** stream);
};

enum class Library { kTorch, kCupy, kOther };

struct ArrayType {
  bool has_dlpack = false;
  Library library = Library::kOther;
  bool immutable = false;            // although its DLPack export says nothing
  const ExchangeApi* api = nullptr;  // null: arrays come by __dlpack__
  // The same functions of the class that it is derived from. They say which memory PyTorch holds
  // for the array, which need not be what its __dlpack__ gives.
  const ExchangeApi* base_api = nullptr;
};

// Of any object; most types are no arrays.
ArrayType array_type_of(nb::handle object);

struct LibraryStream {
  void* stream = nullptr;  // null: the default stream
  nb::object owner;        // what keeps it alive, if something must
};

// The current stream of the array's library (gpu.cc). JAX and others that do not tell have none.
LibraryStream current_stream(nb::handle object, const DLDevice& device);

// Fills in `view` without a call of Python, which costs a tenth of __dlpack__. False if the type
// cannot.
bool view_directly(nb::handle object, const ArrayType& type, DLTensor& view);

// Whether these are PyTorch tensors (data, indices and others) that need no gradient of either
// mode, and nothing watches: no transform, mode, tracer or profiler. `dispatched`: PyTorch's
// dispatcher calls, which has told modes for functions, the tracer and the profiler already.
bool are_unwatched(PyObject* const* tensors, int count, bool dispatched);

// Whether something wants to see calls of this thread on PyTorch tensors: a transform, mode,
// tracer, profiler, or forward mode.
bool is_call_watched();

// Whether an operator may run on these PyTorch tensors at once, past PyTorch's dispatcher: they are
// tensors with memory, need no gradient of either mode, and no transform or mode watches.
bool are_plain_tensors(nb::handle data, nb::handle indices, nb::handle updates);

// Whether a call on this PyTorch tensor must be recorded for its gradient.
bool needs_gradient(nb::handle tensor);

// Tells PyTorch that a tensor's values are others now: a gradient that needs the old ones is then
// refused.
void count_change(nb::handle tensor);

// What the C functions say, of the type or of the one it is derived from. False if there are none.
// Runs no code of the caller's.
bool view_by_library(nb::handle object, const ArrayType& type, DLTensor& view);

// Whether a PyTorch tensor's memory holds something else than its values: their negatives or
// conjugates.
bool is_lazy_tensor(nb::handle tensor);
bool has_lazy_sign(nb::handle tensor);  // the negatives

// Whether `view` of a PyTorch tensor says less than its dtype: integers of 1 to 7 bits come as
// bytes.
bool hides_its_type(nb::handle tensor, const DLTensor& view);

// These are in gpu.cc.
bool is_gpu(const DLDevice& device);   // one that a backend runs on
bool is_host(const DLDevice& device);  // also if pinned for a GPU
bool same_device(const DLDevice& a, const DLDevice& b);
std::string text_of(const DLDevice& device);  // as PyTorch writes it, or "the CPU"

// Where a call runs: on the host, or on one GPU. The first array on a GPU decides: the call runs on
// its device, on the current stream of its library, and takes memory from that library.
struct Placement {
  bool on_gpu = false;
  DLDevice device{};
  Library library = Library::kOther;
  nb::object leader;
  void* stream = nullptr;
  nb::object stream_owner;
  // Arrays of two libraries, or of one that has no current stream to order later work by: the call
  // ends when the work has ended.
  bool waits = false;
  bool inside_operator = false;  // PyTorch's dispatcher calls, and takes care of gradients

  // Of an array on a GPU. False if the call runs on another.
  bool admit(nb::handle object, const DLDevice& of_object);
};

// The stream= of __dlpack__, which waits until the array can be read there. Without a placement
// nothing is read, so nothing waits.
nb::object dlpack_stream(const Placement* placement, Library library);

}  // namespace sheaf::python
