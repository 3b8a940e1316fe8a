// SPDX-License-Identifier: MIT
#pragma once

#include "distributed/communicator.h"
#include "sheaf/mpi.h"

namespace sheaf::mpi {

struct ShardedTensor::State {
  State(MPI_Comm parent, const TensorSpec& spec, const Split& division, const Part& own)
      : comm(parent), whole(spec.dtype, spec.sizes), split(division), part(own) {}

  distributed::Communicator comm;
  TensorSpec whole;  // row-major: nobody has all of it
  int axis = 0;
  Split split;
  Part part;
};

}  // namespace sheaf::mpi
