// SPDX-License-Identifier: MIT
//
// Arrays of other libraries: those that come by DLPack, in host memory or on a GPU.
#include <optional>

#include "arrays.h"
#include "errors.h"
#include "frontends/c/dlpack.h"
#include "gpu.h"
#include "lane.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

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
    raise_unsupported(refusal_text(cat(argument.call, ": unsupported device"),
                                   cat(place, ", but Sheaf reaches CPUs and CUDA's GPUs only"),
                                   "a copy of the array in CPU memory"));
  }
  raise_unsupported(refusal_text(cat(argument.call, ": CUDA is not available"),
                                 cat(place, ", but ", cuda::description()),
                                 "a copy of the array in CPU memory"));
}

bool has_cuda(int device) {
  try {
    const gpu::DeviceGuard guard(device);
    return cuda::available();
  } catch (const Error&) {
    return false;  // no driver, or no such device
  }
}

void import_by_capsule(View& view, nb::handle object, const Argument& argument) {
  const bool on_gpu = view.on_gpu();
  std::optional<gpu::DeviceGuard> guard;  // PyTorch looks at the current device
  nb::object stream;
  if (on_gpu) {
    guard.emplace(view.device.device_id);
    stream = dlpack_stream(argument.lane, array_type_of(object).library);
  }
  view.import = std::make_shared<Import>(object, stream);
  const DLDevice& given = view.import->tensor().device;
  const bool agree =
      on_gpu ? is_gpu(given) && given.device_id == view.device.device_id : is_host(given);
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

// PyTorch leaves some negations and conjugations to whoever reads the memory: they are done here.
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

}  // namespace

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
  const nb::object resolved = resolved_tensor(object, type, argument);
  object = resolved;
  DLTensor direct{};
  bool is_direct = view_directly(object, type, direct);
  if (is_direct) {
    view.as_read = snapshot_of(direct);
  } else if (DLTensor before{}; view_by_library(object, type, before)) {
    view.as_read = snapshot_of(before);
  }
  view.object = resolved;
  view.foreign = true;
  view.device = is_direct ? direct.device : announced_device(object);
  const bool leads = argument.lane == nullptr || !argument.lane->on_gpu;
  if (view.on_gpu() ? leads && !has_cuda(view.device.device_id) : !is_host(view.device)) {
    refuse_device(view.device, argument);
  }
  if (view.on_gpu() && argument.lane != nullptr) {
    if (!argument.lane->admit(object, view.device)) {
      return;  // refuse_other_devices will name it, with all the others
    }
    // Another library's stream does not know of ours: its __dlpack__ tells it.
    is_direct = is_direct && type.library == argument.lane->library;
  }
  if (!is_direct) {
    import_by_capsule(view, object, argument);
  }
  read_tensor(view, is_direct ? direct : view.import->tensor(), argument);
  if (argument.role == Role::kOutput &&
      (type.immutable || (!is_direct && view.import->read_only()))) {
    refuse_read_only(object, argument);
  }
}

}  // namespace sheaf::python
