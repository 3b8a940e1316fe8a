// SPDX-License-Identifier: MIT
//
// Mixtures of experts against plain loops.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "helpers/refusal.h"
#include "helpers/rng.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

template <class T>
std::vector<T> values_of(const Array& array) {
  const auto elements = array.elements<T>();
  return {elements.begin(), elements.end()};
}

struct Routed {
  std::vector<int64_t> sources, inverse, offsets;
};

// Expert by expert, each looking at all choices in order.
Routed routed(const std::vector<int32_t>& experts, int64_t choices, int64_t number,
              int64_t capacity) {
  Routed result;
  result.inverse.assign(experts.size(), -1);
  result.offsets.push_back(0);
  for (int64_t expert = 0; expert < number; ++expert) {
    int64_t taken = 0;
    for (size_t i = 0; i < experts.size(); ++i) {
      if (experts[i] == expert && (capacity < 0 || taken < capacity)) {
        result.inverse[i] = static_cast<int64_t>(result.sources.size());
        result.sources.push_back(static_cast<int64_t>(i) / choices);
        ++taken;
      }
    }
    result.offsets.push_back(static_cast<int64_t>(result.sources.size()));
  }
  return result;
}

TEST(Moe, RoutesAsThePlainLoopsDo) {
  Rng rng(21);
  for (int i = 0; i < 200; ++i) {
    const int64_t tokens = rng.from(0, rng.one_in(20) ? 30000 : 40);
    const int64_t choices = rng.from(1, 4);
    const int64_t number = tokens < 100 && rng.one_in(5) ? rng.from(1, 5000) : rng.from(1, 9);
    const int64_t capacity = rng.one_in(2) ? -1 : rng.from(0, 8);
    std::vector<int32_t> experts(static_cast<size_t>(tokens * choices));
    for (int32_t& expert : experts) {
      expert = static_cast<int32_t>(rng.from(0, number - 1));
    }
    const Routed expected = routed(experts, choices, number, capacity);
    for (const int threads : {1, 3}) {
      const MoeRouting got =
          moe_route(view(experts, {tokens, choices}), {number, capacity}, {.threads = threads});
      EXPECT_EQ(values_of<int64_t>(got.sources), expected.sources);
      EXPECT_EQ(values_of<int64_t>(got.inverse), expected.inverse);
      EXPECT_EQ(values_of<int64_t>(got.offsets), expected.offsets);
      EXPECT_EQ(got.inverse.sizes(), (Dims{tokens, choices}));
    }
  }
}

TEST(Moe, PermutesAndBack) {
  const std::vector<float> tokens{1, 10, 2, 20, 3, 30};
  const std::vector<int64_t> experts{2, 0, 2, 2, 0, 2};
  const MoePermuted sent = moe_permute(view(tokens, {3, 2}), view(experts, {3, 2}), {.experts = 4});
  EXPECT_EQ(values_of<float>(sent.rows),
            (std::vector<float>{1, 10, 3, 30, 1, 10, 2, 20, 2, 20, 3, 30}));
  EXPECT_EQ(values_of<int64_t>(sent.inverse), (std::vector<int64_t>{2, 0, 3, 4, 1, 5}));
  EXPECT_EQ(values_of<int64_t>(sent.offsets), (std::vector<int64_t>{0, 2, 2, 6, 6}));
  const std::vector<float> weights{0.5, 0.25, 1, 2, 0.5, 0.5};
  EXPECT_EQ(values_of<float>(
                moe_unpermute(sent.rows.tensor(), sent.inverse.tensor(), view(weights, {3, 2}))),
            (std::vector<float>{0.75, 7.5, 6, 60, 3, 30}));
}

TEST(Moe, WhatIsBehindTheCapacityIsDropped) {
  const std::vector<float> tokens{1, 2, 3};
  const std::vector<uint8_t> experts{1, 1, 1};
  const MoePermuted sent =
      moe_permute(view(tokens, {3, 1}), view(experts, {3, 1}), {.capacity = 2});
  EXPECT_EQ(values_of<float>(sent.rows), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of<int64_t>(sent.inverse), (std::vector<int64_t>{0, 1, -1}));
  EXPECT_EQ(values_of<int64_t>(sent.offsets), (std::vector<int64_t>{0, 0, 2}));
  EXPECT_EQ(values_of<float>(moe_unpermute(sent.rows.tensor(), sent.inverse.tensor())),
            (std::vector<float>{1, 2, 0}));
}

