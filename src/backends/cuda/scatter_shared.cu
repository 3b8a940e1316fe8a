// SPDX-License-Identifier: MIT
//
// cuda.shared: scatters in which the updates of a column lead to cells of that column only
// (scatter_elements). A block keeps the cells of a few columns in shared memory and walks over
// their updates in order.
#include <algorithm>
#include <bit>

#include "backends/cuda/reduce_shared.cuh"
#include "plan/nest.h"

namespace sheaf::cuda {
namespace {

constexpr int64_t kReserved = 1024;  // of every block's shared memory, by CUDA

// The nest taken apart.
struct Shape {
  Nest batch;
  Loop updates{}, column{};
};

// The one loop that walks over the updates of a column; -1: there is none, or more than one.
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

Shape shape_of(const Nest& nest) {
  Shape shape{nest, {}, {1, 0, 0, 0, 0}};
  shape.batch.loops.clear();
  const int updates = updates_loop(nest);
  for (int l = 0; l < nest.loops.size(); ++l) {
    if (l == updates) {
      shape.updates = nest.loops[l];
    } else {
      shape.batch.loops.push_back(nest.loops[l]);
    }
  }
  // Neighbouring columns are read together.
  if (!shape.batch.loops.empty() && shape.batch.loops.back().data == nest.row_bytes) {
    shape.column = shape.batch.loops.back();
    shape.batch.loops.pop_back();
  }
  return shape;
}

int64_t bytes_for(const Nest& nest, int64_t columns) {
  return columns * nest.coordinates[0].extent * nest.row_bytes +
         int64_t{kSharedSlots} * kSharedStage * (nest.row_bytes + 4);
}

// As many as fit, up to kMostColumns; 0: not one.
int64_t columns_for(const Nest& nest, const Shape& shape) {
  const int64_t room = current_device().shared_bytes - kSharedStatic;
  int64_t columns = kMostColumns;
  while (columns > 0 && (bytes_for(nest, columns) > room ||
                         columns >= 2 * std::max<int64_t>(shape.column.extent, 1))) {
    columns /= 2;
  }
  return columns;
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

const char* shared_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.coordinates.size() != 1 || nest.row_bytes != nest.element_bytes || nest.row_bytes > 16 ||
      !std::has_single_bit(static_cast<uint64_t>(nest.row_bytes)) || updates_loop(nest) < 0 ||
      !rows_apart(nest)) {
    return "not one index per element, or cells may overlap";
  }
  const Shape shape = shape_of(nest);
  const int64_t cells = nest.coordinates[0].extent;
  if (shape.updates.extent < cells / 4) {
    return "too few updates per column to bring all of its cells";
  }
  const int64_t columns = cells < (int64_t{1} << 24) ? columns_for(nest, shape) : 0;
  if (columns == 0) {
    return "the cells of a column do not fit into shared memory";
  }
  const int64_t groups = point_count(shape.batch) * ((shape.column.extent - 1) / columns + 1);
  return groups >= current_device().multiprocessors / 2 ? nullptr
                                                        : "fewer columns than multiprocessors";
}

bool run_shared(const Nest& nest, const ScatterBuffers& buffers, const Launch& how) {
  const Shape shape = shape_of(nest);
  const Device& device = current_device();
  const auto columns = static_cast<int>(columns_for(nest, shape));
  SharedCall call{};
  SharedArgs& args = call.args;
  args.batch = device_nest<AnyNest>(shape.batch);
  args.call = scatter_call(buffers, how);
  args.updates = {shape.updates.extent, 0, shape.updates.index, shape.updates.output};
  args.column = {shape.column.extent, shape.column.data, shape.column.index, shape.column.output};
  args.cells = nest.coordinates[0].extent;
  args.cell_stride = nest.coordinates[0].stride;
  args.columns = columns;
  args.column_bits = std::countr_zero(static_cast<unsigned>(columns));
  args.groups_of_point = (shape.column.extent - 1) / columns + 1;
  args.groups = args.batch.points * args.groups_of_point;
  args.stages = static_cast<uint32_t>((shape.updates.extent - 1) / (kSharedStage / columns) + 1);
  args.indices = indices_of(nest.index_type.kind());
  call.type = nest.element_type;
  call.threads = kSharedProducers + 32 * columns;
  call.shared_bytes = static_cast<size_t>(bytes_for(nest, columns));
  const int64_t resident =
      std::clamp<int64_t>(device.multiprocessor_shared_bytes /
                              (static_cast<int64_t>(call.shared_bytes) + kSharedStatic + kReserved),
                          1, device.multiprocessor_threads / call.threads);
  call.blocks =
      static_cast<unsigned>(std::min<int64_t>(args.groups, resident * device.multiprocessors));
  switch (nest.reduction) {
    case Reduction::kNone: launch_assign(call, nest); break;
    case Reduction::kAdd:
    case Reduction::kMean: shared_add(call); break;
    case Reduction::kSub: shared_sub(call); break;
    case Reduction::kMul: shared_mul(call); break;
    case Reduction::kMin: shared_min(call); break;
    case Reduction::kMax: shared_max(call); break;
  }
  return true;
}

}  // namespace sheaf::cuda
