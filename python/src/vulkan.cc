// SPDX-License-Identifier: MIT
//
// What sheaf.vulkan is made of: memory of the Vulkan device that DLPack exports, and copies between
// it and NumPy's.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "errors.h"
#include "execution/registry.h"
#include "frontends/c/dlpack.h"
#include "gpu.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

constexpr DLDevice kVulkan{kDLVulkan, 0};

size_t bytes_of(const TensorSpec& spec) {
  return static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
}

View view_of(nb::handle array, const char* call) {
  View view;
  view_array(view, array, {call, Role::kData});
  return view;
}

// An array whose elements follow one another, of the Vulkan device.
View device_view(nb::handle array, const char* call) {
  View view = view_of(array, call);
  const TensorSpec& spec = view.tensor.spec;
  if (view.device.device_type != kDLVulkan || spec.strides != contiguous_strides(spec.sizes)) {
    raise_argument(refusal_text(cat(call, ": not a contiguous array on the Vulkan device"),
                                cat("it is on ", text_of(view.device), ": ", spec.str()),
                                "sheaf.vulkan.array(x)"));
  }
  return view;
}

nb::object empty_like(nb::handle host) {
  const View view = view_of(host, "vulkan.array");
  if (!device_available(gpu::kVulkanName)) {
    raise_unsupported(refusal_text("vulkan.array: no device", device_description(gpu::kVulkanName),
                                   "arrays of NumPy"));
  }
  refuse_large_elements(view);
  const TensorSpec spec(view.tensor.spec.dtype, view.tensor.spec.sizes);
  auto memory =
      std::make_unique<DeviceMemory>(gpu::kVulkanName, std::max<size_t>(bytes_of(spec), 1));
  return exported_memory(std::move(memory), spec, dtype_to_dlpack(spec.dtype), kVulkan);
}

const DeviceSteps& steps() { return *device_backend(gpu::kVulkanName).device; }

// Both have as many bytes: the callers are in sheaf/vulkan.py.
void upload(nb::handle to, nb::handle host) {
  const View device = device_view(to, "vulkan.array");
  const View from = view_of(host, "vulkan.array");
  if (const size_t bytes = bytes_of(device.tensor.spec); bytes > 0) {
    without_gil([&] { steps().upload(device.tensor.data, from.tensor.data, bytes); });
  }
}

void download(nb::handle from, nb::handle host) {
  const View device = device_view(from, "vulkan.Array.numpy");
  const View to = view_of(host, "vulkan.Array.numpy");
  if (const size_t bytes = bytes_of(device.tensor.spec); bytes > 0) {
    without_gil([&] { steps().download(to.tensor.data, device.tensor.data, bytes); });
  }
}

nb::object reshaped(nb::handle array, const nb::tuple& sizes) {
  const View view = device_view(array, "vulkan.Array.reshape");
  size_t shape[kMaxRank];
  size_t rank = 0;
  for (const nb::handle size : sizes) {
    shape[rank++] = nb::cast<size_t>(size);
  }
  const DLDataType type = dtype_to_dlpack(view.tensor.spec.dtype);
  const nb::ndarray<nb::array_api> exported(view.tensor.data, rank, shape, array, nullptr,
                                            {type.code, type.bits, type.lanes}, kDLVulkan, 0);
  return nb::cast(exported);
}

nb::tuple described(nb::handle array) {
  const TensorSpec spec = device_view(array, "vulkan.from_dlpack").tensor.spec;
  nb::list sizes;
  for (const int64_t size : spec.sizes) {
    sizes.append(size);
  }
  return nb::make_tuple(spec.dtype.name(), nb::tuple(sizes));
}

}  // namespace

void bind_vulkan(nb::module_& module) {
  module.def(
      "vulkan_available", [] { return device_available(gpu::kVulkanName); },
      "Whether there is a Vulkan device that runs plans.");
  module.def(
      "vulkan_description", [] { return device_description(gpu::kVulkanName); },
      "The Vulkan device, or why there is none.");
  module.def("vulkan_empty", empty_like, "host"_a,
             nb::sig("def vulkan_empty(host: object) -> object"),
             "Memory for an array like this one, exported by DLPack.");
  module.def("vulkan_upload", upload, "to"_a, "host"_a,
             nb::sig("def vulkan_upload(to: object, host: object) -> None"),
             "Copies from the host.");
  module.def("vulkan_download", download, "source"_a, "host"_a,
             nb::sig("def vulkan_download(source: object, host: object) -> None"),
             "Copies to the host.");
  module.def("vulkan_reshaped", reshaped, "array"_a, "sizes"_a,
             nb::sig("def vulkan_reshaped(array: object, sizes: tuple[int, ...]) -> object"),
             "The same memory with other sizes.");
  module.def("vulkan_described", described, "array"_a,
             nb::sig("def vulkan_described(array: object) -> tuple[str, tuple[int, ...]]"),
             "Sheaf's name of the dtype, and the sizes, of an array on the Vulkan device.");
}

}  // namespace sheaf::python