// Each token's experts in a row of a wider matrix, and every token with the same experts.
TEST(Moe, TakesStrides) {
  const std::vector<int64_t> wide{0, 9, 1, 9, 1, 9, 0, 9};
  const MoeRouting routing =
      moe_route(ConstTensor{wide.data(), TensorSpec(i64, {2, 2}, {4, 2})}, {.experts = 2});
  EXPECT_EQ(values_of<int64_t>(routing.inverse), (std::vector<int64_t>{0, 2, 3, 1}));
  const MoeRouting same =
      moe_route(ConstTensor{wide.data(), TensorSpec(i64, {3, 1}, {0, 1})}, {.experts = 1});
  EXPECT_EQ(values_of<int64_t>(same.sources), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Moe, ABadExpertIsNamed) {
  const std::vector<int64_t> experts{0, 1, 7, -1};
  const IndexError error = index_error([&] { moe_route(view(experts, {2, 2}), {.experts = 4}); });
  EXPECT_EQ(error.position(), (Dims{1, 0}));
  EXPECT_EQ(error.bad_count(), 2);
  EXPECT_EQ(std::string(error.what()),
            "moe.permute: expert out of range\n"
            "  experts[1, 0] = 7, but there are 4 experts; 2 of 4 are out of range\n"
            "  experts i64[2, 2]   number of experts 4   capacity -1\n"
            "  try: numbers from 0 on, and the number of experts");
  EXPECT_EQ(index_error([&] { moe_route(view(experts, {2, 2})); }).position(), (Dims{1, 1}));
}

TEST(Moe, RefusesWhatIsNoRouting) {
  const std::vector<int64_t> experts{0, 1};
  const std::vector<float> tokens{1, 2, 3};
  const auto refused = [&](const ConstTensor& tensor, const MoeOptions& options = {}) {
    return refusal([&] { moe_route(tensor, options); });
  };
  EXPECT_NE(refused(view(experts)).find("experts is no matrix of integers"), std::string::npos);
  EXPECT_NE(refused(view(tokens, {3, 1})).find("experts is f32[3, 1]"), std::string::npos);
  EXPECT_NE(refused({nullptr, TensorSpec(i64, {2, 1})}).find("null pointer"), std::string::npos);
  EXPECT_NE(refused(view(experts, {2, 1}), {.experts = -2}).find("option out of range"),
            std::string::npos);
  EXPECT_NE(refused(view(experts, {2, 1}), {.capacity = -5}).find("option out of range"),
            std::string::npos);
  EXPECT_NE(refused(view(experts, {2, 1}), {.experts = INT64_MAX}).find("option out of range"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              moe_permute(view(tokens, {3, 1}), view(experts, {2, 1}));
            }).find("tokens is [3, 1] and experts [2, 1], but each token has a row of both"),
            std::string::npos);
  const std::vector<int64_t> far{INT64_MAX};
  EXPECT_EQ(index_error([&] { moe_route(view(far, {1, 1})); }).position(), (Dims{0, 0}));
}

TEST(Moe, APlanRunsOnAQueue) {
  const std::vector<float> tokens{1, 10, 2, 20, 3, 30};
  const std::vector<int64_t> experts{2, 0, 2, 2, 0, 2};
  const MoePlan plan =
      plan_moe_permute(TensorSpec(f32, {3, 2}), TensorSpec(i64, {3, 2}), {.experts = 4});
  std::vector<float> rows(12);
  std::vector<int64_t> sources(6), inverse(6), offsets(5);
  EXPECT_EQ(workspace_bytes(plan, Queue{}), 0U);
  run(plan,
      {tokens.data(), experts.data(), rows.data(), sources.data(), inverse.data(), offsets.data()},
      Queue{});
  finish(plan, Queue{});
  EXPECT_EQ(rows, (std::vector<float>{1, 10, 3, 30, 1, 10, 2, 20, 2, 20, 3, 30}));
  EXPECT_EQ(sources, (std::vector<int64_t>{0, 2, 0, 1, 1, 2}));
  EXPECT_EQ(inverse, (std::vector<int64_t>{2, 0, 3, 4, 1, 5}));
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 2, 2, 6, 6}));
  inverse.assign(6, 0);  // neither rows nor sources are asked for
  run(plan, {.experts = experts.data(), .inverse = inverse.data(), .offsets = offsets.data()},
      Queue{});
  EXPECT_EQ(inverse, (std::vector<int64_t>{2, 0, 3, 4, 1, 5}));
}

TEST(Moe, RefusesWhatIsNoPlan) {
  const TensorSpec experts(i64, {3, 2});
  const auto refused = [&](const TensorSpec& tokens, const MoeOptions& options) {
    return refusal([&] { plan_moe_permute(tokens, experts, options); });
  };
  EXPECT_EQ(refused(TensorSpec(f32, {3, 2}), {}),
            "moe.permute: how many experts are there?\n"
            "  a plan does not see the numbers in experts\n"
            "  experts i64[3, 2]   number of experts -1   capacity -1\n"
            "  try: the number of experts");
  EXPECT_NE(refused(TensorSpec(f32, {4, 2}), {.experts = 1}).find("tokens do not fit"),
            std::string::npos);
  EXPECT_NE(refused(TensorSpec(f32, {3, 2}, {1, 3}), {.experts = 1}).find("rows with gaps"),
            std::string::npos);
  EXPECT_NE(
      refused(TensorSpec(f32, {3, int64_t{1} << 59}, {0, 1}), {.experts = 1}).find("too large"),
      std::string::npos);
  const MoePlan plan = plan_moe_permute(TensorSpec(f32, {3, 2}), experts, {.experts = 4});
  std::vector<int64_t> memory(20);
  EXPECT_NE(refusal([&] {
              run(plan, {.experts = memory.data(), .inverse = memory.data()}, Queue{});
            }).find("offsets has elements, but its pointer is null"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] {
        run(plan,
            {.experts = memory.data(), .inverse = memory.data() + 5, .offsets = memory.data() + 12},
            Queue{});
      }).find("output and experts share memory"),
      std::string::npos);
}

TEST(Moe, NoTokensAreFine) {
  const std::vector<float> tokens;
  const std::vector<int64_t> experts;
  const MoePermuted sent = moe_permute(view(tokens, {0, 4}), view(experts, {0, 2}), {.experts = 2});
  EXPECT_EQ(sent.rows.sizes(), (Dims{0, 4}));
  EXPECT_EQ(values_of<int64_t>(sent.offsets), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(moe_unpermute(sent.rows.tensor(), sent.inverse.tensor()).sizes(), (Dims{0, 4}));
}

TEST(Moe, CanBeCancelled) {
  const std::vector<int64_t> experts(1 << 20);
  const std::atomic<bool> stop = true;
  const CancelScope scope(stop);
  EXPECT_EQ(refusal(
                [&] {
                  moe_route(view(experts, {1 << 20, 1}));
                },
                ErrorCode::kCancelled)
                .substr(0, 22),
            "moe.permute: cancelled");
}

}  // namespace
}  // namespace sheaf
