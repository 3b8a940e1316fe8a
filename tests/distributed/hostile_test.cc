// SPDX-License-Identifier: MIT
//
// Arguments that no honest caller has, and indices that change while a call runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "distributed/group.h"
#include "distributed/local_part.h"
#include "distributed/mpi_transport.h"
#include "distributed/places.h"
#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "support/text.h"
#include "world.h"

namespace {

using sheaf::cat;
using sheaf::Dims;
using sheaf::TensorSpec;
using sheaf::mpi::Part;
using sheaf::mpi::ShardedPlan;
using sheaf::mpi::ShardedTensor;
using sheaf::mpi::Split;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kTableRows = 12;
constexpr int64_t kLargest = INT64_MAX;

TEST(HostileSplits, AreRefused) {
  EXPECT_EQ(refusal([] { Split::block(-1, 2); }),
            "split: impossible division\n  -1 entries over 2 ranks\n"
            "  try: 0 or more entries, 1 or more ranks");
  EXPECT_THAT(refusal([] { Split::block(4, 0); }), HasSubstr("4 entries over 0 ranks"));
  EXPECT_THAT(refusal([] { Split::block_cyclic(-4, 1, 1); }), HasSubstr("-4 entries"));
  EXPECT_EQ(refusal([] { Split::block_cyclic(4, 1, 0); }),
            "split: impossible division\n  blocks of 0 entries\n  try: blocks of 1 or more");
  for (const std::vector<int64_t>& offsets :
       {std::vector<int64_t>{}, std::vector<int64_t>{0}, std::vector<int64_t>{1, 2},
        std::vector<int64_t>{0, 3, 2}}) {
    EXPECT_THAT(refusal([&] { Split::at_offsets(offsets); }), HasSubstr("offsets start at 0"));
  }
}

TEST(HostileSplits, HaveNoPlacesOutside) {
  for (const Split& split :
       {Split::block(3, 4), Split::block_cyclic(3, 4, 2), Split::at_offsets({0, 0, 2, 3, 3})}) {
    for (const int rank : {-1, 4, INT32_MAX, INT32_MIN}) {
      EXPECT_EQ(refusal([&] { split.count(rank); }),
                cat("split: outside the split\n  rank ", rank, "\n  try: a rank from 0 to 3"));
      EXPECT_THAT(refusal([&] { split.entry(rank, 0); }), HasSubstr("outside the split"));
    }
    for (const int64_t entry : {int64_t{-1}, int64_t{3}, kLargest, INT64_MIN}) {
      EXPECT_EQ(refusal([&] { split.place(entry); }),
                cat("split: outside the split\n  entry ", entry, "\n  try: an entry from 0 to 2"));
    }
  }
}

// Blocks longer than the axis, and entries near the end of int64.
TEST(HostileSplits, OfNumbersNearTheLimit) {
  for (const Split& split : {Split::block(kLargest, 3), Split::block_cyclic(kLargest, 3, 7),
                             Split::block_cyclic(kLargest, 3, kLargest),
                             Split::at_offsets({0, 1, kLargest, kLargest})}) {
    int64_t entries = 0;
    for (int rank = 0; rank < 3; ++rank) {
      entries += split.count(rank);
      if (const int64_t count = split.count(rank)) {
        const Split::Place place = split.place(split.entry(rank, count - 1));
        EXPECT_EQ(place.rank, rank);
        EXPECT_EQ(place.local, count - 1);
      }
    }
    EXPECT_EQ(entries, kLargest);
  }
}

struct HostileCalls : testing::Test {
  const int rank = world::rank(), ranks = world::ranks();
  const Split split = Split::block(kTableRows, ranks);
  const TensorSpec whole{sheaf::f32, {kTableRows, 2}};
  const Dims sizes{split.count(rank), 2};
  std::vector<float> part = std::vector<float>(static_cast<size_t>(split.count(rank) * 2), 3);
  const ShardedTensor table{MPI_COMM_WORLD, whole, 0, split, Part(sheaf::view(part, sizes))};
  std::vector<int64_t> ids{0, 5, 1};
  std::vector<float> output = std::vector<float>(6, -1);
  const std::vector<float> updates = std::vector<float>(6, 1);
  const TensorSpec ids_spec{sheaf::i64, {3}}, row_spec{sheaf::f32, {3, 2}};

