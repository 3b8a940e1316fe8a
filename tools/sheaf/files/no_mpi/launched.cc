// SPDX-License-Identifier: MIT
#include "files/launched.h"

namespace sheaf::cli {

std::string mpi_description() { return "not built in this version"; }

int run_launched(const LaunchedGather& /*gather*/) {
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .who = "mpirun",
                      .what = "built without MPI",
                      .detail = "several ranks would write the same file",
                      .next = "a build where CMake finds MPI (libopenmpi-dev), or no mpirun"});
}

}  // namespace sheaf::cli
