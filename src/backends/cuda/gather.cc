// SPDX-License-Identifier: MIT
#include "backends/cuda/gather.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/device.h"

namespace sheaf::cuda {
namespace {

// What a single element brings in from memory.
constexpr int64_t kSector = 32;

bool is_word(int64_t bytes) {
  return bytes <= 16 && std::has_single_bit(static_cast<uint64_t>(bytes));
}

int64_t points_outside(const Nest& nest) {
  int64_t points = 1;
  for (int l = 0; l + 1 < nest.loops.size(); ++l) {
    points *= nest.loops[l].extent;
  }
  return points;
}

bool same_indices_everywhere(const Nest& nest) {
  return std::all_of(nest.loops.begin(), nest.loops.end() - 1,
                     [](const Loop& loop) { return loop.index == 0; });
}

StagedShape staged_shape(const Nest& nest) {
  return {nest.loops.back().extent, nest.coordinates[0].extent, static_cast<int>(nest.row_bytes),
          same_indices_everywhere(nest)};
}

const char* staged_refusal(const Nest& nest) {
  if (nest.loops.empty() || nest.coordinates.size() != 1) {
    return "not one index an element";
  }
  const Loop& inner = nest.loops.back();
  const Coordinate& coordinate = nest.coordinates[0];
  if (!is_word(nest.row_bytes) || coordinate.stride != nest.row_bytes || coordinate.offset != 0) {
    return "the indices do not choose among neighbouring elements";
  }
  if (inner.data != 0 || inner.index != 1 || inner.output != nest.row_bytes) {
    return "the innermost loop is not one over indices";
  }
  if (points_outside(nest) < current_device().multiprocessors) {
    return "too few rows to choose from for all multiprocessors";
  }
  if (coordinate.extent * nest.row_bytes / kSector > inner.extent) {
    return "too few indices a row for reading the row whole";
  }
  return fits_staged(staged_shape(nest)) ? nullptr : "two rows do not fit into shared memory";
}

const char* lookup_refusal(const Nest& nest) {
  const char* refusal = staged_refusal(nest);
  return refusal == nullptr && !same_indices_everywhere(nest) ? "each row has its own indices"
                                                              : refusal;
}

const char* elements_refusal(const Nest& nest) {
  const char* refusal = staged_refusal(nest);
  return refusal == nullptr && same_indices_everywhere(nest) ? "all rows have the same indices"
                                                             : refusal;
}

// Kernels that move whole entries; where addresses do not allow that, words of less are moved.
void run_staged(const GatherCall& call) {
  if (word_bytes(call) < call.nest.row_bytes) {
    launch_rows(call);
  } else {
    launch_staged(call, staged_shape(call.nest));
  }
}

void run_columns(const GatherCall& call) {
  if (word_bytes(call) < call.nest.row_bytes) {
    launch_rows(call);
  } else {
    launch_columns(call);
  }
}

const char* columns_refusal(const Nest& nest) {
  if (nest.loops.size() < 2 || nest.coordinates.size() != 1) {
    return "not one index an element";
  }
  const Loop& inner = nest.loops.back();
  const Coordinate& coordinate = nest.coordinates[0];
  if (!is_word(nest.row_bytes) || inner.data != nest.row_bytes || inner.index == 0 ||
      inner.output != nest.row_bytes || coordinate.stride < inner.extent * inner.data ||
      coordinate.offset != 0) {
    return "the indices do not choose among rows, column by column";
  }
  const Loop& middle = nest.loops[nest.loops.size() - 2];
  if (middle.data != 0 || middle.index == 0 || middle.extent < coordinate.extent / 8) {
    return "a column is chosen from too few times";
  }
  if (coordinate.extent * inner.extent * inner.data <= current_device().l2_bytes / 4) {
    return "data fits into L2 as it is";
  }
  return fits_columns(nest) ? nullptr : "strips that fit into L2 are too narrow, or too many";
}

const char* rows_refusal(const Nest& nest) {
  return nest.loops.empty() || nest.loops.back().output == nest.row_bytes
             ? nullptr
             : "the output's rows do not follow one another";
}

const char* accepts_everything(const Nest& /*nest*/) { return nullptr; }

constexpr GatherKernel kKernels[] = {
    {"cuda.lookup", lookup_refusal, run_staged, false},
    {"cuda.elements", elements_refusal, run_staged, false},
    {"cuda.columns", columns_refusal, run_columns, false},
    {"cuda.rows", rows_refusal, launch_rows, true},
    {"cuda.strided", accepts_everything, launch_rows, true},
};

}  // namespace

std::span<const GatherKernel> gather_kernels() { return kKernels; }

size_t gather_workspace_bytes(const Nest& nest) {
  return nest.empty() || columns_refusal(nest) != nullptr ? 0 : packed_bytes(nest);
}

uint64_t stride_bits(const Nest& nest) {
  auto bits = static_cast<uint64_t>(nest.row_bytes);
  for (const Loop& loop : nest.loops) {
    bits |= static_cast<uint64_t>(loop.data) | static_cast<uint64_t>(loop.output);
  }
  for (const Coordinate& coordinate : nest.coordinates) {
    bits |= static_cast<uint64_t>(coordinate.stride);
  }
  return bits;
}

int word_bytes(const GatherCall& call) {
  const auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(call.data)) |
                    static_cast<uint64_t>(reinterpret_cast<uintptr_t>(call.output)) |
                    stride_bits(call.nest) | 16;
  return 1 << std::countr_zero(bits);
}

}  // namespace sheaf::cuda
