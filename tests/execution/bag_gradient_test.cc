// SPDX-License-Identifier: MIT
//
// Gradients of bags: those of plain loops, bit for bit, from any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "helpers/bag_gradient_oracle.h"
#include "helpers/decode_oracle.h"
#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using oracle::GradientProblem;

struct Run {
  const GradientProblem& problem;
  BagPlan bag = problem.bag.plan();

  BagGradientMemory memory() const {
    return {.bag = problem.bag.memory(nullptr), .gradient = problem.gradient.start()};
  }
};

// One thread, several, and the oracle's own kernels.
const RunOptions kRuns[] = {{.threads = 1}, {.threads = 3}, {.kernel = "reference"}};

void expect_rows(const Run& run) {
  const BagGradientPlan plan =
      plan_bag_gradient(run.bag, BagGradientOf::kRows, {.gradient = run.problem.gradient.spec});
  const std::vector<int64_t> expected_rows = oracle::named_rows(run.problem);
  const std::vector<std::byte> expected = oracle::row_gradient(run.problem);
  for (const RunOptions& options : kRuns) {
    BagGradientMemory memory = run.memory();
    const BagEntries entries = plan.entries(memory.bag, options);
    ASSERT_EQ(entries.rows(), static_cast<int64_t>(expected_rows.size()));
    std::vector<int64_t> rows(expected_rows.size(), -7);
    std::vector<std::byte> values(expected.size(), kUntouchedBag);
    memory.rows = rows.data();
    memory.output = values.data();
    plan.run(entries, memory, options);
    ASSERT_EQ(rows, expected_rows);
    ASSERT_EQ(first_difference(values, expected), "") << plan.str() << run.problem.bag.text();
  }
}

// What every run of `plan` makes of `before`.
void expect_output(const Run& run, const BagGradientPlan& plan, const BagBytes& before,
                   const BagBytes& expected) {
  for (const RunOptions& options : kRuns) {
    BagBytes got = before;
    BagGradientMemory memory = run.memory();
    memory.output = got.start();
    plan.run(plan.entries(memory.bag, options), memory, options);
    ASSERT_EQ(first_difference(got.bytes, expected.bytes), "")
        << plan.str() << run.problem.bag.text();
  }
}

BagBytes filled_tensor(const TensorSpec& spec, std::byte value) {
  BagBytes tensor(spec);
  std::fill(tensor.bytes.begin(), tensor.bytes.end(), value);
  return tensor;
}

void expect_data(const Run& run, Rng& rng) {
  const TensorSpec& gradient = run.problem.gradient.spec;
  const TensorSpec spec = random_bag_strides(rng, gradient.dtype, run.problem.bag.specs.data.sizes);
  const bool add = rng.one_in(2);
  const BagGradientPlan plan = plan_bag_gradient(
      run.bag, BagGradientOf::kData, {.gradient = gradient, .output = spec, .add = add});
  const BagBytes before = filled_tensor(spec, std::byte{0x3C});  // a number of each type
  expect_output(run, plan, before, oracle::data_gradient(run.problem, before, add));
}

void expect_weights(const Run& run, Rng& rng) {
  const TensorSpec& weights = *run.problem.bag.specs.weights;
  const TensorSpec spec = random_bag_strides(rng, weights.dtype, weights.sizes);
  const BagGradientPlan plan = plan_bag_gradient(
      run.bag, BagGradientOf::kWeights, {.gradient = run.problem.gradient.spec, .output = spec});
  const BagBytes before = filled_tensor(spec, kUntouchedBag);
  expect_output(run, plan, before, oracle::weight_gradient(run.problem, before));
}

bool has_gradient(const BagProblem& bag) {
  const DType type = bag.plan().output().dtype;
  return bag.options.pool != Pool::kMul &&
         (type == f32 || type == f64 || type == f16 || type == bf16);
}

void expect_gradients(Rng& rng, const BagProblem& bag) {
  const GradientProblem problem = oracle::random_gradient(rng, bag);
  const Run run{problem};
  expect_rows(run);
  expect_data(run, rng);
  if (bag.specs.weights) {
    expect_weights(run, rng);
  }
}

TEST(BagGradient, OfPlainRowsAreThoseOfTheLoops) {
  Rng rng(11);
  for (int tried = 0; tried < 400 && !HasFatalFailure();) {
    const BagProblem bag = random_bag(rng);
    if (has_gradient(bag)) {
      expect_gradients(rng, bag);
      ++tried;
    }
  }
}

