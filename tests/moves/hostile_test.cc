// SPDX-License-Identifier: MIT
//
// Sizes, strides and pointers that no honest caller has: each is refused in four lines, and the
// output is as it was.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "helpers/refusal.h"
#include "moves/moves.h"
#include "sheaf/move.h"

namespace sheaf {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

class HostileMoves : public testing::Test {
 protected:
  // The refusal of a call that may write to out(). Checks that it has not.
  template <class Call>
  std::string refused(Call&& call) {
    const std::string text = refusal(call);
    EXPECT_EQ(memory_, std::vector<int32_t>(kElements, -7)) << text;
    return text;
  }

  Tensor out(const Dims& sizes) { return {memory_.data(), TensorSpec(i32, sizes)}; }
  Tensor out(const Dims& sizes, const Dims& strides) {
    return {memory_.data(), TensorSpec(i32, sizes, strides)};
  }
  ConstTensor in(const Dims& sizes) const { return {source_.data(), TensorSpec(i32, sizes)}; }
  ConstTensor in(const Dims& sizes, const Dims& strides) const {
    return {source_.data(), TensorSpec(i32, sizes, strides)};
  }
  static Tensor null(const Dims& sizes) { return {nullptr, TensorSpec(i32, sizes)}; }

  static constexpr size_t kElements = 64;
  std::vector<int32_t> memory_ = std::vector<int32_t>(kElements, -7);
  const std::vector<int32_t> source_ = std::vector<int32_t>(kElements, 1);
};

TEST_F(HostileMoves, PaddingWhoseSumOverflows) {
  for (const PadMode mode : {PadMode::kConstant, PadMode::kEdge, PadMode::kReflect,
                             PadMode::kSymmetric, PadMode::kWrap}) {
    EXPECT_EQ(refused([&] { pad(in({3}), out({6}), {kLargest}, mode); }),
              "pad: padding does not fit\n"
              "  dimension 0 has 3 entries after 9223372036854775807 of padding, but to has 6\n"
              "  from i32[3]   to i32[6]\n"
              "  try: a tensor that is not empty, and an output that holds it");
    refused([&] { pad(in({3}), out({6}), {kSmallest}, mode); });
    refused([&] { pad(in({3}), out({6}), {-1}, mode); });
    refused([&] { pad(in({3}), out({6}), {4}, mode); });
    refused([&] { pad(in({0}), out({6}), {2}, mode); });
  }
}

TEST_F(HostileMoves, PaddingByAModeThatDoesNotExist) {
  EXPECT_EQ(refused([&] { pad(in({3}), out({6}), {1}, static_cast<PadMode>(9)); }),
            "pad: unknown mode\n"
            "  mode = 9, but 0..4 have a meaning\n"
            "  from i32[3]   to i32[6]\n"
            "  try: one of the named modes");
}

TEST_F(HostileMoves, PaddingOfTensorsThatAreMirroredBeyondInt64) {
  // Strides of 0 make them out of one element.
  uint8_t one = 1;
  const ConstTensor from{&one, TensorSpec(u8, {int64_t{1} << 62}, {0})};
  const Tensor to{memory_.data(), TensorSpec(u8, {(int64_t{1} << 62) + 1})};
  EXPECT_EQ(refused([&] { pad(from, to, {1}, PadMode::kSymmetric); }),
            "pad: tensor too large\n"
            "  dimension 0 has 4611686018427387904 entries, but at most 2305843009213693952 can be "
            "mirrored\n"
            "  from u8[4611686018427387904] strides [0]   to u8[4611686018427387905]\n"
            "  try: check how the shape was computed");
}

TEST_F(HostileMoves, PaddingInTooManyPieces) {
  refused([&] {
    const Tensor to{memory_.data(), TensorSpec(i32, {int64_t{1} << 40})};
    pad(in({2}), to, {0}, PadMode::kWrap);
  });
}

// Each move, called with one tensor laid out as `given` and the others as they should be.
struct Call {
  std::string name;
  std::function<void(const TensorSpec& given)> run;
};

TEST_F(HostileMoves, StridesThatDoNotBelongToTheSizes) {
  const std::vector<int32_t> two = {1, 2};
  const Call calls[] = {
      {"copy from",
       [&](auto& s) {
         copy({source_.data(), s}, out({2, 3}));
       }},
      {"copy to",
       [&](auto& s) {
         copy(in({2, 3}), {memory_.data(), s});
       }},
      {"cast from",
       [&](auto& s) {
         cast({source_.data(), s}, out({2, 3}));
       }},
      {"cast to",
       [&](auto& s) {
         cast(in({2, 3}), {memory_.data(), s});
       }},
      {"fill",
       [&](auto& s) {
         fill({memory_.data(), s}, 1);
       }},
      {"fill_sequence",
       [&](auto& s) {
         fill_sequence({memory_.data(), s}, 1, 1);
       }},
      {"tile from",
       [&](auto& s) {
         tile({source_.data(), s}, out({2, 3}), {1, 1});
       }},
      {"tile to",
       [&](auto& s) {
         tile(in({2, 3}), {memory_.data(), s}, {1, 1});
       }},
      {"join from",
       [&](auto& s) {
         join(std::vector{ConstTensor{source_.data(), s}}, 0, out({2, 3}));
       }},
      {"join to",
       [&](auto& s) {
         join(std::vector{in({2, 3})}, 0, {memory_.data(), s});
       }},
      {"split from",
       [&](auto& s) {
         split({source_.data(), s}, 0, std::vector{out({2, 3})});
       }},
      {"split to",
       [&](auto& s) {
         split(in({2, 3}), 0, std::vector{Tensor{memory_.data(), s}});
       }},
      {"slice from",
       [&](auto& s) {
         slice({source_.data(), s}, out({2, 3}), {0, 0}, {1, 1});
       }},
      {"slice to",
       [&](auto& s) {
         slice(in({2, 3}), {memory_.data(), s}, {0, 0}, {1, 1});
       }},
      {"pad from",
       [&](auto& s) {
         pad({source_.data(), s}, out({2, 3}), {0, 0}, PadMode::kEdge);
       }},
      {"pad to",
       [&](auto& s) {
         pad(in({2, 3}), {memory_.data(), s}, {0, 0}, PadMode::kConstant);
       }},
      {"reverse from",
       [&](auto& s) {
         reverse_subsequences({source_.data(), s}, in({2, 1}), out({2, 3}), 1);
       }},
      {"reverse to",
       [&](auto& s) {
         reverse_subsequences(in({2, 3}), in({2, 1}), {memory_.data(), s}, 1);
       }},
      {"one_hot to",
       [&](auto& s) {
         one_hot(in({2, 1}), view(two), {memory_.data(), s}, 1);
       }},
      {"nonzero from",
       [&](auto& s) {
         nonzero({source_.data(), s}, out({6, 2}));
       }},
      {"nonzero to",
       [&](auto& s) {
         nonzero(in({2}), {memory_.data(), s});
       }},
      {"top_k from",
       [&](auto& s) {
         top_k({source_.data(), s}, out({2, 3}), {&memory_[6], TensorSpec(i32, {2, 3})}, 1);
       }},
      {"top_k values",
       [&](auto& s) {
         top_k(in({2, 3}), {memory_.data(), s}, {&memory_[6], TensorSpec(i32, {2, 3})}, 1);
       }},
      {"top_k places",
       [&](auto& s) {
         top_k(in({2, 3}), out({2, 3}), {&memory_[6], s}, 1);
       }},
  };
  for (const Call& call : calls) {
    SCOPED_TRACE(call.name);
    const Dims sizes = {2, 3};
    const Dims wrong[] = {{}, {3}, {3, 1, 1}, {kLargest, 1}, {kSmallest, 1}, {int64_t{1} << 61, 1}};
    for (const Dims& strides : wrong) {
      refused([&] { call.run(TensorSpec(i32, sizes, strides)); });
    }
    TensorSpec negative(i32, sizes), large(i32, sizes);
    negative.sizes = {-2, 3};
    large.sizes = {kLargest, 3};
    refused([&] { call.run(negative); });
    refused([&] { call.run(large); });
    refused([&] { call.run(TensorSpec(opaque(4), sizes, {kLargest, 1})); });
  }
}

TEST_F(HostileMoves, LengthsAndIndicesOutsideTheirMemory) {
  EXPECT_EQ(refused([&] {
              reverse_subsequences(in({2, 3}), in({2, 1}, {kLargest / 2, 1}), out({2, 3}), 1);
            }),
            "reverse_subsequences: tensor too large\n"
            "  the strides of lengths reach further than 2^63 - 1 bytes\n"
            "  lengths i32[2, 1] strides [4611686018427387903, 1]\n"
            "  try: check the strides; they are in elements, not in bytes");
  EXPECT_EQ(refused([&] {
              reverse_subsequences(in({2, 3}), in({2, 1}, {1}), out({2, 3}), 1);
            }),
            "reverse_subsequences: strides do not match sizes\n"
            "  lengths has 2 sizes but 1 strides\n"
            "  lengths i32[2, 1] strides [1]\n"
            "  try: give one stride, in elements, for each dimension");
  // Elements of one byte, or none that is not repeated, have indices of eight.
  constexpr int64_t kMany = int64_t{1} << 61;
  EXPECT_EQ(refused([&] {
              reverse_subsequences({source_.data(), {u8, {kMany, 2}, {0, 1}}},
                                   {source_.data(), {u8, {kMany, 1}}},
                                   {memory_.data(), {u8, {kMany, 2}}}, 1);
            }),
            "reverse_subsequences: tensor too large\n"
            "  the strides of indices reach further than 2^63 - 1 bytes\n"
            "  indices i64[2305843009213693952, 2]\n"
            "  try: check the strides; they are in elements, not in bytes");
  refused([&] { one_hot(in({2, 1}, {kLargest, 1}), in({2}), out({2, 3}), 1); });
  refused([&] { one_hot(in({2, 1}, {}), in({2}), out({2, 3}), 1); });
  refused([&] { one_hot(in({2, 1}), in({2}, {kLargest}), out({2, 3}), 1); });
  refused([&] { one_hot(in({2, 1}), in({2}, {}), out({2, 3}), 1); });
}

// The first address is there, the last is behind the end of all addresses.
TEST_F(HostileMoves, StridesThatLeaveTheAddressSpace) {
  const int64_t far = int64_t{1} << 60;
  const ConstTensor from{reinterpret_cast<const void*>(~uintptr_t{0} >> 1),
                         TensorSpec(u8, {2}, {far})};
  const Tensor to{memory_.data(), TensorSpec(u8, {2})};
  EXPECT_EQ(refused([&] { cast(from, to); }),
            "cast: tensor too large\n"
            "  the strides of from lead from its pointer out of the address space\n"
            "  from u8[2] strides [1152921504606846976]\n"
            "  try: check the strides; they are in elements, not in bytes");
}

TEST_F(HostileMoves, NullWithElements) {
  const std::vector<int32_t> two = {0, 1};
  const std::vector<ConstTensor> second_missing = {in({1, 3}), null({1, 3})};
  const std::vector<Tensor> second_missing_out = {out({1, 3}), null({1, 3})};
  const std::function<void()> calls[] = {
      [&] { copy(null({3}), out({3})); },
      [&] { copy(in({3}), null({3})); },
      [&] { cast(null({3}), out({3})); },
      [&] { cast(in({3}), null({3})); },
      [&] { fill(null({3}), 1); },
      [&] { fill_sequence(null({3}), 1, 1); },
      [&] { tile(null({3}), out({6}), {2}); },
      [&] {
        join(second_missing, 0, out({2, 3}));
      },
      [&] {
        split(in({2, 3}), 0, second_missing_out);
      },
      [&] { slice(null({5}), out({2}), {3}, {1}); },  // the start hides that it is null
      [&] { pad(null({3}), out({6}), {2}, PadMode::kConstant); },
      [&] { pad(null({3}), out({6}), {2}, PadMode::kWrap); },
      [&] {
        reverse_subsequences(null({2, 3}), in({2, 1}), out({2, 3}), 1);
      },
      [&] {
        reverse_subsequences(in({2, 3}), null({2, 1}), out({2, 3}), 1);
      },
      [&] {
        one_hot(null({2, 1}), view(two), out({2, 3}), 1);
      },
      [&] {
        one_hot(in({2, 1}), null({2}), out({2, 3}), 1);
      },
      [&] {
        nonzero(null({3}), out({3, 1}));
      },
      [&] {
        nonzero(in({3}), null({3, 1}));
      },
      [&] {
        top_k(null({3}), out({1}), {&memory_[3], TensorSpec(i32, {1})}, 0);
      },
      [&] {
        top_k(in({3}), null({1}), {&memory_[3], TensorSpec(i32, {1})}, 0);
      },
      [&] { top_k(in({3}), out({1}), null({1}), 0); },
  };
  for (const auto& call : calls) {
    EXPECT_NE(refused(call).find(": null pointer\n"), std::string::npos);
  }
  EXPECT_EQ(refused([&] { fill_sequence(null({3}), 1, 1); }),
            "fill_sequence: null pointer\n"
            "  to has elements, but its pointer is null\n"
            "  to i32[3]\n"
            "  try: pass the tensor's memory");
}

TEST_F(HostileMoves, NullWithoutElementsIsFine) {
  copy(null({0}), null({0}));
  cast(null({0, 3}), {nullptr, TensorSpec(i64, {0, 3})});
  fill(null({0}), 1);
  fill_sequence(null({0}), 1, 1);
  tile(null({0, 2}), null({0, 4}), {3, 2});
  join(std::vector<ConstTensor>{null({0}), in({2})}, 0, out({2}));
  split(in({2}), 0, std::vector<Tensor>{null({0}), out({2}), null({0})});
  slice(in({5}), null({0}), {kLargest}, {kSmallest});  // no element is taken
  slice(null({0}), null({0}), {2}, {1});
  reverse_subsequences(null({0, 3}), null({0, 1}), null({0, 3}), 1);
  reverse_subsequences(null({3, 0}), in({3, 1}), null({3, 0}), 1);
  reverse_subsequences(null({0, 3}), {nullptr, TensorSpec(i32, {0, 1}, {0, 1})}, null({0, 3}), 1);
  one_hot(null({0, 1}), in({2}), null({0, 3}), 1);
  EXPECT_EQ(nonzero(null({0}), null({0, 1})), 0);
  top_k(null({0, 3}), null({0, 1}), null({0, 1}), 1);
  top_k(in({2, 3}), null({2, 0}), null({2, 0}), 1);
}

TEST_F(HostileMoves, OutputsThatShareMemory) {
  const ConstTensor same{memory_.data(), TensorSpec(i32, {2, 3})};
  const ConstTensor column{&memory_[1], TensorSpec(i32, {2, 1})},
      pair{&memory_[4], TensorSpec(i32, {2})};
  const std::function<void()> calls[] = {
      [&] {
        copy(same, out({2, 3}));
      },
      [&] {
        cast(same, out({2, 3}, {1, 2}));
      },
      [&] {
        cast(ConstTensor{&memory_[1], TensorSpec(i32, {2, 3})}, out({2, 3}));
      },
      [&] {
        tile(same, out({4, 3}), {2, 1});
      },
      [&] {
        join(std::vector<ConstTensor>{in({2, 3}), same}, 0, out({4, 3}));
      },
      [&] {
        split(same, 0, std::vector<Tensor>{out({1, 3}), out({1, 3})});
      },
      [&] {
        split(in({2, 3}), 0, std::vector<Tensor>{out({1, 3}), out({1, 3})});
      },
      [&] {
        slice(same, out({1, 3}), {1, 0}, {1, 1});
      },
      [&] {
        pad(same, out({4, 3}), {1, 0}, PadMode::kConstant);
      },
      [&] {
        reverse_subsequences(same, in({2, 1}), out({2, 3}), 1);
      },
      [&] {
        reverse_subsequences(in({2, 3}), column, out({2, 3}), 1);
      },
      [&] {
        one_hot(column, in({2}), out({2, 3}), 1);
      },
      [&] {
        one_hot(in({2, 1}), pair, out({2, 3}), 1);
      },
      [&] {
        nonzero(same, out({6, 2}));
      },
      [&] {
        top_k(same, out({2, 1}), {&memory_[8], TensorSpec(i32, {2, 1})}, 1);
      },
      [&] {
        top_k(same, {&memory_[8], TensorSpec(i32, {2, 1})}, out({2, 1}), 1);
      },
      [&] {
        top_k(in({2, 3}), out({2, 1}), {&memory_[1], TensorSpec(i32, {2, 1})}, 1);
      },
  };
  for (const auto& call : calls) {
    EXPECT_NE(refused(call).find("overlaps"), std::string::npos);
  }
  EXPECT_EQ(refused(calls[0]),
            "copy: output overlaps another tensor\n"
            "  to and from share memory\n"
            "  to i32[2, 3]   from i32[2, 3]\n"
            "  try: memory of its own for each output");
  const std::function<void()> overlap_themselves[] = {
      [&] {
        copy(in({2, 3}), out({2, 3}, {1, 1}));
      },
      [&] {
        cast(in({2, 3}), out({2, 3}, {0, 1}));
      },
      [&] {
        fill(out({2, 3}, {2, 1}), 1);
      },
      [&] {
        fill_sequence(out({2, 3}, {2, 1}), 1, 1);
      },
      [&] {
        join(std::vector{in({1}), in({1})}, 0, out({2}, {0}));
      },
      [&] { pad(in({1}), out({2}, {0}), {1}, PadMode::kEdge); },
      [&] {
        nonzero(in({2, 3}), out({6, 2}, {1, 1}));
      },
      [&] {
        top_k(in({2, 3}), out({2, 1}, {0, 1}), {&memory_[8], TensorSpec(i32, {2, 1})}, 1);
      },
  };
  for (const auto& call : overlap_themselves) {
    EXPECT_NE(refused(call).find("output overlaps itself"), std::string::npos);
  }
}

TEST_F(HostileMoves, ColumnsOfOneMatrixAreApart) {
  fill_sequence(out({4, 2}), 1, 1);
  cast({memory_.data(), TensorSpec(i32, {4}, {2})}, {&memory_[1], TensorSpec(i32, {4}, {2})});
  EXPECT_EQ(std::vector<int32_t>(memory_.begin(), memory_.begin() + 8),
            (std::vector<int32_t>{1, 1, 3, 3, 5, 5, 7, 7}));
}

TEST_F(HostileMoves, CastsInPlace) {
  fill_sequence(out({4}), 1, 1);
  cast(out({4}), out({4}));
  EXPECT_EQ(memory_[3], 4);
}

TEST_F(HostileMoves, TilesSlicesAndPartsWhoseProductsOverflow) {
  EXPECT_EQ(refused([&] { tile(in({4}), out({0}), {int64_t{1} << 62}); }),
            "tile: output has the wrong shape\n"
            "  dimension 0 has 0 entries, but 4 repeated 4611686018427387904 times are more than "
            "2^63 - 1\n"
            "  from i32[4]   to i32[0]\n"
            "  try: sizes that are multiplied by the repeats");
  refused([&] { tile(in({4}), out({4}), {0}); });
  refused([&] { tile(in({4}), out({4}), {kSmallest}); });
  EXPECT_EQ(refused([&] { slice(in({5}), out({3}), {1}, {kLargest}); }),
            "slice: slice outside the tensor\n"
            "  dimension 0 takes 3 entries from 1 on in steps of 9223372036854775807, but the "
            "tensor has 5 entries there\n"
            "  from i32[5]   to i32[3]\n"
            "  try: a slice inside the tensor");
  refused([&] { slice(in({5}), out({2}), {4}, {kLargest}); });
  refused([&] { slice(in({5}), out({2}), {4}, {kSmallest}); });
  refused([&] { slice(in({5}), out({2}), {kLargest}, {1}); });
  refused([&] { slice(in({5}), out({2}), {-1}, {1}); });
  refused([&] { slice(in({5}), out({2}), {5}, {-1}); });
  refused([&] { slice(in({5}), out({3}), {1}, {-1}); });
  refused([&] { slice(in({5}), out({2}), {1}, {0}); });
  refused([&] { join(std::vector{in({3}), in({3})}, 0, out({4})); });
  refused([&] { join(std::vector{in({3}), in({3})}, 0, out({7})); });
  refused([&] { join(std::vector{in({3})}, 1, out({3})); });
  refused([&] { join(std::vector{in({3})}, -1, out({3})); });
  refused([&] { join(std::vector{in({2, 3})}, 0, out({2, 4})); });
  refused([&] { join(std::vector{in({3})}, 0, out({1, 3})); });
  refused([&] { split(in({4}), 0, std::vector{out({3})}); });
}

// A step that is never taken may be anything.
TEST_F(HostileMoves, StepsThatAreNeverTaken) {
  slice(in({5}), out({1}), {2}, {kLargest});
  slice(in({5}), out({1}), {2}, {kSmallest});
  const Dims unused = {kLargest, 1};
  tile(in({1, 3}, unused), out({1, 3}, {kSmallest, 1}), {1, 1});
  tile(null({0, 2}), {nullptr, TensorSpec(i32, {0, 4}, {1, kLargest / 2})}, {1, 2});
  slice({nullptr, TensorSpec(i32, {0, 5}, {1, kLargest / 2})}, null({0, 2}), {0, 0}, {1, 3});
  cast(in({1, 3}, unused), out({1, 3}, {kSmallest, 1}));
  copy(in({1, 3}, unused), out({1, 3}, {kSmallest, 1}));
  pad(in({1, 3}, unused), out({1, 3}, {kSmallest, 1}), {0, 0}, PadMode::kReflect);
  join(std::vector{in({1, 3}, unused), in({0, 3})}, 0, out({1, 3}, {kLargest, 1}));
  nonzero(in({1, 3}, unused), out({3, 2}));
  EXPECT_EQ(memory_[5], 2);
}

// A move that is described with 2^61 elements and memory for them would take for ever; those that
// have none of them are refused or done at once.
TEST_F(HostileMoves, CountsOfElementsThatOverflow) {
  const int64_t huge = int64_t{1} << 62;
  const Tensor places{&memory_[8], TensorSpec(i64, {1})};
  EXPECT_EQ(refused([&] { top_k(in({huge / 4}, {0}), out({1}), places, 0); }),
            "top_k: tensor too large\n"
            "  1152921504606846976 entries along the axis, but at most 281474976710656 are sorted\n"
            "  from i32[1152921504606846976] strides [0]   values i32[1]   indices i64[1]\n"
            "  try: check how the shape was computed");
  refused([&] { nonzero(in({huge}, {0}), out({huge, 2})); });
  refused([&] { nonzero(in({huge, 2}, {0, 0}), out({2, 2})); });
}

TEST_F(HostileMoves, CoordinatesThatDoNotHoldAPlace) {
  std::vector<int8_t> from(129, 1), coordinates(129 * 2, -7);
  const auto narrow = [&](int64_t entries) {
    return nonzero(view(from.data(), {entries, 1}), view(coordinates.data(), {entries, 2}));
  };
  EXPECT_EQ(refusal([&] { narrow(129); }),
            "nonzero: coordinates are too narrow\n"
            "  i8 does not hold 128\n"
            "  from i8[129, 1]   coordinates i8[129, 2]\n"
            "  try: coordinates of type i32 or i64");
  EXPECT_EQ(coordinates, std::vector<int8_t>(129 * 2, -7));
  EXPECT_EQ(narrow(128), 128);
  EXPECT_EQ(coordinates[254], 127);
}

TEST_F(HostileMoves, CountsThatDoNotHoldTheNumber) {
  EXPECT_EQ(refusal([] {
              moves::nonzero("nonzero", TensorSpec(u8, {128}), TensorSpec(i8, {1}),
                             TensorSpec(i32, {128, 1}));
            }),
            "nonzero: count is too narrow\n"
            "  i8 does not hold 128\n"
            "  from u8[128]   count i8[1]\n"
            "  try: a count of type i32 or i64");
  moves::nonzero("nonzero", TensorSpec(u8, {127}), TensorSpec(i8, {1}), TensorSpec(i32, {127, 1}));
  moves::nonzero("nonzero", TensorSpec(u8, {255}), TensorSpec(u8, {1}), TensorSpec(u8, {255, 1}));
}

TEST_F(HostileMoves, CountsThatShareMemory) {
  const moves::Work work =
      moves::nonzero("nonzero", TensorSpec(i32, {3}), TensorSpec(i64, {}), TensorSpec(i32, {3, 1}));
  int64_t count = 0;
  const auto run = [&](const void* from, void* to_count, void* to) {
    const void* inputs[] = {from};
    void* outputs[] = {to_count, to};
    work(inputs, outputs);
  };
  refused([&] { run(source_.data(), memory_.data(), &memory_[1]); });
  refused([&] { run(memory_.data(), memory_.data(), &memory_[8]); });
  refused([&] { run(source_.data(), nullptr, memory_.data()); });
  run(source_.data(), &count, memory_.data());
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace sheaf
