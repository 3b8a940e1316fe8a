// SPDX-License-Identifier: MIT
//
// Counts of few numbers: there the plan of a scatter costs more than the sums.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "arrays.h"
#include "bindings.h"

namespace sheaf::python {
namespace {

using nb::literals::operator""_a;

constexpr npy_intp kMostNumbers = 4096;
constexpr int64_t kMostBins = 1 << 16;

PyArrayObject* exact_array(nb::handle object) {
  return PyArray_CheckExact(object.ptr()) ? reinterpret_cast<PyArrayObject*>(object.ptr())
                                          : nullptr;
}

// One dimension, in the byte order of this machine, where its type may stand.
bool is_plain_row(PyArrayObject* array) {
  return array != nullptr && PyArray_NDIM(array) == 1 && PyArray_ISBEHAVED_RO(array);
}

template <class T>
std::pair<int64_t, int64_t> range_of(PyArrayObject* array) {
  int64_t least = 0;
  int64_t most = -1;
  const char* at = PyArray_BYTES(array);
  for (npy_intp i = 0; i < PyArray_DIM(array, 0); ++i, at += PyArray_STRIDE(array, 0)) {
    T value;
    std::memcpy(&value, at, sizeof value);
    const bool too_large = std::cmp_greater_equal(value, kMostBins);
    least = std::min(least, too_large ? 0 : static_cast<int64_t>(value));
    most = std::max(most, too_large ? kMostBins : static_cast<int64_t>(value));
  }
  return {least, most};
}

// Weights, or ones if there are none, added to the bins of the numbers.
template <class T, class Sum>
void add(PyArrayObject* numbers, PyArrayObject* weights, Sum* bins) {
  const char* at = PyArray_BYTES(numbers);
  const char* weight = weights == nullptr ? nullptr : PyArray_BYTES(weights);
  for (npy_intp i = 0; i < PyArray_DIM(numbers, 0); ++i, at += PyArray_STRIDE(numbers, 0)) {
    T value;
    std::memcpy(&value, at, sizeof value);
    Sum one = 1;
    if (weight != nullptr) {
      std::memcpy(&one, weight, sizeof one);
      weight += PyArray_STRIDE(weights, 0);
    }
    bins[static_cast<size_t>(value)] += one;
  }
}

template <class T>
nb::object counted(PyArrayObject* numbers, PyArrayObject* weights, int64_t minlength) {
  const auto [least, most] = range_of<T>(numbers);
  if (least < 0 || most >= kMostBins) {
    return nb::none();
  }
  npy_intp length = std::max(most + 1, minlength);
  PyObject* const made = PyArray_ZEROS(1, &length, weights == nullptr ? NPY_INTP : NPY_DOUBLE, 0);
  if (made == nullptr) {
    throw nb::python_error();
  }
  void* const bins = PyArray_DATA(reinterpret_cast<PyArrayObject*>(made));
  weights == nullptr ? add<T>(numbers, weights, static_cast<npy_intp*>(bins))
                     : add<T>(numbers, weights, static_cast<double*>(bins));
  return nb::steal(made);
}

nb::object counted(PyArrayObject* numbers, PyArrayObject* weights, int64_t minlength) {
  const bool is_signed = PyArray_ISSIGNED(numbers);
  switch (PyArray_ITEMSIZE(numbers)) {
    case 1:
      return is_signed ? counted<int8_t>(numbers, weights, minlength)
                       : counted<uint8_t>(numbers, weights, minlength);
    case 2:
      return is_signed ? counted<int16_t>(numbers, weights, minlength)
                       : counted<uint16_t>(numbers, weights, minlength);
    case 4:
      return is_signed ? counted<int32_t>(numbers, weights, minlength)
                       : counted<uint32_t>(numbers, weights, minlength);
    case 8:
      return is_signed ? counted<int64_t>(numbers, weights, minlength)
                       : counted<uint64_t>(numbers, weights, minlength);
    default: return nb::none();
  }
}

// numpy.bincount of a few small numbers; None for all else, and for what is to be refused.
nb::object small_bincount(nb::handle x, nb::handle weights, nb::handle minlength) {
  PyArrayObject* const numbers = exact_array(x);
  const int64_t least = PyLong_CheckExact(minlength.ptr()) ? PyLong_AsLong(minlength.ptr()) : -1;
  PyErr_Clear();  // of a minlength that is too large
  if (!is_plain_row(numbers) || least < 0 || least > kMostBins ||
      PyArray_DIM(numbers, 0) > kMostNumbers ||
      !(PyArray_ISINTEGER(numbers) || PyArray_ISBOOL(numbers))) {
    return nb::none();
  }
  PyArrayObject* const of = exact_array(weights);
  if (!weights.is_none() && (!is_plain_row(of) || PyArray_TYPE(of) != NPY_DOUBLE ||
                             PyArray_DIM(of, 0) != PyArray_DIM(numbers, 0))) {
    return nb::none();
  }
  return counted(numbers, weights.is_none() ? nullptr : of, least);
}

}  // namespace

void bind_sums(nb::module_& module) {
  module.def("small_bincount", small_bincount, "x"_a.none(), "weights"_a.none(),
             "minlength"_a.none());
}

}  // namespace sheaf::python
