// SPDX-License-Identifier: MIT
//
// What calls on PyTorch tensors have in common with calls before: tensors alike and the same
// options mean the same plan, which is found without a look at what the options say.
#pragma once

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "call.h"
#include "libraries.h"
#include "torch_shim.h"

namespace sheaf::python {

constexpr int kMaxTensors = 4;  // data, indices, updates and out
constexpr int kMaxOptions = 7;

// An argument of an operator that is no tensor.
struct Option {
  enum Kind { kInt, kBool, kFloat, kText } kind = kInt;
  int64_t number = 0;  // or the bits of a float
  char text[16] = {};  // the longest word that an option takes, "out_of_range", has 12 letters

  friend bool operator==(const Option&, const Option&) = default;
};

struct Options {
  std::array<Option, kMaxOptions> all;
  int count = 0;

  bool operator==(const Options& other) const {
    return count == other.count && std::equal(all.begin(), all.begin() + count, other.all.begin());
  }
};

inline bool read_text(PyObject* object, Option& option) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (text == nullptr || length >= static_cast<Py_ssize_t>(sizeof option.text)) {
    PyErr_Clear();
    return false;
  }
  option.kind = Option::kText;
  std::copy(text, text + length, option.text);
  return true;
}

inline bool read_option(PyObject* object, Option& option) {
  if (PyBool_Check(object)) {
    option = {Option::kBool, object == Py_True, {}};
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    option = {Option::kInt, PyLong_AsLongLongAndOverflow(object, &overflow), {}};
    return overflow == 0;
  }
  if (PyFloat_CheckExact(object)) {
    const double value = PyFloat_AS_DOUBLE(object);
    option.kind = Option::kFloat;
    std::memcpy(&option.number, &value, sizeof value);
    return true;
  }
  return PyUnicode_CheckExact(object) && read_text(object, option);
}

inline bool read_options(PyObject* const* objects, Py_ssize_t count, Options& options) {
  if (count > kMaxOptions) {
    return false;
  }
  options.count = static_cast<int>(count);
  for (int i = 0; i < options.count; ++i) {
    if (!read_option(objects[i], options.all[static_cast<size_t>(i)])) {
      return false;
    }
  }
  return true;
}

// What a tensor must have in common with one before, for the plan to be the same.
struct Layout {
  DLDataType type{};
  DLDevice device{};
  Dims sizes, strides;

  explicit Layout(const DLTensor& tensor) : type(tensor.dtype), device(tensor.device) {
    for (int d = 0; d < tensor.ndim; ++d) {
      sizes.push_back(tensor.shape[d]);
      strides.push_back(tensor.strides[d]);
    }
  }

  bool fits(const DLTensor& tensor) const {
    const auto rank = static_cast<size_t>(tensor.ndim);
    return same_type(type, tensor.dtype) && device.device_type == tensor.device.device_type &&
           device.device_id == tensor.device.device_id && sizes.size() == tensor.ndim &&
           std::memcmp(sizes.begin(), tensor.shape, rank * sizeof(int64_t)) == 0 &&
           std::memcmp(strides.begin(), tensor.strides, rank * sizeof(int64_t)) == 0;
  }
};

using Views = std::array<DLTensor, kMaxTensors>;

struct KnownCall {
  Op op;
  bool into;  // the last tensor is `out`
  Options options;
  std::vector<Layout> layouts;
  std::shared_ptr<const KnownPlan> known;
  TorchKind kind;  // of the result, if there is a shim to make it by

  bool fits(Op which, bool with_out, const Options& given, const Views& views) const {
    if (op != which || into != with_out || !(options == given)) {
      return false;
    }
    for (size_t i = 0; i < layouts.size(); ++i) {
      if (!layouts[i].fits(views[i])) {
        return false;
      }
    }
    return true;
  }
};

// The last calls of this thread.
struct KnownCalls {
  std::array<std::shared_ptr<const KnownCall>, 8> all;
  size_t oldest = 0;

  std::shared_ptr<const KnownCall> find(Op op, bool into, const Options& options,
                                        const Views& views) const {
    for (const auto& call : all) {
      if (call != nullptr && call->fits(op, into, options, views)) {
        return call;
      }
    }
    return nullptr;
  }

  void keep(std::shared_ptr<const KnownCall> call) {
    all[oldest] = std::move(call);
    oldest = (oldest + 1) % all.size();
  }
};

inline KnownCalls& known_calls() {
  thread_local KnownCalls calls;
  return calls;
}

}  // namespace sheaf::python
