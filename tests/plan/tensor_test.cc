// SPDX-License-Identifier: MIT
#include "sheaf/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "helpers/limits.h"
#include "helpers/refusal.h"

namespace sheaf {
namespace {

TEST(ElementCount, RefusesWhatIsNoSize) {
  EXPECT_EQ(refusal([] {
              element_count({2, -1});
            }),
            "tensor: negative size\n"
            "  size -1, but sizes are 0 or more\n"
            "  sizes [2, -1]\n"
            "  try: checking how the shape was computed");
  const int64_t half = int64_t{1} << 32;
  EXPECT_EQ(refusal([&] {
              element_count({half, half});
            }),
            "tensor: tensor too large\n"
            "  the sizes multiply to more than 2^63 - 1\n"
            "  sizes [4294967296, 4294967296]\n"
            "  try: checking how the shape was computed");
  // A 0, before or behind, hides nothing.
  for (const Dims& sizes : {Dims{0, kMost, 2}, Dims{kMost, 2, 0}, Dims{half, 0, half}}) {
    EXPECT_EQ(refusal([&] { element_count(sizes); }).find("tensor: tensor too large"), 0u);
    EXPECT_EQ(refusal([&] { contiguous_strides(sizes); }).find("tensor: tensor too large"), 0u);
    EXPECT_EQ(refusal([&] { TensorSpec(u8, sizes); }).find("tensor: tensor too large"), 0u);
  }
  EXPECT_EQ(refusal([] { element_count({0, kLeast}); }).find("tensor: negative size"), 0u);
}

TEST(ElementCount, Counts) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({0}), 0);
  EXPECT_EQ(element_count({0, kMost}), 0);
  EXPECT_EQ(element_count({kMost}), kMost);
  EXPECT_EQ(element_count({int64_t{1} << 31, int64_t{1} << 31}), int64_t{1} << 62);
  EXPECT_EQ(element_count(Dims(32, 1)), 1);
}

TEST(Dims, HoldAtMost32) {
  const std::vector<int64_t> many(255, 1);
  const std::string text =
      "tensor: too many dimensions\n"
      "  rank 255, but at most 32 are supported\n"
      "  no tensor can be made\n"
      "  try: merging dimensions that are adjacent in memory";
  EXPECT_EQ(refusal([&] { Dims{std::span<const int64_t>(many)}; }), text);
  EXPECT_EQ(refusal([&] { Dims(255, 1); }), text);
  Dims dims(32, 7);
  EXPECT_EQ(refusal([&] {
              dims.push_back(1);
            }).find("tensor: too many dimensions\n  rank 33, but at most 32 are supported"),
            0u);
  EXPECT_EQ(dims, Dims(32, 7));
  EXPECT_EQ(Dims(std::span<const int64_t>(many).first(32)).size(), 32);
}

TEST(Dims, AreValues) {
  Dims a = {1, 2, 3};
  const Dims b = a;
  a.pop_back();
  EXPECT_EQ(a, (Dims{1, 2}));
  EXPECT_EQ(b, (Dims{1, 2, 3}));
  EXPECT_FALSE(a == b);
  a = b;
  const Dims& self = a;
  a = self;
  EXPECT_EQ(a, b);
  a.clear();
  EXPECT_TRUE(a.empty());
}

TEST(ContiguousStrides, AreRowMajor) {
  EXPECT_EQ(contiguous_strides({}), (Dims{}));
  EXPECT_EQ(contiguous_strides({7}), (Dims{1}));
  EXPECT_EQ(contiguous_strides({2, 3, 5}), (Dims{15, 5, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 5}), (Dims{5, 5, 1}));
}

