// SPDX-License-Identifier: MIT
//
// Parts that are not plain memory: files, a device, strided memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
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

// Zeros that take memory only where they are written: 8 GiB of rows over all ranks.
struct Sparse {
  int64_t bytes;
  void* memory;

  explicit Sparse(int64_t count)
      : bytes(count),
        memory(mmap(nullptr, static_cast<size_t>(count), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Sparse() { munmap(memory, static_cast<size_t>(bytes)); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
};

TEST_F(Parts, EntriesBeyond32Bits) {
  constexpr int64_t kFar = int64_t{1} << 33;
  const Split split = Split::block(kFar, ranks);
  const Sparse part(split.count(rank));
  ASSERT_NE(part.memory, MAP_FAILED);
  auto* const mine = static_cast<uint8_t*>(part.memory);
  const std::vector<int64_t> far{
      kFar - 1, -2, (int64_t{1} << 32) + rank, int64_t{1} << 31, (int64_t{1} << 31) - 1, 7};
  const auto count = static_cast<int64_t>(far.size());
  const ShardedTensor table(MPI_COMM_WORLD, {sheaf::u8, {kFar}}, 0, split,
                            Part(sheaf::Tensor{mine, TensorSpec(sheaf::u8, {split.count(rank)})}));
  const std::vector<uint8_t> updates{1, 2, 3, 4, 5, 6};
  auto add = plan_scatter(table, sheaf::view(far).spec, sheaf::view(updates).spec,
                          {.reduction = sheaf::Reduction::kAdd});
  add.scatter(sheaf::view(far), sheaf::view(updates));
  std::vector<uint8_t> found(far.size());
  auto gather = plan_gather(table, sheaf::view(far).spec);
  gather.run(sheaf::view(far), sheaf::view(found, {count}));
  const auto all = static_cast<uint8_t>(ranks);
  EXPECT_THAT(found, testing::ElementsAre(all, 2 * all, 3, 4 * all, 5 * all, 6 * all));
}

}  // namespace