TEST(BagGradient, OfEncodedRowsAreThoseOfTheLoops) {
  Rng rng(12);
  for (const Encoding encoding : oracle::all_encodings()) {
    for (int tried = 0; tried < 5 && !HasFatalFailure();) {
      const BagProblem bag = random_encoded_bag(rng, encoding);
      if (has_gradient(bag)) {
        expect_gradients(rng, bag);
        ++tried;
      }
    }
  }
}

// Enough entries for several pieces of the sort, on several threads.
TEST(BagGradient, OfManyEntriesIsTheSameOnAnyNumberOfThreads) {
  Rng rng(13);
  const int64_t extent = 5000;
  const int64_t bags = 3000;
  const int64_t entries = 150'000;
  std::vector<int32_t> indices(static_cast<size_t>(entries));
  for (int32_t& index : indices) {
    index = static_cast<int32_t>(rng.one_in(3) ? rng.from(0, 9) : rng.from(0, extent - 1));
  }
  std::vector<int64_t> offsets;
  for (int64_t s = 0; s < bags; ++s) {
    offsets.push_back(s * (entries / bags));
  }
  std::vector<float> gradient(static_cast<size_t>(bags * 5));
  for (float& value : gradient) {
    value = static_cast<float>(rng.from(-1000, 1000)) / 7;
  }
  std::vector<float> expected(static_cast<size_t>(extent * 5));
  for (int64_t p = 0; p < entries; ++p) {
    for (int64_t e = 0; e < 5; ++e) {
      expected[static_cast<size_t>(indices[static_cast<size_t>(p)] * 5 + e)] +=
          gradient[static_cast<size_t>(p / (entries / bags) * 5 + e)];
    }
  }
  const BagPlan bag =
      plan_bag({TensorSpec(f32, {extent, 5}), view(indices).spec, view(offsets).spec});
  const BagGradientPlan plan = plan_bag_gradient(bag, BagGradientOf::kData);
  for (const int threads : {1, 2, 5}) {
    std::vector<float> table(expected.size(), -1);
    const BagGradientMemory memory{.bag = {.indices = indices.data(), .segments = offsets.data()},
                                   .gradient = gradient.data(),
                                   .output = table.data()};
    const RunOptions options{.threads = threads};
    plan.run(plan.entries(memory.bag, options), memory, options);
    EXPECT_EQ(table, expected) << threads;
  }
}

struct SmallGradient {
  std::vector<float> table{1, 2, 3, 4, 5, 6};
  std::vector<int64_t> indices{0, 2, 1, 1};
  std::vector<int64_t> offsets{0, 2};
  std::vector<float> weights{1, 2, 3, 4};
  std::vector<float> gradient{10, 20, 30, 40};
  std::vector<float> output = std::vector<float>(6, -1);

  BagPlan bag(const BagOptions& options = {}) const {
    return plan_bag(
        {TensorSpec(f32, {3, 2}), view(indices).spec, view(offsets).spec, view(weights).spec},
        options);
  }
  BagGradientMemory memory() {
    return {.bag = {.stored = table.data(),
                    .indices = indices.data(),
                    .segments = offsets.data(),
                    .weights = weights.data()},
            .gradient = gradient.data(),
            .output = output.data()};
  }
  std::string refused(const BagGradientPlan& plan, const BagGradientMemory& memory) {
    const std::string text = refusal([&] { plan.run(plan.entries(memory.bag), memory); });
    EXPECT_EQ(output, std::vector<float>(6, -1)) << "the output is untouched";
    return text;
  }
};

TEST(BagGradient, NamesRowsOnceAscending) {
  SmallGradient g;
  const BagRowGradient rows =
      bag_row_gradient({view(g.table, {3, 2}), view(g.indices), view(g.offsets), std::nullopt},
                       view(g.gradient, {2, 2}));
  const auto numbers = rows.rows.elements<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(numbers.begin(), numbers.end()), (std::vector<int64_t>{0, 1, 2}));
  const auto values = rows.values.elements<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{10, 20, 60, 80, 10, 20}));
}

