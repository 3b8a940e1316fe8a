// SPDX-License-Identifier: MIT
//
// Operators on plain PyTorch tensors, past everything that a small call has no use for: a call like
// one before runs at once. All others, and those that fail before anything has run, go to a
// function in Python, which records gradients and raises the error.
//
// The operators are registered from Python, though PyTorch has a stable C interface for that, too:
// it saves 0.5 us of 2 us, but has no number of any type (Scalar) as an argument, no way to ask for
// requires_grad, and none to raise an exception of a class of ours.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.h"
#include "call.h"
#include "errors.h"
#include "frontends/c/dlpack.h"
#include "libraries.h"
#include "torch_known.h"
#include "torch_shim.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

// Who calls, and so what the tensors must still be asked about.
enum class Caller {
  kUser,      // everything: nothing of PyTorch has seen the call
  kAutograd,  // gradients, transforms, modes and lazy signs: PyTorch's kernel for gradients
  kBackend,   // nothing: PyTorch's kernel for a device
};

Caller caller_from(std::string_view name) {
  return name == "user"       ? Caller::kUser
         : name == "autograd" ? Caller::kAutograd
         : name == "backend"  ? Caller::kBackend
                              : throw nb::value_error("no such caller");
}

// An operator, as a function of Python's.
struct Kernel {
  Op op;
  bool into;  // its last tensor is `out`
  Caller caller;
  nb::object in_python;  // for everything else: the dispatcher, or what it calls
  nb::object expand;  // from the options as given to all of them, as the compiled part takes them

  int inputs() const { return is_scatter(op) ? 3 : 2; }
  int tensors() const { return inputs() + (into ? 1 : 0); }
};

// False if not all of them are tensors with memory that holds their values. Complex numbers may be
// left to be conjugated, and are rare; so are integers of a few bits, which are refused.
bool view_all(PyObject* const* tensors, int count, Views& views) {
  for (int i = 0; i < count; ++i) {
    DLTensor& view = views[static_cast<size_t>(i)];
    if (!view_directly(tensors[i], array_type_of(tensors[i]), view) || view.ndim > kMaxRank ||
        view.strides == nullptr || view.dtype.code == kDLComplex ||
        hides_its_type(tensors[i], view) || !(is_host(view.device) || is_gpu(view.device))) {
      return false;
    }
    const bool empty =
        std::any_of(view.shape, view.shape + view.ndim, [](int64_t n) { return n == 0; });
    if (view.data == nullptr && !empty) {
      return false;
    }
  }
  return true;
}

Request request_for(const Kernel& kernel, PyObject* const* options, Py_ssize_t count) {
  nb::object given = nb::steal(PyTuple_New(count + 1));
  PyTuple_SET_ITEM(given.ptr(), 0,
                   nb::str(std::string(to_string(kernel.op)).c_str()).release().ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_INCREF(options[i]);
    PyTuple_SET_ITEM(given.ptr(), i + 1, options[i]);
  }
  PyObject* const expanded = PyObject_CallObject(kernel.expand.ptr(), given.ptr());
  if (expanded == nullptr) {
    throw nb::python_error();
  }
  const auto all = nb::steal<nb::tuple>(expanded);
  const auto text = [&](size_t i) {
    if (!PyUnicode_Check(nb::handle(all[i]).ptr())) {
      throw nb::type_error("not a text");  // the kernel in Python says which
    }
    return nb::borrow<nb::str>(all[i]);
  };
  const auto axis = nb::cast<int64_t>(all[0]);
  const auto batch_dims = nb::cast<int64_t>(all[1]);
  Request request = request_from(kernel.op);
  if (is_scatter(kernel.op)) {
    const nb::str reduction = text(2), out_of_range = text(4), negative = text(5),
                  accumulate = text(6);
    set_options(request,
                ScatterKeywords{.axis = axis,
                                .batch_dims = batch_dims,
                                .reduction = reduction.c_str(),
                                .include_self = nb::cast<bool>(all[3]),
                                .accumulate = accumulate.c_str(),
                                .out_of_range = out_of_range.c_str(),
                                .negative = negative.c_str()},
                nullptr);
    return request;
  }
  const nb::str out_of_range = text(3), negative = text(4);
  const nb::object fill_value = all[5];
  set_options(request,
              GatherKeywords{.axis = axis,
                             .batch_dims = batch_dims,
                             .broadcast = nb::cast<bool>(all[2]),
                             .out_of_range = out_of_range.c_str(),
                             .negative = negative.c_str(),
                             .fill_value = fill_value},
              nullptr);
  return request;
}

