// SPDX-License-Identifier: MIT
#include "torch_shim.h"

#include <dlfcn.h>

#include <algorithm>
#include <new>

#include "libraries.h"

namespace sheaf::python {
namespace {

using Handle = void*;  // AtenTensorHandle
using Status = int32_t;

struct Shim {
  Status (*empty_strided)(int64_t rank, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                          int32_t device_type, int32_t device, Handle* made) = nullptr;
  Status (*delete_tensor)(Handle) = nullptr;
  Status (*data_ptr)(Handle, void**) = nullptr;
  Status (*get_dtype)(Handle, int32_t*) = nullptr;
  Status (*get_device_type)(Handle, int32_t*) = nullptr;
  Status (*get_device_index)(Handle, int32_t*) = nullptr;
  // From version 2.14 on; null before.
  Status (*from_python)(void* object, Handle* made) = nullptr;
  Status (*to_python)(Handle, void* type, void** object) = nullptr;
  // THPVariable_Wrap(const at::TensorBase&), which every C++ extension calls. A handle is the
  // address of a tensor.
  PyObject* (*wrap)(Handle) = nullptr;
  bool complete = false;
};

template <class Function>
bool look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

constexpr char kHandleOf[] = "unsafe_alloc_void_ptr_from_tensor";  // of aoti()

nb::object aoti() { return nb::getattr(nb::module_::import_("torch._C"), "_aoti", nb::none()); }

Shim load() {
  Shim shim;
  void* const library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return shim;
  }
  shim.complete = look_up(library, "aoti_torch_empty_strided", shim.empty_strided) &&
                  look_up(library, "aoti_torch_delete_tensor_object", shim.delete_tensor) &&
                  look_up(library, "aoti_torch_get_data_ptr", shim.data_ptr) &&
                  look_up(library, "aoti_torch_get_dtype", shim.get_dtype) &&
                  look_up(library, "aoti_torch_get_device_type", shim.get_device_type) &&
                  look_up(library, "aoti_torch_get_device_index", shim.get_device_index);
  const bool has_objects = look_up(library, "torch_tensor_from_pyobject", shim.from_python) &&
                           look_up(library, "torch_tensor_to_pyobject", shim.to_python);
  if (!has_objects) {
    void* const python_library = dlopen("libtorch_python.so", RTLD_LAZY | RTLD_NOLOAD);
    shim.complete = shim.complete && python_library != nullptr &&
                    look_up(python_library, "_Z16THPVariable_WrapRKN2at10TensorBaseE", shim.wrap);
  }
  return shim;
}

// Asked for only when a tensor is at hand, so PyTorch is loaded.
const Shim& shim() {
  static const Shim found = load();
  return found;
}

void require(Status status) {
  if (status != 0) {
    PyErr_Clear();
    throw std::bad_alloc();
  }
}

// To be deleted by the caller.
Handle handle_of(nb::handle tensor) {
  Handle handle = nullptr;
  if (shim().from_python != nullptr) {
    require(shim().from_python(tensor.ptr(), &handle));
    return handle;
  }
  const nb::object capsule = aoti().attr(kHandleOf)(tensor);
  handle = PyCapsule_GetPointer(capsule.ptr(), nullptr);
  if (handle == nullptr) {
    throw nb::python_error();
  }
  return handle;
}

}  // namespace

TorchTensor::TorchTensor(const TorchKind& kind, nb::handle like, const TensorSpec& spec) {
  if (!has_torch_shim()) {
    object_ = new_empty(like, spec.sizes);
    DLTensor made{};
    if (!view_directly(object_, array_type_of(object_), made)) {
      throw std::bad_alloc();
    }
    memory_ = static_cast<char*>(made.data) + made.byte_offset;
    return;
  }
  require(shim().empty_strided(spec.rank(), spec.sizes.begin(), spec.strides.begin(), kind.dtype,
                               kind.device_type, kind.device, &handle_));
  if (shim().data_ptr(handle_, &memory_) != 0) {
    shim().delete_tensor(handle_);
    throw std::bad_alloc();
  }
}

TorchTensor::~TorchTensor() {
  if (handle_ != nullptr) {
    shim().delete_tensor(handle_);
  }
}

nb::object TorchTensor::to_python() const {
  if (handle_ == nullptr) {
    return object_;
  }
  void* object = nullptr;
  if (shim().to_python != nullptr) {
    require(shim().to_python(handle_, nullptr, &object));
  } else {
    object = shim().wrap(handle_);
    require(object == nullptr ? 1 : 0);
  }
  return nb::steal(static_cast<PyObject*>(object));
}

bool has_torch_shim() {
  if (!shim().complete || shim().from_python != nullptr) {
    return shim().complete;
  }
  // Guarded by the GIL alone: Python may let go of it here, and the next thread must not wait.
  static int has_handles = -1;
  if (has_handles < 0) {
    has_handles = nb::hasattr(aoti(), kHandleOf) ? 1 : 0;
  }
  return has_handles == 1;
}

TorchKind torch_kind_of(nb::handle tensor) {
  const Handle handle = handle_of(tensor);
  TorchKind kind;
  const bool known = shim().get_dtype(handle, &kind.dtype) == 0 &&
                     shim().get_device_type(handle, &kind.device_type) == 0 &&
                     shim().get_device_index(handle, &kind.device) == 0;
  shim().delete_tensor(handle);
  require(known ? 0 : 1);
  return kind;
}

nb::object new_empty(nb::handle like, const Dims& sizes) {
  static PyObject* const name = PyUnicode_InternFromString("new_empty");
  // Sizes one by one: PyTorch parses them in half the time that a tuple takes.
  nb::object numbers[kMaxRank];
  PyObject* arguments[kMaxRank + 1] = {like.ptr()};
  for (int d = 0; d < sizes.size(); ++d) {
    numbers[d] = nb::int_(sizes[d]);
    arguments[d + 1] = numbers[d].ptr();
  }
  if (sizes.empty()) {
    numbers[0] = nb::steal(PyTuple_New(0));
    arguments[1] = numbers[0].ptr();
  }
  const auto count = static_cast<size_t>(std::max(sizes.size(), 1) + 1);
  PyObject* const made = PyObject_VectorcallMethod(name, arguments, count, nullptr);
  if (made == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(made);
}

}  // namespace sheaf::python
