// SPDX-License-Identifier: MIT
#include "errors.h"

#include "dims.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

// Owned for the life of the process: exceptions may be raised until its very end.
struct Classes {
  PyObject* index;
  PyObject* argument;
  PyObject* axis;
  PyObject* dtype;
  PyObject* index_dtype;
  PyObject* unsupported;
  PyObject* out_of_memory;
  PyObject* device;
  PyObject* file;
};
Classes classes;

PyObject* class_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kIndexOutOfRange: return classes.index;
    case ErrorCode::kUnsupported: return classes.unsupported;
    case ErrorCode::kOutOfMemory: return classes.out_of_memory;
    case ErrorCode::kDevice: return classes.device;
    case ErrorCode::kFile: return classes.file;
    default: return classes.argument;
  }
}

// Sets the Python error; a bad index carries its position and the number of bad ones.
void set_error(PyObject* type, const Error& error) {
  const nb::object exception = nb::handle(type)(error.what());
  if (const auto* bad = dynamic_cast<const IndexError*>(&error)) {
    exception.attr("position") = tuple_of(bad->position());
    exception.attr("bad_count") = bad->bad_count();
  }
  PyErr_SetObject(type, exception.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    set_error(class_of(error), error);
  }
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
  const DType type = r.data.dtype;
  const bool ordered = r.reduction == Reduction::kMin || r.reduction == Reduction::kMax;
  return (type.kind() == Kind::kOpaque && r.reduction != Reduction::kNone) ||
         ((type == c64 || type == c128) && ordered) ||
         (type == boolean && r.reduction == Reduction::kMean);
}

}  // namespace

void load_errors() {
  const nb::module_ module = nb::module_::import_("sheaf._errors");
  const auto get = [&](const char* name) { return nb::object(module.attr(name)).release().ptr(); };
  classes = {get("IndexError"),       get("ArgumentError"),   get("AxisError"),
             get("DTypeError"),       get("IndexDTypeError"), get("UnsupportedError"),
             get("OutOfMemoryError"), get("DeviceError"),     get("FileError")};
  nb::register_exception_translator(translate);
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

void raise_argument(const std::string& text) { raise_text(classes.argument, text); }
void raise_dtype(const std::string& text) { raise_text(classes.dtype, text); }
void raise_unsupported(const std::string& text) { raise_text(classes.unsupported, text); }

std::string refusal_text(const std::string& what, const std::string& detail,
                         const std::string& next) {
  return cat(what, "\n  ", detail, "\n  try: ", next);
}

}  // namespace sheaf::python
