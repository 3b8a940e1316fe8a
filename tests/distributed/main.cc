// SPDX-License-Identifier: MIT
//
// GoogleTest under mpirun: every rank runs every test. Rank 0 prints; another rank prints what
// fails there.
#include <gtest/gtest.h>
#include <malloc.h>
#include <mpi.h>

#include <cstdio>
#include <string>

#include "sheaf/mpi.h"
#include "world.h"

namespace {

class FailuresOnly final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank, result.file_name(), result.line_number(),
                   result.message());
    }
  }
};

// What a tensor says while there is no MPI.
std::string try_without_mpi() {
  try {
    sheaf::mpi::transport(MPI_COMM_WORLD);
  } catch (const sheaf::Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

int main(int argc, char** argv) {
  // Arenas of MPI's threads reserve memory that a limit on the address space would not see.
  mallopt(M_ARENA_MAX, 1);
  world::said_without_mpi() = try_without_mpi();
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
