// SPDX-License-Identifier: MIT
//
// sheaf under mpirun: a gather whose table is split over the ranks. Each rank reads only its own
// rows of the file and writes its own part of the output.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "plan/request.h"
#include "sheaf/sheaf.h"

namespace sheaf::cli {

// How many ranks mpirun started; 1 without it. The names are Open MPI's, and the one that MPICH and
// its relatives share.
inline int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* value = std::getenv(name)) {
      return std::atoi(value);
    }
  }
  return 1;
}

// The MPI of this build, or that there is none.
std::string mpi_description();

struct LaunchedGather {
  std::string data, indices, output;  // as on the command line
  // The operator on these tensors.
  std::function<Request(const TensorSpec& data, const TensorSpec& indices)> request;
  int64_t memory = 0;  // of a rank
  std::optional<FileFormat> format = {};
  bool quiet = false;
};

// Returns the exit status. Rank 0 prints.
int run_launched(const LaunchedGather& gather);

}  // namespace sheaf::cli