TEST(TensorSpecText, ShowsStridesThatAreNotContiguous) {
  EXPECT_EQ(TensorSpec(f32, {}).str(), "f32[]");
  EXPECT_EQ(TensorSpec(f32, {3, 5}).str(), "f32[3, 5]");
  EXPECT_EQ(TensorSpec(f32, {3, 5}, {1, 3}).str(), "f32[3, 5] strides [1, 3]");
  EXPECT_EQ(TensorSpec(f32, {3, 5}, {-5, 1}).str(), "f32[3, 5] strides [-5, 1]");
  EXPECT_EQ(TensorSpec(f32, {3, 5}, {0, 1}).str(), "f32[3, 5] strides [0, 1]");
  EXPECT_EQ(TensorSpec(f32, {3, 1}, {1, 99}).str(), "f32[3, 1]");  // 99 is never used
  EXPECT_EQ(TensorSpec(f32, {3, 5}, {5}).str(), "f32[3, 5] strides [5]");
  EXPECT_EQ(TensorSpec(opaque(24), {2}).str(), "opaque24[2]");
}

TEST(TensorSpecText, HasNoStridesForAnEmptyContiguousTensor) {
  EXPECT_EQ(TensorSpec(f32, {0}).str(), "f32[0]");
  EXPECT_EQ(TensorSpec(f32, {3, 0}).str(), "f32[3, 0]");
  EXPECT_EQ(TensorSpec(f32, {3, 0, 5}).str(), "f32[3, 0, 5]");
}

TEST(View, RefusesSizesOfAnotherBuffer) {
  std::vector<float> six(6);
  EXPECT_EQ(refusal([&] {
              view(six, {2, 4});
            }),
            "tensor: sizes do not match the buffer\n"
            "  sizes [2, 4] need 8 elements, but the buffer has 6\n"
            "  f32[2, 4]\n"
            "  try: sizes whose product is the buffer's length, or give strides");
  EXPECT_EQ(refusal([&] { view(six, {}); }).find("tensor: sizes do not match the buffer"), 0u);
  EXPECT_EQ(refusal([&] { view(six, {2, -3}); }).find("tensor: negative size"), 0u);
  // An array knows its length: it is not taken for a pointer.
  float array[6] = {};
  EXPECT_EQ(refusal([&] { view(array, {7}); }).find("tensor: sizes do not match the buffer"), 0u);
  EXPECT_EQ(refusal([&] { view(array, {7}, {1}); }).find("tensor: view leaves its buffer"), 0u);
}

TEST(View, RefusesToLeaveItsBuffer) {
  std::vector<float> six(6);
  EXPECT_EQ(refusal([&] {
              view(six, {2, 3}, {3});
            }),
            "tensor: strides do not match sizes\n"
            "  2 sizes but 1 strides\n"
            "  f32[2, 3] strides [3]\n"
            "  try: one stride, in elements, for each dimension");
  EXPECT_EQ(refusal([&] {
              view(six, {2, 3}, {4, 1});
            }),
            "tensor: view leaves its buffer\n"
            "  from element 0 these strides reach outside the buffer's 6 elements\n"
            "  f32[2, 3] strides [4, 1]\n"
            "  try: smaller sizes or strides; strides are in elements");
  struct Bad {
    Dims sizes, strides;
    int64_t first;
  };
  const Bad all[] = {{{6}, {1}, 1},       {{6}, {-1}, 4},       {{6}, {1}, -1},
                     {{1}, {1}, 6},       {{0}, {1}, 7},        {{0}, {1}, -1},
                     {{2}, {kMost}, 0},   {{2}, {kLeast}, 5},   {{2}, {kMost / 4}, 0},
                     {{1}, {1}, kMost},   {{1}, {1}, kLeast},   {{2}, {-1}, 0},
                     {{2, 2}, {5, 1}, 0}, {{2}, {1}, kMost - 1}};
  for (const Bad& bad : all) {
    EXPECT_EQ(refusal([&] {
                view(six, bad.sizes, bad.strides, bad.first);
              }).find("tensor: view leaves its buffer"),
              0u)
        << TensorSpec(f32, bad.sizes, bad.strides).str() << " from " << bad.first;
  }
}

