// SPDX-License-Identifier: MIT
//
// A sharded tensor as a table: what the same calls give on a plain table, on queues of the host and
// of a device, with ranks that ask for as much as they like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "helpers/deferred_device.h"
#include "sheaf/bag.h"
#include "sheaf/cancel.h"
#include "sheaf/table.h"
#include "support/text.h"
#include "world.h"

namespace {

using sheaf::Array;
using sheaf::Plan;
using sheaf::Queue;
using sheaf::Table;
using sheaf::TableOptions;
using sheaf::TensorSpec;
using sheaf::mpi::Part;
using sheaf::mpi::ShardedTensor;
using sheaf::mpi::Split;
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr int64_t kRowCount = 40, kWide = 5;

struct ShardedTables : testing::Test {
  const int rank = world::rank(), ranks = world::ranks();
  const TensorSpec spec{sheaf::i32, {kRowCount, kWide}};
  Array whole{spec};
  Array part{TensorSpec(sheaf::i32, {0, kWide})};
  int stream = 0;

  ShardedTables() {
    int32_t value = 0;
    for (int32_t& element : whole.elements<int32_t>()) {
      element = ++value;
    }
  }

  // Messages are enough for most; windows have a test of their own.
  Table table(const Split& split, const TableOptions& options = {}, bool shared_memory = false) {
    std::vector<int64_t> entries;
    for (int64_t i = 0; i < split.count(rank); ++i) {
      entries.push_back(split.entry(rank, i));
    }
    part = sheaf::gather(whole.tensor(), sheaf::view(entries));
    const ShardedTensor data(MPI_COMM_WORLD, spec, 0, split, Part(part.tensor()));
    return table_of(data, {.shared_memory = shared_memory}).with(options);
  }
  Table table(const TableOptions& options = {}) {
    return table(Split::block(kRowCount, ranks), options);
  }

  Queue device() {
    add_deferred_device();
    return {.device = kDeferred, .stream = &stream};
  }

  // Of this rank; collective.
  std::vector<int32_t> gathered(const Table& data, const std::vector<int64_t>& ids,
                                const Queue& queue, const sheaf::GatherOptions& options = {}) {
    const Plan plan = sheaf::plan_gather(data.spec(), sheaf::view(ids).spec, options);
    std::vector<int32_t> output(ids.size() * kWide, -7);
    sheaf::run(plan, data, ids.data(), output.data(), queue);  // device memory is the host's
    sheaf::finish(plan, data, queue);
    return output;
  }
  std::vector<int32_t> expected(const std::vector<int64_t>& ids,
                                const sheaf::GatherOptions& options = {}) {
    const Array rows = sheaf::gather(whole.tensor(), sheaf::view(ids), options);
    const auto elements = rows.elements<int32_t>();
    return {elements.begin(), elements.end()};
  }

  // Rank 0 has none, and the others have more and more.
  std::vector<int64_t> own_ids(int64_t per_rank = 30) const {
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < rank * per_rank; ++i) {
      ids.push_back((i * 17 + rank) % (2 * kRowCount) - kRowCount);
    }
    return ids;
  }
};

TEST_F(ShardedTables, SayWhatTheyAre) {
  const Table rows = table();
  EXPECT_EQ(rows.place(), sheaf::TablePlace::kSharded);
  EXPECT_EQ(sheaf::to_string(rows.place()), "sharded");
  EXPECT_EQ(rows.spec(), spec);
  EXPECT_EQ(rows.info().bytes, kRowCount * kWide * 4);
  const Plan plan = sheaf::plan_gather(spec, TensorSpec(sheaf::i64, {3}));
  EXPECT_EQ(sheaf::explain(plan, rows, {}),
            "rows of 20 bytes, by the way \"sharded\"\n  sharded: takes the call\n");
  const Plan columns = sheaf::plan_gather(spec, TensorSpec(sheaf::i64, {3}), {.axis = 1});
  EXPECT_THAT(sheaf::table_ways(columns, rows, {}).front().refusal,
              HasSubstr("rows of 4 bytes are parts of the table's, of 20; ranks send whole ones"));
}

TEST_F(ShardedTables, HostsAndDevicesGetTheRowsOfAPlainTable) {
  for (const Split& split :
       {Split::block(kRowCount, ranks), Split::block_cyclic(kRowCount, ranks, 3)}) {
    for (const int64_t piece_bytes : {1, 100, 1 << 20}) {
      const Table rows = table(split, {.piece_bytes = piece_bytes});
      for (int call = 0; call < 2; ++call) {
        const auto ids = own_ids();
        EXPECT_THAT(gathered(rows, ids, {}), ElementsAreArray(expected(ids)));
        EXPECT_THAT(gathered(rows, ids, device()), ElementsAreArray(expected(ids)));
        // Some of the ranks on a device.
        EXPECT_THAT(gathered(rows, ids, rank % 2 == 0 ? device() : Queue{}),
                    ElementsAreArray(expected(ids)));
      }
      EXPECT_EQ(sheaf::stats(rows).way, "sharded");
      EXPECT_EQ(sheaf::stats(rows).calls, 6);
    }
  }
}

