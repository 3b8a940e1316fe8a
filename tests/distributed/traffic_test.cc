// SPDX-License-Identifier: MIT
//
// What goes over the wire, counted in MPI's profiling layer, and what is held in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <set>
#include <span>
#include <thread>

#include "helpers/rng.h"
#include "world.h"

namespace {

std::atomic<int64_t> sent{0};  // bytes to other ranks

void count_all(int64_t bytes_per_rank) { sent += bytes_per_rank * (world::ranks() - 1); }

}  // namespace

// The calls that Sheaf moves data with. Reductions count as one value per rank, which is more than
// a tree sends.
extern "C" {
int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  int size = 0, rank = 0;
  MPI_Type_size(type, &size);
  MPI_Comm_rank(comm, &rank);
  sent += to == rank ? 0 : int64_t{count} * size;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}
int MPI_Ialltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  count_all(8 * count);
  return PMPI_Ialltoall(from, count, type, to, to_count, to_type, comm, request);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  count_all(8 * count);
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
}

namespace {

using sheaf::TensorSpec;
using sheaf::mpi::Part;
using sheaf::mpi::ShardedTensor;
using sheaf::mpi::Split;

// Zipf-like: low entries come often.
std::vector<int64_t> popular(int64_t count, int64_t entries, int rank) {
  Rng rng(static_cast<uint64_t>(rank) + 5);
  std::vector<int64_t> ids(static_cast<size_t>(count));
  for (int64_t& id : ids) {
    id = rng.from(0, rng.from(0, rng.from(0, entries - 1)));
  }
  return ids;
}

struct Traffic : testing::Test {
  static constexpr int64_t kRows = 20000, kWidth = 16, kCount = 30000;
  const int rank = world::rank(), ranks = world::ranks();
  const Split split = Split::block(kRows, ranks);
  std::vector<float> part = std::vector<float>(static_cast<size_t>(split.count(rank) * kWidth), 1);
  const ShardedTensor table{MPI_COMM_WORLD, TensorSpec(sheaf::f32, {kRows, kWidth}), 0, split,
                            Part(sheaf::view(part, {split.count(rank), kWidth}))};

  // Rows that have to come to `asker`: its distinct rows on other ranks.
  int64_t rows_for(int asker) const {
    std::set<int64_t> distinct;
    for (const int64_t id : popular(kCount, kRows, asker)) {
      if (split.place(id).rank != asker) {
        distinct.insert(id);
      }
    }
    return std::ssize(distinct);
  }
};

TEST_F(Traffic, GatherSendsEachRowOncePerPairOfRanks) {
  const std::vector<int64_t> ids = popular(kCount, kRows, rank);
  std::vector<float> output(static_cast<size_t>(kCount * kWidth));
  for (const int64_t workspace : {int64_t{64} << 20, int64_t{8} << 20}) {  // one round, and several
    auto plan = plan_gather(table, sheaf::view(ids).spec, {},
                            {.workspace_bytes = workspace, .shared_memory = false});
    const int64_t before = sent;
    plan.run(sheaf::view(ids), sheaf::view(output, {kCount, kWidth}));
    int64_t moved = sent - before;
    PMPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    int64_t compulsory = 0;
    for (int asker = 0; asker < ranks; ++asker) {
      compulsory += rows_for(asker) * (kWidth * 4 + 8);
    }
    EXPECT_LE(moved, compulsory * 105 / 100);
    EXPECT_GE(moved, compulsory);
    EXPECT_EQ(plan.traffic().rows, ranks == 1 ? 0 : rows_for(rank));
  }
}

TEST_F(Traffic, RowsOfOneNodeAreNotSent) {
  if (ranks > static_cast<int>(std::thread::hardware_concurrency())) {
    GTEST_SKIP() << "ranks that outnumber cores get small outputs by messages";
  }
  for (int64_t local = 0; local < split.count(rank); ++local) {
    std::fill_n(part.begin() + local * kWidth, kWidth,
                static_cast<float>(split.entry(rank, local)));
  }
  std::vector<int64_t> ids = popular(kCount, kRows, rank);
  std::vector<float> output(static_cast<size_t>(kCount * kWidth));
  // Many rounds, and some runs: the memory of a round is used again.
  auto plan = plan_gather(table, sheaf::view(ids).spec, {}, {.workspace_bytes = 1 << 18});
  for (int run = 0; run < 5; ++run) {
    const int64_t before = sent;
    plan.run(sheaf::view(ids), sheaf::view(output, {kCount, kWidth}));
    EXPECT_LE(sent - before, 100 * ranks);  // that all is well
    for (int64_t i = 0; i < kCount; ++i) {
      const auto id = static_cast<float>(ids[static_cast<size_t>(i)]);
      ASSERT_THAT(std::span(output).subspan(static_cast<size_t>(i * kWidth), kWidth),
                  testing::Each(id));
    }
    std::rotate(ids.begin(), ids.begin() + 1000 * (rank + 1), ids.end());
  }
}

TEST_F(Traffic, ScatterSendsEachUpdateOnce) {
  const std::vector<int64_t> ids = popular(kCount, kRows, rank);
  const std::vector<float> updates(static_cast<size_t>(kCount * kWidth), 1);
  auto plan = plan_scatter(table, sheaf::view(ids).spec, TensorSpec(sheaf::f32, {kCount, kWidth}),
                           {.reduction = sheaf::Reduction::kAdd});
  const int64_t before = sent;
  plan.scatter(sheaf::view(ids), sheaf::view(updates, {kCount, kWidth}));
  const int64_t away = std::count_if(ids.begin(), ids.end(),
                                     [&](int64_t id) { return split.place(id).rank != rank; });
  EXPECT_LE(sent - before, away * (kWidth * 4 + 8) * 105 / 100);
  EXPECT_GE(sent - before, away * (kWidth * 4 + 8));
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * getpagesize();
}

int64_t peak_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

// The batch is many times the workspace; MPI gets a little for itself.
TEST_F(Traffic, MemoryStaysWithinTheWorkspace) {
  constexpr int64_t kMany = 150000, kWorkspace = 4 << 20, kOfMpi = 6 << 20;
  const std::vector<int64_t> ids = popular(kMany, kRows, rank);
  std::vector<float> output(static_cast<size_t>(kMany * kWidth));
  const int64_t before = std::max(resident_bytes(), peak_bytes());
  auto plan = plan_gather(table, sheaf::view(ids).spec, {}, {.workspace_bytes = kWorkspace});
  plan.run(sheaf::view(ids), sheaf::view(output, {kMany, kWidth}));
  EXPECT_LE(peak_bytes() - before, kWorkspace + kOfMpi);
  auto scatter =
      plan_scatter(table, sheaf::view(ids).spec, TensorSpec(sheaf::f32, {kMany, kWidth}),
                   {.reduction = sheaf::Reduction::kAdd}, {.workspace_bytes = kWorkspace});
  scatter.scatter(sheaf::view(ids), sheaf::view(output, {kMany, kWidth}));
  EXPECT_LE(peak_bytes() - before, 2 * kWorkspace + kOfMpi);
}

}  // namespace
