// SPDX-License-Identifier: MIT
//
// What a problem string may not be. Each refusal names the token, its column, and points at it.
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "helpers/refusal.h"
#include "problem/problem.h"
#include "support/text.h"

namespace sheaf {
namespace {

struct Bad {
  const char* text;
  const char* what;
  const char* token;  // what the caret stands below; "" for the end
  size_t column;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.text; }

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

class Refusal : public testing::TestWithParam<Bad> {};

TEST_P(Refusal, PointsAtTheToken) {
  const Bad& bad = GetParam();
  const std::string token = bad.token;
  const std::vector<std::string> lines = lines_of(refusal([&] { parse_problem(bad.text); }));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], cat("problem: ", bad.what));
  const std::string place =
      cat(token.empty() ? "the end" : cat("\"", token, "\""), " at column ", bad.column, " ");
  EXPECT_TRUE(lines[1].starts_with("  " + place)) << lines[1];
  EXPECT_EQ(lines[2], cat("  ", bad.text));
  EXPECT_EQ(lines[3],
            std::string(bad.column + 1, ' ') + std::string(std::max<size_t>(1, token.size()), '^'));
  EXPECT_TRUE(lines[4].starts_with("  try: ")) << lines[4];
}

constexpr Bad kBad[] = {
    // The operator.
    {"", "unknown operator", "", 1},
    {"scater f32[2] i64[2]", "unknown operator", "scater", 1},
    {"GATHER f32[2] i64[2]", "unknown operator", "GATHER", 1},
    {"[2]", "unknown operator", "[", 1},
    // Tensors.
    {"gather", "data is missing", "", 7},
    {"gather f32[2]", "indices is missing", "", 14},
    {"gather [2] i64[2]", "data is missing", "[", 8},
    {"gather q32[2] i64[2]", "unknown element type", "q32", 8},
    {"gather opaque65[2] i64[2]", "unknown element type", "opaque65", 8},
    {"gather f32 i64[2]", "'[' is missing", "i64", 12},
    {"gather f32[2 i64[2]", "']' is missing", "i64", 14},
    {"gather f32[2,] i64[2]", "a number is missing", "]", 14},
    {"gather f32[,2] i64[2]", "a number is missing", ",", 12},
    {"gather f32[x] i64[2]", "not a whole number", "x", 12},
    {"gather f32[2.0] i64[2]", "not a whole number", "2.0", 12},
    {"gather f32[+2] i64[2]", "not a whole number", "+2", 12},
    {"gather f32[-1] i64[2]", "negative size", "[-1]", 11},
    {"gather f32[9223372036854775808] i64[2]", "number out of range", "9223372036854775808", 12},
    {"gather f32[4294967296,4294967296] i64[2]", "tensor too large", "[4294967296,4294967296]", 11},
    {"gather f32[0,4294967296,4294967296] i64[2]", "tensor too large", "[0,4294967296,4294967296]",
     11},
    {"gather f32[2]i64[2]", "a space is missing", "i64", 14},
    // Values.
    {"gather f32[2] i64[2]=", "'{' is missing", "", 22},
    {"gather f32[2] i64[2]=1,2", "'{' is missing", "1", 22},
    {"gather f32[2] i64[2]={1", "'}' is missing", "", 24},
    {"gather f32[2] i64[2]={1 2}", "'}' is missing", "2", 25},
    {"gather f32[2] i64[2]={1,}", "a number is missing", "}", 25},
    {"gather f32[2] i64[2]={1}", "wrong number of values", "{1}", 22},
    {"gather f32[2] i64[2]={1,2,3}", "wrong number of values", "{1,2,3}", 22},
    {"gather f32[2] i64[2]={}", "wrong number of values", "{}", 22},
    {"gather f32[2] i64[2]={1,x}", "not a number", "x", 25},
    {"gather f32[2] i64[2]={1,0x1}", "not a number", "0x1", 25},
    {"gather f32[2] i64[2]={1,2.5}", "value does not fit the type", "2.5", 25},
    {"gather f32[2] i8[2]={1,128}", "value does not fit the type", "128", 24},
    {"gather f32[2] u8[2]={1,-1}", "value does not fit the type", "-1", 24},
    {"gather f32[2] i64[2]={1,nan}", "value does not fit the type", "nan", 25},
    {"gather f32[2] i64[2]={1,9223372036854775808}", "value does not fit the type",
     "9223372036854775808", 25},
    {"gather f32[2] u64[1]={18446744073709551616}", "number out of range", "18446744073709551616",
     23},
    {"gather f64[1]={1e999} i64[1]", "number out of range", "1e999", 16},
    {"gather bool[1]={2} i64[1]", "value does not fit the type", "2", 17},
    {"gather f32[1]={(1,2)} i64[1]", "value does not fit the type", "(1,2)", 16},
    {"gather c64[1]={(1 2)} i64[1]", "',' is missing", "2", 19},
    {"gather c64[1]={(1,2} i64[1]", "')' is missing", "}", 20},
    {"gather opaque4[1]={7} i64[1]", "value does not fit the type", "7", 20},
    {"gather f32[2] i64[2]={{1,2}}", "braces do not match the shape", "{", 23},
    {"gather f32[2] i64[2,2]={{1,2},3,4}", "braces do not match the shape", "3", 31},
    {"gather f32[2] i64[2,2]={1,2,{3,4}}", "braces do not match the shape", "{", 29},
    {"gather f32[2] i64[2,2]={{1,2},{3}}", "wrong number of values", "{3}", 31},
    {"gather f32[2] i64[2,2]={{1,2}}", "wrong number of values", "{{1,2}}", 24},
    {"gather f32[2] i64[2,2]={{1,2},{3,{4}}}", "braces do not match the shape", "{", 34},
    // Attributes.
    {"gather f32[2] i64[2] axes=0", "unknown attribute", "axes", 22},
    {"gather f32[2] i64[2] broadcast=1", "unknown attribute", "broadcast", 22},
    {"gather_elements f32[2] i64[2] batch_dims=0", "unknown attribute", "batch_dims", 31},
    {"gather_nd f32[2] i64[2] axis=0", "unknown attribute", "axis", 25},
    {"gather_nd f32[2] i64[2] slice_sizes=[1]", "unknown attribute", "slice_sizes", 25},
    {"gather f32[2] i64[2] axis", "'=' is missing", "", 26},
    {"gather f32[2] i64[2] axis 0", "'=' is missing", "0", 27},
    {"gather f32[2] i64[2] axis=", "a number is missing", "", 27},
    {"gather f32[2] i64[2] axis=x", "not a whole number", "x", 27},
    {"gather f32[2] i64[2] axis=1e3", "not a whole number", "1e3", 27},
    {"gather f32[2] i64[2] axis=-9223372036854775809", "number out of range",
     "-9223372036854775809", 27},
    {"gather f32[2] i64[2] axis=0 axis=0", "attribute given twice", "axis", 29},
    {"gather f32[2] i64[2] axis=0,axis=0", "a space is missing", ",", 28},
    {"gather f32[2] i64[2] =0", "unknown attribute", "=", 22},
    {"gather f32[2] i64[2] negative=wrap", "unknown negative", "wrap", 31},
    {"gather f32[2] i64[2] out_of_range=error", "unknown out_of_range", "error", 35},
    {"gather f32[2] i64[2] out_of_range=", "unknown out_of_range", "", 35},
    {"gather_elements f32[2] i64[2] broadcast=2", "not a switch", "2", 41},
    {"gather f32[2] i64[2] fill_value=1", "fill_value is never used", "1", 33},
    {"gather f32[2] i64[2] fill_value=1 out_of_range=clamp", "fill_value is never used", "1", 33},
    {"gather f32[2] i64[2] out_of_range=fill fill_value=", "a number is missing", "", 51},
    {"gather f32[2] i64[2] f32[2]", "unknown attribute", "f32", 22},
    {"gather f32[2] i64[2] reduction=add", "unknown attribute", "reduction", 22},
    {"scatter f32[2] i64[2] q32[2]", "unknown element type", "q32", 23},
    {"scatter f32[2] i64[2] f32[2]i64[1]", "a space is missing", "i64", 29},
    {"scatter f32[2] i64[2] f32[2]={1}", "wrong number of values", "{1}", 30},
    {"scatter f32[2] i64[2] f32[2] f32[2]", "unknown attribute", "f32", 30},
    {"scatter f32[2] i64[2] reduction=plus", "unknown reduction", "plus", 33},
    {"scatter f32[2] i64[2] include_self=no", "not a switch", "no", 36},
    {"scatter f32[2] i64[2] fill_value=1", "unknown attribute", "fill_value", 23},
    {"scatter_elements f32[2] i64[2] broadcast=1", "unknown attribute", "broadcast", 32},
    {"scatter_nd f32[2] i64[2] skip_whole_window=1", "unknown attribute", "skip_whole_window", 26},
    {"xla_scatter f32[2] i64[2]", "updates is missing", "", 26},
    {"xla_scatter f32[2] i64[2] f32[2] offset_dims=[1]", "unknown attribute", "offset_dims", 34},
    {"xla_gather f32[2] i64[2] offset_dims=1", "'[' is missing", "1", 38},
    {"xla_gather f32[2] i64[2] slice_sizes=[1,a]", "not a whole number", "a", 41},
};
INSTANTIATE_TEST_SUITE_P(Bad, Refusal, testing::ValuesIn(kBad));

