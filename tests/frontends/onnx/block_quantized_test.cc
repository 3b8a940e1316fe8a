// SPDX-License-Identifier: MIT
#include "frontends/onnx/block_quantized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/onnx/bad_node.h"

namespace sheaf::onnx {
namespace {

template <class Work>
std::string quantized_refusal(const Work& work) {
  try {
    work();
    return "";
  } catch (const BadNode& bad) {
    return std::string(bad.what()) + " / " + bad.next();
  }
}

std::string table_refusal(const BlockQuantized& node, DType type, const Dims& stored) {
  return quantized_refusal([&] { quantized_table(node, type, stored); });
}

TEST(BlockQuantizedNode, RefusesWhatTheOperatorDoesNotAllow) {
  EXPECT_EQ(table_refusal({}, f32, {2, 64}),
            "its data is of type f32 / u8, u4, i4, f8e4m3 or f8e5m2");
  EXPECT_EQ(table_refusal({.bits = 3}, u8, {2, 64}),
            "bits = 3 with data of type u8 / bits of 2, 4 or 8");
  EXPECT_EQ(table_refusal({.bits = 8}, i4, {2, 64}), "bits = 8 with data of type i4 / bits of 4");
  for (const int64_t block : {int64_t{0}, int64_t{8}, int64_t{24}, INT64_MIN}) {
    EXPECT_THAT(table_refusal({.block_size = block}, u8, {2, 64}),
                testing::EndsWith(" / a power of two from 16 on"));
  }
  EXPECT_EQ(table_refusal({.quantize_axis = 2}, u8, {2, 64}),
            "axis 2 of a tensor of rank 2 / an axis from -2 to 1");
  EXPECT_EQ(
      table_refusal({.gather_axis = 1}, u8, {2, 64}),
      "gather_axis = 1 and quantize_axis = 1 with data of type u8 / gather_axis = 0 and blocks "
      "along the last axis");
  EXPECT_EQ(table_refusal({}, u8, {}), "its data has no dimensions / data of rank 1 or more");
  EXPECT_EQ(table_refusal({}, u8, {2, INT64_MAX / 2 + 1}),
            "its rows have more than 2^63 - 1 elements / smaller data");
}

TEST(BlockQuantizedNode, DescribesBytesOfCodes) {
  const QuantizedTable table = quantized_table({.block_size = 16}, u8, {3, 20});
  EXPECT_EQ(table.encoding, Encoding::kU4);
  EXPECT_EQ(table.usual_zero, 8);
  EXPECT_EQ(table.sizes, Dims({3, 40}));
  EXPECT_EQ(table.scales, Dims({3, 3}));
  EXPECT_EQ(table.zeros, Dims({3, 2}));
  EXPECT_EQ(quantized_refusal([&] { check_scales(table, TensorSpec(f16, {3, 3})); }), "");
  EXPECT_EQ(quantized_refusal([&] {
              check_scales(table, TensorSpec(f32, {3, 2}));
            }),
            "its scales have sizes [3, 2], but [3, 3] are needed / a scale for each block");
  EXPECT_EQ(quantized_refusal([&] {
              check_scales(table, TensorSpec(f64, {3, 3}));
            }),
            "its scales are of type f64 / f32, f16 or bf16");
  EXPECT_EQ(quantized_refusal([&] { check_zeros(table, u8, {3, 2}); }), "");
  EXPECT_EQ(quantized_refusal([&] {
              check_zeros(table, u8, {3, 3});
            }),
            "its zero_points are u8[3, 3] for data of type u8 / u8[3, 2]");
}

TEST(BlockQuantizedNode, DescribesFourBitsAndFloats) {
  const QuantizedTable signed_codes =
      quantized_table({.gather_axis = -1, .quantize_axis = 0, .block_size = 16}, i4, {17, 5});
  EXPECT_EQ(signed_codes.encoding, Encoding::kI4);
  EXPECT_EQ(signed_codes.usual_zero, 0);
  EXPECT_EQ(signed_codes.gather_axis, 1);
  EXPECT_EQ(signed_codes.scales, Dims({2, 5}));
  const QuantizedTable floats = quantized_table({.block_size = 0}, f8e4m3, {3, 20});
  EXPECT_EQ(floats.scales, Dims({3, 1}));
  EXPECT_EQ(quantized_refusal([&] { check_scales(floats, TensorSpec(f32, {1, 1})); }), "");
  EXPECT_EQ(quantized_refusal([&] {
              check_zeros(floats, f8e4m3, {3, 1});
            }),
            "its zero_points are f8e4m3[3, 1] for data of type f8e4m3 / no zero_points");
}

}  // namespace
}  // namespace sheaf::onnx
