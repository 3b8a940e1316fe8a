// SPDX-License-Identifier: MIT
#include "errors.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <typeinfo>
#include <utility>

#include "interrupt.h"
#include "plan/index_error.h"
#include "plan/refuse.h"
#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

// Owned for the life of the process: exceptions may be raised until its very end.
struct Classes {
  PyObject* any;
  PyObject* index;
  PyObject* argument;
  PyObject* axis;
  PyObject* dtype;
  PyObject* index_dtype;
  PyObject* unsupported;
  PyObject* out_of_memory;
  PyObject* device;
  PyObject* buffer;
  PyObject* file;
  PyObject* file_not_found;
  PyObject* permission;
};
Classes classes;

PyObject* class_of_file(const Error& error) {
  const auto* file = dynamic_cast<const FileError*>(&error);
  switch (file ? file->system_error() : 0) {
    case ENOENT: return classes.file_not_found;
    case EACCES:
    case EPERM: return classes.permission;
    default: return classes.file;
  }
}

PyObject* class_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kIndexOutOfRange: return classes.index;
    case ErrorCode::kUnsupported: return classes.unsupported;
    case ErrorCode::kOutOfMemory: return classes.out_of_memory;
    case ErrorCode::kDevice: return classes.device;
    case ErrorCode::kFile: return class_of_file(error);
    default: return classes.argument;
  }
}

// Advice as Python writes it.
std::string text_of(const Error& error) {
  const std::string& advice = error.refusal().next;
  if (advice != kGatherAdvice && advice != kScatterAdvice) {
    return error.what();
  }
  Refusal refusal = error.refusal();
  refusal.next =
      cat("out_of_range=\"clamp\" or \"", advice == kScatterAdvice ? "skip" : "fill", "\"");
  return Error(std::move(refusal)).what();
}

// Sets the Python error; a bad index carries its position and the number of bad ones.
void set_error(PyObject* type, const Error& error) {
  const nb::object exception = nb::handle(type)(text_of(error).c_str());
  if (const auto* bad = dynamic_cast<const IndexError*>(&error)) {
    exception.attr("position") = tuple_of(bad->position());
    exception.attr("bad_count") = bad->bad_count();
  }
  if (const auto* file = dynamic_cast<const FileError*>(&error)) {
    const std::string& path = file->path();
    exception.attr("errno") =
        file->system_error() != 0 ? nb::object(nb::int_(file->system_error())) : nb::none();
    exception.attr("filename") =
        nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), std::ssize(path)));
  }
  PyErr_SetObject(type, exception.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (Interrupted& interrupted) {
    interrupted.error.restore();
  } catch (const Error& error) {
    set_error(class_of(error), error);
  } catch (const std::bad_alloc&) {
    PyErr_SetString(
        classes.out_of_memory,
        refusal_text("out of memory", "the call needs more than there is", "smaller arrays")
            .c_str());
  } catch (const std::bad_cast&) {
    PyErr_SetString(classes.argument, refusal_text("an argument has the wrong type",
                                                   "a number was expected somewhere", "help(sheaf)")
                                          .c_str());
  }
}

// The refusal for an exception of other code. It is caught as the original, too.
PyObject* class_for(const nb::python_error& error) {
  const std::pair<PyObject*, PyObject*> kinds[] = {{PyExc_MemoryError, classes.out_of_memory},
                                                   {PyExc_BufferError, classes.buffer},
                                                   {PyExc_NotImplementedError, classes.unsupported},
                                                   {PyExc_TypeError, classes.dtype}};
  for (const auto& [original, ours] : kinds) {
    if (error.matches(original)) {
      return ours;
    }
  }
  return classes.argument;
}

[[noreturn]] void raise_text(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  throw nb::python_error();
}

bool axis_is_bad(const Request& r) {
  const int64_t rank = r.data.rank();
  const Op op = is_scatter(r.op) ? inverse_of(r.op) : r.op;
  const bool has_axis = op == Op::kGather || op == Op::kGatherElements;
  return has_axis && (r.axis < -rank || r.axis >= rank);
}

bool types_differ(const Request& r) {
  return (r.output_given && r.output.dtype != r.data.dtype) ||
         (is_scatter(r.op) && r.updates.dtype != r.data.dtype);
}

// Addition of records, an order of complex numbers, a mean of bools.
bool reduction_is_undefined(const Request& r) {
  return refusal_of_reduction(r.reduction, r.data.dtype) != nullptr;
}

}  // namespace

