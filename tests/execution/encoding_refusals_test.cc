// SPDX-License-Identifier: MIT
//
// Descriptions of encoded tensors that are none, by gathers and by bags; and what pointers they
// need.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// "what\n  detail", without who asked and what they gave.
std::string complaint_of(const EncodedSpec& spec) {
  const std::string of_gather = refusal([&] { plan_gather_encoded(spec, TensorSpec(i64, {2})); });
  const std::string of_bag = refusal([&] {
    plan_bag({spec, TensorSpec(i64, {2}), TensorSpec(i64, {1}), std::nullopt});
  });
  const auto second_line = [](const std::string& text) {
    return text.substr(0, text.find('\n', text.find('\n') + 1));
  };
  const std::string first = second_line(of_gather).substr(8);
  EXPECT_EQ(first.substr(0, first.rfind(" (")), second_line(of_bag).substr(5));
  return second_line(of_bag).substr(5);
}

// u4 codes of 6 x 10 with a scale for each 4 of a row.
EncodedSpec sound_codes() {
  EncodedSpec spec;
  spec.encoding = Encoding::kU4;
  spec.sizes = {6, 10};
  spec.stored = TensorSpec(u8, {6, 5});
  spec.block = 4;
  spec.scales = TensorSpec(f32, {6, 3});
  return spec;
}

TEST(EncodingRefusals, Names) {
  EXPECT_EQ(to_string(Encoding::kPlain), "plain");
  EXPECT_EQ(encoding_from_name("q4_k"), Encoding::kQ4K);
  EXPECT_EQ(to_string(static_cast<Encoding>(99)), "?");
  EXPECT_EQ(refusal([] { encoding_from_name("q3_k"); }).substr(0, 61),
            "tensor: unknown encoding\n  there is no encoding \"q3_k\"\n  try:");
  EncodedSpec unknown = sound_codes();
  unknown.encoding = static_cast<Encoding>(99);
  EXPECT_EQ(complaint_of(unknown), "unknown encoding\n  encoding = 99, but 0..23 have a meaning");
}

TEST(EncodingRefusals, RowBytes) {
  EXPECT_EQ(encoded_row_bytes(Encoding::kRowU8F32, 10), 18);
  EXPECT_EQ(encoded_row_bytes(Encoding::kRowU8F16Front, 10), 14);
  EXPECT_EQ(encoded_row_bytes(Encoding::kRowU4F16, 11), 10);
  EXPECT_EQ(encoded_row_bytes(Encoding::kRowU2F16, 9), 7);
  EXPECT_EQ(encoded_row_bytes(Encoding::kU2, 9), 3);
  EXPECT_EQ(encoded_row_bytes(Encoding::kQ6K, 512), 420);
  EXPECT_EQ(encoded_row_bytes(Encoding::kQ8_0, 0), 0);
  for (const auto& [encoding, elements] : {std::pair{Encoding::kPlain, int64_t{4}},
                                           {Encoding::kU8, int64_t{-1}},
                                           {Encoding::kQ4_0, int64_t{33}},
                                           {Encoding::kRowU8F32, INT64_MAX},
                                           {Encoding::kQ8_0, INT64_MAX - 31}}) {
    EXPECT_EQ(refusal([&, e = encoding, n = elements] { encoded_row_bytes(e, n); }),
              "tensor: rows of another length\n  " + std::string(to_string(encoding)) +
                  " has no rows of " + std::to_string(elements) +
                  " elements\n  try: rows of whole blocks");
  }
}

