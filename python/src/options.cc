// SPDX-License-Identifier: MIT
#include "call.h"

#include <atomic>
#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <nanobind/stl/string_view.h>

#include "errors.h"
#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

// What elements are that can be moved, but not computed with, and what to do about it.
std::pair<std::string, std::string> no_arithmetic(PyArray_Descr* descr) {
  std::string what;
  std::string next;
  if (PyTypeNum_ISDATETIME(descr->type_num)) {
    what = "dates and times";
    next = "x.view(\"int64\"), if their integers are meant";
  } else if (!PyArray_ISNBO(descr->byteorder)) {
    what = "numbers in the byte order of another machine";
    next = "x.astype(x.dtype.newbyteorder(\"=\"))";
  } else if (descr->type_num == NPY_LONGDOUBLE || descr->type_num == NPY_CLONGDOUBLE) {
    what = "long double, whose format differs between machines";
    next = "x.astype(\"float64\")";
  } else if (descr->type_num >= NPY_USERDEF) {  // the name of a dtype takes its time
    const std::string name = nb::str(nb::handle(reinterpret_cast<PyObject*>(descr))).c_str();
    if (name == "int4" || name == "uint4" || name == "int2" || name == "uint2") {
      what = name + ", which has no arithmetic of its own";
      next = "accumulate=\"f32\"";
    }
  }
  return {what, next};
}

// `own`: the rule that only this kind of operator has.
OutOfRange out_of_range_from(std::string_view name, OutOfRange own) {
  const OutOfRangeRow* row = find_named(kOutOfRanges, name);
  if (row != nullptr && (own == OutOfRange::kFill ? row->gathers : row->scatters)) {
    return row->value;
  }
  if (name == "skip") {
    raise_argument(refusal_text("out_of_range=\"skip\" is a rule for scatters",
                                "every element of a gather's output needs a value",
                                "out_of_range=\"fill\" with a fill_value"));
  }
  if (name == "fill") {
    raise_argument(refusal_text("out_of_range=\"fill\" is a rule for gathers",
                                "an update that goes nowhere leaves no element to fill",
                                "out_of_range=\"skip\""));
  }
  raise_argument(
      refusal_text("unknown out_of_range", cat("out_of_range=\"", name, "\""),
                   cat("\"fail\", \"clamp\", \"", to_string(own), "\", \"wrap\" or \"trust\"")));
}

// The names of other libraries for the same reductions: PyTorch's, NumPy's and ONNX's.
constexpr std::pair<std::string_view, Reduction> kOtherNames[] = {
    {"sum", Reduction::kAdd},  {"prod", Reduction::kMul}, {"multiply", Reduction::kMul},
    {"amin", Reduction::kMin}, {"amax", Reduction::kMax},
};

Reduction reduction_from(std::string_view name) {
  if (const ReductionRow* row = find_named(kReductions, name)) {
    return row->value;
  }
  for (const auto& [other_name, value] : kOtherNames) {
    if (name == other_name) {
      return value;
    }
  }
  std::string names;
  for (const ReductionRow& row : kReductions) {
    names += cat(names.empty()                 ? "\""
                 : &row == &kReductions.back() ? " or \""
                                               : ", \"",
                 row.name, "\"");
  }
  raise_argument(refusal_text("unknown reduction", cat("reduction=\"", name, "\""), names));
}

bool accumulates_f32(std::string_view name) {
  if (!name.empty() && name != "f32") {
    raise_argument(refusal_text("unknown accumulate", cat("accumulate=\"", name, "\""),
                                "\"f32\", or None for the type of data"));
  }
  return !name.empty();
}

Scalar integer_scalar(nb::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) {
    return Scalar(int64_t{value});
  }
  const unsigned long long large = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise_argument(refusal_text("fill_value is too large",
                                cat("no element type holds ", nb::str(number).c_str()),
                                "a value of data's dtype"));
  }
  return Scalar(uint64_t{large});
}

std::optional<Scalar> python_scalar(nb::handle number) {
  PyObject* object = number.ptr();
  if (PyLong_Check(object)) {  // bool too
    return integer_scalar(number);
  }
  if (PyFloat_Check(object)) {
    return Scalar(PyFloat_AS_DOUBLE(object));
  }
  if (PyComplex_Check(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    return Scalar(std::complex<double>(value.real, value.imag));
  }
  return std::nullopt;
}

// NumPy's dates are counted in units of their dtype: NumPy converts, the integer is what is stored.
nb::object date_as_integer(nb::handle date, PyArray_Descr* descr) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::handle dtype(reinterpret_cast<PyObject*>(descr));
  return numpy.attr("asarray")(date, dtype).attr("view")("int64").attr("item")();
}

Dims dims_from(const std::vector<int64_t>& values) { return Dims{std::span(values)}; }

std::atomic<int> process_threads = 0;
thread_local int own_threads = -1;

}  // namespace

Negative negative_from(std::string_view name) {
  if (const NegativeRow* row = find_named(kNegatives, name)) {
    return row->value;
  }
  raise_argument(refusal_text("unknown negative", cat("negative=\"", name, "\""),
                              "\"from_end\" or \"out_of_range\""));
}