TEST(View, SeesPartsOfABuffer) {
  std::vector<int32_t> six = {10, 11, 12, 13, 14, 15};
  const Tensor all = view(six);
  EXPECT_EQ(all.data, six.data());
  EXPECT_EQ(all.spec, TensorSpec(i32, {6}));
  EXPECT_EQ(view(six, {2, 3}).spec, TensorSpec(i32, {2, 3}));
  const Tensor backwards = view(six, {6}, {-1}, 5);
  EXPECT_EQ(*static_cast<int32_t*>(backwards.data), 15);
  const Tensor column = view(six, {2}, {3}, 2);
  EXPECT_EQ(*static_cast<int32_t*>(column.data), 12);
  EXPECT_EQ(view(six, {0}, {kMost}, 6).data, six.data() + 6);
  EXPECT_EQ(view(std::vector<int32_t>(), {0, 4}).spec.sizes, (Dims{0, 4}));

  const std::vector<int32_t>& fixed = six;
  static_assert(std::is_same_v<decltype(view(fixed)), ConstTensor>);
  static_assert(std::is_same_v<decltype(view(six)), Tensor>);
  static_assert(std::is_same_v<decltype(view(std::span<const int32_t>(six))), ConstTensor>);
  static_assert(std::is_same_v<decltype(view(std::as_const(six), {6})), ConstTensor>);
  const int32_t* pointer = six.data();
  static_assert(std::is_same_v<decltype(view(pointer, {6})), ConstTensor>);
  EXPECT_EQ(view(pointer, {2, 3}).data, pointer);
  EXPECT_EQ(view(six.data(), {2}, {3}).spec.strides, (Dims{3}));
  std::array<int32_t, 4> four = {};
  EXPECT_EQ(view(four, {2, 2}).data, four.data());
}

template <class C>
concept Viewable = requires(C& buffer) {
  view(buffer);
};
static_assert(!Viewable<std::list<float>>);
static_assert(!Viewable<std::vector<bool>>);
static_assert(Viewable<const std::array<float, 3>>);

TEST(Array, RunsOutOfMemory) {
  const TensorSpec huge(u8, {int64_t{1} << 61, 3});
  EXPECT_EQ(refusal([&] { Array{huge}; }, ErrorCode::kOutOfMemory),
            "tensor: out of memory\n"
            "  6917529027641081856 elements of 1 bytes could not be allocated\n"
            "  u8[2305843009213693952, 3]\n"
            "  try: fewer indices per call, or an output of your own");
  // Bytes that int64 does not hold must not wrap to a small allocation.
  EXPECT_EQ(refusal([&] { Array{TensorSpec(f64, {int64_t{1} << 61})}; }, ErrorCode::kOutOfMemory)
                .find("tensor: out of memory"),
            0u);
}

TEST(Array, KnowsItsType) {
  Array array(TensorSpec(f32, {2, 3}));
  EXPECT_EQ(refusal([&] { array.elements<int32_t>(); }),
            "tensor: types differ\n"
            "  elements of i32 asked of f32\n"
            "  f32[2, 3]\n"
            "  try: the element type of the array");
  EXPECT_EQ(refusal([&] { std::as_const(array).elements<double>(); }).find("tensor: types differ"),
            0u);
  EXPECT_EQ(array.elements<float>().size(), 6u);
  EXPECT_EQ(std::as_const(array).elements<float>().data(), array.tensor().data);
}

TEST(Array, IsContiguousAndAligned) {
  const Array array(TensorSpec(f32, {2, 3}, {1, 2}));  // the strides are not taken over
  EXPECT_EQ(array.spec(), TensorSpec(f32, {2, 3}));
  EXPECT_EQ(array.sizes(), (Dims{2, 3}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.tensor().data) % 64, 0u);
  Array scalar(TensorSpec(c128, {}));
  EXPECT_EQ(scalar.elements<std::complex<double>>().size(), 1u);
  Array none(TensorSpec(f32, {0, 3}));
  EXPECT_TRUE(none.elements<float>().empty());
  EXPECT_NE(none.tensor().data, nullptr);
}

}  // namespace
}  // namespace sheaf