TEST(BagGradient, RefusesBagsWithoutOne) {
  const SmallGradient g;
  EXPECT_EQ(refusal([&] { plan_bag_gradient(g.bag({.pool = Pool::kMul}), BagGradientOf::kData); }),
            "bag_gradient: no gradient of this pool\n"
            "  under pool = mul a row's gradient is made of all the others\n"
            "  data f32[3, 2]   indices i64[4]   offsets i64[2]   weights f32[4]   pool mul\n"
            "  try: pool = sum, mean, sqrtn, max or min");
  const BagPlan integers =
      plan_bag({TensorSpec(i32, {3, 2}), view(g.indices).spec, view(g.offsets).spec});
  EXPECT_NE(refusal([&] {
              plan_bag_gradient(integers, BagGradientOf::kData);
            }).find("the bag's output is i32"),
            std::string::npos);
  const BagPlan unweighted =
      plan_bag({TensorSpec(f32, {3, 2}), view(g.indices).spec, view(g.offsets).spec});
  EXPECT_NE(refusal([&] {
              plan_bag_gradient(unweighted, BagGradientOf::kWeights);
            }).find("bag_gradient: no weights"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              plan_bag_gradient(unweighted, static_cast<BagGradientOf>(7));
            }).find("of = 7, but 0..2 has a meaning"),
            std::string::npos);
}

TEST(BagGradient, RefusesTensorsThatDoNotFit) {
  const SmallGradient g;
  const auto planned = [&](BagGradientOf of, const BagGradientOptions& options) {
    return refusal([&] { plan_bag_gradient(g.bag(), of, options); });
  };
  EXPECT_NE(planned(BagGradientOf::kRows, {.gradient = TensorSpec(f32, {3, 2})})
                .find("gradient is f32[3, 2], but this gradient wants f32[2, 2]"),
            std::string::npos);
  EXPECT_NE(planned(BagGradientOf::kRows, {.gradient = TensorSpec(f64, {2, 2})})
                .find("gradient is f64[2, 2]"),
            std::string::npos);
  EXPECT_NE(planned(BagGradientOf::kRows, {.output = TensorSpec(f32, {3, 2})})
                .find("rows are written side by side"),
            std::string::npos);
  EXPECT_NE(planned(BagGradientOf::kWeights, {.add = true}).find("nothing to add to"),
            std::string::npos);
  EXPECT_NE(planned(BagGradientOf::kData, {.output = TensorSpec(f32, {3, 2}, {0, 1})})
                .find("by which elements share memory"),
            std::string::npos);
  EXPECT_NE(planned(BagGradientOf::kData, {.output = TensorSpec(f32, {3, 2}, {INT64_MAX, 1})})
                .find("tensor too large"),
            std::string::npos);
  TensorSpec without_strides(f32, {2, 2});
  without_strides.strides = {2};
  EXPECT_NE(planned(BagGradientOf::kData, {.gradient = without_strides})
                .find("bag_gradient: gradient does not fit\n"),
            std::string::npos);
  const BagPlan planes = plan_bag({TensorSpec(f32, {3, 2, 2}), view(g.indices).spec,
                                   view(g.offsets).spec, view(g.weights).spec});
  EXPECT_NE(refusal([&] {
              plan_bag_gradient(planes, BagGradientOf::kData,
                                {.gradient = TensorSpec(f32, {2, 2, 2}, {8, 4, 1})});
            }).find("the strides of gradient behind its first dimension are no single run"),
            std::string::npos);
  // Half as large as its gradient, and rows that lie on top of each other.
  const BagPlan broadcast = plan_bag({TensorSpec(f16, {int64_t{1} << 40, int64_t{1} << 21}, {0, 1}),
                                      view(g.indices).spec, view(g.offsets).spec, std::nullopt},
                                     {.output_type = f32});
  EXPECT_NE(refusal([&] {
              plan_bag_gradient(broadcast, BagGradientOf::kData);
            }).find("a gradient of 1099511627776 rows has more than 2^63 - 1 bytes"),
            std::string::npos);
}

TEST(BagGradient, RefusesSegmentsAndIndicesAsTheBagDoes) {
  SmallGradient g;
  for (const auto of : {BagGradientOf::kRows, BagGradientOf::kData, BagGradientOf::kWeights}) {
    const BagGradientPlan plan = plan_bag_gradient(g.bag(), of);
    g.offsets = {1, 2};
    EXPECT_EQ(g.refused(plan, g.memory()),
              "bag: segments do not fit\n"
              "  offsets[0] = 1, but the first bag begins at 0 (there are 4 entries in 2 bags)\n"
              "  data f32[3, 2]   indices i64[4]   offsets i64[2]   weights f32[4]   output f32[2, "
              "2]   pool sum\n"
              "  try: segments that cover the entries in order");
    g.offsets = {0, INT64_MAX};
    EXPECT_NE(g.refused(plan, g.memory()).find("no bag begins behind"), std::string::npos);
    g.offsets = {0, 2};
    g.indices[3] = 7;
    EXPECT_EQ(index_error([&] { plan.entries(g.memory().bag); }).position(), Dims{3});
    g.indices[3] = 1;
  }
}

