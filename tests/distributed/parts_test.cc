// SPDX-License-Identifier: MIT
//
// Parts that are not plain memory: files, a device, strided memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "helpers/deferred_device.h"
#include "support/text.h"
#include "world.h"

namespace {

using sheaf::Array;
using sheaf::TensorSpec;
using sheaf::mpi::Part;
using sheaf::mpi::ShardedTensor;
using sheaf::mpi::Split;

constexpr int64_t kEntries = 14, kColumns = 3;

struct Parts : testing::Test {
  const int rank = world::rank(), ranks = world::ranks();
  const TensorSpec spec{sheaf::i32, {kEntries, kColumns}};
  Array whole{spec};
  std::vector<int64_t> ids{rank % kEntries, 13, -2, 0, 13};
  std::vector<int32_t> output = std::vector<int32_t>(static_cast<size_t>(5 * kColumns));

  Parts() {
    int32_t value = 0;
    for (int32_t& element : whole.elements<int32_t>()) {
      element = ++value;
    }
  }

  void expect_rows(const ShardedTensor& table) {
    auto plan = plan_gather(table, sheaf::view(ids).spec);
    plan.run(sheaf::view(ids), sheaf::view(output, {5, kColumns}));
    const Array wanted = sheaf::gather(whole.tensor(), sheaf::view(ids));
    EXPECT_THAT(output, testing::ElementsAreArray(wanted.elements<int32_t>()));
  }
};

TEST_F(Parts, AFileWithAllEntriesIsReadWhereThisRankHasThem) {
  std::string path = "/tmp/sheaf_mpi_parts_" + std::to_string(getppid()) + ".npy";
  int64_t parent = getppid();
  MPI_Bcast(&parent, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  path = "/tmp/sheaf_mpi_parts_" + std::to_string(parent) + ".npy";
  if (rank == 0) {
    sheaf::save(path, "table", whole.tensor());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (const Split& split :
       {Split::block(kEntries, ranks), Split::block_cyclic(kEntries, ranks, 3)}) {
    expect_rows({MPI_COMM_WORLD, spec, 0, split, Part(sheaf::open_table(path))});
  }
  // A file that is cut off while it is open: an error on all ranks, and none waits for ever.
  const ShardedTensor table(MPI_COMM_WORLD, spec, 0, Split::block(kEntries, ranks),
                            Part(sheaf::open_table(path)));
  auto plan = plan_gather(table, sheaf::view(ids).spec);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::filesystem::resize_file(path, 128 + 4);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_THROW(plan.run(sheaf::view(ids), sheaf::view(output, {5, kColumns})), sheaf::Error);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::filesystem::remove(path);
  }
}

TEST_F(Parts, StridedMemory) {
  const Split split = Split::block(kEntries, ranks);
  const int64_t rows = split.count(rank), first = split.entry(rank, 0);
  // The columns of the part lie apart: element [i, j] at j * rows + i.
  std::vector<int32_t> part(static_cast<size_t>(rows * kColumns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      part[static_cast<size_t>(j * rows + i)] =
          whole.elements<int32_t>()[static_cast<size_t>((first + i) * kColumns + j)];
    }
  }
  const std::vector<int32_t> before = part;
  const ShardedTensor table(MPI_COMM_WORLD, spec, 0, split,
                            Part(sheaf::view(part, {rows, kColumns}, {1, rows})));
  expect_rows(table);
  const std::vector<int32_t> ones(static_cast<size_t>(5 * kColumns), 1);
  auto scatter = plan_scatter(table, sheaf::view(ids).spec, TensorSpec(sheaf::i32, {5, kColumns}),
                              {.reduction = sheaf::Reduction::kAdd});
  scatter.scatter(sheaf::view(ids), sheaf::view(ones, {5, kColumns}));
  if (split.place(13).rank == rank) {  // two updates of every rank
    const int64_t local = split.place(13).local;
    EXPECT_EQ(part[static_cast<size_t>(local)], before[static_cast<size_t>(local)] + 2 * ranks);
  }
}

TEST_F(Parts, DeviceMemoryIsStagedThroughTheHost) {
  add_deferred_device();
  const Split split = Split::block(kEntries, ranks);
  const int64_t rows = split.count(rank);
  std::vector<int64_t> entries;
  for (int64_t i = 0; i < rows; ++i) {
    entries.push_back(split.entry(rank, i));
  }
  const Array part = sheaf::gather(whole.tensor(), sheaf::view(entries));
  const auto bytes = static_cast<size_t>(rows * kColumns * 4);
  sheaf::DeviceMemory memory(kDeferred, bytes);
  if (bytes > 0) {
    memory.upload(part.tensor().data, bytes);
  }
  const ShardedTensor table(MPI_COMM_WORLD, spec, 0, split,
                            Part({memory.data(), part.spec()}, {.device = kDeferred}));
  expect_rows(table);
  const std::vector<int32_t> ones(static_cast<size_t>(5 * kColumns), 1);
  auto scatter = plan_scatter(table, sheaf::view(ids).spec, TensorSpec(sheaf::i32, {5, kColumns}),
                              {.reduction = sheaf::Reduction::kAdd});
  scatter.scatter(sheaf::view(ids), sheaf::view(ones, {5, kColumns}));
  if (split.place(0).rank == rank) {
    std::vector<int32_t> now(static_cast<size_t>(rows * kColumns));
    memory.download(now.data(), bytes);
    EXPECT_GE(now[0], 1 + ranks);
  }
}

}  // namespace
