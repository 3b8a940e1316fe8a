// SPDX-License-Identifier: MIT
#include "conformance/values.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "machine/terminal.h"
#include "pictures/element_text.h"
#include "plan/scalar.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

using nlohmann::json;

constexpr const char* kText = "string";
constexpr int64_t kShownValues = 24;

// Types that others have, and we do not.
constexpr const char* kUnsupported[] = {"float4_e2m1fn",      "float8_e4m3",     "float8_e3m4",
                                        "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz",
                                        "float8_e8m0fnu",     "float128"};

double real_value(const json& value, const std::string& what) {
  if (value.is_number()) {
    return value.get<double>();
  }
  if (value.is_string()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto& word = value.get_ref<const std::string&>();
    if (word == "NaN") {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (word == "Infinity" || word == "-Infinity") {
      return word == "Infinity" ? kInfinity : -kInfinity;
    }
  }
  throw Malformed(what + " is neither a number nor \"NaN\", \"Infinity\" or \"-Infinity\"");
}

Scalar number_value(const json& value, const std::string& what) {
  if (value.is_number_unsigned()) {
    return value.get<uint64_t>();
  }
  if (value.is_number_integer()) {
    return value.get<int64_t>();
  }
  if (value.is_array()) {
    if (value.size() != 2) {
      throw Malformed(what + " is not a pair [real, imaginary]");
    }
    return std::complex<double>(real_value(value[0], what), real_value(value[1], what));
  }
  return real_value(value, what);
}

Scalar bool_value(const json& value, const std::string& what) {
  if (value.is_boolean()) {
    return value.get<bool>();
  }
  if (value.is_number_integer() && (value == 0 || value == 1)) {
    return value == 1;
  }
  throw Malformed(what + " is neither 0 nor 1");
}

Scalar scalar_value(const json& value, DType type, const std::string& what) {
  return type == boolean ? bool_value(value, what) : number_value(value, what);
}

}  // namespace

DType ValueReader::dtype(const std::string& name) {
  if (name == kText) {
    return opaque(sizeof(uint64_t));
  }
  for (const char* unsupported : kUnsupported) {
    if (name == unsupported) {
      throw Unsupported(cat("type ", name, " is not supported"));
    }
  }
  try {
    return dtype_from_name(name);
  } catch (const Error&) {
    throw Malformed(cat("unknown type \"", name, "\""));
  }
}

Literal ValueReader::read(const CaseTensor& tensor, const TensorSpec& spec, const char* name) {
  if (tensor.values == nullptr) {
    throw Malformed(cat(name, " has no data, and the case is not marked shapes_only"));
  }
  const int64_t count = element_count(spec.sizes);
  if (std::ssize(*tensor.values) != count) {
    throw Malformed(cat(name, " has ", counted(std::ssize(*tensor.values), "value", "values"),
                        ", but shape ", bracketed(spec.sizes), " needs ", count));
  }
  const auto bytes = static_cast<size_t>(spec.dtype.bytes());
  Literal elements(static_cast<size_t>(count) * bytes);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const json& value = (*tensor.values)[i];
    const std::string what = cat(name, ".data[", i, "]");
    std::byte* element = elements.data() + i * bytes;
    if (tensor.dtype == kText) {
      store_text(value, what, element);
    } else if (const auto reason =
                   encode(scalar_value(value, spec.dtype, what), spec.dtype, element)) {
      throw Malformed(cat(what, ": ", *reason));
    }
  }
  return elements;
}

Scalar ValueReader::read_fill_value(const json& value, const std::string& dtype_name) {
  if (dtype_name != kText) {
    return scalar_value(value, dtype(dtype_name), "fill_value");
  }
  if (!value.is_string() && value != 0) {
    throw Malformed("fill_value of a string tensor is not a text");
  }
  number_of(value.is_string() ? value.get<std::string>() : "");  // the first text is number 0
  return 0;
}

void ValueReader::store_text(const json& value, const std::string& what, std::byte* element) {
  if (!value.is_string()) {
    throw Malformed(what + " is not a text");
  }
  const uint64_t number = number_of(value.get_ref<const std::string&>());
  std::memcpy(element, &number, sizeof number);
}

uint64_t ValueReader::number_of(const std::string& text) {
  const auto [entry, is_new] = numbers_.try_emplace(text, numbers_.size());
  if (is_new) {
    texts_.push_back(text);
  }
  return entry->second;
}

std::string ValueReader::element_text(DType type, const std::string& dtype_name,
                                      const std::byte* element) const {
  if (dtype_name != kText) {
    return pictures::element_text(type, element);
  }
  uint64_t number = 0;
  std::memcpy(&number, element, sizeof number);
  return number < texts_.size() ? cat("\"", printable(texts_[number]), "\"") : "(no text)";
}

std::string ValueReader::text(const TensorSpec& spec, const std::string& dtype_name,
                              const Literal& values) const {
  const int64_t count = element_count(spec.sizes);
  std::string text =
      (dtype_name == kText ? kText : spec.dtype.name()) + bracketed(spec.sizes) + " {";
  for (int64_t i = 0; i < std::min(count, kShownValues); ++i) {
    text += cat(i == 0 ? "" : ", ",
                element_text(spec.dtype, dtype_name, values.data() + i * spec.dtype.bytes()));
  }
  return text + (count > kShownValues ? cat(", … ", count - kShownValues, " more}") : "}");
}

}  // namespace sheaf::cli
