// SPDX-License-Identifier: MIT
//
// Sharded calls beside one process. Every rank knows the indices of all ranks, so each can compute
// what one process would have done.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "plan/request.h"
#include "sheaf/mpi.h"
#include "sheaf/sheaf.h"

namespace world {

int rank();
int ranks();

// The error of a call that was made before MPI was initialised.
std::string& said_without_mpi();

enum class Spread { kUniform, kZipf, kOneEntry };
enum class Division { kBlock, kCyclic, kOffsets };

// One problem. `count` is the size of the dimension of indices along which the ranks' own indices
// are joined to those of one process.
struct Problem {
  sheaf::Op op = sheaf::Op::kGather;
  sheaf::DType dtype = sheaf::f32;
  sheaf::Dims data = {};
  int axis = 0;
  int64_t batch_dims = 0;
  int tuple = 1;  // of gather_nd and scatter_nd
  Spread spread = Spread::kUniform;
  Division division = Division::kBlock;
  sheaf::IndexRule rule = {};
  sheaf::Reduction reduction = sheaf::Reduction::kNone;
  bool include_self = true;
  bool onto_zeros = false;
  int64_t most = 40;  // indices of a rank; some ranks have none
  uint64_t seed = 1;

  std::string str() const;
};

sheaf::mpi::Split split_of(const Problem& p);
sheaf::Array whole_data(const Problem& p);
sheaf::Array part_of(const Problem& p, const sheaf::Array& whole, int rank);
sheaf::Array indices_of(const Problem& p, int rank);
sheaf::Array updates_of(const Problem& p, int rank, const sheaf::TensorSpec& spec);

// The plan on `data` with the indices of one rank, or of all of them joined (rank < 0).
sheaf::Plan plan_of(const Problem& p, const sheaf::TensorSpec& data,
                    const sheaf::TensorSpec& indices);
sheaf::mpi::ShardedPlan sharded_plan_of(const Problem& p, const sheaf::mpi::ShardedTensor& data,
                                        const sheaf::TensorSpec& indices,
                                        const sheaf::mpi::ShardedOptions& options);

// Runs the problem sharded and on one process, and compares the bits: empty, or what differs.
// Collective.
// By default through messages: opening a window for each of many plans takes long.
std::string difference(const Problem& p,
                       const sheaf::mpi::ShardedOptions& options = {.shared_memory = false});

}  // namespace world