TEST(EncodingRefusals, Stored) {
  EncodedSpec type = sound_codes();
  type.stored = TensorSpec(i8, {6, 5});
  EXPECT_EQ(complaint_of(type),
            "stored elements are not bytes\n  stored is i8, but u4 is kept in bytes");
  EncodedSpec rank = sound_codes();
  rank.stored = TensorSpec(u8, {30});
  EXPECT_EQ(complaint_of(rank), "ranks differ\n  stored is [30] and the tensor [6, 10]");
  EncodedSpec scalar;
  scalar.encoding = Encoding::kRowU8F32;
  scalar.stored = TensorSpec(u8, {});
  EXPECT_NE(refusal([&] {
              plan_gather_encoded(scalar, TensorSpec(i64, {2}));
            }).find("gather: ranks differ\n  stored is [] and the tensor [] ("),
            std::string::npos);
  EncodedSpec beyond = sound_codes();  // of which the bytes can be counted, the elements not
  beyond.encoding = Encoding::kU2;
  beyond.sizes = {int64_t{1} << 61, 8};
  beyond.stored = TensorSpec(u8, {int64_t{1} << 61, 2}, {0, 1});
  beyond.scales = TensorSpec(f32, {1});
  EXPECT_EQ(complaint_of(beyond).substr(0, 30), "malformed tensor\n  data has an");
  EncodedSpec blocks;
  blocks.encoding = Encoding::kQ4_1;
  blocks.sizes = {6, 33};
  blocks.stored = TensorSpec(u8, {6, 20});
  EXPECT_EQ(complaint_of(blocks),
            "rows of another length\n  a row has 33 elements, but q4_1 has blocks of 32");
  EncodedSpec rows = sound_codes();
  rows.stored = TensorSpec(u8, {7, 5});
  EXPECT_EQ(
      complaint_of(rows),
      "stored has the wrong shape\n  dimension 0 of stored has 7 entries, but u4[6, 10] takes 6");
  EncodedSpec apart = sound_codes();
  apart.stored = TensorSpec(u8, {6, 5}, {20, 2});
  EXPECT_EQ(complaint_of(apart),
            "rows are not at one distance\n  the strides of stored are [20, 2]");
  EncodedSpec cube = encoded_rows(Encoding::kRowU8F32, {2, 3, 8});
  cube.stored = TensorSpec(u8, {2, 3, 16}, {100, 20, 1});
  EXPECT_EQ(complaint_of(cube),
            "rows are not at one distance\n  the strides of stored are [100, 20, 1]");
  cube.stored.strides = {60, 20, 1};
  EXPECT_NO_THROW(plan_gather_encoded(cube, TensorSpec(i64, {2})));
  cube.stored.strides = {16, 0, 1};  // on top of each other, and then others
  EXPECT_NE(complaint_of(cube), "");
  cube.stored.strides = {0, 0, 1};
  EXPECT_NE(complaint_of(cube), "");
  cube.stored = TensorSpec(u8, {2, 3, 16}, {INT64_MAX / 4, INT64_MAX / 2, 1});
  EXPECT_NE(complaint_of(cube).find("malformed tensor"), std::string::npos);
}

TEST(EncodingRefusals, Malformed) {
  for (int which = 0; which < 3; ++which) {
    EncodedSpec spec = sound_codes();
    spec.zeros = TensorSpec(f16, {6, 3});
    TensorSpec& tensor = which == 0 ? spec.stored : which == 1 ? *spec.scales : *spec.zeros;
    const char* const names[] = {"stored", "scales", "zeros"};
    const std::string right = std::string("malformed tensor\n  ") + names[which] +
                              " has an unknown type, negative sizes, strides that do not match "
                              "its sizes, or sizes beyond 2^63 - 1";
    const TensorSpec good = tensor;
    tensor.sizes[0] = -1;
    EXPECT_EQ(complaint_of(spec), right);
    tensor = good;
    tensor.strides = {1};
    EXPECT_EQ(complaint_of(spec), right);
    tensor = good;
    tensor.sizes = {int64_t{1} << 62, 4};
    EXPECT_EQ(complaint_of(spec), right);
    tensor = good;
    tensor.strides = {INT64_MAX / 2, 1};
    EXPECT_EQ(complaint_of(spec), right);
    tensor = good;
    tensor.sizes = {0, int64_t{1} << 62, 4};  // nothing in all, but no product of its sizes
    tensor.strides = {1, 1, 1};
    EXPECT_EQ(complaint_of(spec), right);
  }
}

TEST(EncodingRefusals, Scales) {
  EncodedSpec none = sound_codes();
  none.scales = {};
  EXPECT_EQ(complaint_of(none), "no scales\n  u4 codes have scales beside them");
  for (const auto& [axis, block] : {std::pair{int64_t{2}, int64_t{4}}, {-3, 4}, {0, -1}}) {
    EncodedSpec asked = sound_codes();
    asked.axis = axis;
    asked.block = block;
    EXPECT_EQ(complaint_of(asked), "blocks along no axis\n  axis = " + std::to_string(axis) +
                                       " and block = " + std::to_string(block) +
                                       ", but there are 2 dimensions");
  }
  EncodedSpec type = sound_codes();
  type.scales = TensorSpec(f64, {6, 3});
  EXPECT_EQ(complaint_of(type), "scales of another type\n  scales is f64");
  EncodedSpec shape = sound_codes();
  shape.scales = TensorSpec(f32, {6, 2});
  EXPECT_EQ(complaint_of(shape),
            "scales have the wrong shape\n  scales is [6, 2], but u4[6, 10] with blocks of 4 along "
            "axis -1 takes [6, 3]");
  shape.axis = 0;
  EXPECT_NE(complaint_of(shape).find("axis 0 takes [2, 10]"), std::string::npos);
  shape.axis = 1;
  shape.block = 0;
  EXPECT_NE(complaint_of(shape).find("axis 1 takes [6, 1]"), std::string::npos);
  EncodedSpec gaps = sound_codes();
  gaps.scales = TensorSpec(f32, {6, 3}, {6, 2});
  EXPECT_EQ(complaint_of(gaps), "scales have gaps\n  the strides of scales are [6, 2]");
  EncodedSpec twice = encoded_rows(Encoding::kRowU8F32, {6, 10});
  twice.scales = TensorSpec(f32, {1});
  EXPECT_EQ(complaint_of(twice), "scales in two places\n  row_u8_f32 has its scales in its rows");
  twice.scales = {};
  twice.zeros = TensorSpec(f32, {1});
  EXPECT_NE(complaint_of(twice).find("scales in two places"), std::string::npos);
}

