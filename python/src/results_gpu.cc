// SPDX-License-Identifier: MIT
//
// Results and workspaces on a GPU. PyTorch and CuPy give memory themselves: their allocators know
// of streams, and of graphs that are being captured. Other libraries take over what CUDA gives.
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>

#include "errors.h"
#include "gpu.h"
#include "results.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

nb::module_ interop() { return nb::module_::import_("sheaf._interop"); }

nb::object tuple_from(const Dims& sizes) {
  nb::object tuple = nb::steal(PyTuple_New(sizes.size()));
  for (int d = 0; d < sizes.size(); ++d) {
    PyTuple_SET_ITEM(tuple.ptr(), d, PyLong_FromLongLong(sizes[d]));
  }
  return tuple;
}

void* address_of(nb::handle array, Library library) {
  const nb::object address =
      library == Library::kTorch ? array.attr("data_ptr")() : array.attr("data").attr("ptr");
  return reinterpret_cast<void*>(nb::cast<uintptr_t>(address));
}

nb::capsule owner_of(std::unique_ptr<cuda::Workspace> memory) {
  const nb::capsule owner(memory.get(),
                          [](void* p) noexcept { delete static_cast<cuda::Workspace*>(p); });
  memory.release();
  return owner;
}

// Freed by cudaFree, which waits for the device: whatever stream still uses it is done by then.
std::unique_ptr<cuda::Workspace> memory_of_cuda(size_t bytes) {
  return std::make_unique<cuda::Workspace>(std::max<size_t>(bytes, 1));
}

void refuse_without_namespace(nb::handle like) {
  if (!nb::hasattr(like, "__array_namespace__")) {
    raise_unsupported(refusal_text(
        "no library to give the result to",
        cat("data is ", nb::str(like.type()).c_str(), ", which has no __array_namespace__"),
        "out=, an array for the result"));
  }
}

}  // namespace

void Result::take_gpu_memory(const View& like, const TensorSpec& spec) {
  const gpu::DeviceGuard guard(like.device.device_id);
  const Library library = array_type_of(like.object).library;
  if (library == Library::kTorch) {
    object_ = like.object.attr("new_empty")(tuple_from(spec.sizes));
    memory_ = address_of(object_, library);
    return;
  }
  if (library == Library::kCupy) {
    object_ = interop().attr("cupy_empty")(tuple_from(spec.sizes), like.object.attr("dtype"));
    memory_ = address_of(object_, library);
    return;
  }
  refuse_without_namespace(like.object);
  const auto bytes = static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
  auto memory = memory_of_cuda(bytes);
  memory_ = cuda::WorkspaceView(*memory).memory;
  size_t shape[kMaxRank];
  std::transform(spec.sizes.begin(), spec.sizes.end(), shape,
                 [](int64_t size) { return static_cast<size_t>(size); });
  const nb::ndarray<nb::array_api> exported(memory_, static_cast<size_t>(spec.rank()), shape,
                                            owner_of(std::move(memory)), spec.strides.begin(),
                                            {like.type.code, like.type.bits, like.type.lanes},
                                            nb::device::cuda::value, like.device.device_id);
  object_ = nb::cast(exported);
  like_ = like.object;
}

void assign(const View& out, nb::handle values) {
  const gpu::DeviceGuard guard(out.device.device_id);
  interop().attr("assign")(out.object, values);
}

GpuMemory gpu_memory(const Lane& lane, size_t bytes) {
  if (bytes == 0) {
    return {};
  }
  if (lane.library == Library::kOther) {
    auto memory = memory_of_cuda(bytes);
    const cuda::WorkspaceView view = *memory;
    return {owner_of(std::move(memory)), view};
  }
  nb::object array;
  if (lane.library == Library::kTorch) {
    static PyObject* const uint8 =
        nb::object(nb::module_::import_("torch").attr("uint8")).release().ptr();
    array = lane.leader.attr("new_empty")(bytes, nb::arg("dtype") = nb::handle(uint8));
  } else {
    array = interop().attr("cupy_empty")(bytes, "u1");
  }
  return {array, {address_of(array, lane.library), bytes}};
}

}  // namespace sheaf::python
