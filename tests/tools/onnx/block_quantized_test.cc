// SPDX-License-Identifier: MIT
//
// com.microsoft.GatherBlockQuantized in sheaf run, against loops that follow its description.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "bytes.h"
#include "helpers/rng.h"
#include "io/scratch.h"
#include "tools/program.h"

namespace {

using testing::HasSubstr;
using namespace sheaf;

constexpr uint64_t kTypeFloat = 1, kTypeUint8 = 2, kTypeInt64 = 7, kTypeUint4 = 21, kTypeInt4 = 22;

std::string shaped(const std::string& name, uint64_t type, const std::vector<int64_t>& sizes,
                   const std::string& raw) {
  std::string dims;
  for (const int64_t size : sizes) {
    dims += field(1, static_cast<uint64_t>(size));
  }
  return field(5, dims + field(2, type) + field(8, name) + field(9, raw));
}

// Codes of `bits` bits, the first in the lowest; `row` of them begin at a whole byte (0: all).
std::string packed_codes(const std::vector<int>& codes, int bits, size_t row) {
  std::string out;
  int filled = 8;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (filled == 8 || (row != 0 && i % row == 0)) {
      out += '\0';
      filled = 0;
    }
    const int code = (codes[i] & ((1 << bits) - 1)) << filled;
    out.back() = static_cast<char>(out.back() | code);
    filled += bits;
  }
  return out;
}

// data[a][b][c], in blocks of 16 along `axis`, gathered along `gather_axis`.
struct BlockCase {
  uint64_t type = kTypeUint8;
  int bits = 4;
  std::vector<int64_t> sizes;
  int gather_axis = 0, axis = 2;
  bool has_zeros = false;

  std::vector<int64_t> scale_sizes() const {
    std::vector<int64_t> scales = sizes;
    scales[static_cast<size_t>(axis)] = (scales[static_cast<size_t>(axis)] + 15) / 16;
    return scales;
  }
  int low() const { return type == kTypeInt4 ? -(1 << (bits - 1)) : 0; }
  int usual_zero() const { return type == kTypeUint8 ? 1 << (bits - 1) : 0; }
};