TEST(RefusalText, IsTheSameEveryTime) {
  EXPECT_EQ(refusal([] { parse_problem("gather f32[3,5] i46[4] axis=0"); }),
            "problem: unknown element type\n"
            "  \"i46\" at column 17 names no type\n"
            "  gather f32[3,5] i46[4] axis=0\n"
            "                  ^^^\n"
            "  try: bool, i8 to i64, u8 to u64, f8e4m3, f8e5m2, f16, bf16, f32, f64, c64, c128, "
            "i4, u4, i2, u2, opaque1 to opaque64");
  EXPECT_EQ(refusal([] { parse_problem("gather f32[3,5] i8[2]={1,300} axis=0"); }),
            "problem: value does not fit the type\n"
            "  \"300\" at column 26 does not fit: 300 is not a value of type i8\n"
            "  gather f32[3,5] i8[2]={1,300} axis=0\n"
            "                           ^^^\n"
            "  try: values of type i8");
  EXPECT_EQ(refusal([] { parse_problem("gather_nd f32[3] i32[2,1]={1,2,3}"); }),
            "problem: wrong number of values\n"
            "  \"{1,2,3}\" at column 27 holds 3 values, but i32[2, 1] needs 2\n"
            "  gather_nd f32[3] i32[2,1]={1,2,3}\n"
            "                            ^^^^^^^\n"
            "  try: 2 values");
  EXPECT_EQ(refusal([] { parse_problem("gather_elements f32[3] i32[3] axes=0"); }),
            "problem: unknown attribute\n"
            "  \"axes\" at column 31 is no attribute of gather_elements; did you mean axis?\n"
            "  gather_elements f32[3] i32[3] axes=0\n"
            "                                ^^^^\n"
            "  try: axis, broadcast, negative, out_of_range, fill_value");
}

