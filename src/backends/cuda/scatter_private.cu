// SPDX-License-Identifier: MIT
//
// cuda.private: scatters in which the updates of a column lead to cells of that column only
// (scatter_elements), with few cells to a column and many columns. A thread has a column to itself,
// so that its updates come in order without being sorted.
#include <algorithm>

#include "backends/cuda/reduce_private.cuh"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

constexpr int64_t kReserved = 1024;  // of every block's shared memory, by CUDA
constexpr int64_t kLeastResident =
    3;  // blocks of a multiprocessor, for enough loads to be in flight
constexpr int64_t kMostResident = 32;

// Whether the updates and indices of every column are lines that can be copied by words.
bool are_lines(const Nest& batch, const Loop& updates) {
  const int64_t index_bytes = batch.index_type.bytes();
  int64_t bits = updates.extent * index_bytes | updates.extent * batch.row_bytes |
                 batch.coordinates[0].offset * index_bytes;
  for (const Loop& loop : batch.loops) {
    bits |= loop.index * index_bytes | loop.output;
  }
  return updates.index == 1 && updates.output == batch.row_bytes && bits % kWordBytes == 0;
}

// Whether neighbouring threads read neighbouring updates and indices.
bool are_neighbours(const Nest& batch) {
  return !batch.loops.empty() && batch.loops.back().data == batch.row_bytes &&
         batch.loops.back().index == 1 && batch.loops.back().output == batch.row_bytes;
}

// A nest as this kernel takes it.
struct Shape {
  Nest batch;
  Loop updates;
  int64_t columns;
  bool in_lines;
  int64_t stage_bytes, shared_bytes;

  explicit Shape(const Nest& nest) : batch(nest), updates(nest.loops[updates_loop(nest)]) {
    batch.loops.clear();
    for (int l = 0; l < nest.loops.size(); ++l) {
      if (l != updates_loop(nest)) {
        batch.loops.push_back(nest.loops[l]);
      }
    }
    columns = point_count(batch);
    in_lines = are_lines(batch, updates);
    const int64_t lines = kPart * (nest.index_type.bytes() + nest.row_bytes) + 2 * kWordBytes;
    stage_bytes = in_lines ? kWarp * lines : 0;
    shared_bytes = kStages * stage_bytes + kWarp * nest.coordinates[0].extent * nest.row_bytes;
  }
};

int64_t resident_blocks(const Shape& shape) {
  return std::min(current_device().multiprocessor_shared_bytes / (shape.shared_bytes + kReserved),
                  kMostResident);
}

bool has_type(const Nest& nest) {
  const DType type = nest.element_type;
  if (nest.reduction == Reduction::kNone) {
    return type.bytes() == 2 || type.bytes() == 4 || type.bytes() == 8;
  }
  return type == f16 || type == bf16 || type == f32 || type == f64 || type == i32 || type == i64;
}

void launch_assign(const PrivateCall& call) {
  switch (call.type.bytes()) {
    case 2: return launch_private_of<Reduction::kNone, Word<2>>(call);
    case 4: return launch_private_of<Reduction::kNone, Word<4>>(call);
    default: return launch_private_of<Reduction::kNone, Word<8>>(call);
  }
}

// Whether elements are aligned to their size, and lines to words.
bool are_aligned(const Nest& nest, const ScatterBuffers& buffers, bool in_lines) {
  const auto indices = reinterpret_cast<uintptr_t>(buffers.indices);
  const auto updates = reinterpret_cast<uintptr_t>(buffers.updates);
  return word_bytes(nest, updates | reinterpret_cast<uintptr_t>(buffers.data)) >= nest.row_bytes &&
         (!in_lines || (indices | updates) % kWordBytes == 0);
}

}  // namespace

const char* private_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* refusal = shared_refusal(query)) {
    return refusal;
  }
  if (!has_type(nest) || indices_of(nest.index_type.kind()) == Indices::kAnyType) {
    return "elements or indices are of an uncommon type";
  }
  const Shape shape(nest);
  if (!shape.in_lines && !are_neighbours(shape.batch)) {
    return "neither the updates of a column nor those of neighbouring ones follow one another";
  }
  const Device& device = current_device();
  if (resident_blocks(shape) < kLeastResident) {
    return "a column has many cells";
  }
  // Few columns keep few threads busy. The lists that cuda.shared makes are long if a column has
  // few cells, and it slow.
  constexpr int64_t kFewCells = 32;
  const int64_t least = nest.coordinates[0].extent < kFewCells ? 4 : kWarp;
  return shape.columns >= least * device.multiprocessors ? nullptr
                                                         : "too few columns for a thread each";
}

bool run_private(const Nest& nest, const ScatterBuffers& buffers, const Launch& how) {
  const Shape shape(nest);
  if (!are_aligned(nest, buffers, shape.in_lines)) {
    return run_shared(nest, buffers, how);
  }
  PrivateCall call{};
  PrivateArgs& args = call.args;
  args.batch = device_nest<AnyNest>(shape.batch);
  args.call = scatter_call(buffers, how);
  args.updates = {shape.updates.extent, 0, shape.updates.index, shape.updates.output};
  args.cell_stride = nest.coordinates[0].stride;
  args.cells = static_cast<int>(nest.coordinates[0].extent);
  args.index_bytes = static_cast<int>(nest.index_type.bytes());
  args.stage_bytes = static_cast<int>(shape.stage_bytes);
  call.type = nest.element_type;
  call.shared_bytes = static_cast<size_t>(shape.shared_bytes);
  call.blocks = static_cast<unsigned>(std::min(
      (shape.columns - 1) / kWarp + 1, resident_blocks(shape) * current_device().multiprocessors));
  switch (nest.reduction) {
    case Reduction::kNone: launch_assign(call); break;
    case Reduction::kAdd:
    case Reduction::kMean: private_add(call); break;
    case Reduction::kSub: private_sub(call); break;
    case Reduction::kMul: private_mul(call); break;
    case Reduction::kMin: private_min(call); break;
    case Reduction::kMax: private_max(call); break;
  }
  return true;
}

}  // namespace sheaf::cuda
