// SPDX-License-Identifier: MIT
//
// Whose array is this? What is known of the well-known types is found out once.
#pragma once

#include <nanobind/nanobind.h>

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
  void* stream = nullptr;  // null: CUDA's default stream
  nb::object owner;        // what keeps it alive, if something must
};

// The current stream of the array's library. JAX and others that do not tell have none.
LibraryStream current_stream(nb::handle object, int device);

// Fills in `view` without a call of Python, which costs a tenth of __dlpack__. False if the type
// cannot, or if its __dlpack__ has something to say: that a gradient would be lost, for one.
bool view_directly(nb::handle object, const ArrayType& type, DLTensor& view);

// What the C functions say, of the type or of the one it is derived from. False if there are none.
// Runs no code of the caller's.
bool view_by_library(nb::handle object, const ArrayType& type, DLTensor& view);

// Whether a PyTorch tensor's memory holds something else than its values: their negatives or
// conjugates.
bool is_lazy_tensor(nb::handle tensor);

}  // namespace sheaf::python
