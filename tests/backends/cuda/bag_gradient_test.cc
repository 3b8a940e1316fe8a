// SPDX-License-Identifier: MIT
//
// Gradients of bags on the GPU: the bits of the host, the same refusals, and nothing written then.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "helpers/bag_gradient_oracle.h"
#include "helpers/decode_oracle.h"
#include "helpers/device.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using oracle::GradientProblem;

struct GradientResult {
  std::vector<int64_t> rows;
  std::vector<std::byte> output;
  std::string error;
};

// A gradient of a problem, and what its outputs hold before.
struct Gradient {
  const GradientProblem& problem;
  BagGradientPlan plan;
  BagBytes output;
  std::vector<int64_t> rows;

  Gradient(const GradientProblem& of_problem, BagGradientOf of, BagGradientOptions options = {})
      : problem(of_problem), plan(planned(of_problem, of, std::move(options))) {
    output = BagBytes(plan.output());
    std::fill(output.bytes.begin(), output.bytes.end(), std::byte{0x3C});  // a number of each type
    if (of == BagGradientOf::kRows) {
      rows.assign(static_cast<size_t>(plan.output().sizes[0]), -7);
    }
  }

  static BagGradientPlan planned(const GradientProblem& problem, BagGradientOf of,
                                 BagGradientOptions options) {
    options.gradient = problem.gradient.spec;
    return plan_bag_gradient(problem.bag.plan(), of, options);
  }

  GradientResult on_host() const {
    GradientResult result{rows, output.bytes, {}};
    BagGradientMemory memory{.bag = problem.bag.memory(nullptr),
                             .gradient = problem.gradient.start(),
                             .rows = result.rows.data(),
                             .output = result.output.data() + output.first};
    try {
      run(plan, memory, Queue{});
    } catch (const Error& error) {
      result.error = error.what();
    }
    return result;
  }

  GradientResult on_device() const;
};

// Memory of the device with the bytes of a tensor, or null.
class Sent {
 public:
  Sent(const void* from, size_t bytes, size_t first = 0) : first_(first) {
    if (bytes > 0) {
      memory_.emplace(bytes);
      memory_->upload(from, bytes);
    }
  }
  explicit Sent(const BagBytes& tensor)
      : Sent(tensor.bytes.data(), tensor.bytes.size(), tensor.first) {}

  std::byte* start() const { return memory_ ? memory_->data() + first_ : nullptr; }
  void back(void* to) const {
    if (memory_) {
      memory_->download(to, memory_->bytes());
    }
  }

 private:
  std::optional<CudaMemory> memory_;
  size_t first_;
};

GradientResult Gradient::on_device() const {
  const BagProblem& bag = problem.bag;
  const Sent stored(bag.stored), scales(bag.scales), zeros(bag.zeros), indices(bag.indices),
      segments(bag.segments), weights(bag.weights), gradient(problem.gradient), written(output),
      numbers(rows.data(), rows.size() * sizeof(int64_t));
  CudaMemory workspace(workspace_bytes(plan, {.device = test_device()}));
  workspace.fill(std::byte{0xEE}, workspace.bytes());  // what a run finds there means nothing
  const Queue queue{.device = test_device(), .workspace = workspace};
  GradientResult result{rows, output.bytes, {}};
  try {
    run(plan,
        {.bag = {.stored = stored.start(),
                 .scales = scales.start(),
                 .zeros = zeros.start(),
                 .indices = indices.start(),
                 .segments = segments.start(),
                 .weights = weights.start()},
         .gradient = gradient.start(),
         .rows = numbers.start(),
         .output = written.start()},
        queue);
    finish(plan, queue);
    if (plan.of() == BagGradientOf::kRows) {
      EXPECT_EQ(named_rows(plan, queue), static_cast<int64_t>(oracle::named_rows(problem).size()));
    }
  } catch (const Error& error) {
    result.error = error.what();
  }
  numbers.back(result.rows.data());
  written.back(result.output.data());
  return result;
}

void expect_the_same(const Gradient& gradient) {
  const GradientResult got = gradient.on_device();
  const GradientResult right = gradient.on_host();
  const std::string text = gradient.plan.str() + gradient.problem.bag.text();
  ASSERT_EQ(got.error, right.error) << text;
  ASSERT_EQ(got.rows, right.rows) << text;
  ASSERT_EQ(first_difference(got.output, right.output), "") << text;
}

