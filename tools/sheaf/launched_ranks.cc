// SPDX-License-Identifier: MIT
#include <cstdlib>

#include "launched.h"

namespace sheaf::cli {

// Open MPI's name, and the one that MPICH and its relatives share.
int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* value = std::getenv(name)) {
      return std::atoi(value);
    }
  }
  return 1;
}

}  // namespace sheaf::cli
