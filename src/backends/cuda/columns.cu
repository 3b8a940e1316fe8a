// SPDX-License-Identifier: MIT
//
// Indices that choose among rows, column by column (gather_elements along an outer axis): random
// single elements of a large table. A block has a few columns of it whole in shared memory.
// Neighbouring blocks have neighbouring columns at the same time, so that what their rows share of
// a sector comes from memory once.
#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "backends/cuda/device.h"
#include "backends/cuda/staged.cuh"

namespace sheaf::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kStepsInFlight = 4;

struct ColumnsArgs {
  AnyNest outer;  // the loops outside rows and columns; the rule and the coordinate
  const std::byte* data;
  const std::byte* indices;
  std::byte* output;
  const Verdict* verdict;
  Loop columns, rows;
  uint32_t width;  // columns that a block has, a power of two
  int64_t strips;  // of one outer point; the last begins where it ends with the columns
  int copy_bytes;  // 16, 8, 4 or 1: what a row of a strip is read by
};

template <int kBytes>
__device__ void copy_strip(const ColumnsArgs& args, const std::byte* data, uint32_t row_bytes,
                           std::byte* strip) {
  const DeviceCoordinate& entries = args.outer.coordinates[0];
  const uint32_t copies = row_bytes / kBytes;
  const auto count = static_cast<uint32_t>(entries.extent) * copies;
  for (uint32_t i = threadIdx.x; i < count; i += kThreads) {
    const uint32_t row = i / copies;
    const std::byte* from = data + row * entries.stride + (i - row * copies) * kBytes;
    if constexpr (kBytes >= 4) {
      __pipeline_memcpy_async(strip + i * kBytes, from, kBytes);
    } else {
      *reinterpret_cast<Word<kBytes>*>(strip + i) = load<Word<kBytes>>(from);
    }
  }
}