  // All ranks refuse, with the text of rank 0.
  template <class Call>
  std::string refused(Call call) {
    const std::string text = refusal(call);
    EXPECT_THAT(output, testing::Each(-1));
    EXPECT_THAT(part, testing::Each(3));
    return text;
  }
  std::string make(const TensorSpec& of, int64_t axis, const Split& by, const Part& with) {
    return refused([&] { ShardedTensor(MPI_COMM_WORLD, of, axis, by, with); });
  }
};

TEST_F(HostileCalls, TensorsThatDoNotFit) {
  const Part good(sheaf::view(part, sizes));
  for (const int64_t axis : {int64_t{2}, int64_t{-3}, kLargest, INT64_MIN}) {
    EXPECT_THAT(make(whole, axis, split, good), StartsWith("sharded tensor: axis out of range"));
  }
  EXPECT_NO_THROW(ShardedTensor(MPI_COMM_WORLD, whole, -2, split, good));
  EXPECT_THAT(make(whole, 0, Split::block(kTableRows, ranks + 1), good),
              HasSubstr("split does not fit"));
  EXPECT_THAT(make(whole, 0, Split::block(kTableRows + 1, ranks), good),
              HasSubstr("split does not fit"));
  EXPECT_THAT(make(TensorSpec(sheaf::i32, {kTableRows, 2}), 0, split, good),
              HasSubstr("types differ"));
  EXPECT_THAT(make(TensorSpec(sheaf::f32, {kTableRows, 3}), 0, split, good),
              HasSubstr("part of the wrong shape"));
  EXPECT_THAT(make(whole, 0, split, sheaf::Tensor{nullptr, TensorSpec(sheaf::f32, sizes)}),
              HasSubstr("the part has elements, but its pointer is null"));
  const auto strided = [&](const Dims& strides) {
    return make(whole, 0, split,
                sheaf::Tensor{part.data(), TensorSpec(sheaf::f32, sizes, strides)});
  };
  EXPECT_EQ(strided({2}),
            "sharded tensor: strides do not match sizes\n"
            "  on rank 0: the part has 2 sizes but 1 strides\n  whole f32[12, 2]\n"
            "  try: one stride, in elements, for each dimension");
  EXPECT_EQ(strided({2, kLargest}),
            "sharded tensor: part too large\n  on rank 0: strides [2, 9223372036854775807] reach "
            "further than 2^63 - 1 bytes\n  whole f32[12, 2]\n"
            "  try: check the strides; they are in elements, not in bytes");
  EXPECT_THAT(strided({2, INT64_MIN}), HasSubstr("part too large"));
  EXPECT_THAT(strided({2, 0}), HasSubstr("part overlaps itself"));
}

// Tensors without entries may have rows that no memory holds.
TEST_F(HostileCalls, RowsBeyondInt64) {
  const Split none = Split::block(0, ranks);
  const TensorSpec no_ids(sheaf::i64, {0});
  const auto plan_of = [&](sheaf::DType type, const Dims& row) {
    Dims all{0};
    for (const int64_t size : row) {
      all.push_back(size);
    }
    const TensorSpec spec(type, all);
    const ShardedTensor empty(MPI_COMM_WORLD, spec, 0, none, Part(sheaf::Tensor{nullptr, spec}));
    plan_gather(empty, no_ids);
    plan_scatter(empty, no_ids, spec);
  };
  EXPECT_EQ(refused([&] { plan_of(sheaf::f64, {int64_t{1} << 61}); }),
            "gather: tensor too large\n  on rank 0: a row of 2305843009213693952 elements has more "
            "than 2^63 - 1 bytes\n"
            "  data f64[0, 2305843009213693952]   indices i64[0]   axis 0   output f64[0, "
            "2305843009213693952]\n  try: check how the shape was computed");
  if (ranks > 1) {
    EXPECT_THAT(
        refused([&] { plan_of(sheaf::u8, {int64_t{1} << 62}); }),
        HasSubstr("bytes per pair of " + cat(ranks) + " ranks needs 9223372036854775807\n"));
  }
  // The split axis in the middle: the row is `before` pieces.
  const TensorSpec middle(sheaf::f64, {int64_t{1} << 31, 0, int64_t{1} << 31});
  const ShardedTensor empty(MPI_COMM_WORLD, middle, 1, none, Part(sheaf::Tensor{nullptr, middle}));
  EXPECT_THAT(refused([&] { plan_gather(empty, no_ids, {.axis = 1}); }),
              HasSubstr("a row of 4611686018427387904 elements"));
  EXPECT_THAT(refused([&] {
                const ShardedTensor first(
                    MPI_COMM_WORLD, TensorSpec(sheaf::f64, {0, kLargest}), 0, none,
                    Part(sheaf::Tensor{nullptr, {sheaf::f64, {0, kLargest}}}));
                plan_gather_nd(first, TensorSpec(sheaf::i64, {0, 1}));
              }),
              HasSubstr("a row of 9223372036854775807 elements"));
}

// A scatter's update of 2^61 bytes: four of them are more than int64 holds.
TEST_F(HostileCalls, UpdatesBeyondTheWorkspace) {
  const TensorSpec spec(sheaf::u8, {0, int64_t{1} << 62});
  const ShardedTensor empty(MPI_COMM_WORLD, spec, 0, Split::block(0, ranks),
                            Part(sheaf::Tensor{nullptr, spec}));
  const TensorSpec no_ids(sheaf::i64, {0});
  if (ranks == 1) {
    EXPECT_NO_THROW(plan_scatter(empty, no_ids, spec));
    return;
  }
  EXPECT_THAT(refused([&] { plan_scatter(empty, no_ids, spec); }),
              HasSubstr("one update of 4611686018427387904 bytes needs 9223372036854775807"));
}

// Dimensions that are never stepped along may have any stride.
TEST_F(HostileCalls, StridesThatAreNeverUsed) {
  const Split own = Split::block(ranks, ranks);
  float row[] = {static_cast<float>(rank), 7};
  const TensorSpec spec(sheaf::f32, {1, 2}, {kLargest, 1});
  const ShardedTensor rows(MPI_COMM_WORLD, TensorSpec(sheaf::f32, {ranks, 2}), 0, own,
                           Part(sheaf::Tensor{row, spec}));
  std::vector<int64_t> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> got(static_cast<size_t>(2 * ranks));
  plan_gather(rows, sheaf::view(all).spec).run(sheaf::view(all), sheaf::view(got, {ranks, 2}));
  EXPECT_EQ(got[static_cast<size_t>(2 * (ranks - 1))], static_cast<float>(ranks - 1));
}

TEST_F(HostileCalls, NoCommunicator) {
  EXPECT_EQ(refusal([&] {
              ShardedTensor(MPI_COMM_NULL, whole, 0, split, Part(sheaf::view(part, sizes)));
            }),
            "mpi: no communicator\n  comm is MPI_COMM_NULL\n"
            "  try: MPI_Init first, and a communicator that this rank is part of");
}

TEST_F(HostileCalls, NoMpi) {
  EXPECT_EQ(world::said_without_mpi(),
            "mpi: no communicator\n  MPI is not initialised\n"
            "  try: MPI_Init first, and a communicator that this rank is part of");
}

// What is thrown on the last rank reaches all, whatever it is.
TEST_F(HostileCalls, ErrorsOfOtherKindsTravel) {
  const sheaf::distributed::Group group(sheaf::mpi::transport(MPI_COMM_WORLD));
  const int last = ranks - 1;
  const auto thrown = [&](const auto& error) {
    return refusal([&] {
      group.together("call", [&] {
        if (rank == last) {
          throw error;
        }
      });
    });
  };
  EXPECT_EQ(
      thrown(std::runtime_error("no reason")),
      cat("call: failed\n  on rank ", last, ": no reason\n  try: what that rank's error says"));
  EXPECT_EQ(
      thrown(sheaf::Error(sheaf::ErrorCode::kInvalidArgument, "only text")),
      cat("call: failed\n  on rank ", last, ": only text\n  try: what that rank's error says"));
}

// A part that fails while others wait for its rows or send it updates: all ranks say so.
TEST_F(HostileCalls, ADeviceThatIsNotThere) {
  const int last = ranks - 1;
  const Part good(sheaf::view(part, sizes));
  const Part bad(sheaf::view(part, sizes), {.device = "nowhere"});
  const ShardedTensor lost(MPI_COMM_WORLD, whole, 0, split, rank == last ? bad : good);
  ids = {kTableRows - 1, 0, kTableRows - 1};
  const auto text_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const sheaf::Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (const bool shared : {false, true}) {
    EXPECT_THAT(text_of([&] {
                  ShardedPlan plan = plan_gather(lost, ids_spec, {}, {.shared_memory = shared});
                  plan.run(sheaf::view(ids), sheaf::view(output, {3, 2}));
                }),
                HasSubstr(cat("on rank ", last, ": ")));
  }
  for (const bool zeros : {false, true}) {
    EXPECT_THAT(text_of([&] {
                  ShardedPlan plan =
                      plan_scatter(lost, ids_spec, row_spec,
                                   {.reduction = sheaf::Reduction::kAdd, .onto_zeros = zeros});
                  plan.scatter(sheaf::view(ids), sheaf::view(updates, {3, 2}));
                }),
                HasSubstr(cat("on rank ", last, ": ")));
  }
}

TEST_F(HostileCalls, CodesOfMpiBecomeErrors) {
  const sheaf::distributed::MpiTransport comm(MPI_COMM_WORLD);
  EXPECT_NO_THROW(comm.check(MPI_SUCCESS, "MPI_Test"));
  EXPECT_FALSE(comm.broken());
  EXPECT_THAT(refusal([&] { comm.check(MPI_ERR_COUNT, "MPI_Test"); }, sheaf::ErrorCode::kDevice),
              StartsWith(cat("mpi: communication failed\n  MPI_Test on rank ", rank, ": ")));
  EXPECT_TRUE(comm.broken());
}

TEST_F(HostileCalls, Options) {
  for (const int64_t bytes : {int64_t{0}, int64_t{-1}, (int64_t{1} << 30) + 1, kLargest}) {
    EXPECT_THAT(
        refused([&] { plan_gather(table, ids_spec, {}, {.message_bytes = bytes}); }),
        StartsWith(cat("gather: impossible options\n  on rank 0: message_bytes = ", bytes)));
  }
  plan_gather(table, ids_spec, {}, {.message_bytes = 1})
      .run(sheaf::view(ids), sheaf::view(output, {3, 2}));
  EXPECT_THAT(output, testing::Each(3));
  output.assign(6, -1);
  if (ranks > 1) {
    for (const int64_t bytes : {int64_t{-1}, int64_t{0}, INT64_MIN}) {
      EXPECT_THAT(refused([&] { plan_gather(table, ids_spec, {}, {.workspace_bytes = bytes}); }),
                  HasSubstr("workspace too small"));
      EXPECT_THAT(
          refused([&] { plan_scatter(table, ids_spec, row_spec, {}, {.workspace_bytes = bytes}); }),
          HasSubstr("workspace too small"));
    }
  }
}

TEST_F(HostileCalls, AWorkspaceOfAllMemory) {
  plan_gather(table, ids_spec, {}, {.workspace_bytes = kLargest})
      .run(sheaf::view(ids), sheaf::view(output, {3, 2}));
  EXPECT_THAT(output, testing::Each(3));
  plan_scatter(table, ids_spec, row_spec, {}, {.workspace_bytes = kLargest})
      .scatter(sheaf::view(ids), sheaf::view(updates, {3, 2}));
}

TEST_F(HostileCalls, TuplesWithoutAnIndex) {
  EXPECT_THAT(refused([&] {
                plan_gather_nd(table, TensorSpec(sheaf::i64, {3, 0}));
              }),
              HasSubstr("the first index runs along no axis"));
}

TEST_F(HostileCalls, PlansOfTheOtherKind) {
  ShardedPlan gathers = plan_gather(table, ids_spec);
  ShardedPlan scatters = plan_scatter(table, ids_spec, row_spec);
  const sheaf::Tensor out = sheaf::view(output, {3, 2});
  const sheaf::ConstTensor rows = sheaf::view(updates, {3, 2});
  EXPECT_THAT(refused([&] { gathers.scatter(sheaf::view(ids), rows); }),
              HasSubstr("not a scatter"));
  EXPECT_THAT(refused([&] { gathers.start_scatter(sheaf::view(ids), rows); }),
              HasSubstr("this is a plan of a gather"));
  EXPECT_THAT(refused([&] { scatters.run(sheaf::view(ids), out); }), HasSubstr("not a gather"));
  EXPECT_THAT(refused([&] { scatters.start(sheaf::view(ids), out); }),
              HasSubstr("this is a plan of a scatter"));
}

TEST_F(HostileCalls, NullAndSharedMemory) {
  ShardedPlan gathers = plan_gather(table, ids_spec);
  ShardedPlan scatters = plan_scatter(table, ids_spec, row_spec);
  const sheaf::Tensor out = sheaf::view(output, {3, 2});
  const sheaf::ConstTensor rows = sheaf::view(updates, {3, 2});
  EXPECT_THAT(refused([&] {
                gathers.run({nullptr, ids_spec}, out);
              }),
              HasSubstr("on rank 0: indices has elements, but its pointer is null"));
  EXPECT_THAT(refused([&] {
                gathers.run(sheaf::view(ids), {nullptr, row_spec});
              }),
              HasSubstr("on rank 0: output has elements, but its pointer is null"));
  EXPECT_THAT(refused([&] {
                scatters.scatter(sheaf::view(ids), {nullptr, row_spec});
              }),
              HasSubstr("on rank 0: updates has elements, but its pointer is null"));
  EXPECT_THAT(refused([&] {
                gathers.run({output.data(), ids_spec}, out);
              }),
              HasSubstr("memory overlaps"));
  if (!part.empty()) {
    EXPECT_THAT(refused([&] {
                  gathers.run(sheaf::view(ids), {part.data(), row_spec});
                }),
                HasSubstr("memory overlaps"));
    EXPECT_THAT(refused([&] {
                  scatters.scatter(sheaf::view(ids), {part.data(), row_spec});
                }),
                HasSubstr("memory overlaps"));
    EXPECT_THAT(refused([&] {
                  scatters.scatter({part.data(), ids_spec}, rows);
                }),
                HasSubstr("memory overlaps"));
  }
}

TEST_F(HostileCalls, UpdatesThatAreNotRowMajor) {
  const TensorSpec columns(sheaf::f32, {3, 2}, {1, 3});
  EXPECT_THAT(
      refused([&] { plan_scatter(table, ids_spec, columns); }),
      StartsWith("scatter: updates is not row-major\n  on rank 0: updates has strides [1, 3]"));
}

TEST_F(HostileCalls, TrustedIndicesAreChecked) {
  ids[1] = kTableRows;
  ShardedPlan plan =
      plan_gather(table, ids_spec, {.rule = {.out_of_range = sheaf::OutOfRange::kTrust}});
  const auto run = [&] { plan.run(sheaf::view(ids), sheaf::view(output, {3, 2})); };
  EXPECT_EQ(index_error(run).position(), (Dims{1}));
  EXPECT_THAT(output, testing::Each(-1));
}

TEST_F(HostileCalls, StatesPerCellNeedTheHost) {
  add_deferred_device();
  const Part there(sheaf::view(part, sizes), {.device = kDeferred});
  const ShardedTensor device(MPI_COMM_WORLD, whole, 0, split, there);
  for (const sheaf::ScatterOptions& options :
       {sheaf::ScatterOptions{.reduction = sheaf::Reduction::kMean},
        sheaf::ScatterOptions{.reduction = sheaf::Reduction::kAdd, .include_self = false}}) {
    EXPECT_THAT(refusal([&] { plan_scatter(device, ids_spec, row_spec, options); },
                        sheaf::ErrorCode::kUnsupported),
                HasSubstr("not on a sharded device tensor"));
  }
}

TEST_F(HostileCalls, ZerosOnADevice) {
  add_deferred_device();
  const ShardedTensor device(MPI_COMM_WORLD, whole, 0, split,
                             Part(sheaf::view(part, sizes), {.device = kDeferred}));
  const TensorSpec no_ids(sheaf::i64, {0}), no_rows(sheaf::f32, {0, 2});
  plan_scatter(device, no_ids, no_rows, {.onto_zeros = true})
      .scatter({nullptr, no_ids}, {nullptr, no_rows});
  EXPECT_THAT(part, testing::Each(0));
}

// Rows of a part with a limit on its threads, and of no bytes.
TEST_F(HostileCalls, FewThreadsAndEmptyRows) {
  const ShardedTensor limited(MPI_COMM_WORLD, whole, 0, split,
                              Part(sheaf::view(part, sizes), {.threads = 1}));
  plan_gather(limited, ids_spec).run(sheaf::view(ids), sheaf::view(output, {3, 2}));
  EXPECT_THAT(output, testing::Each(3));
  const TensorSpec none(sheaf::f32, {kTableRows, 0}), own(sheaf::f32, {split.count(rank), 0});
  const TensorSpec rows(sheaf::f32, {3, 0});
  const ShardedTensor empty(MPI_COMM_WORLD, none, 0, split, Part(sheaf::Tensor{nullptr, own}));
  plan_gather(empty, ids_spec).run(sheaf::view(ids), {nullptr, rows});
  for (const bool zeros : {false, true}) {
    plan_scatter(empty, ids_spec, rows, {.reduction = sheaf::Reduction::kMean, .onto_zeros = zeros})
        .scatter(sheaf::view(ids), {nullptr, rows});
  }
}

// More requests than one call of MPI is given at a time.
TEST_F(HostileCalls, MessagesOfOneByte) {
  constexpr int64_t kMany = 700;
  std::vector<int64_t> many(kMany, 0);
  std::vector<float> got(kMany * 2), rows(kMany * 2, 5);
  const TensorSpec spec(sheaf::i64, {kMany}), grid(sheaf::f32, {kMany, 2});
  const sheaf::mpi::ShardedOptions bytes{.message_bytes = 1};
  plan_scatter(table, spec, grid, {.reduction = sheaf::Reduction::kMax}, bytes)
      .scatter({many.data(), spec}, {rows.data(), grid});
  plan_gather(table, spec, {}, {.message_bytes = 1, .shared_memory = false})
      .run({many.data(), spec}, {got.data(), grid});
  EXPECT_THAT(got, testing::Each(5));
}

// Steps that have nothing to do: zeros on a rank without entries, old values that nothing replaces.
TEST_F(HostileCalls, StepsWithoutWork) {
  const Split one = Split::block(1, ranks);
  std::vector<float> row(2, 3);
  const TensorSpec single(sheaf::f32, {1, 2}), own(sheaf::f32, {one.count(rank), 2});
  const ShardedTensor table_of_one(MPI_COMM_WORLD, single, 0, one,
                                   Part(sheaf::Tensor{row.data(), own}));
  const TensorSpec no_ids(sheaf::i64, {0}), no_rows(sheaf::f32, {0, 2});
  plan_scatter(table_of_one, no_ids, no_rows, {.onto_zeros = true})
      .scatter({nullptr, no_ids}, {nullptr, no_rows});
  EXPECT_EQ(row[0], rank == 0 ? 0 : 3);
  plan_scatter(table, ids_spec, row_spec, {.include_self = false})
      .scatter(sheaf::view(ids), sheaf::view(updates, {3, 2}));
  if (rank == 0) {
    EXPECT_EQ(part[0], 1);
  }
}

// A scalar index drops the axis.
TEST_F(HostileCalls, OneIndexWithoutDimensions) {
  std::iota(part.begin(), part.end(), static_cast<float>(2 * split.entry(rank, 0)));
  const int64_t index = kTableRows - 1;
  float row[2] = {};
  for (const bool shared : {false, true}) {
    ShardedPlan plan =
        plan_gather(table, TensorSpec(sheaf::i64, {}), {}, {.shared_memory = shared});
    plan.run({&index, TensorSpec(sheaf::i64, {})}, {row, TensorSpec(sheaf::f32, {2})});
    EXPECT_EQ(row[1], 2 * kTableRows - 1);
  }
}

TEST_F(HostileCalls, PlansMoveAndWaitForNothing) {
  ShardedPlan plan = plan_scatter(table, ids_spec, row_spec, {.reduction = sheaf::Reduction::kMax});
  plan.wait();  // nothing was started
  EXPECT_EQ(plan.updates(), row_spec);
  ShardedPlan moved = std::move(plan);
  moved.start_scatter(sheaf::view(ids), sheaf::view(updates, {3, 2}));
  moved.wait();
  EXPECT_THAT(part, testing::Each(3)) << "3 is more than 1";
  moved = plan_scatter(table, ids_spec, row_spec);
  EXPECT_EQ(moved.traffic().rows, 0);
}

// Estimates of a place, where ranks outnumber entries and where they do not.
TEST(HostileSplits, PlacesAreThoseOfTheSplit) {
  for (const int64_t entries : {1, 2, 3, 7, 10, 1000}) {
    for (const int ranks : {1, 2, 3, 5, 7, 16}) {
      for (const Split& split :
           {Split::block(entries, ranks), Split::block_cyclic(entries, ranks, 2)}) {
        const sheaf::distributed::Places places(split);
        for (int64_t entry = 0; entry < entries; ++entry) {
          const Split::Place got = places.of(entry), wanted = split.place(entry);
          ASSERT_EQ(got.rank, wanted.rank) << entry << " of " << entries << " on " << ranks;
          ASSERT_EQ(got.local, wanted.local);
          const int64_t cells[] = {3 * entry + 1, sheaf::distributed::kNoCell};
          int32_t owners[2];
          int64_t locals[2];
          places.find(cells, 2, 3, owners, locals);
          ASSERT_EQ(owners[0], wanted.rank);
          ASSERT_EQ(locals[0], 3 * wanted.local + 1);
          ASSERT_EQ(owners[1], ranks);
        }
      }
    }
  }
}

// What another rank asks for is looked at by the rank that has it.
TEST_F(HostileCalls, MessagesThatNameNoCell) {
  ShardedPlan plan = plan_gather(table, ids_spec);
  const sheaf::Plan of_whole = sheaf::plan_gather(whole, ids_spec);
  const auto space = sheaf::distributed::cell_space(of_whole);
  sheaf::distributed::LocalPart local(table, of_whole, space, 4, 0);
  for (const int64_t cell : {split.count(rank), int64_t{-1}, kLargest}) {
    const int64_t cells[] = {cell};
    std::byte row[8] = {};
    EXPECT_THAT(refusal([&] { local.gather(cells, 1, row); }),
                StartsWith("gather: damaged message\n"));
  }
}

// Flips indices until it is destroyed: all of them are `one`, or they name all entries in turn.
class Flipping {
 public:
  Flipping(std::vector<int64_t>& ids, int64_t one)
      : thread_([this, &ids, one] {
          for (bool all_one = true; !stop_; all_one = !all_one) {
            for (size_t i = 0; i < ids.size(); ++i) {
              const int64_t spread = static_cast<int64_t>(i) % kTableRows;
              std::atomic_ref(ids[i]).store(all_one ? one : spread, std::memory_order_relaxed);
            }
            std::this_thread::sleep_for(std::chrono::microseconds(20));
          }
        }) {}
  ~Flipping() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Counted while they were spread over all ranks, sent when all of them lead to one.
TEST_F(HostileCalls, IndicesThatChangeDuringACall) {
  constexpr int64_t kMany = 4000;
  std::vector<int64_t> many(kMany, 0);
  std::vector<float> rows(kMany * 2, 1), got(kMany * 2);
  const TensorSpec spec(sheaf::i64, {kMany}), grid(sheaf::f32, {kMany, 2});
  // Room for the updates of one rank and a few more.
  const sheaf::mpi::ShardedOptions tight{.workspace_bytes = (kMany + 64) * 96};
  ShardedPlan scatters =
      plan_scatter(table, spec, grid, {.reduction = sheaf::Reduction::kAdd}, tight);
  ShardedPlan gathers = plan_gather(table, spec, {}, tight);
  const Flipping flipping(many, kTableRows - 1);
  for (int run = 0; run < 15; ++run) {
    scatters.scatter({many.data(), spec}, {rows.data(), grid});
    gathers.run({many.data(), spec}, {got.data(), grid});
  }
  for (const float value : got) {
    EXPECT_GE(value, 3);
  }
}

}  // namespace
