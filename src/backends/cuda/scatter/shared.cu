// SPDX-License-Identifier: MIT
//
// cuda.shared: scatters in which the updates of a column lead to cells of that column only
// (scatter_elements). A block puts the updates of a column into lists by cell, in shared memory,
// and reduces each list in order.
#include <algorithm>
#include <bit>

#include "backends/cuda/scatter/reduce_shared.cuh"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Shared;

// The nest taken apart, and how a group of columns fits into shared memory.
struct Shape {
  Nest batch;
  Loop updates{}, column{1, 0, 0, 0, 0};
  int column_bits = 0;
  int64_t chunk = 0;  // items; 0: too few for the cells of a column
};

int64_t list_bytes(int64_t items, int64_t element_bytes) {
  return items * (element_bytes + 4) + 2 * (items / Tuning::kWalkedList + 1);
}

// Items that fit beside the lists of `slots` cells, and no more than there are cells: then lists
// are short if indices are spread evenly. Ordering a list takes the square of its length.
// Fewer than Tuning::kFewSlots cells have long lists whatever the chunk, so it is as large as fits.
int64_t chunk_for(const Nest& nest, int64_t slots, int64_t items) {
  const int64_t room = current_device().shared_bytes - Tuning::kStaticBytes - 4 * slots - 64;
  const int64_t fitting =
      room * Tuning::kWalkedList / (Tuning::kWalkedList * (nest.row_bytes + 4) + 2);
  const int64_t most = std::min(fitting, Tuning::kMostCells) / Tuning::kWhole * Tuning::kWhole;
  const int64_t wanted = slots < Tuning::kFewSlots ? items : std::min(items, slots);
  const int64_t chunk =
      std::min(most, (wanted + Tuning::kWhole - 1) / Tuning::kWhole * Tuning::kWhole);
  return chunk >= items || chunk >= slots / 3 ? std::max<int64_t>(chunk, 0) : 0;
}

Shape shape_of(const Nest& nest, int updates) {
  Shape shape{columns_nest(nest), nest.loops[updates]};
  const int64_t cells = nest.coordinates[0].extent;
  const int64_t count = shape.updates.extent;
  if (!shape.batch.loops.empty() && shape.batch.loops.back().data == nest.row_bytes) {
    shape.column = shape.batch.loops.back();
    shape.batch.loops.pop_back();
    while (shape.column_bits < Tuning::kMostColumnBits &&
           (int64_t{2} << shape.column_bits) <= shape.column.extent &&
           cells << (shape.column_bits + 1) < Tuning::kMostCells &&
           chunk_for(nest, cells << (shape.column_bits + 1), count << (shape.column_bits + 1)) >
               0) {
      ++shape.column_bits;
    }
  }
  shape.chunk = chunk_for(nest, cells << shape.column_bits, count << shape.column_bits);
  return shape;
}

int64_t group_count(const Shape& shape) {
  return point_count(shape.batch) * (((shape.column.extent - 1) >> shape.column_bits) + 1);
}

void launch_assign(const SharedCall& call, const Nest& nest) {
  const ScatterCall& on = call.args.call;
  const auto addresses =
      reinterpret_cast<uintptr_t>(on.output) | reinterpret_cast<uintptr_t>(on.updates);
  const bool aligned = word_bytes(nest, addresses) >= nest.row_bytes;
  with_word_bytes(static_cast<int>(nest.row_bytes), [&](auto bytes) {
    if (aligned) {
      launch_shared_of<Reduction::kNone, Word<bytes()>>(call);
    } else {
      launch_shared_of<Reduction::kNone, Packed<bytes()>>(call);
    }
  });
}

}  // namespace

int updates_loop(const Nest& nest) {
  int found = -1;
  for (int l = 0; l < nest.loops.size(); ++l) {
    if (nest.loops[l].data == 0) {
      if (found >= 0 || nest.loops[l].index == 0) {
        return -1;
      }
      found = l;
    }
  }
  return found;
}