Passed passed(const Kernel& kernel, PyObject* const* args) {
  const nb::handle updates = is_scatter(kernel.op) ? nb::handle(args[2]) : nb::handle();
  return {args[0], args[1], kernel.into ? nb::handle(args[kernel.inputs()]) : nb::none(), updates,
          true};
}

// A call of a new kind: checked and planned as every other call is.
std::shared_ptr<const KnownCall> plan_call(const Kernel& kernel, const Options& options,
                                           PyObject* const* args, Py_ssize_t count) {
  Request request = request_for(kernel, args + kernel.tensors(), count - kernel.tensors());
  const Arrays arrays = view_arrays(to_string(kernel.op), passed(kernel, args));
  accumulate_where_narrow(request, arrays.data.tensor.spec.dtype);
  set_inputs(request, arrays);
  const TensorSpec& out = arrays.out.tensor.spec;
  if (kernel.into) {
    request.set_output(out);
  }
  auto call = std::make_shared<KnownCall>(
      KnownCall{kernel.op,
                kernel.into,
                options,
                {},
                plan_for(request),
                has_torch_shim() ? torch_kind_of(args[0]) : TorchKind()});
  Views views{};
  if (!view_all(args, kernel.tensors(), views)) {
    return nullptr;
  }
  const TensorSpec* planned[kMaxTensors] = {&arrays.data.tensor.spec, &arrays.indices.tensor.spec,
                                            &arrays.updates.tensor.spec};
  if (kernel.into) {
    planned[kernel.inputs()] = &out;
  }
  for (size_t i = 0; i < static_cast<size_t>(kernel.tensors()); ++i) {
    if (spec_from_dlpack(views[i], {to_string(kernel.op), "tensor"}) != *planned[i]) {
      return nullptr;  // it changed while the others were read
    }
    call->layouts.emplace_back(views[i]);
  }
  known_calls().keep(call);
  return call;
}

Placement placement_of(nb::handle data, const DLTensor& view) {
  Placement placement;
  placement.inside_operator = true;
  if (is_gpu(view.device)) {
    placement.admit(data, view.device);
  }
  return placement;
}

void refuse_changed(const Kernel& kernel, PyObject* const* args, const Views& before,
                    const KnownCall& call) {
  Views now{};
  bool same = view_all(args, kernel.tensors(), now);
  for (size_t i = 0; same && i < static_cast<size_t>(kernel.tensors()); ++i) {
    same = now[i].data == before[i].data && now[i].byte_offset == before[i].byte_offset &&
           call.layouts[i].fits(now[i]);
  }
  if (!same) {
    throw std::runtime_error("a tensor has changed");  // try_plain leaves the call to Python
  }
}

// Thrown where Python's error is set and is the answer of the call.
struct Raised {};

