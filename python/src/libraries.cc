// SPDX-License-Identifier: MIT
#include "libraries.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "support/text.h"

namespace sheaf::python {
namespace {

PyObject* interned(const char* name) {
  PyObject* text = PyUnicode_InternFromString(name);
  if (text == nullptr) {
    throw nb::python_error();
  }
  return text;
}

const ExchangeApi* api_from(nb::handle capsule) {
  constexpr char kName[] = "dlpack_exchange_api";
  if (PyCapsule_IsValid(capsule.ptr(), kName) == 0) {
    return nullptr;
  }
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  return api->header.version.major == DLPACK_MAJOR_VERSION && api->view != nullptr ? api : nullptr;
}

struct Described {
  ArrayType facts;
  bool keep;
};

Described describe_type(nb::handle type) {
  const nb::object facts = nb::module_::import_("sheaf._interop").attr("describe_type")(type);
  const nb::object library = facts[0];
  const std::string_view name = nb::cast<nb::str>(library).c_str();
  return {.facts = {.has_dlpack = nb::hasattr(type, "__dlpack__"),
                    .library = name == "torch"  ? Library::kTorch
                               : name == "cupy" ? Library::kCupy
                                                : Library::kOther,
                    .immutable = nb::cast<bool>(facts[1]),
                    .api = api_from(facts[2]),
                    .base_api = api_from(facts[3])},
          .keep = nb::cast<bool>(facts[4])};
}

bool is_true(nb::handle object, PyObject* attribute) {
  const nb::object value = nb::steal(PyObject_GetAttr(object.ptr(), attribute));
  if (!value.is_valid()) {
    throw nb::python_error();
  }
  return value.ptr() == Py_True;
}

bool says_true(nb::handle object, PyObject* method) {
  const nb::object value = nb::steal(PyObject_CallMethodNoArgs(object.ptr(), method));
  if (!value.is_valid()) {
    throw nb::python_error();
  }
  return value.ptr() == Py_True;
}

bool returns_true(PyObject* function) {
  const nb::object value = nb::steal(PyObject_CallNoArgs(function));
  if (!value.is_valid()) {
    throw nb::python_error();
  }
  return value.ptr() == Py_True;
}

// What asks PyTorch for the state of its dispatcher. Owned for the life of the process.
struct TorchState {
  PyObject* is_grad_enabled;
  PyObject* is_profiling;
  PyObject* tracing_state;         // of torch.jit.trace
  PyObject* count_function_modes;  // that see every call of a function
  PyObject* has_transforms;        // of torch.func
  PyObject* count_modes;           // that see every operator
  PyObject* forward_ad;
  PyObject* increment_version;
};

const TorchState& torch_state() {
  static const TorchState state = [] {
    const nb::module_ c = nb::module_::import_("torch._C");
    const auto get = [&](const char* name) { return nb::object(c.attr(name)).release().ptr(); };
    return TorchState{
        .is_grad_enabled = get("is_grad_enabled"),
        .is_profiling = nb::object(c.attr("_autograd").attr("_profiler_enabled")).release().ptr(),
        .tracing_state = get("_get_tracing_state"),
        .count_function_modes = get("_len_torch_function_stack"),
        .has_transforms = get("_are_functorch_transforms_active"),
        .count_modes = get("_len_torch_dispatch_stack"),
        .forward_ad = nb::module_::import_("torch.autograd.forward_ad").release().ptr(),
        .increment_version = get("_increment_version")};
  }();
  return state;
}

int64_t count_from(PyObject* function) {
  const nb::object count = nb::steal(PyObject_CallNoArgs(function));
  if (!count.is_valid()) {
    throw nb::python_error();
  }
  return PyLong_AsLong(count.ptr());
}

bool is_tracing() {
  const nb::object state = nb::steal(PyObject_CallNoArgs(torch_state().tracing_state));
  if (!state.is_valid()) {
    throw nb::python_error();
  }
  return !state.is_none();
}

bool is_in_forward_mode() {
  static PyObject* const name = interned("_current_level");
  const nb::object level = nb::steal(PyObject_GetAttr(torch_state().forward_ad, name));
  if (!level.is_valid()) {
    throw nb::python_error();
  }
  return PyLong_AsLong(level.ptr()) >= 0;
}

// Whether something wants to see every call. Each question costs a small call a few percent.
bool is_watching(bool dispatched) {
  const TorchState& state = torch_state();
  return is_in_forward_mode() || count_from(state.count_modes) != 0 ||
         returns_true(state.has_transforms) ||
         (!dispatched && (is_tracing() || count_from(state.count_function_modes) != 0 ||
                          returns_true(state.is_profiling)));
}

// Not those of the device `meta`, nor the zeros that forward mode keeps without memory.
bool has_memory(nb::handle tensor, const ArrayType& type) {
  DLTensor view{};
  if (!view_by_library(tensor, type, view)) {
    return false;
  }
  bool empty = false;
  for (int d = 0; d < view.ndim; ++d) {
    empty = empty || view.shape[d] == 0;
  }
  return (empty || view.data != nullptr) && (is_host(view.device) || is_gpu(view.device));
}

}  // namespace

ArrayType array_type_of(nb::handle object) {
  // Types of a user's own are not kept: with them, all that they refer to would live for good.
  static auto& known = *new std::unordered_map<PyTypeObject*, ArrayType>;
  PyTypeObject* type = Py_TYPE(object.ptr());
  const auto found = known.find(type);
  if (found != known.end()) {
    return found->second;
  }
  const Described described = describe_type(object.type());
  if (described.keep) {
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    known.emplace(type, described.facts);
  }
  return described.facts;
}

bool has_lazy_sign(nb::handle tensor) {
  static PyObject* const is_neg = interned("is_neg");
  return says_true(tensor, is_neg);
}

bool hides_its_type(nb::handle tensor, const DLTensor& view) {
  if (view.dtype.bits != 8 || (view.dtype.code != kDLInt && view.dtype.code != kDLUInt)) {
    return false;
  }
  static PyObject* const dtype = interned("dtype");
  static PyObject* const bytes[] = {
      nb::object(nb::module_::import_("torch").attr("uint8")).release().ptr(),
      nb::object(nb::module_::import_("torch").attr("int8")).release().ptr()};
  const nb::object own = nb::steal(PyObject_GetAttr(tensor.ptr(), dtype));
  if (!own.is_valid()) {
    throw nb::python_error();
  }
  return own.ptr() != bytes[0] && own.ptr() != bytes[1];
}

bool is_lazy_tensor(nb::handle tensor) {
  static PyObject* const is_conj = interned("is_conj");
  DLTensor view{};
  if (view_by_library(tensor, array_type_of(tensor), view)) {
    const int code = view.dtype.code;
    if (code == kDLInt || code == kDLUInt || code == kDLBool) {
      return false;  // only complex numbers, and their parts, are left like this
    }
    return has_lazy_sign(tensor) || (code == kDLComplex && says_true(tensor, is_conj));
  }
  return has_lazy_sign(tensor) || says_true(tensor, is_conj);
}

bool view_by_library(nb::handle object, const ArrayType& type, DLTensor& view) {
  const ExchangeApi* api = type.api != nullptr ? type.api : type.base_api;
  if (api == nullptr) {
    return false;
  }
  if (api->view(object.ptr(), &view) != 0) {
    PyErr_Clear();  // __dlpack__ will say it again
    return false;
  }
  return true;
}

bool view_directly(nb::handle object, const ArrayType& type, DLTensor& view) {
  return type.api != nullptr && view_by_library(object, type, view);
}

bool needs_gradient(nb::handle tensor) {
  static PyObject* const requires_grad = interned("requires_grad");
  return is_true(tensor, requires_grad) && returns_true(torch_state().is_grad_enabled);
}

void count_change(nb::handle tensor) {
  const nb::object tensors = nb::steal(PyTuple_Pack(1, tensor.ptr()));
  const nb::object done =
      nb::steal(PyObject_CallOneArg(torch_state().increment_version, tensors.ptr()));
  if (!done.is_valid()) {
    throw nb::python_error();
  }
}

bool are_unwatched(PyObject* const* tensors, int count, bool dispatched) {
  constexpr int kIndices = 1;  // integers, which have no gradient
  for (int i = 0; i < count; ++i) {
    const ArrayType type = array_type_of(tensors[i]);
    if (type.library != Library::kTorch || type.api == nullptr ||
        (i != kIndices && needs_gradient(tensors[i]))) {
      return false;
    }
  }
  return !is_watching(dispatched);
}

bool is_call_watched() { return is_watching(false); }

bool are_plain_tensors(nb::handle data, nb::handle indices, nb::handle updates) {
  PyObject* const tensors[] = {data.ptr(), indices.ptr(), updates.ptr()};
  const int count = updates.is_none() ? 2 : 3;
  // Asked last: PyTorch takes long to say no.
  return are_unwatched(tensors, count, false) &&
         std::all_of(tensors, tensors + count,
                     [](PyObject* tensor) { return has_memory(tensor, array_type_of(tensor)); });
}

bool Placement::admit(nb::handle object, const DLDevice& of_object) {
  const Library its_library = array_type_of(object).library;
  if (on_gpu) {
    waits = waits || its_library != library;
    return same_device(of_object, device);
  }
  const LibraryStream current = current_stream(object, of_object);
  on_gpu = true;
  device = of_object;
  library = its_library;
  leader = nb::borrow(object);
  stream = current.stream;
  stream_owner = current.owner;
  waits = library == Library::kOther;
  return true;
}

nb::object dlpack_stream(const Placement* placement, Library library) {
  if (placement == nullptr) {
    return library == Library::kOther ? nb::none() : nb::object(nb::int_(-1));
  }
  constexpr uintptr_t kDefault = 1;  // DLPack's number for it: 0 would be ambiguous
  const auto stream = reinterpret_cast<uintptr_t>(placement->stream);
  return nb::int_(stream == 0 ? kDefault : stream);
}

}  // namespace sheaf::python
