// SPDX-License-Identifier: MIT
//
// cuda.long_rows: what cuda.lookup and cuda.elements do, for rows of which no two fit into shared
// memory. As much of each row as pays is held there, and the rest is read from L2: the limit is the
// number of lines that L2 delivers, and every entry held saves one.
#include "backends/cuda/gather/lookup.cuh"
#include "backends/cuda/kernel/pipeline.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::LongRows;

struct HeldRows {
  uint32_t held_bytes;
  uint32_t held;        // entries
  int copy_bytes;       // 16, 8, 4, 2 or 1: the width of the copies
  uint32_t steps;       // of a row: its outputs over those of a step
  bool shared_indices;  // every row is chosen from by the same ones
};

template <int kBytes>
__device__ void copy_to_shared(const std::byte* from, uint32_t bytes, std::byte* to) {
  for (uint32_t at = threadIdx.x * kBytes; at < bytes; at += Tuning::kThreads * kBytes) {
    if constexpr (kBytes >= 4) {
      copy_async<kBytes>(to + at, from + at);
    } else {
      *reinterpret_cast<Word<kBytes>*>(to + at) = load<Word<kBytes>>(from + at);
    }
  }
}

__device__ void start_holding(const HeldRows& rows, const std::byte* row, std::byte* memory) {
  with_word_bytes(rows.copy_bytes,
                  [&](auto bytes) { copy_to_shared<bytes()>(row, rows.held_bytes, memory); });
}

// One row, whose outputs a thread makes in rounds of Tuning::kStepsInFlight steps.
template <int kBytes, int kTogether, Indices kIndices>
struct RowChooser {
  const LookupArgs& args;
  const HeldRows& rows;
  const std::byte* held;  // in shared memory
  const std::byte* row;
  int64_t first_index;
  std::byte* output;

  using Raw = RawIndices<kIndices, kTogether>[Tuning::kStepsInFlight];
  using Outputs = Elements<Word<kBytes>, kTogether>[Tuning::kStepsInFlight];

  __device__ uint32_t step(uint32_t round, int i) const {
    return round * (Tuning::kThreads * Tuning::kStepsInFlight) + i * Tuning::kThreads + threadIdx.x;
  }

  // Starts loading the indices of a round.
  __device__ void load(uint32_t round, Raw& raw) const {
#pragma unroll
    for (int i = 0; i < Tuning::kStepsInFlight; ++i) {
      if (step(round, i) < rows.steps) {
        const int64_t at = first_index + int64_t{step(round, i)} * kTogether;
        if (rows.shared_indices) {
          raw[i].template load<true>(args.nest.index_kind, args.indices, at);
        } else {
          raw[i].load(args.nest.index_kind, args.indices, at);
        }
      }
    }
  }

  __device__ Word<kBytes> entry(uint32_t at) const {
    return at < rows.held         ? *reinterpret_cast<const Word<kBytes>*>(held + at * kBytes)
           : at != kNarrowOutside ? cuda::load<Word<kBytes>>(row + int64_t{at} * kBytes)
                                  : outside_word<kBytes>(args.nest, args.report, 0);
  }

  // Starts loading the outputs of a round.
  __device__ void choose(uint32_t round, const Raw& raw, Outputs& outputs) const {
#pragma unroll
    for (int i = 0; i < Tuning::kStepsInFlight; ++i) {
      if (step(round, i) < rows.steps) {
        uint32_t entries[kTogether];
        raw[i].resolve(args.nest, entries);
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          outputs[i].values[k] = entry(entries[k]);
        }
      }
    }
  }

  __device__ void write(uint32_t round, const Outputs& outputs) const {
#pragma unroll
    for (int i = 0; i < Tuning::kStepsInFlight; ++i) {
      if (step(round, i) < rows.steps) {
        store_streaming(output + int64_t{step(round, i)} * (kTogether * kBytes),
                        std::bit_cast<Word<kTogether * kBytes>>(outputs[i]));
      }
    }
  }
};

