// SPDX-License-Identifier: MIT
//
// Outputs that nobody sees if a run fails: indices are checked while they are used. The error is
// word for word that of a check beforehand, from every kernel and number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "helpers/rng.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using Bytes = std::vector<std::byte>;

size_t bytes_of(const TensorSpec& spec) {
  return static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
}

Bytes random_bytes(Rng& rng, size_t count) {
  Bytes bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(rng.next()); });
  return bytes;
}

// A value that is out of range for every extent below: just outside, or far.
oracle::Wide bad_value(Rng& rng, DType type, int64_t extent) {
  std::vector<oracle::Wide> values = {extent, largest(type)};
  if (type.is_signed_integer()) {
    values.push_back(-extent - 1);
    values.push_back(smallest(type));
  }
  return rng.pick(values);
}

// Indices in range, of which `bad` are then made bad. All coordinates have the same extent.
Bytes make_indices(Rng& rng, const Plan& plan, int64_t bad) {
  const DType type = plan.indices().dtype;
  const int64_t extent = plan.nest().coordinates[0].extent;
  const int64_t lowest = type.is_signed_integer() ? -extent : 0;
  const int64_t count = element_count(plan.indices().sizes);
  Bytes indices(bytes_of(plan.indices()));
  const auto element = [&](int64_t i) { return indices.data() + i * type.bytes(); };
  for (int64_t i = 0; i < count; ++i) {
    write_index(type, rng.from(lowest, extent - 1), element(i));
  }
  for (int64_t i = 0; i < bad; ++i) {
    write_index(type, bad_value(rng, type, extent), element(rng.from(0, count - 1)));
  }
  return indices;
}

// One plan with memory to run it on.
class Run {
 public:
  Run(const Plan& plan, uint64_t seed, int64_t bad)
      : plan_(plan), rng_(seed), indices_(make_indices(rng_, plan, bad)) {
    data_ = random_bytes(rng_, bytes_of(plan.data()));
    if (plan.is_scatter()) {
      updates_ = random_bytes(rng_, bytes_of(plan.updates()));
    }
    output_.resize(bytes_of(plan.output()));
  }

  void operator()(const RunOptions& options) {
    if (plan_.is_scatter()) {
      plan_.run(data_.data(), indices_.data(), updates_.data(), output_.data(), options);
    } else {
      plan_.run(data_.data(), indices_.data(), output_.data(), options);
    }
  }

  const Bytes& output() const { return output_; }

 private:
  const Plan& plan_;
  Rng rng_;
  Bytes indices_, data_, updates_, output_;
};

void expect_same_error(const Plan& plan, uint64_t seed, int64_t bad) {
  Run run(plan, seed, bad);
  const IndexError expected = index_error([&] { run({.kernel = "reference"}); });
  for (const std::string& kernel : accepting_kernels(plan)) {
    for (const int threads : {1, 3}) {
      const IndexError error = index_error(
          [&] { run({.threads = threads, .kernel = kernel, .output_is_fresh = true}); });
      EXPECT_STREQ(error.what(), expected.what()) << kernel << ", " << threads << " threads";
      EXPECT_EQ(error.position(), expected.position()) << kernel;
      EXPECT_EQ(error.bad_count(), expected.bad_count()) << kernel;
    }
  }
}

void expect_same_output(const Plan& plan, uint64_t seed) {
  Run run(plan, seed, 0);
  run({.kernel = "reference"});
  const Bytes expected = run.output();
  for (const std::string& kernel : accepting_kernels(plan)) {
    run({.threads = 3, .kernel = kernel, .output_is_fresh = true});
    EXPECT_TRUE(run.output() == expected) << kernel;
  }
}

void check(const std::vector<Plan>& plans) {
  uint64_t seed = 0;
  for (const Plan& plan : plans) {
    SCOPED_TRACE(plan.str());
    expect_same_output(plan, ++seed);
    for (const int64_t bad : {1, 2, 40}) {
      expect_same_error(plan, ++seed, bad);
    }
  }
}