TEST(RefusalText, CutsLongProblemsAroundTheToken) {
  const std::string text = "gather f32[3] i64[400]={" + std::string(799, '1') + ",x} axis=0";
  const std::vector<std::string> lines = lines_of(refusal([&] { parse_problem(text); }));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_LT(lines[1].size(), 200U);
  EXPECT_LT(lines[2].size(), 120U);
  const std::string far = "gather f32[3] i64[1] axis=0" + std::string(500, ' ') + "batch_dim=1";
  const std::vector<std::string> shown = lines_of(refusal([&] { parse_problem(far); }));
  ASSERT_EQ(shown.size(), 5U);
  EXPECT_EQ(shown[1],
            "  \"batch_dim\" at column 528 is no attribute of gather; did you mean batch_dims?");
  EXPECT_EQ(shown[2].find("batch_dim"), shown[3].find("^^^^^^^^^")) << shown[2] << "\n" << shown[3];
}

TEST(RefusalText, KeepsControlCharactersFromTheTerminal) {
  const std::string text = refusal([] { parse_problem("gather f32[3] \x1b[31mred"); });
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  const std::string with_zero("gather f32[3]\0 i64[2]", 21);
  const std::string zero = refusal([&] { parse_problem(with_zero); });
  EXPECT_EQ(zero.find('\0'), std::string::npos);
}

TEST(RefusalText, CountsColumnsOfUtf8) {
  const std::vector<std::string> lines =
      lines_of(refusal([] { parse_problem("gather f32[2] i64[2] größe=1"); }));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[1], "  \"größe\" at column 22 is no attribute of gather");
  EXPECT_EQ(lines[3], std::string(23, ' ') + "^^^^^");
}

TEST(Refusal, OfTooManyDimensions) {
  std::string sizes = "1";
  for (int d = 1; d <= kMaxRank; ++d) {
    sizes += ",1";
  }
  const std::string text = refusal([&] { parse_problem("gather f32[" + sizes + "] i64[2]"); });
  EXPECT_NE(text.find("too many dimensions"), std::string::npos) << text;
  EXPECT_NE(text.find("more than 32 entries"), std::string::npos) << text;
}

TEST(Refusal, OfBracesThatNestVeryDeep) {
  const std::string text = "gather f32[2] i64[2,2]=" + std::string(1000000, '{');
  EXPECT_NE(refusal([&] { parse_problem(text); }).find("braces do not match the shape"),
            std::string::npos);
}

// Whatever a user types, it is read or refused.
TEST(Refusal, OfAnyDamageIsAnError) {
  const std::string seeds[] = {
      "gather f32[3,5]={1,2,3,4,5,6,7,8,9,10,11,12,13,14,15} i64[2,2]={{0,1},{2,-1}} axis=1",
      "gather_elements c64[2]={(1,-2),nan} u64[2]={18446744073709551615,0} broadcast=1",
      "xla_gather f32[3,4] i64[2] offset_dims=[1, 2] slice_sizes=[1,2] out_of_range=fill "
      "fill_value=-1e3",
      "scatter f32[3]={1,2,3} i64[2]={0,1} f32[2]={4,5} reduction=add include_self=0",
      "xla_scatter f32[4] i64[1,1] f32[1,2] update_window_dims=[1] skip_whole_window=1"};
  constexpr std::string_view kPieces = "0123456789-+.eE[]{}(),= \tabgfiu_xXn\n\xff\x80";
  std::mt19937_64 random(7);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seeds[random() % std::size(seeds)];
    for (uint64_t edits = 1 + random() % 4; edits > 0 && !text.empty(); --edits) {
      const size_t at = random() % text.size();
      const char piece = kPieces[random() % kPieces.size()];
      switch (random() % 4) {
        case 0: text[at] = piece; break;
        case 1: text.insert(at, 1, piece); break;
        case 2: text.erase(at, 1 + random() % 3); break;
        default: text.resize(at); break;
      }
    }
    try {
      parse_problem(text);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(" at column "), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace sheaf