class CudaBagGradient : public DeviceTest {
 protected:
  static bool has_gradient(const BagProblem& bag) {
    const DType type = bag.plan().output().dtype;
    return bag.options.pool != Pool::kMul &&
           (type == f32 || type == f64 || type == f16 || type == bf16);
  }

  // All of them, into results in random strides.
  static void expect_all(Rng& rng, const BagProblem& bag) {
    const GradientProblem problem = oracle::random_gradient(rng, bag);
    const auto strided = [&](const TensorSpec& like, const Dims& sizes) {
      return random_bag_strides(rng, like.dtype, sizes);
    };
    expect_the_same({problem, BagGradientOf::kRows});
    for (const bool add : {false, true}) {
      expect_the_same(
          {problem,
           BagGradientOf::kData,
           {.output = strided(problem.gradient.spec, bag.specs.data.sizes), .add = add}});
    }
    if (bag.specs.weights) {
      expect_the_same({problem,
                       BagGradientOf::kWeights,
                       {.output = strided(*bag.specs.weights, bag.specs.weights->sizes)}});
    }
  }
};

TEST_F(CudaBagGradient, OfPlainRows) {
  Rng rng(11);
  for (int tried = 0; tried < 300 && !HasFatalFailure();) {
    const BagProblem bag = random_bag(rng);
    if (has_gradient(bag)) {
      expect_all(rng, bag);
      ++tried;
    }
  }
}

TEST_F(CudaBagGradient, OfEncodedRows) {
  Rng rng(12);
  for (const Encoding encoding : oracle::all_encodings()) {
    for (int tried = 0; tried < 3 && !HasFatalFailure();) {
      const BagProblem bag = random_encoded_bag(rng, encoding);
      if (has_gradient(bag)) {
        expect_all(rng, bag);
        ++tried;
      }
    }
  }
}

// Rows that thousands of entries name beside rows of a few, in rows of words and of elements.
BagProblem many_entries(Rng& rng, Pool pool, int64_t columns, DType type) {
  constexpr int64_t kRows = 5000, kBags = 3000, kEntries = 100'000;
  BagProblem bag;
  bag.specs.data = TensorSpec(type, {kRows, columns});
  bag.specs.indices = TensorSpec(i32, {kEntries});
  bag.specs.segments = TensorSpec(i64, {kBags});
  bag.specs.weights = TensorSpec(f32, {kEntries});
  bag.options.pool = pool;
  bag.options.padding_index = 3;
  bag.make_tensors(rng);
  std::vector<int64_t> offsets{0};
  for (int64_t s = 1; s < kBags; ++s) {
    offsets.push_back(rng.from(0, kEntries));
  }
  std::sort(offsets.begin(), offsets.end());
  bag.segments.set_all(offsets);
  for (int64_t p = 0; p < kEntries; ++p) {
    bag.indices.set(p, rng.one_in(3) ? rng.from(0, 9) : rng.from(0, kRows - 1));
  }
  return bag;
}

TEST_F(CudaBagGradient, OfManyEntries) {
  Rng rng(13);
  for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kSqrtN, Pool::kMax}) {
    for (const int64_t columns : {5, 64}) {
      for (const DType type : {f32, bf16}) {
        expect_all(rng, many_entries(rng, pool, columns, type));
      }
    }
  }
}

// Ten entries in four bags.
BagProblem ten_entries(Pool pool = Pool::kSum) {
  Rng rng(1);
  BagProblem bag;
  bag.specs.data = TensorSpec(f32, {20, 4});
  bag.specs.indices = TensorSpec(i64, {10});
  bag.specs.segments = TensorSpec(i64, {4});
  bag.specs.weights = TensorSpec(f32, {10});
  bag.options.pool = pool;
  bag.make_tensors(rng);
  bag.segments.set_all({0, 3, 5, 7});
  return bag;
}

constexpr BagGradientOf kEachGradient[] = {BagGradientOf::kRows, BagGradientOf::kData,
                                           BagGradientOf::kWeights};

void expect_the_same_refusals(const BagProblem& bag) {
  Rng rng(2);
  const GradientProblem problem = oracle::random_gradient(rng, bag);
  for (const BagGradientOf of : kEachGradient) {
    const Gradient gradient(problem, of);
    EXPECT_NE(gradient.on_host().error, "");
    expect_the_same(gradient);
  }
  expect_the_same({problem, BagGradientOf::kData, {.add = true}});
}

