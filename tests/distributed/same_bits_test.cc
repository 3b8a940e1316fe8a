// SPDX-License-Identifier: MIT
//
// The bits of one process: every operator, split, spread of indices and reduction.
#include <gtest/gtest.h>

#include <cstdlib>

#include "world.h"

namespace {

using sheaf::Op;
using sheaf::OutOfRange;
using sheaf::Reduction;
using world::difference;
using world::Division;
using world::Problem;
using world::Spread;

// Operators with the split axis in every place that they allow.
std::vector<Problem> shapes(bool scatters) {
  const auto op = [&](Op gather) {
    return scatters ? static_cast<Op>(static_cast<int>(gather) + static_cast<int>(Op::kScatter))
                    : gather;
  };
  return {
      {.op = op(Op::kGather), .data = {23, 5}, .axis = 0},
      {.op = op(Op::kGather), .data = {4, 23, 3}, .axis = 1},
      {.op = op(Op::kGather), .data = {3, 19, 2}, .axis = 1, .batch_dims = 1},
      {.op = op(Op::kGather), .data = {3, 2, 19, 2}, .axis = 2, .batch_dims = 1},
      {.op = op(Op::kGatherElements), .data = {23, 4}, .axis = 0},
      {.op = op(Op::kGatherElements), .data = {3, 17, 2}, .axis = 1},
      {.op = op(Op::kGatherNd), .data = {23, 4, 3}, .axis = 0, .tuple = 2},
      {.op = op(Op::kGatherNd), .data = {23, 6}, .axis = 0, .tuple = 1},
      {.op = op(Op::kGatherNd), .data = {2, 21, 3}, .axis = 1, .batch_dims = 1, .tuple = 2},
  };
}

template <class Use>
void for_each_setting(std::vector<Problem> problems, Use use) {
  uint64_t seed = 0;
  for (Problem& p : problems) {
    for (const Division division : {Division::kBlock, Division::kCyclic, Division::kOffsets}) {
      for (const Spread spread : {Spread::kUniform, Spread::kZipf, Spread::kOneEntry}) {
        p.division = division;
        p.spread = spread;
        p.seed = ++seed;
        use(p);
      }
    }
  }
}

// The least workspace that a plan does not refuse, or a little more: many rounds and batches.
sheaf::mpi::ShardedOptions small_workspace(int64_t bytes) {
  return {.workspace_bytes = bytes, .message_bytes = 11, .shared_memory = false};
}

// A communicator that does not know how many ranks share its node opens windows for any number.
TEST(SameBits, GathersThroughWindows) {
  const char* const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  std::string values[2];
  for (int i = 0; i < 2; ++i) {
    const char* const value = std::getenv(names[i]);
    values[i] = value == nullptr ? "" : value;
    unsetenv(names[i]);
  }
  sheaf::mpi::ShardedOptions many_rounds = small_workspace(4096);
  many_rounds.shared_memory = true;
  std::vector<Problem> problems = shapes(false);
  if (world::ranks() > 3) {
    problems.resize(2);  // MPICH keeps the cores busy while ranks wait for one another
  }
  for (Problem& p : problems) {
    for (const Spread spread : {Spread::kZipf, Spread::kOneEntry}) {
      p.spread = spread;
      EXPECT_EQ(difference(p, many_rounds), "");
    }
    p.division = p.axis == 0 ? Division::kCyclic : Division::kOffsets;
    p.spread = Spread::kUniform;
    p.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 7};
    EXPECT_EQ(difference(p, many_rounds), "");
    EXPECT_EQ(difference(p, {}), "");  // in one round
  }
  for (int i = 0; i < 2; ++i) {
    if (!values[i].empty()) {
      setenv(names[i], values[i].c_str(), 1);
    }
  }
}

TEST(SameBits, Gathers) {
  for_each_setting(shapes(false), [](const Problem& p) { EXPECT_EQ(difference(p), ""); });
}

TEST(SameBits, GathersInManyRounds) {
  for_each_setting(shapes(false),
                   [](const Problem& p) { EXPECT_EQ(difference(p, small_workspace(4096)), ""); });
}

TEST(SameBits, GathersUnderEveryRule) {
  for (const OutOfRange rule :
       {OutOfRange::kClamp, OutOfRange::kWrap, OutOfRange::kFill, OutOfRange::kTrust}) {
    for (Problem p : shapes(false)) {
      p.rule = {.out_of_range = rule, .fill_value = 7};
      p.spread = rule == OutOfRange::kTrust ? Spread::kOneEntry : Spread::kUniform;
      EXPECT_EQ(difference(p), "");
    }
  }
}

TEST(SameBits, Scatters) {
  for_each_setting(shapes(true), [](Problem p) {
    for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd}) {
      p.reduction = reduction;
      EXPECT_EQ(difference(p), "");
    }
  });
}

TEST(SameBits, ScattersInManySteps) {
  for_each_setting(shapes(true), [](Problem p) {
    p.reduction = Reduction::kAdd;
    EXPECT_EQ(difference(p, small_workspace(2048)), "");
  });
}

TEST(SameBits, EveryReduction) {
  for (const sheaf::DType type : {sheaf::f32, sheaf::f16, sheaf::i32}) {
    for (const Reduction reduction : {Reduction::kSub, Reduction::kMul, Reduction::kMin,
                                      Reduction::kMax, Reduction::kMean, Reduction::kAdd}) {
      uint64_t seed = 0;
      for (Problem p : shapes(true)) {
        if (++seed % 3 != 1) {  // one shape of each operator, and the batched ones elsewhere
          continue;
        }
        p.dtype = type;
        p.spread = Spread::kZipf;
        p.reduction = reduction;
        EXPECT_EQ(difference(p), "");
        p.include_self = false;
        EXPECT_EQ(difference(p, small_workspace(2048)), "");
      }
    }
  }
}

TEST(SameBits, SkippedUpdatesAndZeros) {
  for (Problem p : shapes(true)) {
    p.rule.out_of_range = OutOfRange::kSkip;
    p.reduction = Reduction::kAdd;
    EXPECT_EQ(difference(p), "");
    p.onto_zeros = true;
    EXPECT_EQ(difference(p), "");
    p.reduction = Reduction::kMean;
    EXPECT_EQ(difference(p), "");
  }
}

TEST(SameBits, NoIndicesAndNoEntries) {
  EXPECT_EQ(difference({.data = {5, 2}, .most = 1}), "");  // ranks without entries
  EXPECT_EQ(difference({.data = {5, 0}}), "");             // rows without elements
  Problem none{.op = Op::kScatter, .data = {2, 3}, .reduction = Reduction::kAdd};
  none.spread = Spread::kOneEntry;
  EXPECT_EQ(difference(none), "");
}

}  // namespace
