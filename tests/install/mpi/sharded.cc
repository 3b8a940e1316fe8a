// SPDX-License-Identifier: MIT
//
// A sharded gather by the installed library.
#include <sheaf/mpi.h>
#include <sheaf/sheaf.h>

#include <vector>

namespace {

bool gathers(MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto split = sheaf::mpi::Split::block(8, ranks);
  std::vector<float> part(static_cast<size_t>(split.count(rank)), 3);
  const sheaf::mpi::ShardedTensor table(comm, {sheaf::f32, {8}}, 0, split, sheaf::view(part));
  const std::vector<int64_t> ids{7, 0, -1};
  std::vector<float> rows(3);
  plan_gather(table, sheaf::view(ids).spec).run(sheaf::view(ids), sheaf::view(rows));
  return rows == std::vector<float>(3, 3);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool right = gathers(MPI_COMM_WORLD);
  MPI_Finalize();
  return right ? 0 : 1;
}
