// SPDX-License-Identifier: MIT
//
// Index values: from the end where signed, then clamped to the axis; never a failure, never a read
// outside. The data lies against memory that may not be touched.
#include <cstdint>
#include <limits>

#include "frontends/directml/dml.h"
#include "helpers/guarded.h"

using namespace dml_test;

namespace {

constexpr int64_t kExtent = 5;

template <class Index>
std::vector<Index> hostile_values() {
  using Limits = std::numeric_limits<Index>;
  std::vector<Index> values{0, 1, 4, 5, 6, Limits::max(), Limits::max() - 1};
  if constexpr (std::is_signed_v<Index>) {
    for (const Index value : {Index{-1}, Index{-5}, Index{-6}, Index{-7}, Limits::min(),
                              static_cast<Index>(Limits::min() + 1)}) {
      values.push_back(value);
    }
  } else {
    values.push_back(Limits::max() / 2);
    values.push_back(Limits::max() / 2 + 1);
  }
  return values;
}

// What the rule says, in another way than the library does it.
template <class Index>
uint8_t entry(Index value) {
  if (std::is_signed_v<Index> && value < Index{0}) {
    return static_cast<int64_t>(value) >= -kExtent
               ? static_cast<uint8_t>(kExtent + static_cast<int64_t>(value))
               : uint8_t{0};
  }
  return static_cast<uint64_t>(value) < uint64_t{kExtent} ? static_cast<uint8_t>(value)
                                                          : static_cast<uint8_t>(kExtent - 1);
}

template <class Index>
constexpr DML_TENSOR_DATA_TYPE index_type() {
  if constexpr (std::is_signed_v<Index>) {
    return sizeof(Index) == 8 ? DML_TENSOR_DATA_TYPE_INT64 : DML_TENSOR_DATA_TYPE_INT32;
  } else {
    return sizeof(Index) == 8 ? DML_TENSOR_DATA_TYPE_UINT64 : DML_TENSOR_DATA_TYPE_UINT32;
  }
}

// Gathers every hostile value from five numbers 10..14 that touch forbidden memory.
template <class Index>
void expect_clamped(DML_OPERATOR_TYPE type, Flush flush) {
  const std::vector<Index> indices = hostile_values<Index>();
  const auto count = static_cast<UINT>(indices.size());
  const GuardedMemory memory(8);
  const auto data = memory.part(8, flush);
  for (int i = 0; i < 5; ++i) {
    data[static_cast<size_t>(i)] = static_cast<std::byte>(10 + i);
  }
  const bool nd = type == DML_OPERATOR_GATHER_ND || type == DML_OPERATOR_GATHER_ND1;
  const Uints index_sizes = nd ? Uints{count, 1} : Uints{1, count};
  const auto u8 = [](Uints sizes) { return Tensor(DML_TENSOR_DATA_TYPE_UINT8, std::move(sizes)); };
  Call call{type, u8({1, 5}), {index_type<Index>(), index_sizes}, u8({1, count}), {1, 1}};
  call.attributes = nd ? Uints{1, 2, 0} : call.attributes;
  const Compiled compiled = compile(call);

  std::vector<uint8_t> output((count + 3) / 4 * 4);
  const WholeBuffers buffers{HostBuffer(data), HostBuffer(indices), HostBuffer(output)};
  ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings()), S_OK)
      << LastErrorText();
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(output[i], 10 + entry(indices[i])) << "operator " << type << " index " << indices[i];
  }
}

}  // namespace

TEST(DirectmlIndices, AreClampedInAllFourOperatorsAndTypes) {
  for (const DML_OPERATOR_TYPE type : {DML_OPERATOR_GATHER, DML_OPERATOR_GATHER_ELEMENTS,
                                       DML_OPERATOR_GATHER_ND, DML_OPERATOR_GATHER_ND1}) {
    for (const Flush flush : {Flush::kFront, Flush::kBack}) {
      expect_clamped<int32_t>(type, flush);
      expect_clamped<int64_t>(type, flush);
      expect_clamped<uint32_t>(type, flush);
      expect_clamped<uint64_t>(type, flush);
    }
  }
}

// Each coordinate is clamped to its own axis, not the offset that they make together.
TEST(DirectmlIndices, TuplesAreClampedAxisByAxis) {
  const std::vector<float> data{0, 1, 2, 10, 11, 12};
  EXPECT_EQ(run(gather_nd(f32({2, 3}), i64({4, 2}), f32({1, 4}), 2, 2), data,
                std::vector<int64_t>{0, 7, 7, 0, -9, -1, 1, -3}),
            (std::vector<float>{2, 10, 2, 10}));
}

TEST(DirectmlIndices, AreClampedInsideTheirBatch) {
  const std::vector<float> data{0, 1, 2, 10, 11, 12};
  EXPECT_EQ(run(gather_nd1(f32({1, 2, 3}), i64({2, 2, 1}), f32({1, 2, 2}), {2, 3, 1}), data,
                std::vector<int64_t>{5, -5, 5, -5}),
            (std::vector<float>{2, 0, 12, 10}));
}

// Below level 3_0 indices are UINT32: the pattern of -1 is a very large number.
TEST(DirectmlIndices, AreNeverNegativeBelowLevel30) {
  for (const DML_FEATURE_LEVEL level :
       {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_2_0, DML_FEATURE_LEVEL_2_1}) {
    EXPECT_EQ(run(gather(f32({1, 1, 1, 3}), u32({1, 1, 1, 2}), f32({1, 1, 1, 2}), 3, 1),
                  std::vector<float>{1, 2, 3}, Uints{UINT32_MAX, 0}, level),
              (std::vector<float>{3, 1}));
  }
}

TEST(DirectmlIndices, CountFromTheEndSinceLevel30) {
  EXPECT_EQ(run(gather(f32({3}), i32({3}), f32({3}), 0, 1), std::vector<float>{1, 2, 3},
                std::vector<int32_t>{-1, -3, -4}, DML_FEATURE_LEVEL_3_0),
            (std::vector<float>{3, 1, 1}));
}
