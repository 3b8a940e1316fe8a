// SPDX-License-Identifier: MIT
#include "arrays.h"

#include <optional>

#include "errors.h"
#include "frontends/c/dlpack.h"
#include "gpu.h"
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

// What an object without __dlpack_device__ has is in host memory.
DLDevice announced_device(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) {
    return {kDLCPU, 0};
  }
  const nb::object pair = object.attr("__dlpack_device__")();
  // The first of the two is a number, or an enumerator that is one.
  return {static_cast<DLDeviceType>(nb::cast<int32_t>(nb::int_(pair[0]))),
          nb::cast<int32_t>(nb::int_(pair[1]))};
}

void refuse_device(const DLDevice& device, const Argument& argument) {
  const std::string place = cat(to_string(argument.role), " is on ", text_of(device));
  if (!is_gpu(device)) {
    raise_unsupported(
        refusal_text(cat(argument.call, ": unsupported device"),
                     cat(place, ", but Sheaf reaches CPUs, NVIDIA's GPUs and Vulkan's only"),
                     "a copy of the array in CPU memory"));
  }
  raise_unsupported(refusal_text(cat(argument.call, ": the GPU is not available"),
                                 cat(place, ", but ", device_description(gpu::name_of(device))),
                                 "a copy of the array in CPU memory"));
}

bool is_gpu_usable(const DLDevice& device) {
  try {
    const gpu::DeviceGuard guard(device);
    return device_available(gpu::name_of(device));
  } catch (const Error&) {
    return false;  // no driver, or no such device
  }
}

void import_by_capsule(View& view, nb::handle object, const Argument& argument) {
  const bool on_gpu = view.on_gpu();
  std::optional<gpu::DeviceGuard> guard;  // PyTorch looks at the current device
  nb::object stream;
  if (on_gpu) {
    guard.emplace(view.device);
    stream = dlpack_stream(argument.placement, array_type_of(object).library);
  }
  view.import = std::make_shared<Import>(object, stream);
  const DLDevice& given = view.import->tensor().device;
  const bool agree = on_gpu ? same_device(given, view.device) : is_host(given);
  if (!agree && !is_gpu(given) && !is_host(given)) {
    refuse_device(given, argument);
  }
  if (!agree) {
    const bool says = nb::hasattr(object, "__dlpack_device__");
    raise_argument(refusal_text(
        cat(argument.call, ": two devices for one array"),
        cat(says ? "__dlpack_device__() of " : "no __dlpack_device__() of ",
            to_string(argument.role), says ? " says " : " means ", text_of(view.device),
            ", but __dlpack__() gave memory of ", text_of(given)),
        "an array whose two methods agree"));
  }
}

Snapshot snapshot_of(const DLTensor& tensor) {
  Snapshot snapshot;
  snapshot.address = tensor.data;
  snapshot.known = true;
  for (int d = 0; d < tensor.ndim && d < kMaxRank; ++d) {
    snapshot.sizes.push_back(tensor.shape[d]);
    snapshot.strides.push_back(tensor.strides != nullptr ? tensor.strides[d] : 0);
  }
  return snapshot;
}

void read_tensor(View& view, DLTensor tensor, const Argument& argument) {
  view.type = tensor.dtype;
  tensor.device = {kDLCPU, 0};  // it has been looked at
  view.tensor = tensor_from_dlpack(tensor, {argument.call, to_string(argument.role)});
}

// A result that is not recorded would have no gradient, in silence.
void refuse_gradient(nb::handle object, const ArrayType& type, const Argument& argument) {
  const bool counts = argument.placement != nullptr && !argument.placement->inside_operator;
  if (type.library == Library::kTorch && counts && needs_gradient(object)) {
    raise_buffer(refusal_text(
        cat(argument.call, ": the gradient would be lost"),
        cat(to_string(argument.role), " requires a gradient, which this call does not record"),
        "x.detach(), torch.no_grad(), or the functions of sheaf.torch"));
  }
}

// Sums and results would take them for bytes.
void refuse_hidden_type(nb::handle object, const DLTensor& tensor, const Argument& argument) {
  if (hides_its_type(object, tensor)) {
    const nb::object dtype = object.attr("dtype");
    const std::string name = nb::str(nb::handle(dtype)).c_str();
    raise_dtype(refusal_text(
        cat(argument.call, ": ", name, " tensors are not supported"),
        cat("PyTorch hands over ", to_string(argument.role), " as bytes, without its type"),
        "x.view(torch.uint8), and back: PyTorch keeps a byte per element"));
  }
}

// PyTorch leaves some negations and conjugations to the reader of the memory: they are done here.
nb::object resolved_tensor(nb::handle object, const ArrayType& type, const Argument& argument) {
  if (type.library != Library::kTorch || !is_lazy_tensor(object)) {
    return nb::borrow(object);
  }
  if (argument.role == Role::kOutput) {
    raise_argument(refusal_text(cat(argument.call, ": out is a negated or conjugated view"),
                                "its memory does not hold its values",
                                "an out without the bit, then copy it"));
  }
  return object.attr("resolve_neg")().attr("resolve_conj")();
}

// The __dlpack__ of PyTorch refuses a tensor that requires a gradient, also where none is recorded.
// From version 2.10 on it has C functions, which do not.
nb::object without_gradient(const nb::object& tensor) {
  return nb::cast<bool>(tensor.attr("requires_grad")) ? nb::object(tensor.attr("detach")())
                                                      : tensor;
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

bool dlpack_changed(const View& view) {
  DLTensor tensor{};
  if (!view_by_library(view.object, array_type_of(view.object), tensor)) {
    return true;
  }
  const Snapshot now = snapshot_of(tensor);
  return now.address != view.as_read.address || now.sizes != view.as_read.sizes ||
         now.strides != view.as_read.strides;
}

void view_dlpack(View& view, nb::handle object, const Argument& argument) {
  const ArrayType type = array_type_of(object);
  refuse_gradient(object, type, argument);
  nb::object resolved = resolved_tensor(object, type, argument);
  DLTensor direct{};
  bool is_direct = view_directly(resolved, type, direct);
  if (!is_direct && type.library == Library::kTorch) {
    resolved = without_gradient(resolved);
  }
  object = resolved;
  if (is_direct) {
    view.as_read = snapshot_of(direct);
  } else if (DLTensor before{}; view_by_library(object, type, before)) {
    view.as_read = snapshot_of(before);
  }
  view.object = resolved;
  view.foreign = true;
  view.device = is_direct ? direct.device : announced_device(object);
  const bool leads = argument.placement == nullptr || !argument.placement->on_gpu;
  if (view.on_gpu() ? leads && !is_gpu_usable(view.device) : !is_host(view.device)) {
    refuse_device(view.device, argument);
  }
  if (view.on_gpu() && argument.placement != nullptr) {
    if (!argument.placement->admit(object, view.device)) {
      return;  // refuse_other_devices will name it, with all the others
    }
    // Another library's stream does not know of ours: its __dlpack__ tells it.
    is_direct = is_direct && type.library == argument.placement->library;
  }
  if (!is_direct) {
    import_by_capsule(view, object, argument);
  }
  const DLTensor& tensor = is_direct ? direct : view.import->tensor();
  if (type.library == Library::kTorch) {
    refuse_hidden_type(object, tensor, argument);
  }
  read_tensor(view, tensor, argument);
  if (argument.role == Role::kOutput &&
      (type.immutable || (!is_direct && view.import->read_only()))) {
    refuse_read_only(object, argument);
  }
}

}  // namespace sheaf::python
