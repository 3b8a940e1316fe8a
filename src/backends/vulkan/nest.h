// SPDX-License-Identifier: MIT
//
// What shaders take: the structs of shaders/nest.glsl, word for word.
#pragma once

#include <cstdint>
#include <type_traits>

#include "execution/backend.h"
#include "sheaf/plan.h"

namespace sheaf::vulkan {

using Address = uint64_t;  // VkDeviceAddress

inline Address address_of(const void* memory) { return reinterpret_cast<Address>(memory); }

struct ShaderLoop {
  int64_t data, index, grid, extent;
  uint32_t divisor, magic, shift, unused;
};

struct ShaderCoordinate {
  int64_t extent, stride, offset;
  int64_t window_inner, window_extent;
};

struct ShaderNest {
  uint32_t loop_count, coordinate_count, narrow, index_kind;
  uint32_t negative, out_of_range, unused[2];
  ShaderCoordinate coordinates[kMaxRank];
  ShaderLoop loops[kMaxRank];
};

// Flags of a call.
inline constexpr uint32_t kFillAll = 1, kOnlyIfMet = 2, kChecksWhileMoving = 4, kMarked = 8;
inline constexpr uint32_t kLongBags = 16;

struct ShaderCall {
  Address data, indices, grid;
  Address verdict;
  Address nest, slices;
  Address keys, high_keys, numbers, sorted, histogram;
  int64_t lowest, unit, key_count;
  int64_t inner, components, repeats, self;
  int64_t row_bytes;
  uint32_t element_bytes, flags, tuples, kind;
  uint32_t to_kind, reduction, in_order, unused;
  uint32_t fill[kMaxElementBytes / 4];
  Address table, bag;  // table.h
};

struct ShaderLine {
  Address data, indices, grid;
  int64_t extent, stride;
  int64_t inner_data, outer_data;
  int32_t inner_index, outer_index;
  uint32_t divisor, magic, rule;
};
inline constexpr uint32_t kLineChecked = 1U << 24;

struct Push {
  Address call;
  int64_t first_row, first_column;
  uint32_t count, columns, magic, shift;
  uint32_t last;
  ShaderLine line;
};
static_assert(sizeof(Push) == 128);  // what every device has

static_assert(std::is_trivially_copyable_v<ShaderNest> && std::is_trivially_copyable_v<ShaderCall>);
static_assert(sizeof(ShaderLoop) == 48 && sizeof(ShaderCoordinate) == 40);
static_assert(kMaxRank == 32 && kMaxElementBytes == 64);

// Values that the shaders know by number.
static_assert(int(Kind::kInt8) == 1 && int(Kind::kUInt64) == 8 && int(Kind::kFloat8E4M3) == 9 &&
              int(Kind::kComplex128) == 16);
static_assert(int(OutOfRange::kClamp) == 1 && int(OutOfRange::kFill) == 2 &&
              int(OutOfRange::kWrap) == 3 && int(OutOfRange::kTrust) == 4 &&
              int(OutOfRange::kSkip) == 5 && int(Negative::kFromEnd) == 0);
static_assert(int(Reduction::kAdd) == 1 && int(Reduction::kSub) == 2 && int(Reduction::kMul) == 3 &&
              int(Reduction::kMin) == 4 && int(Reduction::kMax) == 5 && int(Reduction::kMean) == 6);
static_assert(sizeof(Verdict) == 32);

ShaderNest shader_nest(const Nest& nest);

}  // namespace sheaf::vulkan