// One block per multiprocessor, one row at a time. Blocks begin at different columns: where rows
// share their indices, all blocks would otherwise read the same line of them at once.
template <int kBytes, int kTogether, Indices kIndices>
__global__ void __launch_bounds__(Tuning::kThreads, 1)
    long_rows_kernel(const __grid_constant__ LookupArgs args,
                     const __grid_constant__ HeldRows rows) {
  extern __shared__ uint4 shared[];
  auto* const memory = reinterpret_cast<std::byte*>(shared);
  if (refused(args.check)) {
    return;
  }
  const uint32_t rounds = (rows.steps - 1) / (Tuning::kThreads * Tuning::kStepsInFlight) + 1;
  const auto first_round = static_cast<uint32_t>(uint64_t{blockIdx.x} * rounds / gridDim.x);
  for (int64_t number = blockIdx.x; number < args.nest.points; number += gridDim.x) {
    const Place place = locate(args.nest, number);
    const RowChooser<kBytes, kTogether, kIndices> chooser{
        args, rows, memory, args.data + place.data, place.index, args.output + place.output};
    start_holding(rows, chooser.row, memory);
    typename RowChooser<kBytes, kTogether, kIndices>::Raw raw;
    typename RowChooser<kBytes, kTogether, kIndices>::Outputs outputs;
    uint32_t round = first_round;
    chooser.load(round, raw);
    wait_for_copies();
    __syncthreads();
    for (uint32_t i = 0; i < rounds; ++i) {
      const uint32_t next = round + 1 == rounds ? 0 : round + 1;
      chooser.choose(round, raw, outputs);
      if (i + 1 < rounds) {
        chooser.load(next, raw);
      }
      chooser.write(round, outputs);
      round = next;
    }
    __syncthreads();
  }
}

// A row that fits is held whole.
int64_t held_bytes(int64_t row_bytes) {
  const int64_t room = current_device().shared_bytes;
  return row_bytes <= room ? row_bytes : room * Tuning::kHeldTenths / 10 / 16 * 16;
}

template <int kBytes, int kTogether, Indices kIndices>
void launch(const LookupArgs& args, HeldRows rows, int64_t inner, Stream stream) {
  rows.steps = static_cast<uint32_t>(inner / kTogether);
  const auto kernel = long_rows_kernel<kBytes, kTogether, kIndices>;
  const Device& device = current_device();
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(device.shared_bytes));
  const int64_t blocks = std::min(args.nest.points, int64_t{device.multiprocessors});
  kernel<<<static_cast<unsigned>(blocks), Tuning::kThreads, rows.held_bytes, stream>>>(args, rows);
}

template <int kBytes, Indices kIndices>
void launch_width(const LookupArgs& args, const HeldRows& rows, int64_t inner, Stream stream) {
  constexpr int kTogether = kMostTogether<kBytes, kIndices>;
  constexpr int kIndexBytes = kTogether * (kIndices == Indices::kInt32 ? 4 : 8);
  if (inner % kTogether == 0 &&
      row_alignment(args, Side::kOutput, kTogether * kBytes) == kTogether * kBytes &&
      row_alignment(args, Side::kIndices, kIndexBytes) == kIndexBytes) {
    launch<kBytes, kTogether, kIndices>(args, rows, inner, stream);
  } else {  // one kernel for every other layout
    launch<kBytes, 1, Indices::kAnyType>(args, rows, inner, stream);
  }
}

}  // namespace

const char* long_rows_refusal(const KernelQuery& query) {
  const char* refusal = choosing_refusal(query);
  if (refusal != nullptr) {
    return refusal;
  }
  const LookupShape shape = shape_of(query.nest);
  if (shape.entries >= INT32_MAX || shape.inner_extent >= INT32_MAX) {
    return "rows of 2^31 entries or more";
  }
  const Device& device = current_device();
  const int64_t row_bytes = shape.entries * shape.entry_bytes;
  if (2 * row_bytes <= device.shared_bytes) {
    return "two rows fit into shared memory";
  }
  const int64_t not_held = (row_bytes - held_bytes(row_bytes)) * device.multiprocessors;
  return not_held <= device.l2_bytes * Tuning::kL2Tenths / 10
             ? nullptr
             : "the rows in use do not fit into L2";
}

bool run_long_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& how) {
  Nest outer = nest;
  outer.loops.pop_back();
  const LookupShape shape = shape_of(nest);
  const GatherCall call = gather_call(outer, buffers, how);
  const LookupArgs args(call, shape.entry_bytes);
  HeldRows rows{};
  rows.held_bytes = static_cast<uint32_t>(held_bytes(shape.entries * shape.entry_bytes));
  rows.held = rows.held_bytes / static_cast<uint32_t>(shape.entry_bytes);
  rows.copy_bytes =
      row_alignment(args, Side::kData, common_alignment(nullptr, {rows.held_bytes}, 16));
  rows.shared_indices = shape.shared_indices;
  with_word_bytes(shape.entry_bytes, [&](auto bytes) {
    with_indices(args.nest.index_kind, [&](auto indices) {
      launch_width<bytes(), indices()>(args, rows, shape.inner_extent, call.stream);
    });
  });
  return true;
}

}  // namespace sheaf::cuda
