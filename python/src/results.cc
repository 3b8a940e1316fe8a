// SPDX-License-Identifier: MIT
#include "arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "errors.h"
#include "frontends/c/dlpack.h"
#include "gpu.h"
#include "support/text.h"
#include "torch_shim.h"

namespace sheaf::python {
namespace {

nb::object checked(PyObject* object) {
  if (object == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(object);
}

nb::object new_numpy(PyArray_Descr* descr, const Dims& sizes) {
  npy_intp shape[kMaxRank];
  std::copy(sizes.begin(), sizes.end(), shape);
  Py_INCREF(descr);  // the call below takes one
  return checked(PyArray_NewFromDescr(&PyArray_Type, descr, sizes.size(), shape, nullptr, nullptr,
                                      0, nullptr));
}

// Memory of Sheaf's own, exported by DLPack with the dtype `type`.
nb::object new_exporter(const TensorSpec& spec, DLDataType type, void*& memory) {
  auto array = std::make_unique<Array>(spec);
  memory = array->tensor().data;
  size_t shape[kMaxRank];
  std::transform(spec.sizes.begin(), spec.sizes.end(), shape,
                 [](int64_t size) { return static_cast<size_t>(size); });
  const nb::capsule owner(array.get(), [](void* p) noexcept { delete static_cast<Array*>(p); });
  array.release();
  const nb::ndarray<nb::array_api> exported(memory, static_cast<size_t>(spec.rank()), shape, owner,
                                            spec.strides.begin(),
                                            {type.code, type.bits, type.lanes});
  return nb::cast(exported);
}

nb::module_ interop() { return nb::module_::import_("sheaf._interop"); }

// The NumPy dtype of a result: that of `like`, or the one that `spec` names.
nb::object result_dtype(const View& like, const TensorSpec& spec) {
  if (spec.dtype == like.tensor.spec.dtype) {
    return like.dtype;
  }
  return interop().attr("numpy_dtype")(spec.dtype.name());
}

DLDataType result_type(const View& like, const TensorSpec& spec) {
  return spec.dtype == like.tensor.spec.dtype ? like.type : dtype_to_dlpack(spec.dtype);
}

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

nb::capsule owner_of(std::unique_ptr<DeviceMemory> memory) {
  const nb::capsule owner(memory.get(),
                          [](void* p) noexcept { delete static_cast<DeviceMemory*>(p); });
  memory.release();
  return owner;
}

// The same tensor without its device, which tensor_from_dlpack would refuse.
DLTensor on_host(DLTensor tensor) {
  tensor.device = {kDLCPU, 0};
  return tensor;
}

// To free it waits for the device: whatever stream still uses it is done by then.
std::unique_ptr<DeviceMemory> device_memory(const DLDevice& device, size_t bytes) {
  return std::make_unique<DeviceMemory>(gpu::name_of(device), std::max<size_t>(bytes, 1));
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

nb::object exported_memory(std::unique_ptr<DeviceMemory> memory, const TensorSpec& spec,
                           const DLDataType& type, const DLDevice& device) {
  size_t shape[kMaxRank];
  std::transform(spec.sizes.begin(), spec.sizes.end(), shape,
                 [](int64_t size) { return static_cast<size_t>(size); });
  void* const data = memory->data();
  const nb::ndarray<nb::array_api> exported(data, static_cast<size_t>(spec.rank()), shape,
                                            owner_of(std::move(memory)), spec.strides.begin(),
                                            {type.code, type.bits, type.lanes},
                                            gpu::own_type(device), device.device_id);
  return nb::cast(exported);
}

Result::Result(const View& like, const TensorSpec& spec) {
  if (like.is_numpy()) {
    Dims sizes = spec.sizes;
    if (like.large_bytes != 0) {
      sizes.pop_back();  // the bytes of an element
    }
    const nb::object dtype = result_dtype(like, spec);
    object_ = new_numpy(reinterpret_cast<PyArray_Descr*>(dtype.ptr()), sizes);
    memory_ = PyArray_DATA(as_array(object_.ptr()));
    return;
  }
  const ArrayType type = array_type_of(like.object);
  if (type.library == Library::kTorch && (type.api != nullptr || like.on_gpu())) {
    take_torch_memory(like, spec);
    return;
  }
  if (like.on_gpu()) {
    take_gpu_memory(like, spec);
    return;
  }
  like_ = like.object;
  object_ = new_exporter(spec, result_type(like, spec), memory_);
}

nb::object Result::finish(bool scalar) {
  if (like_.is_valid()) {
    return interop().attr("array_like")(like_, object_);
  }
  if (scalar && PyArray_Check(object_.ptr()) && PyArray_NDIM(as_array(object_.ptr())) == 0) {
    return checked(PyArray_Return(as_array(object_.release().ptr())));
  }
  return std::move(object_);
}

void copy_into(const View& out, const Tensor& source, std::string_view call) {
  const nb::object from = raw_numpy_view(source);
  const nb::object to = raw_numpy_view(out);
  refuse_if_changed(out, call);
  if (PyArray_CopyInto(as_array(to.ptr()), as_array(from.ptr())) != 0) {
    throw nb::python_error();
  }
}

// Tensors of PyTorch's own, so that their storage can do what every storage can. A subclass may
// make something else of new_empty: what came of it is looked at.
void Result::take_torch_memory(const View& like, const TensorSpec& spec) {
  object_ =
      spec.dtype == like.tensor.spec.dtype
          ? new_empty(like.object, spec.sizes)
          : interop().attr("torch_empty")(like.object, tuple_from(spec.sizes), spec.dtype.name());
  const ArrayType type = array_type_of(object_);
  if (DLTensor made{}; view_by_library(object_, type, made)) {
    const Tensor tensor = tensor_from_dlpack(on_host(made), {"new_empty", "result"});
    if (tensor.spec != TensorSpec(spec.dtype, spec.sizes)) {
      raise_argument(refusal_text(
          "new_empty: not what was asked for",
          cat("asked for ", TensorSpec(spec.dtype, spec.sizes).str(), ", got ", tensor.spec.str()),
          "out=, an array for the result"));
    }
    memory_ = tensor.data;
    return;
  }
  memory_ = address_of(object_, Library::kTorch);
}

void Result::take_gpu_memory(const View& like, const TensorSpec& spec) {
  const gpu::DeviceGuard guard(like.device);
  const Library library = array_type_of(like.object).library;
  if (library == Library::kCupy) {
    const nb::object dtype = spec.dtype == like.tensor.spec.dtype
                                 ? nb::object(like.object.attr("dtype"))
                                 : interop().attr("numpy_dtype")(spec.dtype.name());
    object_ = interop().attr("cupy_empty")(tuple_from(spec.sizes), dtype);
    memory_ = address_of(object_, library);
    return;
  }
  refuse_without_namespace(like.object);
  const auto bytes = static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
  auto memory = device_memory(like.device, bytes);
  memory_ = memory->data();
  object_ = exported_memory(std::move(memory), spec, result_type(like, spec), like.device);
  like_ = like.object;
}

void assign(const View& out, nb::handle values) {
  const gpu::DeviceGuard guard(out.device);
  interop().attr("assign")(out.object, values);
}

GpuMemory gpu_memory(const Placement& placement, size_t bytes) {
  if (bytes == 0) {
    return {};
  }
  if (placement.library == Library::kOther) {
    auto memory = device_memory(placement.device, bytes);
    const WorkspaceView view = *memory;
    return {owner_of(std::move(memory)), view};
  }
  nb::object array;
  if (placement.library == Library::kTorch) {
    static PyObject* const uint8 =
        nb::object(nb::module_::import_("torch").attr("uint8")).release().ptr();
    array = placement.leader.attr("new_empty")(bytes, nb::arg("dtype") = nb::handle(uint8));
  } else {
    array = interop().attr("cupy_empty")(bytes, "u1");
  }
  return {array, {address_of(array, placement.library), bytes}};
}

}  // namespace sheaf::python