Nest columns_nest(const Nest& nest) {
  const int updates = updates_loop(nest);
  Nest columns = nest;
  columns.loops.clear();
  for (int l = 0; l < nest.loops.size(); ++l) {
    if (l != updates) {
      columns.loops.push_back(nest.loops[l]);
    }
  }
  return columns;
}

const char* shared_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  const int updates = nest.empty() ? -1 : updates_loop(nest);
  if (updates < 0 || nest.coordinates.size() != 1 || nest.row_bytes != nest.element_bytes ||
      nest.row_bytes > 16 || !std::has_single_bit(static_cast<uint64_t>(nest.row_bytes)) ||
      !rows_apart(nest)) {
    return "not one index per element, or cells may overlap";
  }
  const int64_t count = nest.loops[updates].extent;
  if (count < nest.coordinates[0].extent / Tuning::kMostCellsOfUpdate) {
    return "far fewer updates per column than cells";
  }
  if (nest.coordinates[0].extent >= Tuning::kMostCells) {
    return "the lists of a column do not fit into shared memory";
  }
  const Shape shape = shape_of(nest, updates);
  if (shape.chunk == 0) {
    return "the lists of a column do not fit into shared memory";
  }
  return group_count(shape) >= current_device().multiprocessors / 2
             ? nullptr
             : "fewer columns than multiprocessors";
}

int64_t shared_columns(const Nest& nest) {
  return int64_t{1} << shape_of(nest, updates_loop(nest)).column_bits;
}

bool run_shared(const Nest& nest, const ScatterBuffers& buffers, const Launch& how) {
  const Device& device = current_device();
  const Shape shape = shape_of(nest, updates_loop(nest));
  SharedCall call{};
  SharedArgs& args = call.args;
  args.batch = device_nest<AnyNest>(shape.batch);
  args.call = scatter_call(buffers, how);
  args.updates = {shape.updates.extent, 0, shape.updates.index, shape.updates.output};
  args.column = {shape.column.extent, shape.column.data, shape.column.index, shape.column.output};
  args.cell_stride = nest.coordinates[0].stride;
  args.groups = group_count(shape);
  args.groups_of_point = ((shape.column.extent - 1) >> shape.column_bits) + 1;
  args.column_bits = shape.column_bits;
  args.cells = static_cast<int>(nest.coordinates[0].extent);
  args.chunk = static_cast<int>(shape.chunk);
  args.indices = indices_of(nest.index_type.kind());
  args.index_bytes = static_cast<int>(nest.index_type.bytes());
  args.in_lines = shape.column_bits == 0 && shape.updates.index == 1 &&
                  shape.updates.output == nest.row_bytes && args.cell_stride == nest.row_bytes;
  call.type = nest.element_type;
  call.shared_bytes = static_cast<size_t>((int64_t{4} * args.cells << args.column_bits) +
                                          list_bytes(args.chunk, nest.row_bytes));
  const int64_t fitting =
      device.multiprocessor_shared_bytes /
      (static_cast<int64_t>(call.shared_bytes) + kReservedShared + Tuning::kStaticBytes);
  // Several items per thread keep as many loads in flight, if there are blocks for all
  // multiprocessors.
  const bool small = args.chunk <= Tuning::kSmallChunk &&
                     args.groups >= Tuning::kSmallGroups * device.multiprocessors;
  call.threads = fitting <= 1 ? 1024 : fitting <= 3 ? 512 : small ? Tuning::kSmallThreads : 256;
  const int64_t resident =
      std::clamp<int64_t>(fitting, 1, device.multiprocessor_threads / call.threads);
  call.blocks =
      static_cast<unsigned>(std::min<int64_t>(args.groups, resident * device.multiprocessors));
  if (nest.reduction == Reduction::kNone) {
    launch_assign(call, nest);
  } else {
    with_reduction(nest.reduction, [&](auto reduction) { launch_shared<reduction()>(call); });
  }
  return true;
}

}  // namespace sheaf::cuda