int64_t product(const std::vector<int64_t>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

class BlockQuantized : public testing::Test {
 protected:
  // Codes, scales and zero points, all random; indices -1, 0 and one outside.
  void expect_as_described(const BlockCase& c, Rng& rng) {
    const std::vector<int64_t> scale_sizes = c.scale_sizes();
    std::vector<int> codes(static_cast<size_t>(product(c.sizes)));
    std::vector<int> zeros(static_cast<size_t>(product(scale_sizes)));
    std::vector<float> scales(zeros.size());
    for (std::vector<int>* list : {&codes, &zeros}) {
      for (int& code : *list) {
        code = c.low() + static_cast<int>(rng.from(0, (1 << c.bits) - 1));
      }
    }
    for (float& scale : scales) {
      scale = static_cast<float>(rng.from(-50, 50)) / 7;
    }
    const int64_t extent = c.sizes[static_cast<size_t>(c.gather_axis)];
    const std::vector<int64_t> ids = {-1, 0, extent, -extent - 1, extent - 1};
    const Finished run = run_model(c, codes, zeros, scales, ids);
    ASSERT_EQ(run.status, 0) << run.err;
    const Array got = open_table(scratch_.path("y.npy")).load();
    size_t at = 0;
    std::vector<int64_t> out = c.sizes;
    out[static_cast<size_t>(c.gather_axis)] = std::ssize(ids);
    ASSERT_EQ(got.sizes(), Dims(std::span<const int64_t>(out)));
    for (int64_t x = 0; x < out[0]; ++x) {
      for (int64_t y = 0; y < out[1]; ++y) {
        for (int64_t z = 0; z < out[2]; ++z) {
          int64_t place[] = {x, y, z};
          int64_t& index = place[c.gather_axis];
          index = ids[static_cast<size_t>(index)];
          const bool inside = index >= -extent && index < extent;
          index += index < 0 ? extent : 0;
          float expected = 0;
          if (inside) {
            const auto code = static_cast<size_t>(element_number(place, c.sizes));
            place[c.axis] /= 16;
            const auto block = static_cast<size_t>(element_number(place, scale_sizes));
            const int zero = c.has_zeros ? zeros[block] : c.usual_zero();
            expected = static_cast<float>(codes[code] - zero) * scales[block];
          }
          const float value = got.elements<float>()[at++];
          ASSERT_EQ(std::memcmp(&value, &expected, sizeof value), 0)
              << value << " is not " << expected << " at " << x << " " << y << " " << z;
        }
      }
    }
  }

  static int64_t element_number(const int64_t* place, const std::vector<int64_t>& sizes) {
    return (place[0] * sizes[1] + place[1]) * sizes[2] + place[2];
  }

  Finished run_model(const BlockCase& c, const std::vector<int>& codes,
                     const std::vector<int>& zeros, const std::vector<float>& scales,
                     const std::vector<int64_t>& ids) const {
    const bool bytes = c.type == kTypeUint8;
    const auto stored = [&](const std::vector<int64_t>& sizes) {
      std::vector<int64_t> held = sizes;
      held[2] = bytes ? (held[2] * c.bits + 7) / 8 : held[2];
      return held;
    };
    const auto row = [&](const std::vector<int64_t>& sizes) {
      return bytes ? static_cast<size_t>(sizes[2]) : 0;
    };
    std::string nodes =
        node_of(c) +
        shaped("d", c.type, stored(c.sizes), packed_codes(codes, c.bits, row(c.sizes))) +
        shaped("s", kTypeFloat, c.scale_sizes(), bytes_of(scales)) +
        shaped("i", kTypeInt64, {std::ssize(ids)}, bytes_of(ids));
    if (c.has_zeros) {
      nodes += shaped("z", c.type, stored(c.scale_sizes()),
                      packed_codes(zeros, c.bits, row(c.scale_sizes())));
    }
    return run(nodes);
  }

  static std::string node_of(const BlockCase& c) {
    std::vector<std::string> inputs = {"d", "i", "s"};
    if (c.has_zeros) {
      inputs.emplace_back("z");
    }
    return node("GatherBlockQuantized", inputs, "y",
                field(7, "com.microsoft") + number("bits", c.bits) + number("block_size", 16) +
                    number("gather_axis", c.gather_axis) + number("quantize_axis", c.axis));
  }

  Finished run(const std::string& nodes) const {
    const std::string model = scratch_.write("m.onnx", field(7, nodes));
    return run_sheaf({"run", model, "-o", "y=" + scratch_.path("y.npy")});
  }

  Scratch scratch_;
};

TEST_F(BlockQuantized, GathersBytesOfCodes) {
  Rng rng(1);
  for (const int bits : {2, 4, 8}) {
    for (const bool has_zeros : {false, true}) {
      expect_as_described({kTypeUint8, bits, {5, 2, 72}, 0, 2, has_zeros}, rng);
    }
  }
}

TEST_F(BlockQuantized, GathersAlongEveryAxis) {
  Rng rng(2);
  for (const uint64_t type : {kTypeUint4, kTypeInt4}) {
    for (int gather_axis = 0; gather_axis < 3; ++gather_axis) {
      for (int axis = 0; axis < 3; ++axis) {
        std::vector<int64_t> sizes = {3, 5, 7};
        sizes[static_cast<size_t>(axis)] = 35;
        expect_as_described({type, 4, sizes, gather_axis, axis, axis != 1}, rng);
      }
    }
  }
}

TEST_F(BlockQuantized, IsRefusedWhereItDoesNotFit) {
  const std::string data = shaped("d", kTypeUint8, {2, 16}, std::string(32, '\1'));
  const std::string rest = shaped("i", kTypeInt64, {1}, bytes_of<int64_t>({0}));
  const std::string scales = shaped("s", kTypeFloat, {2, 2}, bytes_of<float>({1, 2, 3, 4}));
  const auto error = [&](const std::string& tensors, const std::string& attributes,
                         const std::vector<std::string>& inputs = {"d", "i", "s"}) {
    return run(node("GatherBlockQuantized", inputs, "y", field(7, "com.microsoft") + attributes) +
               tensors)
        .err;
  };
  const std::string block = number("block_size", 16);
  EXPECT_THAT(error(data + rest + scales, number("block_size", 24)),
              HasSubstr("block_size = 24\n  try: a power of two from 16 on"));
  EXPECT_THAT(error(data + rest + scales, block + number("bits", 3)),
              HasSubstr("bits = 3 with data of type u8\n  try: bits of 2, 4 or 8"));
  EXPECT_THAT(error(data + rest + scales, block + number("gather_axis", 1)),
              HasSubstr("gather_axis = 1 and quantize_axis = 1 with data of type u8"));
  EXPECT_THAT(error(data + rest + scales, block + number("quantize_axis", 2)),
              HasSubstr("axis 2 of a tensor of rank 2"));
  EXPECT_THAT(error(data + rest + scales, number("block_size", 32)),
              HasSubstr("its scales have sizes [2, 2], but [2, 1] are needed"));
  EXPECT_THAT(
      error(data + rest + shaped("s", kTypeInt64, {2, 2}, bytes_of<int64_t>({1, 2, 3, 4})), block),
      HasSubstr("its scales are of type i64\n  try: f32, f16 or bf16"));
  EXPECT_THAT(
      error(shaped("d", kTypeFloat, {2, 2}, bytes_of<float>({1, 2, 3, 4})) + rest + scales, block),
      HasSubstr("its data is of type f32\n  try: u8, u4, i4, f8e4m3 or f8e5m2"));
  EXPECT_THAT(error(data + rest + scales + shaped("z", kTypeUint8, {2, 2}, "1234"), block,
                    {"d", "i", "s", "z"}),
              HasSubstr("its zero_points are u8[2, 2] for data of type u8\n  try: u8[2, 1]"));
  EXPECT_THAT(error(data + rest, block), HasSubstr("its input \"s\" has no value"));
}

}  // namespace
