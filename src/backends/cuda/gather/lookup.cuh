// SPDX-License-Identifier: MIT
//
// Choosing inside contiguous rows of data: several indices per load, several outputs per store.
#pragma once

#include <algorithm>
#include <bit>

#include "backends/cuda/gather/move_rows.cuh"

namespace sheaf::cuda {

using LookupArgs = GatherArgs<AnyNest>;

// kTogether neighbouring indices, read by one instruction.
template <Indices kIndices, int kTogether>
struct RawIndices {
  using Raw = std::conditional_t<kIndices == Indices::kInt32, int32_t, long long>;
  Raw raw[kTogether];

  // kAgain: other rows are chosen from by the same indices.
  template <bool kAgain = false>
  __device__ void load(Kind kind, const std::byte* indices, int64_t element) {
    if constexpr (kIndices == Indices::kBits64 && kTogether == 2) {
      const auto two = read<kAgain, longlong2>(indices + element * 8);
      raw[0] = two.x;
      raw[1] = two.y;
    } else if constexpr (kIndices == Indices::kInt32 && kTogether == 4) {
      const auto four = read<kAgain, int4>(indices + element * 4);
      raw[0] = four.x;
      raw[1] = four.y;
      raw[2] = four.z;
      raw[3] = four.w;
    } else if constexpr (kIndices == Indices::kInt32 && kTogether == 2) {
      const auto two = read<kAgain, int2>(indices + element * 4);
      raw[0] = two.x;
      raw[1] = two.y;
    } else {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        raw[i] = static_cast<Raw>(load_raw<kIndices>(kind, indices, element + i));
      }
    }
  }

  template <bool kAgain, class T>
  static __device__ T read(const std::byte* memory) {
    if constexpr (kAgain) {
      return cuda::load<T>(memory);
    } else {
      return load_once<T>(memory);
    }
  }

  __device__ void resolve(const AnyNest& nest, uint32_t (&entries)[kTogether]) const {
    const auto extent = static_cast<uint32_t>(nest.coordinates[0].extent);
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      entries[i] = narrow_entry_of(nest, raw[i], extent);
    }
  }
};

// kTogether neighbouring outputs, written by one instruction.
template <int kBytes, int kTogether>
__device__ void write_outputs(const LookupArgs& args, const std::byte* row,
                              const uint32_t (&entries)[kTogether], std::byte* to) {
  union {
    Elements<Word<kBytes>, kTogether> outputs;
    Word<kBytes * kTogether> word;
  } chosen;
#pragma unroll
  for (int i = 0; i < kTogether; ++i) {
    chosen.outputs.values[i] =
        entries[i] != kNarrowOutside
            ? *reinterpret_cast<const Word<kBytes>*>(row + entries[i] * kBytes)
            : outside_word<kBytes>(args.nest, args.report, 0);
  }
  store_streaming(to, chosen.word);
}

// How many indices, and outputs of kBytes, one instruction reads and writes at most.
template <int kBytes, Indices kIndices>
inline constexpr int kMostTogether = kIndices == Indices::kAnyType  ? 1
                                     : kIndices == Indices::kBits64 ? (kBytes == 16 ? 1 : 2)
                                     : kBytes <= 4                  ? 4
                                                                    : 16 / kBytes;

// The widest access, up to `most` bytes, that a pointer and steps from it allow.
inline int common_alignment(const void* memory, std::initializer_list<int64_t> steps, int most) {
  auto bits =
      static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory)) | static_cast<uint64_t>(most);
  for (const int64_t step : steps) {
    bits |= static_cast<uint64_t>(step);
  }
  return 1 << std::countr_zero(bits);
}

enum class Side { kData, kIndices, kOutput };

// The widest access that all rows of a tensor allow.
inline int row_alignment(const LookupArgs& args, Side side, int most) {
  const int64_t width = args.nest.index_kind == Kind::kInt32 ? 4 : 8;
  const void* memory = side == Side::kData      ? static_cast<const void*>(args.data)
                       : side == Side::kIndices ? args.indices
                                                : args.output;
  int aligned = common_alignment(memory, {}, most);
  for (int l = 0; l < args.nest.loop_count(); ++l) {
    const DeviceLoop& loop = args.nest.loops[l];
    const int64_t step = side == Side::kData      ? loop.data
                         : side == Side::kIndices ? loop.index * width
                                                  : loop.output;
    aligned = common_alignment(nullptr, {step}, aligned);
  }
  return aligned;
}

struct LookupShape {
  int64_t inner_extent;  // indices that choose from one row
  int64_t entries;       // of a row
  int entry_bytes;       // 1, 2, 4, 8 or 16
  bool shared_indices;   // every row is chosen from by the same ones
};

inline bool same_indices_everywhere(const Nest& nest) {
  return std::all_of(nest.loops.begin(), nest.loops.end() - 1,
                     [](const Loop& loop) { return loop.index == 0; });
}

inline LookupShape shape_of(const Nest& nest) {
  return {nest.loops.back().extent, nest.coordinates[0].extent, static_cast<int>(nest.row_bytes),
          same_indices_everywhere(nest)};
}

// Why a nest does not choose inside rows of data, one index per element; null if it does.
const char* choosing_refusal(const KernelQuery& query);

}  // namespace sheaf::cuda
