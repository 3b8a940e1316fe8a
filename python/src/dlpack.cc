// SPDX-License-Identifier: MIT
#include "dlpack.h"

#include "errors.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

constexpr char kName[] = "dltensor";
constexpr char kUsedName[] = "used_dltensor";
constexpr char kVersionedName[] = "dltensor_versioned";
constexpr char kUsedVersionedName[] = "used_dltensor_versioned";

nb::object call_dlpack(nb::handle object, const nb::object& stream) {
  const nb::object method = object.attr("__dlpack__");
  nb::dict keywords;
  if (stream.is_valid()) {
    keywords["stream"] = stream;
  }
  keywords["max_version"] = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  try {
    return method(**keywords);
  } catch (nb::python_error& error) {
    // Producers from before version 1 do not know the keyword, or say that they cannot do it.
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_NotImplementedError)) {
      throw;
    }
  }
  nb::del(keywords["max_version"]);
  return method(**keywords);
}

template <class Managed>
void release(void* memory) {
  auto* managed = static_cast<Managed*>(memory);
  if (managed->deleter != nullptr) {
    managed->deleter(managed);
  }
}

}  // namespace

Import::Import(nb::handle object, const nb::object& stream) {
  take_from(call_dlpack(object, stream));
}

void Import::take_from(nb::handle capsule) {
  versioned_ = PyCapsule_IsValid(capsule.ptr(), kVersionedName) != 0;
  if (!versioned_ && PyCapsule_IsValid(capsule.ptr(), kName) == 0) {
    raise_argument(refusal_text("__dlpack__() did not give a fresh DLPack capsule",
                                "a capsule can be taken once, and is then renamed",
                                "a __dlpack__ that makes a new capsule each time"));
  }
  void* managed = PyCapsule_GetPointer(capsule.ptr(), versioned_ ? kVersionedName : kName);
  if (versioned_) {
    auto* m = static_cast<DLManagedTensorVersioned*>(managed);
    if (m->version.major != DLPACK_MAJOR_VERSION) {  // unknown layout; it stays the capsule's
      raise_unsupported(
          refusal_text(cat("DLPack version ", m->version.major, ".", m->version.minor),
                       "versions 0 and 1 are understood", "a __dlpack__ that heeds max_version"));
    }
    tensor_ = &m->dl_tensor;
    read_only_ = (m->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  } else {
    tensor_ = &static_cast<DLManagedTensor*>(managed)->dl_tensor;
  }
  // The new name tells the capsule's destructor that the memory is no longer its to free.
  if (PyCapsule_SetName(capsule.ptr(), versioned_ ? kUsedVersionedName : kUsedName) != 0) {
    throw nb::python_error();
  }
  managed_ = managed;
}

Import::~Import() {
  if (managed_ != nullptr) {
    versioned_ ? release<DLManagedTensorVersioned>(managed_) : release<DLManagedTensor>(managed_);
  }
}

}  // namespace sheaf::python
