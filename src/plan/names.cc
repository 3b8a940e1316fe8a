// SPDX-License-Identifier: MIT
//
// The names of types and rules: one vocabulary in errors, JSON, the command line and Python.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "plan/refuse.h"
#include "sheaf/dtype.h"
#include "sheaf/index_rule.h"
#include "sheaf/reduction.h"
#include "support/text.h"

namespace sheaf {
namespace {

struct Name {
  DType type;
  const char* brief;
  const char* full;
};

constexpr std::array<Name, 17> kNames = {{
    {boolean, "bool", "boolean"},
    {i8, "i8", "int8"},
    {i16, "i16", "int16"},
    {i32, "i32", "int32"},
    {i64, "i64", "int64"},
    {u8, "u8", "uint8"},
    {u16, "u16", "uint16"},
    {u32, "u32", "uint32"},
    {u64, "u64", "uint64"},
    {f8e4m3, "f8e4m3", "float8_e4m3fn"},
    {f8e5m2, "f8e5m2", "float8_e5m2"},
    {f16, "f16", "float16"},
    {bf16, "bf16", "bfloat16"},
    {f32, "f32", "float32"},
    {f64, "f64", "float64"},
    {c64, "c64", "complex64"},
    {c128, "c128", "complex128"},
}};

constexpr const char* kOpaquePrefix = "opaque";

}  // namespace

bool DType::is_known() const {
  return (kind_ == Kind::kOpaque && bytes_ >= 1 && bytes_ <= kMaxElementBytes) ||
         std::any_of(kNames.begin(), kNames.end(),
                     [&](const Name& name) { return name.type == *this; });
}

std::string DType::name() const {
  for (const Name& name : kNames) {
    if (name.type == *this) {
      return name.brief;
    }
  }
  return kOpaquePrefix + std::to_string(bytes_);
}

DType opaque(int64_t bytes) {
  if (bytes < 1 || bytes > kMaxElementBytes) {
    refuse_tensor(
        "element size out of range",
        cat("opaque elements of ", bytes, " bytes, but 1..", kMaxElementBytes, " are supported"),
        cat("opaque", bytes), "a trailing dimension of smaller elements");
  }
  return {Kind::kOpaque, static_cast<int>(bytes)};
}

DType dtype_from_name(const std::string& name) {
  for (const Name& known : kNames) {
    if (name == known.brief || name == known.full) {
      return known.type;
    }
  }
  const std::string prefix = kOpaquePrefix;
  const bool digits = name.size() > prefix.size() && name.size() <= prefix.size() + 4 &&
                      name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
  if (name.starts_with(prefix) && digits) {
    return opaque(std::atoll(name.c_str() + prefix.size()));
  }
  refuse_tensor(
      "unknown element type", cat("\"", name, "\" names no type"), "no tensor can be made",
      "bool, i8 to i64, u8 to u64, f8e4m3, f8e5m2, f16, bf16, f32, f64, c64, c128, opaqueN");
}

std::string_view to_string(Negative negative) {
  return negative == Negative::kFromEnd ? "from_end" : "out_of_range";
}

std::string_view to_string(OutOfRange out_of_range) {
  switch (out_of_range) {
    case OutOfRange::kFail: return "fail";
    case OutOfRange::kClamp: return "clamp";
    case OutOfRange::kFill: return "fill";
    case OutOfRange::kWrap: return "wrap";
    case OutOfRange::kTrust: return "trust";
    case OutOfRange::kSkip: return "skip";
  }
  return "unknown";
}

std::string_view to_string(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone: return "none";
    case Reduction::kAdd: return "add";
    case Reduction::kSub: return "sub";
    case Reduction::kMul: return "mul";
    case Reduction::kMin: return "min";
    case Reduction::kMax: return "max";
    case Reduction::kMean: return "mean";
  }
  return "unknown";
}

}  // namespace sheaf