TEST(EncodingRefusals, Zeros) {
  EncodedSpec type = sound_codes();
  type.zeros = TensorSpec(i32, {6, 3});
  EXPECT_EQ(complaint_of(type), "zeros of another type\n  zeros is i32");
  EncodedSpec shape = sound_codes();
  shape.zeros = TensorSpec(u8, {6, 3});
  EXPECT_EQ(complaint_of(shape),
            "zeros have the wrong shape\n  zeros is [6, 3], but scales of [6, 3] go with [6, 2]");
  shape.zeros = TensorSpec(f16, {6, 2});
  EXPECT_NE(complaint_of(shape).find("go with [6, 3]"), std::string::npos);
  EncodedSpec gaps = sound_codes();
  gaps.zeros = TensorSpec(bf16, {6, 3}, {4, 1});
  EXPECT_EQ(complaint_of(gaps), "zeros have gaps\n  the strides of zeros are [4, 1]");
}

TEST(EncodingRefusals, Plain) {
  EncodedSpec scales{TensorSpec(f32, {4, 4})};
  scales.scales = TensorSpec(f32, {1});
  const auto of_bag = [](const EncodedSpec& spec) {
    return refusal([&] {
      plan_bag({spec, TensorSpec(i64, {2}), TensorSpec(i64, {1}), std::nullopt});
    });
  };
  EXPECT_EQ(of_bag(scales),
            "bag: scales of plain elements\n  data is f32[4, 4], which has no scales\n"
            "  data f32[4, 4]   scales f32[1]   indices i64[2]   offsets i64[1]   pool sum\n"
            "  try: an encoding, or no scales");
  EncodedSpec zeros{TensorSpec(f32, {4, 4})};
  zeros.zeros = TensorSpec(u8, {1});
  EXPECT_NE(of_bag(zeros).find("bag: scales of plain elements\n"), std::string::npos);
  EncodedSpec sizes{TensorSpec(f32, {4, 4})};
  sizes.sizes = {5, 4};
  EXPECT_NE(of_bag(sizes).find("sizes differ\n  the tensor is [5, 4], but its elements [4, 4]"),
            std::string::npos);
  EXPECT_EQ(refusal([] {
              plan_gather_encoded(EncodedSpec(TensorSpec(f32, {4, 4})), TensorSpec(i64, {2}));
            }),
            "gather: plain elements\n"
            "  data is not encoded\n"
            "  data f32[4, 4]   indices i64[2]   axis 0\n"
            "  try: the gather of the same name for plain tensors");
}

// The encoded tensor is named as it was described, by whatever refuses the gather.
TEST(EncodingRefusals, RunsNameTheEncodedTensor) {
  const EncodedSpec table = encoded_rows(Encoding::kRowU8F32, {3, 4});
  const std::vector<std::byte> stored(36);
  const std::vector<int64_t> indices{0, 7};
  std::vector<float> output(8, -1);
  const EncodedGatherPlan plan = plan_gather_encoded(table, view(indices).spec);
  const auto refused = [&](const EncodedGatherMemory& memory) {
    return refusal([&] { plan.run(memory); });
  };
  EXPECT_EQ(refused({nullptr, nullptr, nullptr, indices.data(), output.data()}),
            "gather: null pointer\n"
            "  data has elements, but its pointer is null\n"
            "  data row_u8_f32[3, 4]   indices i64[2]   axis 0   output f32[2, 4]\n"
            "  try: pass the tensor's memory");
  EXPECT_NE(refused({stored.data(), nullptr, nullptr, nullptr, output.data()})
                .find("indices has elements"),
            std::string::npos);
  EXPECT_NE(refused({stored.data(), nullptr, nullptr, indices.data(), nullptr})
                .find("output has elements"),
            std::string::npos);
  EXPECT_NE(refused({output.data(), nullptr, nullptr, indices.data(), output.data()})
                .find("output and data share memory"),
            std::string::npos);
  for (const char* const kernel : {"reference", "cpu"}) {
    for (const bool fresh : {false, true}) {
      const IndexError error = index_error([&] {
        plan.run({stored.data(), nullptr, nullptr, indices.data(), output.data()},
                 {.kernel = kernel, .output_is_fresh = fresh});
      });
      EXPECT_EQ(error.position(), Dims{1});
      EXPECT_NE(std::string(error.what()).find("\n  data row_u8_f32[3, 4]   indices i64[2]"),
                std::string::npos)
          << error.what();
      EXPECT_TRUE(fresh || output == std::vector<float>(8, -1));
    }
  }
  EXPECT_NE(refusal(
                [&] {
                  plan.run({stored.data(), nullptr, nullptr, indices.data(), output.data()},
                           {.kernel = "cpu.bag"});
                },
                ErrorCode::kUnsupported)
                .find("\"cpu.bag\" names no kernel for encoded tables"),
            std::string::npos);
}

}  // namespace
}  // namespace sheaf