// Rows of every size that has its own loop, and each kernel family, with extents that every index
// type can name.
std::vector<Plan> small_gathers(DType index) {
  std::vector<Plan> plans;
  for (const int64_t row : {1, 2, 3, 4, 8, 12, 16, 20, 32, 48, 64, 72}) {
    plans.push_back(plan_gather({u8, {100, row}}, {index, {300}}));
  }
  plans.push_back(plan_gather({f32, {9, 100}}, {index, {70}}, {.axis = 1}));
  plans.push_back(plan_gather_elements({f32, {7, 100}}, {index, {7, 90}}, {.axis = 1}));
  plans.push_back(plan_gather_elements({f32, {100, 9}}, {index, {80, 9}}, {.axis = 0}));
  plans.push_back(plan_gather_nd({f32, {100, 100}}, {index, {300, 2}}));
  plans.push_back(plan_gather({f32, {100, 5}, {1, 100}}, {index, {60}}));
  return plans;
}

// Large enough for threads, streams and packed strips.
std::vector<Plan> large_gathers(DType index) {
  return {plan_gather({f32, {1000, 1}}, {index, {200000}}),
          plan_gather({f32, {1000000, 1}}, {index, {100000}}),
          plan_gather({f32, {100000, 16}}, {index, {30000}}),
          plan_gather({f32, {5000, 80}}, {index, {9000}}),
          plan_gather({f32, {300, 1000}}, {index, {3000}}, {.axis = 1}),
          plan_gather_elements({f32, {300, 1000}}, {index, {300, 1100}}, {.axis = 1}),
          plan_gather_elements({f32, {1000, 700}}, {index, {600, 700}}, {.axis = 0}),
          plan_gather_nd({f32, {300, 300, 3}}, {index, {100000, 2}})};
}

std::vector<Plan> scatters(DType index) {
  return {plan_scatter_elements({f32, {100, 70}}, {index, {90, 70}}, {f32, {90, 70}},
                                {.reduction = Reduction::kAdd}),
          plan_scatter_elements({f32, {70, 100}}, {index, {70, 90}}, {f32, {70, 90}},
                                {.axis = 1, .reduction = Reduction::kMax}),
          plan_scatter_nd({f32, {100, 16}}, {index, {20000, 1}}, {f32, {20000, 16}},
                          {.reduction = Reduction::kAdd}),
          plan_scatter_nd({f32, {100, 100}}, {index, {3000, 2}}, {f32, {3000}}),
          plan_scatter_nd({f32, {100, 3}}, {index, {300, 1}}, {f32, {300, 3}},
                          {.reduction = Reduction::kMean})};
}

TEST(FreshOutput, SmallGathersReportTheErrorOfACheckBeforehand) {
  for (const DType index : kIndexTypes) {
    check(small_gathers(index));
  }
}

TEST(FreshOutput, LargeGathersReportTheErrorOfACheckBeforehand) {
  for (const DType index : {i32, i64, u64}) {
    check(large_gathers(index));
  }
}

TEST(FreshOutput, ScattersReportTheErrorOfACheckBeforehand) {
  for (const DType index : kIndexTypes) {
    check(scatters(index));
  }
}

// In place the output is data: it may not be changed by a run that fails.
TEST(FreshOutput, IsNotBelievedOfAScatterInPlace) {
  const Plan plan = plan_scatter_nd({f32, {10}}, {i64, {2, 1}}, {f32, {2}});
  std::vector<float> data(10, 1.0F);
  const std::vector<float> before = data;
  const int64_t indices[] = {3, 10};
  const float updates[] = {5, 6};
  const IndexError error = index_error(
      [&] { plan.run(data.data(), indices, updates, data.data(), {.output_is_fresh = true}); });
  EXPECT_EQ(error.position(), (Dims{1, 0}));
  EXPECT_EQ(data, before);
}

}  // namespace
}  // namespace sheaf
