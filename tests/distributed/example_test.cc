// SPDX-License-Identifier: MIT
//
// The examples of docs/scaling.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/deferred_device.h"
#include "sheaf/mpi.h"
#include "sheaf/table.h"

namespace {

TEST(Example, RowsOfAShardedTable) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  // [example mpi-gather]
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int64_t rows = 1000;
  const auto split = sheaf::mpi::Split::block_cyclic(rows, ranks, 16);
  std::vector<float> mine(static_cast<size_t>(split.count(rank) * 4), static_cast<float>(rank));
  const sheaf::mpi::ShardedTensor table(comm, {sheaf::f32, {rows, 4}}, 0, split,
                                        sheaf::view(mine, {split.count(rank), 4}));

  const std::vector<int64_t> ids = {0, 999, -1};  // each rank has its own
  sheaf::mpi::ShardedPlan plan = plan_gather(table, sheaf::view(ids).spec);
  sheaf::Array output(plan.output());
  plan.run(sheaf::view(ids), output.tensor());

  auto add = plan_scatter(table, sheaf::view(ids).spec, output.spec(),
                          {.reduction = sheaf::Reduction::kAdd});
  add.scatter(sheaf::view(ids), output.tensor());  // in place, those of rank 0 first
  // [/example]
  const auto last = static_cast<float>(split.place(999).rank);
  EXPECT_THAT(output.elements<float>(),
              testing::ElementsAre(0, 0, 0, 0, last, last, last, last, last, last, last, last));
}

TEST(Example, AShardedTableFeedsADevice) {
  add_deferred_device();
  const char* const device = kDeferred;
  const MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<float> mine(10 * 4, static_cast<float>(rank));
  const sheaf::sharded::ShardedTensor tensor(sheaf::mpi::transport(comm), 0,
                                             sheaf::view(mine, {10, 4}));
  sheaf::DeviceMemory indices(device, 3 * sizeof(int64_t)), rows(device, 3 * 4 * sizeof(float));
  const std::vector<int64_t> ids = {0, 9, -1};
  indices.upload(ids.data(), indices.bytes());
  // [example mpi-table]
  const sheaf::Table table = table_of(tensor).with({.cache_bytes = 1 << 20});  // collective
  const sheaf::Queue queue{.device = device};
  const sheaf::Plan plan = sheaf::plan_gather(table.spec(), sheaf::view(ids).spec);
  sheaf::run(plan, table, indices.data(), rows.data(), queue);  // collective
  sheaf::finish(plan, table, queue);
  // [/example]
  std::vector<float> got(3 * 4);
  rows.download(got.data(), rows.bytes());
  const auto last = static_cast<float>(tensor.ranks() - 1);
  EXPECT_THAT(got, testing::ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, last, last, last, last));
}

}  // namespace
