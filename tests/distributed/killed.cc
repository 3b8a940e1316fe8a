// SPDX-License-Identifier: MIT
//
// One rank is killed in the middle of a run. Prints "survived" if the run ends well all the same.
// With an argument, rows go through windows also where ranks outnumber cores.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "world.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) {  // a rank that does not know how many share its node opens a window
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    unsetenv("MPI_LOCALNRANKS");
  }
  const int ranks = world::ranks(), rank = world::rank();
  const auto split = sheaf::mpi::Split::block(1000, ranks);
  std::vector<float> part(static_cast<size_t>(split.count(rank)) * 64);
  const sheaf::mpi::ShardedTensor table(MPI_COMM_WORLD, {sheaf::f32, {1000, 64}}, 0, split,
                                        sheaf::view(part, {split.count(rank), 64}));
  const std::vector<int64_t> ids(5000, 999);
  std::vector<float> output(5000 * 64);
  auto plan = plan_gather(table, sheaf::view(ids).spec);
  for (int run = 0; run < 1000; ++run) {
    if (run == 3 && rank == ranks - 1) {
      std::raise(SIGKILL);
    }
    plan.run(sheaf::view(ids), sheaf::view(output, {5000, 64}));
  }
  std::puts("survived");
  MPI_Finalize();
}
