// SPDX-License-Identifier: MIT
//
// cuda.private: scatters in which the updates of a column lead to cells of that column only
// (scatter_elements), with few cells to a column and many columns. One thread per column: its
// updates come in order without being sorted.
#include <algorithm>

#include "backends/cuda/scatter/reduce_private.cuh"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Private;

// Whether the updates and indices of every column are lines that can be copied by words.
bool are_lines(const Nest& columns, const Loop& updates) {
  if (updates.index != 1 || updates.output != columns.row_bytes) {
    return false;
  }
  const int64_t index_bytes = columns.index_type.bytes();
  int64_t bits = updates.extent * index_bytes | updates.extent * columns.row_bytes |
                 columns.coordinates[0].offset * index_bytes;
  for (const Loop& loop : columns.loops) {
    bits |= loop.index * index_bytes | loop.output;
  }
  return bits % kWordBytes == 0;
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

  explicit Shape(const Nest& nest)
      : batch(columns_nest(nest)), updates(nest.loops[updates_loop(nest)]) {
    columns = point_count(batch);
    in_lines = are_lines(batch, updates);
    const int64_t lines =
        Tuning::kPart * (nest.index_type.bytes() + nest.row_bytes) + 2 * kWordBytes;
    stage_bytes = in_lines ? kWarp * lines : 0;
    shared_bytes =
        Tuning::kStages * stage_bytes + kWarp * nest.coordinates[0].extent * nest.row_bytes;
  }
};

int64_t resident_blocks(const Shape& shape) {
  return std::min(
      current_device().multiprocessor_shared_bytes / (shape.shared_bytes + kReservedShared),
      Tuning::kMostResident);
}

bool has_kernel(DType type) {
  return with_element_type(type, [](auto zero) { return kHasPrivate<decltype(zero)>; });
}

}  // namespace

const char* private_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (const char* refusal = shared_refusal(query)) {
    return refusal;
  }
  if (nest.reduction == Reduction::kNone) {
    return "no reduction";
  }
  if (!has_kernel(nest.element_type) || indices_of(nest.index_type.kind()) == Indices::kAnyType) {
    return "elements or indices are of an uncommon type";
  }
  const Shape shape(nest);
  if (!shape.in_lines && !are_neighbours(shape.batch)) {
    return "neither the updates of a column nor those of neighbouring ones follow one another";
  }
  if (resident_blocks(shape) < Tuning::kLeastResident) {
    return "the cells of too few columns fit on a multiprocessor";
  }
  const int64_t least = nest.coordinates[0].extent < Tuning::kFewCells ? Tuning::kLeastOfFewCells
                                                                       : Tuning::kLeastColumns;
  return shape.columns >= least * current_device().multiprocessors
             ? nullptr
             : "too few columns for one thread per column";
}

bool run_private(const Nest& nest, const ScatterBuffers& buffers, const Launch& how) {
  const Shape shape(nest);
  const auto addresses =
      reinterpret_cast<uintptr_t>(buffers.indices) | reinterpret_cast<uintptr_t>(buffers.updates);
  PrivateCall call{};
  PrivateArgs& args = call.args;
  args.batch = device_nest<AnyNest>(shape.batch);
  args.call = scatter_call(buffers, how);
  args.updates = {shape.updates.extent, 0, shape.updates.index, shape.updates.output};
  args.cell_stride = nest.coordinates[0].stride;
  args.cells = static_cast<int>(nest.coordinates[0].extent);
  args.index_bytes = static_cast<int>(nest.index_type.bytes());
  // At other addresses every thread reads its line for itself.
  args.stage_bytes = addresses % kWordBytes == 0 ? static_cast<int>(shape.stage_bytes) : 0;
  call.type = nest.element_type;
  call.shared_bytes = static_cast<size_t>(shape.shared_bytes);
  call.blocks = static_cast<unsigned>(std::min(
      (shape.columns - 1) / kWarp + 1, resident_blocks(shape) * current_device().multiprocessors));
  with_reduction(nest.reduction, [&](auto reduction) { launch_private<reduction()>(call); });
  return true;
}

}  // namespace sheaf::cuda
