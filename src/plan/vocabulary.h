// SPDX-License-Identifier: MIT
//
// One table per enumeration: the name of each value and what it can do. Printers, parsers (problem
// strings, conformance cases, Python), validation and the test of docs/semantics.md read these
// tables; nothing else lists the values. That of the reductions is in reductions.h.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "plan/reductions.h"
#include "plan/request.h"
#include "sheaf/dtype.h"
#include "sheaf/index_rule.h"

namespace sheaf {

struct TypeRow {
  DType value;
  std::string_view name, long_name;  // "f32" and "float32": both are read, the first is printed
};
inline constexpr std::array<TypeRow, 21> kTypes = {{
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
    {i4, "i4", "int4"},
    {u4, "u4", "uint4"},
    {i2, "i2", "int2"},
    {u2, "u2", "uint2"},
}};
inline constexpr const char* kTypeNames =  // for "try:"; opaque types come on top of it
    "bool, i8 to i64, u8 to u64, f8e4m3, f8e5m2, f16, bf16, f32, f64, c64, c128, i4, u4, i2, u2";

constexpr bool is_complex(DType type) { return type == c64 || type == c128; }

struct OpRow {
  Op value;
  std::string_view name;
};
inline constexpr std::array<OpRow, 8> kOps = {{
    {Op::kGather, "gather"},
    {Op::kGatherElements, "gather_elements"},
    {Op::kGatherNd, "gather_nd"},
    {Op::kXlaGather, "xla_gather"},
    {Op::kScatter, "scatter"},
    {Op::kScatterElements, "scatter_elements"},
    {Op::kScatterNd, "scatter_nd"},
    {Op::kXlaScatter, "xla_scatter"},
}};

struct NegativeRow {
  Negative value;
  std::string_view name;
  std::string_view in_cases;  // the word of a conformance case
};
inline constexpr std::array<NegativeRow, 2> kNegatives = {{
    {Negative::kFromEnd, "from_end", "wrap"},
    {Negative::kOutOfRange, "out_of_range", "none"},
}};

struct OutOfRangeRow {
  OutOfRange value;
  std::string_view name;
  std::string_view in_cases;  // the word of a conformance case; empty: cases have none
  bool gathers, scatters;     // which of the two have this rule
};
inline constexpr std::array<OutOfRangeRow, 6> kOutOfRanges = {{
    {OutOfRange::kFail, "fail", "error", true, true},
    {OutOfRange::kClamp, "clamp", "clamp", true, true},
    {OutOfRange::kFill, "fill", "fill", true, false},
    {OutOfRange::kWrap, "wrap", "mod", true, true},
    {OutOfRange::kTrust, "trust", "", true, true},
    {OutOfRange::kSkip, "skip", "drop", false, true},
}};

// Why elements of `type` cannot be reduced this way; null if they can.
const char* refusal_of_reduction(Reduction reduction, DType type);

// The row of a value; null for a number that is not one of the enumeration.
template <class Table, class Value>
constexpr const typename Table::value_type* find_row(const Table& table, Value value) {
  for (const auto& row : table) {
    if (row.value == value) {
      return &row;
    }
  }
  return nullptr;
}

// The row of a name; null if there is none.
template <class Table>
constexpr const typename Table::value_type* find_named(const Table& table, std::string_view name) {
  for (const auto& row : table) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

// "fail, clamp, fill, wrap, trust, skip"
template <class Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& row : table) {
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  return names;
}

}  // namespace sheaf