nb::tuple tuple_of(const Dims& dims) {
  nb::list list;
  for (const int64_t dim : dims) {
    list.append(dim);
  }
  return nb::tuple(list);
}

void load_errors() {
  const nb::module_ module = nb::module_::import_("sheaf._errors");
  const auto get = [&](const char* name) { return nb::object(module.attr(name)).release().ptr(); };
  classes = {get("Error"),
             get("IndexError"),
             get("ArgumentError"),
             get("AxisError"),
             get("DTypeError"),
             get("IndexDTypeError"),
             get("UnsupportedError"),
             get("OutOfMemoryError"),
             get("DeviceError"),
             get("BufferError"),
             get("FileError"),
             get("FileNotFoundError"),
             get("PermissionError")};
  nb::register_exception_translator(translate);
}

void set_python_error(const std::exception_ptr& exception) {
  try {
    translate(exception, nullptr);
  } catch (const std::exception& other) {
    PyErr_SetString(PyExc_RuntimeError, other.what());
  }
}

void raise_refusal(const Request& r, const Error& error) {
  PyObject* type = class_of(error);
  if (type == classes.argument) {
    if (!r.indices.dtype.is_integer()) {
      type = classes.index_dtype;
    } else if (axis_is_bad(r)) {
      type = classes.axis;
    } else if (types_differ(r) || reduction_is_undefined(r)) {
      type = classes.dtype;
    }
  }
  set_error(type, error);
  throw nb::python_error();
}

void raise_by_cause(const Error& error) {
  PyObject* type = class_of(error);
  const Cause& cause = error.refusal().cause;
  if (type == classes.argument && cause.reason == Reason::kAxis) {
    type = classes.axis;
  } else if (type == classes.argument && cause.reason == Reason::kType) {
    type = cause.tensor == "indices" ? classes.index_dtype : classes.dtype;
  } else if (type == classes.argument && cause.reason == Reason::kReduction) {
    type = classes.dtype;
  }
  set_error(type, error);
  throw nb::python_error();
}

void throw_as_error(nb::python_error& error, std::string_view who) {
  if (!error.matches(PyExc_Exception)) {
    throw std::move(error);
  }
  Refusal refusal;
  if (error.matches(classes.index_dtype)) {
    refusal.cause = {Reason::kType, "indices"};
  } else if (error.matches(PyExc_TypeError)) {
    refusal.cause = {Reason::kType};
  } else if (error.matches(classes.axis)) {
    refusal.cause = {Reason::kAxis};
  } else if (error.matches(PyExc_MemoryError)) {
    refusal.code = ErrorCode::kOutOfMemory;
  } else if (error.matches(PyExc_NotImplementedError)) {
    refusal.code = ErrorCode::kUnsupported;
  }
  std::string text = nb::str(error.value()).c_str();
  if (!error.matches(classes.any) || text.find("\n  try: ") == std::string::npos) {
    const std::string kind = nb::str(nb::handle(error.type()).attr("__name__")).c_str();
    text = refusal_text("failed", cat(kind, ": ", text), "what that rank's error says");
  }
  text.erase(0, text.starts_with(cat(who, ": ")) ? who.size() + 2 : 0);
  const size_t detail = text.find("\n  ") + 3, next = text.rfind("\n  try: ");
  refusal.who = who;
  refusal.what = text.substr(0, detail - 3);
  refusal.detail = text.substr(detail, std::max(next, detail) - detail);
  refusal.next = text.substr(next + 8);
  throw Error(std::move(refusal));
}

void raise_argument(const std::string& text) { raise_text(classes.argument, text); }
void raise_axis(const std::string& text) { raise_text(classes.axis, text); }
void raise_dtype(const std::string& text) { raise_text(classes.dtype, text); }
void raise_unsupported(const std::string& text) { raise_text(classes.unsupported, text); }
void raise_buffer(const std::string& text) { raise_text(classes.buffer, text); }

void raise_as_refusal(nb::python_error& error, const std::string& what, const std::string& next) {
  if (!error.matches(PyExc_Exception) || error.matches(classes.any)) {
    throw std::move(error);
  }
  const std::string message = nb::str(error.value()).c_str();
  const std::string kind = nb::str(nb::handle(error.type()).attr("__name__")).c_str();
  const std::string detail = cat(kind, ": ", message.substr(0, message.find('\n')));
  nb::raise_from(error, class_for(error), "%s", refusal_text(what, detail, next).c_str());
}

std::string refusal_text(const std::string& what, const std::string& detail,
                         const std::string& next) {
  return sheaf::refusal_text(what, detail, "", next);
}

}  // namespace sheaf::python
