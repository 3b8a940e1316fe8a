// SPDX-License-Identifier: MIT
#include "plan/vocabulary.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <fstream>
#include <set>
#include <string>

#include "helpers/refusal.h"
#include "plan/request.h"
#include "sheaf/dtype.h"
#include "sheaf/index_rule.h"

namespace sheaf {
namespace {

TEST(DTypeName, UnknownOnesAreRefused) {
  EXPECT_EQ(refusal([] { dtype_from_name("float"); }),
            "tensor: unknown element type\n"
            "  \"float\" names no type\n"
            "  no tensor can be made\n"
            "  try: bool, i8 to i64, u8 to u64, f8e4m3, f8e5m2, f16, bf16, f32, f64, c64, c128, "
            "i4, u4, i2, u2, opaqueN");
  for (const char* name :
       {"", "f", "F32", "f32 ", " f32", "i128", "opaque", "opaque-1", "opaque+1", "opaque 8",
        "opaque8x", "opaque99999", "opaque18446744073709551617", "int", "half", "\xff"}) {
    EXPECT_EQ(refusal([&] { dtype_from_name(name); }).find("tensor: unknown element type"), 0u)
        << name;
  }
}

TEST(DTypeName, OpaqueElementsHave1To64Bytes) {
  EXPECT_EQ(refusal([] { opaque(0); }),
            "tensor: element size out of range\n"
            "  opaque elements of 0 bytes, but 1..64 are supported\n"
            "  opaque0\n"
            "  try: a trailing dimension of smaller elements");
  for (const int64_t bytes : {int64_t{-1}, int64_t{65}, int64_t{256}, int64_t{257}, INT64_MAX}) {
    EXPECT_EQ(refusal([&] { opaque(bytes); }).find("tensor: element size out of range"), 0u);
  }
  EXPECT_EQ(refusal([] { dtype_from_name("opaque65"); }).find("tensor: element size out of range"),
            0u);
  EXPECT_EQ(refusal([] { dtype_from_name("opaque0"); }).find("tensor: element size out of range"),
            0u);
  for (int64_t bytes = 1; bytes <= 64; ++bytes) {
    const DType type = opaque(bytes);
    EXPECT_EQ(type.bytes(), bytes);
    EXPECT_EQ(type.name(), "opaque" + std::to_string(bytes));
    EXPECT_EQ(dtype_from_name(type.name()), type);
    EXPECT_TRUE(type.is_known());
  }
}

struct Named {
  DType type;
  const char *brief, *full;
  int64_t bytes;
};
const Named kNamed[] = {
    {boolean, "bool", "boolean", 1},
    {i8, "i8", "int8", 1},
    {i16, "i16", "int16", 2},
    {i32, "i32", "int32", 4},
    {i64, "i64", "int64", 8},
    {u8, "u8", "uint8", 1},
    {u16, "u16", "uint16", 2},
    {u32, "u32", "uint32", 4},
    {u64, "u64", "uint64", 8},
    {f8e4m3, "f8e4m3", "float8_e4m3fn", 1},
    {f8e5m2, "f8e5m2", "float8_e5m2", 1},
    {f16, "f16", "float16", 2},
    {bf16, "bf16", "bfloat16", 2},
    {f32, "f32", "float32", 4},
    {f64, "f64", "float64", 8},
    {c64, "c64", "complex64", 8},
    {c128, "c128", "complex128", 16},
    {i4, "i4", "int4", 1},
    {u4, "u4", "uint4", 1},
    {i2, "i2", "int2", 1},
    {u2, "u2", "uint2", 1},
};

TEST(DTypeName, GoesBothWays) {
  std::set<std::string> seen;
  for (const Named& named : kNamed) {
    EXPECT_EQ(named.type.name(), named.brief);
    EXPECT_EQ(named.type.bytes(), named.bytes);
    EXPECT_EQ(dtype_from_name(named.brief), named.type);
    EXPECT_EQ(dtype_from_name(named.full), named.type);
    EXPECT_TRUE(named.type.is_known());
    EXPECT_TRUE(seen.insert(named.brief).second);
  }
}

TEST(DTypeIntegers, AreTheIndexTypes) {
  const std::set<std::string> integers = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
  for (const Named& named : kNamed) {
    EXPECT_EQ(named.type.is_integer(), integers.count(named.brief) == 1) << named.brief;
    EXPECT_EQ(named.type.is_signed_integer(), named.type.is_integer() && named.brief[0] == 'i');
  }
  EXPECT_FALSE(opaque(4).is_integer());
}

enum class Colour : int16_t { kRed };
struct Pixel {
  uint8_t channels[3];
};

TEST(DTypeOf, FollowsTheCppType) {
  static_assert(dtype_of<bool>() == boolean);
  static_assert(dtype_of<signed char>() == i8);
  static_assert(dtype_of<unsigned char>() == u8);
  static_assert(dtype_of<char>() == i8 || dtype_of<char>() == u8);
  static_assert(dtype_of<short>() == i16);
  static_assert(dtype_of<const int>() == i32);
  static_assert(dtype_of<volatile unsigned>() == u32);
  static_assert(dtype_of<long long>() == i64);
  static_assert(dtype_of<unsigned long long>() == u64);
  static_assert(dtype_of<size_t>() == u64);
  static_assert(dtype_of<std::byte>() == u8);
  static_assert(dtype_of<Colour>() == i16);
  static_assert(dtype_of<float16>() == f16);
  static_assert(dtype_of<bfloat16>() == bf16);
  static_assert(dtype_of<float8_e4m3>() == f8e4m3);
  static_assert(dtype_of<float8_e5m2>() == f8e5m2);
  static_assert(dtype_of<float>() == f32);
  static_assert(dtype_of<double>() == f64);
  static_assert(dtype_of<std::complex<float>>() == c64);
  static_assert(dtype_of<std::complex<double>>() == c128);
  EXPECT_EQ(dtype_of<Pixel>(), opaque(3));
  EXPECT_EQ(dtype_of<void*>(), opaque(sizeof(void*)));
}

TEST(RuleNames, AreTheVocabulary) {
  EXPECT_EQ(to_string(Negative::kFromEnd), "from_end");
  EXPECT_EQ(to_string(Negative::kOutOfRange), "out_of_range");
  EXPECT_EQ(to_string(OutOfRange::kFail), "fail");
  EXPECT_EQ(to_string(OutOfRange::kClamp), "clamp");
  EXPECT_EQ(to_string(OutOfRange::kFill), "fill");
  EXPECT_EQ(to_string(OutOfRange::kWrap), "wrap");
  EXPECT_EQ(to_string(OutOfRange::kTrust), "trust");
  EXPECT_EQ(to_string(static_cast<OutOfRange>(77)), "unknown");
  EXPECT_EQ(to_string(Op::kGather), "gather");
  EXPECT_EQ(to_string(Op::kGatherElements), "gather_elements");
  EXPECT_EQ(to_string(Op::kGatherNd), "gather_nd");
  EXPECT_EQ(to_string(Op::kXlaGather), "xla_gather");
}

template <class Table>
void expect_rows_in_order(const Table& table) {
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(table[i].value), i);
    EXPECT_EQ(find_named(table, table[i].name), &table[i]);
    EXPECT_EQ(to_string(table[i].value), table[i].name);
  }
  EXPECT_EQ(find_named(table, "nothing"), nullptr);
}

TEST(Vocabulary, HasARowForEveryValue) {
  expect_rows_in_order(kOps);
  expect_rows_in_order(kNegatives);
  expect_rows_in_order(kOutOfRanges);
  expect_rows_in_order(kReductions);
  for (size_t i = 0; i < kTypes.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(kTypes[i].value.kind()), i);
  }
}

// docs/semantics.md has every name, between backquotes and in a table.
TEST(Vocabulary, IsInTheDocs) {
  std::ifstream file("docs/semantics.md");
  ASSERT_TRUE(file) << "tests run in the root of the source tree";
  std::string tables;
  for (std::string line; std::getline(file, line);) {
    tables += line.starts_with("|") ? line : "";
  }
  const auto expect_all = [&](const auto& table) {
    for (const auto& row : table) {
      EXPECT_NE(tables.find("`" + std::string(row.name) + "`"), std::string::npos) << row.name;
    }
  };
  expect_all(kOps);
  expect_all(kNegatives);
  expect_all(kOutOfRanges);
  expect_all(kReductions);
  expect_all(kTypes);
}

}  // namespace
}  // namespace sheaf