TEST_F(ShardedTables, RowsOfWindowsAreTheSame) {
  const Table rows = table(Split::block(kRowCount, ranks), {}, true);
  const auto ids = own_ids(200);
  EXPECT_THAT(gathered(rows, ids, {}), ElementsAreArray(expected(ids)));
  EXPECT_THAT(gathered(rows, ids, device()), ElementsAreArray(expected(ids)));
}

TEST_F(ShardedTables, RulesOfIndices) {
  const Table rows = table({.piece_bytes = 64});
  const std::vector<int64_t> ids = {3, kRowCount, -kRowCount - 1, rank, 1000};
  for (const auto rule :
       {sheaf::OutOfRange::kClamp, sheaf::OutOfRange::kWrap, sheaf::OutOfRange::kFill}) {
    const sheaf::GatherOptions options{.rule = {.out_of_range = rule, .fill_value = -3}};
    EXPECT_THAT(gathered(rows, ids, {}, options), ElementsAreArray(expected(ids, options)));
    EXPECT_THAT(gathered(rows, ids, device(), options), ElementsAreArray(expected(ids, options)));
  }
}

TEST_F(ShardedTables, OneRankWithABadIndexStopsAllBeforeTheyWrite) {
  const Table rows = table({.piece_bytes = 40});
  const int bad = ranks - 1;
  for (const bool on_device : {false, true}) {
    std::vector<int64_t> ids = {1, 2, 3, 4, 5, 6, 7, 8};
    ids[5] = rank == bad ? kRowCount : 0;
    const Plan plan = sheaf::plan_gather(spec, sheaf::view(ids).spec);
    std::vector<int32_t> output(ids.size() * kWide, -7);
    std::string text = "nothing";
    try {
      const Queue queue = on_device ? device() : Queue{};
      sheaf::run(plan, rows, ids.data(), output.data(), queue);
    } catch (const sheaf::IndexError& error) {
      text = error.what();
    }
    EXPECT_THAT(text, HasSubstr("indices[5] = 40"));
    EXPECT_THAT(text, HasSubstr(ranks == 1 ? "indices" : sheaf::cat("on rank ", bad, ": ")));
    if (on_device) {
      sheaf::wait(device());
    }
    EXPECT_THAT(output, testing::Each(-7));
    const auto good = own_ids();  // and the table goes on
    EXPECT_THAT(gathered(rows, good, {}), ElementsAreArray(expected(good)));
  }
}

TEST_F(ShardedTables, ARankThatIsCancelledEndsTheCallOfAll) {
  const Table rows = table({.piece_bytes = 1});
  const auto ids = own_ids(100);
  const Plan plan = sheaf::plan_gather(spec, sheaf::view(ids).spec);
  std::vector<int32_t> output(ids.size() * kWide);
  if (ranks > 1) {
    bool last = rank == ranks - 1;
    const sheaf::CancelScope scope(
        {[](void* context) { return *static_cast<bool*>(context); }, &last});
    EXPECT_THROW(sheaf::run(plan, rows, ids.data(), output.data(), {}), sheaf::Error);
  }
  EXPECT_THAT(gathered(rows, ids, {}), ElementsAreArray(expected(ids)));
}

TEST_F(ShardedTables, CachedRowsAreNotFetchedAgain) {
  const Table rows = table({.cache_bytes = 1 << 12});
  const std::vector<int64_t> ids = {1, 30, 7, 39, 7};
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(gathered(rows, ids, device()), ElementsAreArray(expected(ids)));
  }
  const int64_t fetched = sheaf::stats(rows).rows_fetched;
  EXPECT_THAT(gathered(rows, ids, device()), ElementsAreArray(expected(ids)));
  EXPECT_EQ(sheaf::stats(rows).rows_fetched, fetched);
  // One rank forgets, and fetches again: the others serve it.
  if (rank == 0) {
    sheaf::forget_cached_rows(rows);
  }
  EXPECT_THAT(gathered(rows, ids, device()), ElementsAreArray(expected(ids)));
  EXPECT_EQ(sheaf::stats(rows).rows_fetched, fetched + (rank == 0 ? 4 : 0));
}

