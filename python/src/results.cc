// SPDX-License-Identifier: MIT
#include "results.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <utility>

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

}  // namespace

Result::Result(const View& like, const TensorSpec& spec) {
  if (like.is_numpy()) {
    object_ = new_numpy(like.descr(), spec.sizes);
    memory_ = PyArray_DATA(as_array(object_.ptr()));
    return;
  }
  if (like.on_gpu()) {
    take_gpu_memory(like, spec);
    return;
  }
  like_ = like.object;
  object_ = new_exporter(spec, like.type, memory_);
}

nb::object Result::finish(bool scalar) {
  if (like_.is_valid()) {
    return nb::module_::import_("sheaf._interop").attr("array_like")(like_, object_);
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

}  // namespace sheaf::python
