// SPDX-License-Identifier: MIT
#include "helpers/scatter_world.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "helpers/problem_plan.h"

using oracle::Answer;
using oracle::Bytes;
using oracle::Joining;
using oracle::Problem;
using oracle::Verdict;
using sheaf::Negative;
using sheaf::OutOfRange;

namespace {

constexpr std::byte kPoison{0xEE};
constexpr size_t kMargin = 8;  // poisoned bytes on both sides of the output

// Values that tell orders and roundings apart: sums that wrap or round, both zeros, NaN.
const std::vector<int32_t> kIntegers = {7, -3, std::numeric_limits<int32_t>::max(), 2, -11, 5};
const std::vector<float> kFloats = {
    1.5F, -0.0F, 0.1F, 3e38F, -7.25F, 1e-8F, std::numeric_limits<float>::quiet_NaN(), -2.0F, 0.0F};

// `count` elements of the list, from the one with number `first` on.
Bytes elements(sheaf::DType type, int64_t count, size_t first) {
  Bytes bytes(static_cast<size_t>(count) * 4);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const void* value = type == sheaf::i32
                            ? static_cast<const void*>(&kIntegers[(first + i) % kIntegers.size()])
                            : &kFloats[(first + i) % kFloats.size()];
    std::memcpy(bytes.data() + i * 4, value, 4);
  }
  return bytes;
}

}  // namespace

// One way to run a problem.
struct ScatterWorld::Call {
  Joining joining;
  sheaf::DType type, index_type;
  bool in_place;
  int threads;
};

void ScatterWorld::fail(const Problem& problem, const std::string& what) {
  ++failures_;
  ADD_FAILURE() << what << "\n  " << problem.str();
}

void ScatterWorld::check(Problem problem) {
  ++problems_;
  problem.scatters = true;
  oracle::Shape shape;
  if (!oracle::output_shape(problem, shape)) {
    ++refused_shapes_;
    try {
      scatter_plan_of(problem,
                      {{sheaf::u8, as_dims(problem.data)},
                       {sheaf::i32, as_dims(problem.indices)},
                       {sheaf::u8, as_dims(shape)}},
                      {});
      fail(problem, "planned, but the definition has no answer");
    } catch (const sheaf::Error& error) {
      EXPECT_EQ(error.code(), sheaf::ErrorCode::kInvalidArgument) << error.what();
    }
    return;
  }
  const auto count = static_cast<size_t>(oracle::element_count(problem.indices));
  for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
    for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kSkip,
                                  OutOfRange::kWrap, OutOfRange::kTrust}) {
      problem.negative = negative;
      problem.out_of_range = rule;
      fillings_.each(count, problems_, [&](const Fillings::Filling& filling) {
        if (fillings_seen_++ % machine_.one_in() != 0) {
          return;
        }
        problem.values = filling;
        const Answer answer = oracle::answer(problem);
        const bool broken = rule == OutOfRange::kTrust && answer.bad_count > 0;
        if (!broken && !gave_up()) {
          check_filling(problem, answer);
        }
      });
    }
  }
}

void ScatterWorld::check_filling(const Problem& problem, const Answer& answer) {
  ++turn_;
  const bool refuses = answer.verdict != Verdict::kAnswered;
  const size_t all = oracle::kReductions.size();
  const std::vector<int> threads = machine_.threads();
  for (size_t i = 0; i < (all_joinings_ && !refuses ? all : 1); ++i) {
    const uint64_t turn = turn_ / all + (all_joinings_ ? i : 0);
    check_call(problem, answer,
               {.joining = {.reduction = oracle::kReductions[(turn_ + i) % all],
                            .include_self = turn % 2 == 0,
                            .onto_zeros = turn % 5 == 0},
                .type = turn / 2 % 2 == 0 ? sheaf::i32 : sheaf::f32,
                .index_type = kIndexTypes[turn_ % 4],  // signed
                .in_place = turn_ % 3 == 0,
                .threads = threads[turn_ / 3 % threads.size()]});
  }
}

void ScatterWorld::check_call(const Problem& problem, const Answer& answer, const Call& call) {
  const bool must_refuse = answer.verdict == Verdict::kBadIndex;
  ++(must_refuse ? refused_indices_ : answered_);
  const Bytes data = elements(call.type, oracle::element_count(problem.data), 0);
  const Bytes updates = elements(call.type, oracle::element_count(answer.shape), 3);
  const std::vector<uint8_t> indices = index_bytes(problem.values, call.index_type);
  Bytes before(data.size() + 2 * kMargin, kPoison);
  if (call.in_place) {
    std::copy(data.begin(), data.end(), before.begin() + kMargin);
  }
  Bytes expected = before;
  if (!must_refuse) {
    const Bytes result = oracle::scattered(call.type, call.joining, data, updates, answer.source);
    std::copy(result.begin(), result.end(), expected.begin() + kMargin);
  }
  bool refused = false;
  try {
    const sheaf::Plan plan = scatter_plan_of(problem,
                                             {{call.type, as_dims(problem.data)},
                                              {call.index_type, as_dims(problem.indices)},
                                              {call.type, as_dims(answer.shape)}},
                                             call.joining);
    for (const std::string& kernel : machine_.kernels(plan)) {
      Bytes memory = before;
      const Memory output{memory.data() + kMargin, memory};
      machine_.run(plan,
                   {call.in_place ? output : readable(data.data(), data.size()),
                    readable(indices.data(), indices.size()), output,
                    readable(updates.data(), updates.size())},
                   {.threads = call.threads, .kernel = kernel});
      if (memory != expected) {
        fail(problem, kernel + " on " + std::to_string(call.threads) + " threads, " +
                          call.type.name() + " " + call.joining.str() + " wrote " +
                          testing::PrintToString(memory) + " instead of " +
                          testing::PrintToString(expected));
      }
    }
  } catch (const sheaf::IndexError& error) {
    refused =
        error.bad_count() == answer.bad_count && as_vector(error.position()) == answer.first_bad;
    if (!refused) {
      fail(problem, error.what());
    }
  } catch (const sheaf::Error& error) {
    fail(problem, error.what());
  }
  if (refused != must_refuse) {
    fail(problem, refused ? "refused" : "not refused");
  }
}