// Brings the columns from `data` on to shared memory, row after row.
__device__ void stage_strip(const ColumnsArgs& args, const std::byte* data, uint32_t row_bytes,
                            std::byte* strip) {
  switch (args.copy_bytes) {
    case 16: copy_strip<16>(args, data, row_bytes, strip); break;
    case 8: copy_strip<8>(args, data, row_bytes, strip); break;
    case 4: copy_strip<4>(args, data, row_bytes, strip); break;
    default: copy_strip<1>(args, data, row_bytes, strip); break;
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

// kTogether columns of a row at a time.
template <int kBytes, int kTogether, Indices kIndices>
__device__ void choose(const ColumnsArgs& args, const Place& place, int64_t first_column,
                       const std::byte* strip) {
  const uint32_t across = args.width / kTogether;  // steps of a row
  const uint32_t row_bytes = args.width * kBytes;
  const uint32_t column = threadIdx.x % across * kTogether;
  const uint32_t side = kThreads / across;  // rows side by side
  const int64_t index = place.index + (first_column + column) * args.columns.index;
  std::byte* const output = args.output + place.output + (first_column + column) * kBytes;
  for (int64_t row = threadIdx.x / across; row < args.rows.extent; row += kStepsInFlight * side) {
    RawIndices<kIndices, kTogether> raw[kStepsInFlight];
#pragma unroll
    for (int i = 0; i < kStepsInFlight; ++i) {
      if (row + i * side < args.rows.extent) {
        raw[i].template load<Sectors::kShared>(args.outer.index_kind, args.indices,
                                               index + (row + i * side) * args.rows.index);
      }
    }
#pragma unroll
    for (int i = 0; i < kStepsInFlight; ++i) {
      if (row + i * side < args.rows.extent) {
        uint32_t entries[kTogether];
        raw[i].resolve(args.outer, entries);
        write_outputs<kBytes, kTogether, Sectors::kShared>(
            args.outer, strip + column * kBytes, row_bytes, kBytes, entries,
            output + (row + i * side) * args.rows.output);
      }
    }
  }
}

template <int kBytes, int kTogether, Indices kIndices>
__global__ void __launch_bounds__(kThreads, 1)
    columns_kernel(const __grid_constant__ ColumnsArgs args) {
  extern __shared__ uint4 shared[];
  auto* const strip = reinterpret_cast<std::byte*>(shared);
  if (refused(args.verdict)) {
    return;
  }
  for (int64_t number = blockIdx.x; number < args.outer.points * args.strips; number += gridDim.x) {
    const int64_t outer = number / args.strips;
    const int64_t first_column =
        min((number - outer * args.strips) * args.width, args.columns.extent - args.width);
    const Place place = locate(args.outer, outer);
    stage_strip(args, args.data + place.data + first_column * kBytes, args.width * kBytes, strip);
    choose<kBytes, kTogether, kIndices>(args, place, first_column, strip);
    __syncthreads();
  }
}

template <int kBytes, int kTogether, Indices kIndices>
void launch(const ColumnsArgs& args, Stream stream) {
  const Device& device = current_device();
  const int64_t shared = args.outer.coordinates[0].extent * args.width * kBytes;
  const auto kernel = columns_kernel<kBytes, kTogether, kIndices>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(shared));
  const int64_t blocks = std::min<int64_t>(args.outer.points * args.strips, device.multiprocessors);
  kernel<<<static_cast<unsigned>(blocks), kThreads, static_cast<size_t>(shared), stream>>>(args);
}

// Where a strip may begin, in columns: what alignment has to hold for.
int64_t strip_step(const ColumnsArgs& args) {
  return std::gcd(int64_t{args.width}, args.columns.extent - args.width);
}

// How many indices, and outputs, are one aligned access each.
int most_together(const ColumnsArgs& args, int bytes, int index_bytes) {
  const int64_t step = strip_step(args);
  int outputs = common_alignment(args.output, {args.rows.output, step * bytes}, 16);
  int indices =
      common_alignment(args.indices, {args.rows.index * index_bytes, step * index_bytes}, 16);
  for (int l = 0; l < args.outer.loop_count(); ++l) {
    outputs = common_alignment(nullptr, {args.outer.loops[l].output}, outputs);
    indices = common_alignment(nullptr, {args.outer.loops[l].index * index_bytes}, indices);
  }
  return args.columns.index != 1
             ? 1
             : std::min({outputs / bytes, indices / index_bytes, static_cast<int>(args.width)});
}

template <int kBytes, Indices kIndices>
void launch_width(const ColumnsArgs& args, Stream stream) {
  constexpr int kMost = kMostTogether<kBytes, kIndices>;
  const int together = most_together(args, kBytes, kIndices == Indices::kInt32 ? 4 : 8);
  if (kMost > 1 && together >= kMost) {
    launch<kBytes, kMost, kIndices>(args, stream);
  } else if (kMost > 2 && together >= 2) {
    launch<kBytes, std::min(kMost, 2), kIndices>(args, stream);
  } else {  // one kernel for all that is odd
    launch<kBytes, 1, Indices::kAnyType>(args, stream);
  }
}

ColumnsArgs columns_args(const GatherCall& call, int64_t width) {
  Nest outer = call.nest;
  const Loop columns = outer.loops.back();
  outer.loops.pop_back();
  const Loop rows = outer.loops.back();
  outer.loops.pop_back();
  ColumnsArgs args{device_nest<AnyNest>(outer),
                   call.data,
                   call.indices,
                   call.output,
                   call.verdict,
                   columns,
                   rows,
                   static_cast<uint32_t>(width),
                   (columns.extent - 1) / width + 1,
                   1};
  const int64_t bytes = call.nest.row_bytes;
  args.copy_bytes = common_alignment(
      call.data, {outer.coordinates[0].stride, width * bytes, strip_step(args) * bytes}, 16);
  for (const Loop& loop : outer.loops) {
    args.copy_bytes = common_alignment(nullptr, {loop.data}, args.copy_bytes);
  }
  args.copy_bytes = args.copy_bytes == 2 ? 1 : args.copy_bytes;
  return args;
}

}  // namespace

int64_t columns_width(int64_t entries, int64_t columns, int64_t entry_bytes) {
  constexpr int64_t kLine = 128;
  const int64_t fitting = current_device().shared_bytes / (entries * entry_bytes);
  const int64_t most = std::min({fitting, columns, kLine / entry_bytes});
  return most < 1 ? 0 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
}

void launch_columns(const GatherCall& call, int64_t width) {
  const ColumnsArgs args = columns_args(call, width);
  with_word_bytes(static_cast<int>(call.nest.row_bytes), [&](auto bytes) {
    with_indices(call.nest.index_type.kind(),
                 [&](auto indices) { launch_width<bytes(), indices()>(args, call.stream); });
  });
}

}  // namespace sheaf::cuda