// `result`: memory for it, or null if the call has an `out`.
void run_known(const Kernel& kernel, PyObject* const* args, const Views& views,
               const KnownCall& call, void* result) {
  const Placement placement = placement_of(args[0], views[0]);
  const auto memory = [&](int i) {
    const DLTensor& view = views[static_cast<size_t>(i)];
    return static_cast<char*>(view.data) + view.byte_offset;
  };
  bool started = false;
  const std::function<void()> last_check = [&] {
    // Code of Python makes the workspace of a GPU, and the result where there is no shim.
    if (placement.on_gpu || !has_torch_shim()) {
      refuse_changed(kernel, args, views, call);
    }
    started = true;
  };
  try {
    run_at(placement, call.known->plan,
           {memory(0), memory(1), is_scatter(kernel.op) ? memory(2) : nullptr,
            kernel.into ? memory(kernel.inputs()) : result},
           thread_limit(0), !kernel.into, last_check);
  } catch (nb::python_error& error) {
    if (!started && error.matches(PyExc_RuntimeError)) {  // PyTorch has no memory for the workspace
      throw;
    }
    error.restore();
    throw Raised();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {
    if (!started) {
      throw;
    }
    // `out` may have changed: the kernel in Python must not run, or a sum would be added twice.
    set_python_error(std::current_exception());
    throw Raised();
  }
}

// Whether the memory holds the values, and no mode, transform or gradient has to see the call.
bool are_plain(const Kernel& kernel, PyObject* const* args) {
  if (kernel.caller == Caller::kBackend) {
    return true;
  }
  if (!are_unwatched(args, kernel.tensors(), kernel.caller == Caller::kAutograd)) {
    return false;
  }
  for (int i = 0; i < kernel.tensors(); ++i) {
    constexpr int kIndices = 1;
    if (i != kIndices && has_lazy_sign(args[i])) {
      return false;
    }
  }
  return true;
}

// `out` after a run. An error now must not lead to another run either.
nb::object changed(PyObject* out) try {
  count_change(out);
  return nb::borrow(out);
} catch (nb::python_error& error) {
  error.restore();
  throw Raised();
}

// The result; nothing if the tensors are not plain ones. Code of the caller may run while they are
// looked at, so their memory is read last; where some may run after that, they are looked at again.
nb::object run_plain(const Kernel& kernel, PyObject* const* args, Py_ssize_t count) {
  Options options;
  if (!are_plain(kernel, args) ||
      !read_options(args + kernel.tensors(), count - kernel.tensors(), options)) {
    return {};
  }
  Views views{};
  if (!view_all(args, kernel.tensors(), views)) {
    return {};
  }
  auto call = known_calls().find(kernel.op, kernel.into, options, views);
  if (call == nullptr) {
    call = plan_call(kernel, options, args, count);
    if (call == nullptr || !view_all(args, kernel.tensors(), views) ||
        !call->fits(kernel.op, kernel.into, options, views)) {
      return {};
    }
  }
  if (kernel.into) {
    run_known(kernel, args, views, *call, nullptr);
    return changed(args[kernel.inputs()]);
  }
  const TorchTensor result(call->kind, args[0], call->known->plan.output());
  run_known(kernel, args, views, *call, result.memory());
  return result.to_python();
}

// Nothing, too, if the call was interrupted: then Python's error is set.
nb::object try_plain(const Kernel& kernel, PyObject* const* args, Py_ssize_t count) {
  try {
    return run_plain(kernel, args, count);
  } catch (const Raised&) {
  } catch (Interrupted& interrupted) {  // it is not for the kernel in Python to go on
    interrupted.error.restore();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) {
      error.restore();
    }
  } catch (const std::exception&) {
  }
  return {};  // the kernel in Python will meet the same error, and raise it
}

constexpr char kCapsule[] = "sheaf.Kernel";

PyObject* call_kernel(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const auto& kernel = *static_cast<const Kernel*>(PyCapsule_GetPointer(self, kCapsule));
  const bool no_keywords = names == nullptr || PyTuple_GET_SIZE(names) == 0;
  if (no_keywords && count >= kernel.tensors()) {
    nb::object result = try_plain(kernel, args, count);
    if (result.is_valid()) {
      return result.release().ptr();
    }
    if (PyErr_Occurred() != nullptr) {
      return nullptr;
    }
  }
  return PyObject_Vectorcall(kernel.in_python.ptr(), args, static_cast<size_t>(count), names);
}

nb::object make_kernel(std::string_view name, nb::object in_python, nb::object expand, bool into,
                       std::string_view caller) {
  static PyMethodDef definition = {
      "kernel", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_kernel)),
      METH_FASTCALL | METH_KEYWORDS, "A kernel of an operator."};
  auto kernel = std::make_unique<Kernel>(Kernel{op_from_name(name), into, caller_from(caller),
                                                std::move(in_python), std::move(expand)});
  const nb::capsule self(kernel.get(), kCapsule,
                         [](void* p) noexcept { delete static_cast<Kernel*>(p); });
  kernel.release();
  PyObject* const function = PyCFunction_NewEx(&definition, self.ptr(), nullptr);
  if (function == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(function);
}

}  // namespace

void bind_torch(nb::module_& module) {
  module.def("torch_kernel", make_kernel, "op"_a, "in_python"_a, "expand"_a, "into"_a, "caller"_a);
}

}  // namespace sheaf::python
