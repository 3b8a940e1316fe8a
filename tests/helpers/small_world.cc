// SPDX-License-Identifier: MIT
#include "helpers/small_world.h"

#include <gtest/gtest.h>

#include <span>

#include "helpers/problem_plan.h"

using oracle::Answer;
using oracle::Problem;
using oracle::Shape;
using oracle::Verdict;
using oracle::Wide;
using sheaf::Negative;
using sheaf::OutOfRange;

namespace {

constexpr Wide kLowest = -4;

constexpr uint8_t kFillValue = 0xF5;
constexpr uint8_t kPoisonByte = 0xEE;
constexpr size_t kWorldMargin = 8;  // poisoned bytes on both sides of the output

// Data whose elements are their own numbers, from 1.
std::vector<uint8_t> numbered(const Shape& shape) {
  std::vector<uint8_t> data(static_cast<size_t>(oracle::element_count(shape)));
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<uint8_t>(i + 1);
  }
  return data;
}

// The output and its margins as they have to be: all poison unless the call is answered.
std::vector<uint8_t> expected_memory(const Answer& answer) {
  const auto count = static_cast<size_t>(oracle::element_count(answer.shape));
  std::vector<uint8_t> memory(count + 2 * kWorldMargin, kPoisonByte);
  for (size_t i = 0; i < answer.source.size(); ++i) {
    const int64_t source = answer.source[i];
    memory[kWorldMargin + i] =
        source == oracle::kFilled ? kFillValue : static_cast<uint8_t>(source + 1);
  }
  return memory;
}

}  // namespace

struct SmallWorld::Run {
  const sheaf::Plan& plan;
  const std::vector<std::string>& kernels;
  const std::vector<uint8_t>& data;
};

std::vector<Shape> shapes(int64_t low_rank, int64_t high_rank, int64_t high_extent) {
  std::vector<Shape> all;
  for (int64_t rank = low_rank; rank <= high_rank; ++rank) {
    const Shape box(static_cast<size_t>(rank), high_extent + 1);
    for (int64_t i = 0; i < oracle::element_count(box); ++i) {
      all.push_back(oracle::point_of(i, box));
    }
  }
  return all;
}

std::vector<uint8_t> index_bytes(const std::vector<Wide>& values, sheaf::DType type) {
  std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(type.bytes()));
  for (size_t i = 0; i < values.size(); ++i) {
    write_index(type, values[i],
                reinterpret_cast<std::byte*>(bytes.data()) + i * static_cast<size_t>(type.bytes()));
  }
  return bytes;
}

const std::vector<Fillings::Filling>& Fillings::all(size_t count) {
  std::vector<Filling>& list = fillings_[count];
  if (!list.empty()) {
    return list;
  }
  if (count <= full_) {
    const Shape box(count, kValues);
    for (int64_t i = 0; i < oracle::element_count(box); ++i) {
      Filling filling;
      for (const int64_t value : oracle::point_of(i, box)) {
        filling.push_back(kLowest + value);
      }
      list.push_back(filling);
    }
    return list;
  }
  for (const size_t step : {size_t{1}, size_t{2}, size_t{4}}) {
    for (size_t start = 0; start < kValues; ++start) {
      Filling filling;
      for (size_t k = 0; k < count; ++k) {
        filling.push_back(kLowest + static_cast<Wide>((start + k * step) % kValues));
      }
      list.push_back(filling);
    }
  }
  return list;
}

void SmallWorld::fail(const Problem& problem, const std::string& what) {
  ++failures_;
  ADD_FAILURE() << what << "\n  " << problem.str();
}

void SmallWorld::check(Problem problem) {
  ++problems_;
  Shape shape;
  if (!oracle::output_shape(problem, shape)) {
    ++refused_shapes_;
    check_refused_shape(problem);
    return;
  }
  for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
    for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                  OutOfRange::kWrap, OutOfRange::kTrust}) {
      problem.negative = negative;
      problem.out_of_range = rule;
      check_rule(problem);
      if (gave_up()) {
        return;
      }
    }
  }
}