TEST(BagGradient, RefusesMemoryThatDoesNotFit) {
  SmallGradient g;
  const BagGradientPlan plan = plan_bag_gradient(g.bag(), BagGradientOf::kData);
  BagGradientMemory memory = g.memory();
  memory.gradient = nullptr;
  EXPECT_NE(g.refused(plan, memory).find("gradient has elements, but its pointer is null"),
            std::string::npos);
  memory = g.memory();
  memory.bag.indices = nullptr;
  EXPECT_NE(g.refused(plan, memory).find("indices has elements, but its pointer is null"),
            std::string::npos);
  memory = g.memory();
  memory.bag.stored = nullptr;  // which is not read
  plan.run(plan.entries(memory.bag), memory);
  EXPECT_EQ(g.output, (std::vector<float>{10, 20, 210, 280, 20, 40}));
  std::fill(g.output.begin(), g.output.end(), -1.0F);
  EXPECT_NE(g.refused(plan_bag_gradient(g.bag({.pool = Pool::kMax}), BagGradientOf::kData), memory)
                .find("data has elements, but its pointer is null"),
            std::string::npos);
  memory = g.memory();
  memory.gradient = g.output.data();
  EXPECT_NE(g.refused(plan, memory).find("output and gradient share memory"), std::string::npos);
  const BagGradientPlan rows = plan_bag_gradient(g.bag(), BagGradientOf::kRows);
  memory = g.memory();
  memory.rows = g.output.data();
  EXPECT_NE(g.refused(rows, memory).find("output and output share memory"), std::string::npos);
}

// With memory for as many rows as there can be.
TEST(BagGradient, RunsOnAQueueOfTheHost) {
  SmallGradient g;
  g.indices = {2, 2, 0, 2};
  const BagGradientPlan plan = plan_bag_gradient(g.bag(), BagGradientOf::kRows);
  std::vector<int64_t> rows(3, -7);
  BagGradientMemory memory = g.memory();
  memory.rows = rows.data();
  EXPECT_EQ(workspace_bytes(plan, Queue{}), 0U);
  run(plan, memory, Queue{.threads = 2});
  finish(plan, Queue{});
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 2, -1}));
  EXPECT_EQ(g.output, (std::vector<float>{90, 120, 150, 220, 0, 0}));
  EXPECT_NE(refusal([&] { named_rows(plan, Queue{}); }).find("this queue is the host's"),
            std::string::npos);
}

TEST(BagGradient, RefusesDevicesWithoutGradients) {
  add_deferred_device();
  SmallGradient g;
  const BagGradientPlan plan = plan_bag_gradient(g.bag(), BagGradientOf::kData);
  EXPECT_EQ(
      refusal([&] { workspace_bytes(plan, {.device = kDeferredBags}); }, ErrorCode::kUnsupported),
      "bag_gradient: no such gradient on this device\n"
      "  the backend \"deferred_bags\" refuses: it has no kernels for them\n"
      "  data f32[3, 2]   indices i64[4]   offsets i64[2]   weights f32[4]   pool sum\n"
      "  try: memory of the host");
  EXPECT_NE(
      refusal([&] { run(plan, g.memory(), {.device = kDeferredBags}); }, ErrorCode::kUnsupported),
      "");
}

TEST(BagGradient, EntriesAreThoseOfOneBag) {
  SmallGradient g;
  const BagPlan bag = g.bag();
  const BagGradientPlan rows = plan_bag_gradient(bag, BagGradientOf::kData);
  const BagGradientPlan weights = plan_bag_gradient(bag, BagGradientOf::kWeights);
  const BagGradientPlan other = plan_bag_gradient(g.bag(), BagGradientOf::kData);
  BagGradientMemory memory = g.memory();
  const BagEntries entries = rows.entries(memory.bag);
  EXPECT_NE(refusal([&] { other.run(entries, memory); }).find("entries of another plan"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              rows.run(weights.entries(memory.bag), memory);
            }).find("entries of another plan"),
            std::string::npos);
  EXPECT_NE(refusal([&] { rows.run(BagEntries(), memory); }).find("entries of another plan"),
            std::string::npos);
  weights.run(entries, memory);  // both gradients of one step
  EXPECT_EQ(std::vector<float>(g.output.begin(), g.output.begin() + 4),
            (std::vector<float>{50, 170, 250, 250}));
}

