// SPDX-License-Identifier: MIT
//
// What is wrong on one rank is thrown on all, with the same text, and nothing is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <numeric>

#include "support/text.h"
#include "world.h"

namespace {

using sheaf::Array;
using sheaf::cat;
using sheaf::TensorSpec;
using sheaf::mpi::Part;
using sheaf::mpi::ShardedPlan;
using sheaf::mpi::ShardedTensor;
using sheaf::mpi::Split;

const int64_t kRows = 12;

struct Errors : testing::Test {
  const int rank = world::rank(), ranks = world::ranks(), last = ranks - 1;
  const Split split = Split::block(kRows, ranks);
  std::vector<float> part = std::vector<float>(static_cast<size_t>(split.count(rank) * 2), 3);
  const ShardedTensor table{MPI_COMM_WORLD, TensorSpec(sheaf::f32, {kRows, 2}), 0, split,
                            Part(sheaf::view(part, {split.count(rank), 2}))};
  std::vector<int64_t> ids{0, 5, 1};
  std::vector<float> output = std::vector<float>(6, -1);
};

template <class Call>
std::string text_of(Call call) {
  try {
    call();
  } catch (const sheaf::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Errors, BadIndexOnOneRank) {
  ids[2] = rank == last ? 12 : 1;
  ShardedPlan plan = plan_gather(table, sheaf::view(ids).spec);
  const std::string wanted =
      cat("gather: index out of range\n  on rank ", last,
          ": indices[2] = 12, but axis 0 of data has 12 entries (allowed -12..11); 1 of 3 indices "
          "are out of range\n  data f32[12, 2]   indices i64[3]   axis 0   output f32[3, 2]\n  "
          "try: out_of_range = clamp or fill;  picture: sheaf explain 'gather f32[12,2] "
          "i64[3]={0,0,12} axis=0'");
  const sheaf::Tensor out = sheaf::view(output, {3, 2});
  EXPECT_EQ(text_of([&] { plan.run(sheaf::view(ids), out); }), wanted);
  EXPECT_THAT(output, testing::Each(-1));
  try {
    plan.run(sheaf::view(ids), out);
    ADD_FAILURE() << "no error";
  } catch (const sheaf::IndexError& error) {  // as data too, on every rank
    EXPECT_EQ(error.position(), (sheaf::Dims{2}));
    EXPECT_EQ(error.bad_count(), 1);
    EXPECT_EQ(error.refusal().cause.tensor, "indices");
  }
  ids[2] = 4;  // the plan is as good as before
  plan.run(sheaf::view(ids), out);
  EXPECT_THAT(output, testing::Each(3));
}

TEST_F(Errors, BadIndexOfAScatterLeavesEveryPartAsItIs) {
  ids[0] = rank == 0 ? -13 : 2;
  const std::vector<float> updates(6, 1);
  ShardedPlan plan = plan_scatter(table, sheaf::view(ids).spec, TensorSpec(sheaf::f32, {3, 2}),
                                  {.reduction = sheaf::Reduction::kAdd});
  EXPECT_THAT(text_of([&] {
                plan.scatter(sheaf::view(ids), sheaf::view(updates, {3, 2}));
              }),
              testing::HasSubstr("on rank 0: indices[0] = -13, but axis 0 of data has 12 entries"));
  EXPECT_THAT(part, testing::Each(3));
}

TEST_F(Errors, WrongShapesOnOneRank) {
  const int64_t rows = split.count(rank) + (rank == last ? 1 : 0);
  const std::vector<float> other(static_cast<size_t>(rows * 2));
  EXPECT_THAT(text_of([&] {
                ShardedTensor(MPI_COMM_WORLD, TensorSpec(sheaf::f32, {kRows, 2}), 0, split,
                              Part(sheaf::view(other, {rows, 2})));
              }),
              testing::StartsWith(cat("sharded tensor: part of the wrong shape\n  on rank ", last,
                                      ": the part is [", split.count(last) + 1, ", 2]")));
  ShardedPlan plan = plan_gather(table, sheaf::view(ids).spec);
  std::vector<float> short_output(4);
  EXPECT_THAT(text_of([&] {
                plan.run(sheaf::view(ids), rank == 0 ? sheaf::view(short_output, {2, 2})
                                                     : sheaf::view(output, {3, 2}));
              }),
              testing::StartsWith("gather: output differs from the plan's\n  on rank 0: got "));
  EXPECT_THAT(output, testing::Each(-1));
}

TEST_F(Errors, RanksDisagree) {
  if (ranks == 1) {
    GTEST_SKIP() << "needs two ranks";
  }
  EXPECT_THAT(text_of([&] {
                plan_gather(table, sheaf::view(ids).spec,
                            {.rule = {.out_of_range = rank == 0 ? sheaf::OutOfRange::kClamp
                                                                : sheaf::OutOfRange::kWrap}});
              }),
              testing::StartsWith("gather: ranks disagree\n  on rank 0: "));
}

// Rows of another length would pass for rows; entries would be asked of the wrong rank.
TEST_F(Errors, RanksDisagreeAboutTuplesOrBlocks) {
  if (ranks == 1) {
    GTEST_SKIP() << "needs two ranks";
  }
  EXPECT_THAT(text_of([&] {
                plan_gather_nd(table, TensorSpec(sheaf::i64, {3, rank == 0 ? 1 : 2}));
              }),
              testing::StartsWith("gather_nd: ranks disagree\n  on rank 0: "));
  const int64_t rows = 6 * ranks;
  std::vector<float> equal(12);
  EXPECT_THAT(text_of([&] {
                const ShardedTensor other(
                    MPI_COMM_WORLD, TensorSpec(sheaf::f32, {rows, 2}), 0,
                    sheaf::mpi::Split::block_cyclic(rows, ranks, rank == 0 ? 2 : 3),
                    Part(sheaf::view(equal, {6, 2})));
              }),
              testing::HasSubstr("ranks disagree\n  on rank 0: "));
}

TEST_F(Errors, SumsThatAreRoundedOnce) {
  std::vector<sheaf::bfloat16> narrow(static_cast<size_t>(split.count(rank) * 2));
  const ShardedTensor sums(MPI_COMM_WORLD, TensorSpec(sheaf::bf16, {kRows, 2}), 0, split,
                           Part(sheaf::view(narrow, {split.count(rank), 2})));
  EXPECT_THAT(text_of([&] {
                plan_scatter(sums, sheaf::view(ids).spec, TensorSpec(sheaf::bf16, {3, 2}),
                             {.reduction = sheaf::Reduction::kAdd, .accumulate_f32 = true});
              }),
              testing::StartsWith("scatter: not on a sharded tensor\n  on rank 0: "));
}

TEST_F(Errors, NotAlongTheSplitAxis) {
  EXPECT_THAT(text_of([&] { plan_gather(table, sheaf::view(ids).spec, {.axis = 1}); }),
              testing::StartsWith("gather: not along the split axis\n  on rank 0: axis 0 of data "
                                  "is split, but the first index runs along axis 1"));
}

TEST_F(Errors, ReadOnlyPart) {
  const ShardedTensor fixed(MPI_COMM_WORLD, TensorSpec(sheaf::f32, {kRows, 2}), 0, split,
                            Part(sheaf::ConstTensor(sheaf::view(part, {split.count(rank), 2}))));
  EXPECT_THAT(text_of([&] {
                plan_scatter(fixed, sheaf::view(ids).spec, TensorSpec(sheaf::f32, {3, 2}));
              }),
              testing::HasSubstr("scatter: part cannot be written"));
}

TEST_F(Errors, WorkspaceTooSmall) {
  if (ranks == 1) {
    GTEST_SKIP() << "a rank alone needs none";
  }
  EXPECT_THAT(
      text_of([&] { plan_gather(table, sheaf::view(ids).spec, {}, {.workspace_bytes = 50}); }),
      testing::StartsWith("gather: workspace too small\n  on rank 0: workspace_bytes = 50, "
                          "but a row of 8 bytes per pair of "));
}

int64_t address_space() {
  int64_t pages = 0;
  if (FILE* statm = std::fopen("/proc/self/statm", "r")) {
    pages = std::fscanf(statm, "%ld", &pages) == 1 ? pages : 0;
    std::fclose(statm);
  }
  return pages * getpagesize();
}

TEST_F(Errors, NoMemoryOnOneRank) {
  if (ranks == 1) {
    GTEST_SKIP() << "a rank alone needs none";
  }
  rlimit before = {};
  getrlimit(RLIMIT_AS, &before);
  if (rank == last) {
    const rlimit tight = {static_cast<rlim_t>(address_space() + (1 << 20)), before.rlim_max};
    setrlimit(RLIMIT_AS, &tight);
  }
  const TensorSpec many(sheaf::i64, {1 << 20});
  const std::string text =
      text_of([&] { plan_gather(table, many, {}, {.workspace_bytes = 64 << 20}); });
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(text, cat("gather: out of memory\n  on rank ", last,
                      ": an allocation failed\n  try: a smaller workspace_bytes"));
}

TEST_F(Errors, OneRunAtATime) {
  ShardedPlan plan = plan_gather(table, sheaf::view(ids).spec);
  plan.start(sheaf::view(ids), sheaf::view(output, {3, 2}));
  EXPECT_THAT(text_of([&] {
                plan.start(sheaf::view(ids), sheaf::view(output, {3, 2}));
              }),
              testing::StartsWith("gather: already running"));
  plan.wait();
  EXPECT_THAT(output, testing::Each(3));
}

TEST(Splits, PlaceIsTheInverseOfEntry) {
  for (const Split& split : {Split::block(10, 4), Split::block(2, 3), Split::block_cyclic(11, 3, 2),
                             Split::at_offsets({0, 0, 4, 4, 9})}) {
    int64_t entries = 0;
    for (int rank = 0; rank < split.ranks(); ++rank) {
      for (int64_t i = 0; i < split.count(rank); ++i, ++entries) {
        const Split::Place place = split.place(split.entry(rank, i));
        EXPECT_EQ(place.rank, rank);
        EXPECT_EQ(place.local, i);
      }
    }
    EXPECT_EQ(entries, split.entries());
  }
  EXPECT_THROW(Split::at_offsets({1, 2}), sheaf::Error);
  EXPECT_THROW(Split::block_cyclic(3, 2, 0), sheaf::Error);
}

}  // namespace