TEST_F(CudaBagGradient, BadSegmentsAreNamedAndNothingIsWritten) {
  for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
    for (const std::vector<int64_t>& offsets :
         std::vector<std::vector<int64_t>>{{1, 3, 5, 7},
                                           {0, 5, 3, 7},
                                           {0, 3, 5, 11},
                                           {0, INT64_MAX, 3, 4},
                                           {0, INT64_MIN, 3, 4}}) {
      BagProblem bag = ten_entries(pool);
      bag.segments.set_all(offsets);
      expect_the_same_refusals(bag);
    }
  }
}

TEST_F(CudaBagGradient, BadIndicesAreNamedAndNothingIsWritten) {
  for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
    for (const int64_t bad : {int64_t{20}, int64_t{-21}, INT64_MAX, INT64_MIN}) {
      BagProblem bag = ten_entries(pool);
      bag.indices.set(6, bad);
      expect_the_same_refusals(bag);
    }
  }
}

TEST_F(CudaBagGradient, OfNothing) {
  Rng rng(3);
  for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
    for (const Dims& table : {Dims{0, 4}, Dims{20, 4}, Dims{20, 0}}) {
      BagProblem bag;
      bag.specs.data = TensorSpec(f32, table);
      bag.specs.indices = TensorSpec(i64, {0});
      bag.specs.segments = TensorSpec(i64, {3});
      bag.specs.weights = TensorSpec(f32, {0});
      bag.options.pool = pool;
      bag.make_tensors(rng);
      bag.segments.set_all({0, 0, 0});
      expect_all(rng, bag);
    }
  }
}

TEST_F(CudaBagGradient, RefusesMemoryThatDoesNotFit) {
  Rng rng(4);
  const GradientProblem problem = oracle::random_gradient(rng, ten_entries());
  const Gradient gradient(problem, BagGradientOf::kRows);
  const size_t needed = workspace_bytes(gradient.plan, {.device = test_device()});
  const CudaMemory workspace(needed);
  std::vector<int64_t> host(256);  // nothing of it is read
  const BagGradientMemory somewhere{
      .bag = {.indices = host.data(), .segments = host.data() + 10, .weights = host.data() + 14},
      .gradient = host.data() + 20,
      .rows = host.data() + 100,
      .output = host.data() + 120};
  const auto refused = [&](const BagGradientMemory& memory, size_t bytes) {
    const Queue queue{.device = test_device(), .workspace = {workspace.data(), bytes}};
    return refusal([&] { run(gradient.plan, memory, queue); });
  };
  EXPECT_NE(refused(somewhere, needed - 1).find("workspace too small"), std::string::npos);
  BagGradientMemory without = somewhere;
  without.bag.segments = nullptr;
  EXPECT_NE(refused(without, needed).find("segments has elements, but its pointer is null"),
            std::string::npos);
  without = somewhere;
  without.rows = reinterpret_cast<std::byte*>(host.data() + 100) + 4;
  EXPECT_NE(refused(without, needed).find("rows is i64, but its address is not a multiple of 8"),
            std::string::npos);
}

// That a capture succeeds shows that a run neither allocates nor waits.
TEST_F(CudaBagGradient, CanBeCaptured) {
  Rng rng(5);
  const GradientProblem problem = oracle::random_gradient(rng, ten_entries(Pool::kMean));
  const Gradient gradient(problem, BagGradientOf::kData);
  const BagProblem& bag = problem.bag;
  const Sent stored(bag.stored), indices(bag.indices), segments(bag.segments), weights(bag.weights),
      of_output(problem.gradient), written(gradient.output);
  const CudaMemory workspace(workspace_bytes(gradient.plan, {.device = test_device()}));
  const DeviceStream stream;
  const Queue queue = device_queue(workspace, stream);
  const DeviceGraph graph(stream, [&] {
    run(gradient.plan,
        {.bag = {.stored = stored.start(),
                 .indices = indices.start(),
                 .segments = segments.start(),
                 .weights = weights.start()},
         .gradient = of_output.start(),
         .output = written.start()},
        queue);
  });
  graph.launch(stream);
  finish(gradient.plan, queue);
  std::vector<std::byte> got = gradient.output.bytes;
  written.back(got.data());
  EXPECT_EQ(first_difference(got, gradient.on_host().output), "");
}

}  // namespace
}  // namespace sheaf