Scalar scalar_from(nb::handle value, PyArray_Descr* descr) {
  if (descr != nullptr && PyTypeNum_ISDATETIME(descr->type_num)) {
    return integer_scalar(date_as_integer(value, descr));
  }
  if (const auto scalar = python_scalar(value)) {
    return *scalar;
  }
  if (nb::hasattr(value, "item")) {  // scalars and 0-d arrays of NumPy, ml_dtypes, torch, JAX
    const nb::object item = value.attr("item")();
    if (const auto scalar = python_scalar(item)) {
      return *scalar;
    }
    if (PyNumber_Check(item.ptr()) != 0) {  // ml_dtypes' item() gives the scalar itself
      if (const auto scalar = python_scalar(nb::float_(item))) {
        return *scalar;
      }
    }
  }
  raise_dtype(refusal_text("fill_value is no number", cat("it is ", nb::str(value.type()).c_str()),
                           "an int, float or complex"));
}

Op op_from_name(std::string_view name) {
  if (const OpRow* row = find_named(kOps, name)) {
    return row->value;
  }
  raise_argument(refusal_text("unknown operator", cat("\"", name, "\""),
                              "\"gather\", \"gather_elements\", \"gather_nd\", or a scatter"));
}

void set_options(Request& r, const GatherKeywords& keywords, PyArray_Descr* descr) {
  r.axis = keywords.axis;
  r.batch_dims = keywords.batch_dims;
  r.broadcast = keywords.broadcast;
  r.rule = {.negative = negative_from(keywords.negative),
            .out_of_range = out_of_range_from(keywords.out_of_range, OutOfRange::kFill)};
  if (r.rule.out_of_range == OutOfRange::kFill) {
    r.rule.fill_value = scalar_from(keywords.fill_value, descr);
  }
}

void set_options(Request& r, const ScatterKeywords& keywords, PyArray_Descr* descr) {
  r.axis = keywords.axis;
  r.batch_dims = keywords.batch_dims;
  r.reduction = reduction_from(keywords.reduction);
  r.include_self = keywords.include_self;
  r.relaxed = keywords.relaxed;
  r.accumulate_f32 = accumulates_f32(keywords.accumulate);
  r.rule = {.negative = negative_from(keywords.negative),
            .out_of_range = out_of_range_from(keywords.out_of_range, OutOfRange::kSkip)};
  if (r.reduction != Reduction::kNone && descr != nullptr) {
    refuse_arithmetic(r.name, "reduction", to_string(r.reduction), descr);
  }
}

void refuse_arithmetic(std::string_view call, std::string_view option, std::string_view value,
                       PyArray_Descr* descr) {
  const auto [what, next] = no_arithmetic(descr);
  if (!what.empty()) {
    raise_dtype(refusal_text(cat(call, ": ", option, " does not fit the type"),
                             cat(option, " = ", value, " on ", what), next));
  }
}

nb::dict reductions() {
  nb::dict all;
  const auto add = [&](std::string_view name, Reduction value) {
    all[nb::str(name.data(), name.size())] = to_string(value);
  };
  for (const ReductionRow& row : kReductions) {
    add(row.name, row.value);
  }
  for (const auto& [name, value] : kOtherNames) {
    add(name, value);
  }
  return all;
}

IndexRule rule_from_mode(std::string_view mode) {
  if (mode == "raise") {
    return {};
  }
  if (mode == "wrap") {
    return {.out_of_range = OutOfRange::kWrap};
  }
  if (mode == "clip") {  // in NumPy, clip makes negative indices 0
    return {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kClamp};
  }
  raise_argument(
      refusal_text("unknown mode", cat("mode=\"", mode, "\""), "\"raise\", \"wrap\" or \"clip\""));
}

int64_t integer_from(nb::handle object) {
  const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  const long long value = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
  if (value == -1 && PyErr_Occurred() != nullptr) {
    throw nb::python_error();
  }
  return value;
}

XlaGatherOptions xla_options_from(const XlaNumbers& numbers) {
  return {.offset_dims = dims_from(numbers.offset_dims),
          .collapsed_slice_dims = dims_from(numbers.collapsed_slice_dims),
          .operand_batching_dims = dims_from(numbers.operand_batching_dims),
          .start_indices_batching_dims = dims_from(numbers.start_indices_batching_dims),
          .start_index_map = dims_from(numbers.start_index_map),
          .index_vector_dim = numbers.index_vector_dim,
          .slice_sizes = dims_from(numbers.slice_sizes)};
}

int thread_limit(int threads) {
  if (threads < 0) {
    raise_argument(refusal_text("negative number of threads", cat("threads=", threads),
                                "threads=0 for as many as pay, or a limit"));
  }
  if (threads > 0) {
    return threads;
  }
  return own_threads >= 0 ? own_threads : process_threads.load(std::memory_order_relaxed);
}

int set_process_threads(int threads) {
  if (threads < 0) {
    thread_limit(threads);  // refuses
  }
  return process_threads.exchange(threads);
}

int set_own_threads(int threads) { return std::exchange(own_threads, threads); }

}  // namespace sheaf::python
