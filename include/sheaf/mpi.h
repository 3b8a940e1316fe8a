// SPDX-License-Identifier: MIT
//
// sheaf/sharded.h over MPI: the ranks of a communicator share a table. Link sheaf::mpi.
//
//   ShardedTensor table(comm, TensorSpec(f32, {rows, 64}), 0, split, Part(my_rows));
#pragma once

#include <mpi.h>

#include "sheaf/sharded.h"

#pragma GCC visibility push(default)

namespace sheaf::mpi {

using sharded::Part;
using sharded::plan_gather;
using sharded::plan_gather_elements;
using sharded::plan_gather_nd;
using sharded::plan_scatter;
using sharded::plan_scatter_elements;
using sharded::plan_scatter_nd;
using sharded::ShardedOptions;
using sharded::ShardedPlan;
using sharded::Split;
using sharded::table_of;

// Collective: a duplicate of `comm`, whose messages cannot meet the caller's. Freeing it is
// collective, too.
std::shared_ptr<sharded::Transport> transport(MPI_Comm comm);

class ShardedTensor : public sharded::ShardedTensor {
 public:
  ShardedTensor(MPI_Comm comm, const TensorSpec& whole, int64_t axis, const Split& split,
                const Part& part)
      : sharded::ShardedTensor(transport(comm), whole, axis, split, part) {}
};

}  // namespace sheaf::mpi

#pragma GCC visibility pop