TEST_F(ShardedTables, PrefetchedRowsAreHits) {
  const Table rows = table({.cache_bytes = 1 << 12});
  const std::vector<int64_t> ids = {1, 30, 7, 39};
  const Plan plan = sheaf::plan_gather(spec, sheaf::view(ids).spec);
  sheaf::prefetch(plan, rows, ids.data(), rank % 2 == 0 ? device() : Queue{});
  EXPECT_EQ(sheaf::stats(rows).rows_prefetched, rank % 2 == 0 ? 4 : 0);
  EXPECT_THAT(gathered(rows, ids, device()), ElementsAreArray(expected(ids)));
  EXPECT_EQ(sheaf::stats(rows).cache_hits, rank % 2 == 0 ? 4 : 0);
}

TEST_F(ShardedTables, BagsPoolTheRowsOfAllRanks) {
  const Table rows = table({.piece_bytes = 100});
  const auto ids = own_ids();
  std::vector<int64_t> offsets = {0};
  for (int64_t end = 3; end < std::ssize(ids); end += 3) {
    offsets.push_back(end);
  }
  const sheaf::BagPlan plan = sheaf::plan_bag(
      {sheaf::EncodedSpec(spec), sheaf::view(ids).spec, sheaf::view(offsets).spec, {}},
      {.pool = sheaf::Pool::kMax});
  std::vector<int32_t> wanted(offsets.size() * kWide), got(wanted.size());
  plan.run({.stored = whole.tensor().data,
            .indices = ids.data(),
            .segments = offsets.data(),
            .output = wanted.data()});
  for (const bool on_device : {false, true}) {
    const Queue queue = on_device ? device() : Queue{};
    std::fill(got.begin(), got.end(), -7);
    sheaf::run(plan, rows,
               {.indices = ids.data(), .segments = offsets.data(), .output = got.data()}, queue);
    sheaf::finish(plan, rows, queue);
    EXPECT_THAT(got, ElementsAreArray(wanted));
  }
}

TEST_F(ShardedTables, WhatCannotWorkIsRefusedEverywhere) {
  const Table rows = table();
  const std::vector<int64_t> ids = {1, 2};
  std::vector<int32_t> output(kRowCount * 2);
  const Plan columns = sheaf::plan_gather(spec, sheaf::view(ids).spec, {.axis = 1});
  const auto said = [](const auto& work) {
    try {
      work();
    } catch (const sheaf::Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(said([&] { sheaf::run(columns, rows, ids.data(), output.data(), {}); }),
              HasSubstr("ranks send whole ones"));
  const TensorSpec updates(sheaf::i32, {2, kWide});
  const Plan scatter = sheaf::plan_scatter(spec, sheaf::view(ids).spec, updates);
  EXPECT_THAT(said([&] { sheaf::run_scatter(scatter, rows, ids.data(), output.data(), {}); }),
              HasSubstr("a sharded table is only read"));
  EXPECT_THAT(said([&] { rows.load(); }), HasSubstr("its rows are on several ranks"));
  EXPECT_THAT(said([&] { gathered(rows.with({.way = "ring"}), ids, {}); }),
              HasSubstr("\"ring\" names no way"));
  const Plan other = sheaf::plan_gather(TensorSpec(sheaf::i32, {3, kWide}), sheaf::view(ids).spec);
  EXPECT_THAT(said([&] { sheaf::run(other, rows, ids.data(), output.data(), {}); }),
              HasSubstr("data"));
  const ShardedTensor tall(
      MPI_COMM_WORLD, spec, 1, Split::block(kWide, ranks),
      Part(Array(TensorSpec(sheaf::i32, {kRowCount, Split::block(kWide, ranks).count(rank)}))
               .tensor()));
  EXPECT_THAT(said([&] { table_of(tall); }), HasSubstr("not split along its rows"));
  EXPECT_THAT(gathered(rows, ids, {}), ElementsAreArray(expected(ids)));
}

TEST_F(ShardedTables, PartsInAFileThatIsCutShort) {
  int64_t parent = getppid();
  MPI_Bcast(&parent, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  const std::string path = sheaf::cat("/tmp/sheaf_mpi_table_", parent, ".npy");
  if (rank == 0) {
    sheaf::save(path, "table", whole.tensor());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const ShardedTensor data(MPI_COMM_WORLD, spec, 0, Split::block(kRowCount, ranks),
                           Part(sheaf::open_table(path)));
  const Table rows = table_of(data, {.shared_memory = false});
  const auto ids = own_ids();
  EXPECT_THAT(gathered(rows, ids, device()), ElementsAreArray(expected(ids)));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::filesystem::resize_file(path, 128 + 4);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<int64_t> all = {0, 20, 39};
  EXPECT_THROW(gathered(rows, all, {}), sheaf::Error);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::filesystem::remove(path);
  }
}

}  // namespace