// Entries are read once: what others write to the indices afterwards does not matter.
TEST(BagGradient, IndicesMayChangeOnceTheyAreRead) {
  SmallGradient g;
  const BagGradientPlan plan = plan_bag_gradient(g.bag({.pool = Pool::kMax}), BagGradientOf::kData);
  const BagGradientMemory memory = g.memory();
  const BagEntries entries = plan.entries(memory.bag);
  std::fill(g.indices.begin(), g.indices.end(), INT64_MAX);
  std::fill(g.offsets.begin(), g.offsets.end(), INT64_MIN);
  plan.run(entries, memory);
  EXPECT_EQ(g.output, (std::vector<float>{0, 0, 120, 160, 20, 40}));
}

// A broken promise gives a wrong gradient, but touches no memory that is not the call's.
TEST(BagGradient, IndicesThatAreTrustedStayInside) {
  SmallGradient g;
  g.indices = {INT64_MIN, 2, -1, INT64_MAX};
  const BagGradientPlan plan = plan_bag_gradient(
      g.bag({.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kTrust}}),
      BagGradientOf::kData);
  const BagGradientMemory memory = g.memory();
  plan.run(plan.entries(memory.bag), memory);
  EXPECT_EQ(g.output, (std::vector<float>{0, 0, 0, 0, 20, 40}));
}

TEST(BagGradient, OfNothingIsNothing) {
  const std::vector<int64_t> none;
  const std::vector<int64_t> zeros{0, 0};
  std::vector<float> gradient{1, 2};
  for (const auto pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
    const BagTensors tensors{Tensor{nullptr, TensorSpec(f32, {0, 1})}, view(none), view(zeros),
                             std::nullopt};
    const BagRowGradient rows = bag_row_gradient(tensors, view(gradient, {2, 1}), {.pool = pool});
    EXPECT_EQ(rows.rows.sizes(), Dims{0});
    EXPECT_EQ(rows.values.sizes(), (Dims{0, 1}));
    const std::vector<float> table{1, 2, 3};
    const Array dense =
        bag_data_gradient({view(table, {3, 1}), view(none), view(zeros), std::nullopt},
                          view(gradient, {2, 1}), {.pool = pool});
    EXPECT_EQ(dense.elements<float>()[2], 0);
  }
}

TEST(BagGradient, CanBeCancelled) {
  std::vector<int64_t> many(1 << 20);
  const std::vector<int64_t> offsets{0};
  const BagPlan large = plan_bag({TensorSpec(f32, {3, 2}), view(many).spec, view(offsets).spec});
  const BagGradientPlan large_plan = plan_bag_gradient(large, BagGradientOf::kData);
  const std::atomic<bool> stop = true;
  const CancelScope scope(stop);
  EXPECT_EQ(
      refusal([&] { large_plan.entries({.indices = many.data(), .segments = offsets.data()}); },
              ErrorCode::kCancelled)
          .substr(0, 23),
      "bag_gradient: cancelled");
}

TEST(BagGradient, PrintsItsLoops) {
  const SmallGradient g;
  EXPECT_EQ(plan_bag_gradient(g.bag({.pool = Pool::kMean}), BagGradientOf::kRows).str(),
            "bag_gradient of rows, mean in f32, rows of 2 f32\n"
            "  for r in the rows that entries name, ascending\n"
            "    for p with indices[p] = r\n"
            "      row = gradient[bag of p] * weights[p] / rows of the bag\n"
            "    output <- sum of rows\n");
  EXPECT_EQ(plan_bag_gradient(g.bag({.pool = Pool::kMax}), BagGradientOf::kWeights).str(),
            "bag_gradient of weights, max in f32, rows of 2 f32\n"
            "  for p in 0..4\n"
            "    for e in 0..2, where it is the first largest\n"
            "      product = gradient[bag of p, e] * data[indices[p], e]\n"
            "    output[p] <- sum of products\n");
}

}  // namespace
}  // namespace sheaf