void SmallWorld::check_refused_shape(const Problem& problem) {
  try {
    plan_of(problem, {{sheaf::u8, as_dims(problem.data)}, {sheaf::i32, as_dims(problem.indices)}});
    fail(problem, "planned, but the definition has no answer");
  } catch (const sheaf::Error& error) {
    if (error.code() != sheaf::ErrorCode::kInvalidArgument) {
      fail(problem, error.what());
    }
  }
}

void SmallWorld::check_empty_axis(const Problem& problem, const sheaf::IndexError& error) {
  Problem filled = problem;
  filled.values.assign(static_cast<size_t>(oracle::element_count(problem.indices)), 0);
  const Answer answer = oracle::answer(filled);
  if (answer.verdict != Verdict::kBadIndex || answer.bad_count != error.bad_count() ||
      answer.first_bad != as_vector(error.position())) {
    fail(problem, error.what());
  }
}

void SmallWorld::check_rule(Problem& problem) {
  const sheaf::DType index_type = kIndexTypes[static_cast<size_t>(problems_ % 4)];  // signed
  const std::vector<uint8_t> data = numbered(problem.data);
  try {
    const sheaf::Plan plan = plan_of(problem, {.data = {sheaf::u8, as_dims(problem.data)},
                                               .indices = {index_type, as_dims(problem.indices)},
                                               .fill_value = kFillValue});
    const std::vector<std::string> kernels = machine_.kernels(plan);
    const auto count = static_cast<size_t>(oracle::element_count(problem.indices));
    fillings_.each(count, problems_, [&](const Fillings::Filling& filling) {
      if (fillings_seen_++ % machine_.one_in() == 0) {
        problem.values = filling;
        check_filling(problem, {plan, kernels, data});
      }
    });
  } catch (const sheaf::IndexError& error) {
    ++refused_indices_;
    check_empty_axis(problem, error);
  } catch (const sheaf::Error& error) {
    fail(problem, error.what());
  }
}

void SmallWorld::check_filling(const Problem& problem, const Run& run) {
  const Answer answer = oracle::answer(problem);
  if (problem.out_of_range == OutOfRange::kTrust && answer.bad_count > 0) {
    return;  // a broken promise: anything may happen
  }
  const std::vector<uint8_t> indices = index_bytes(problem.values, run.plan.indices().dtype);
  const std::vector<uint8_t> expected = expected_memory(answer);
  const bool must_refuse = answer.verdict == Verdict::kBadIndex;
  ++(must_refuse ? refused_indices_ : answered_);
  for (size_t k = 0; k < run.kernels.size(); ++k) {
    // Refusals are slow, and of one backend's kernels they differ little: one kernel in turn.
    if (must_refuse && k != static_cast<size_t>(refused_indices_) % run.kernels.size()) {
      continue;
    }
    const std::string& kernel = run.kernels[k];
    std::vector<uint8_t> memory(expected.size(), kPoisonByte);
    const auto around = std::as_writable_bytes(std::span(memory));
    bool refused = false;
    try {
      machine_.run(run.plan,
                   {readable(run.data.data(), run.data.size()),
                    readable(indices.data(), indices.size()),
                    {around.data() + kWorldMargin, around}},
                   {.kernel = kernel});
    } catch (const sheaf::IndexError& error) {
      refused =
          error.bad_count() == answer.bad_count && as_vector(error.position()) == answer.first_bad;
      if (!refused) {
        fail(problem, error.what());
      }
    }
    if (refused != must_refuse) {
      fail(problem, kernel + (refused ? " refused" : " did not refuse"));
    }
    if (memory != expected || as_vector(run.plan.output().sizes) != answer.shape) {
      fail(problem, kernel + " wrote " + testing::PrintToString(memory) + " instead of " +
                        testing::PrintToString(expected));
    }
  }
}
