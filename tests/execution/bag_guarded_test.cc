// SPDX-License-Identifier: MIT
//
// Random bags and gathers of encoded tables with every tensor beside a page that may not be
// touched, inputs in memory that may not be written to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "execution/registry.h"
#include "helpers/bag_problem.h"
#include "helpers/decode_oracle.h"
#include "helpers/guarded.h"
#include "helpers/guarded_tensor.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// A copy of a tensor's bytes right behind or before a page of no access.
class GuardedCopy {
 public:
  GuardedCopy(const BagBytes& from, Flush flush) {
    if (from.bytes.empty()) {
      return;
    }
    memory_ = std::make_unique<GuardedMemory>(from.bytes.size());
    part_ = memory_->part(from.bytes.size(), flush);
    std::memcpy(part_.data(), from.bytes.data(), from.bytes.size());
    start_ = part_.data() + from.first;
  }
  void protect() const {
    if (memory_) {
      memory_->set_writable(false);
    }
  }
  std::byte* start() const { return start_; }
  std::vector<std::byte> bytes() const { return {part_.begin(), part_.end()}; }
  void fill(std::byte value) const { std::fill(part_.begin(), part_.end(), value); }

 private:
  std::unique_ptr<GuardedMemory> memory_;
  std::span<std::byte> part_;
  std::byte* start_ = nullptr;
};

void expect_inside(const BagProblem& problem, Flush flush) {
  const BagPlan plan = problem.plan();
  const BagResult right = problem.on_reference();
  const GuardedCopy stored(problem.stored, flush), scales(problem.scales, flush),
      zeros(problem.zeros, flush), indices(problem.indices, flush),
      segments(problem.segments, flush), weights(problem.weights, flush);
  for (const GuardedCopy* input : {&stored, &scales, &zeros, &indices, &segments, &weights}) {
    input->protect();
  }
  const GuardedCopy output(BagBytes(plan.output()), flush);
  std::snprintf(running, sizeof running, "%s", problem.text().c_str());
  for (const std::string_view kernel : bag_kernels(plan)) {
    for (const bool fresh : {false, true}) {
      output.fill(kUntouchedBag);
      plan.run({.stored = stored.start(),
                .scales = scales.start(),
                .zeros = zeros.start(),
                .indices = indices.start(),
                .segments = segments.start(),
                .weights = weights.start(),
                .output = output.start()},
               {.threads = fresh ? 2 : 1, .kernel = kernel, .output_is_fresh = fresh});
      ASSERT_TRUE(output.bytes() == right.output) << kernel << "\n" << problem.text();
    }
  }
}

TEST(GuardedBags, PlainRows) {
  tell_on_crash();
  Rng rng(21);
  for (int i = 0; i < 250 && !HasFatalFailure(); ++i) {
    expect_inside(random_bag(rng), i % 2 == 0 ? Flush::kBack : Flush::kFront);
  }
}

TEST(GuardedBags, EncodedRows) {
  tell_on_crash();
  Rng rng(22);
  for (const Encoding encoding : oracle::all_encodings()) {
    for (int i = 0; i < 12 && !HasFatalFailure(); ++i) {
      expect_inside(random_encoded_bag(rng, encoding), i % 2 == 0 ? Flush::kBack : Flush::kFront);
    }
  }
}

TEST(GuardedEncodedGathers, StayInside) {
  tell_on_crash();
  Rng rng(23);
  for (const Encoding encoding : oracle::all_encodings()) {
    for (int i = 0; i < 6 && !HasFatalFailure(); ++i) {
      const BagProblem problem = random_encoded_bag(rng, encoding);
      const Flush flush = i % 2 == 0 ? Flush::kBack : Flush::kFront;
      const GuardedCopy stored(problem.stored, flush), scales(problem.scales, flush),
          zeros(problem.zeros, flush);
      const EncodedSpec& data = problem.specs.data;
      const auto axis = static_cast<int>(rng.from(0, data.sizes.size() - 1));
      BagBytes picks(TensorSpec(i32, {5}));
      for (int64_t p = 0; p < 5; ++p) {
        picks.set(p, rng.from(-data.sizes[axis], data.sizes[axis] - 1));
      }
      const GuardedCopy indices(picks, flush);
      const EncodedGatherPlan plan =
          plan_gather_encoded(data, picks.spec, GatherOptions{.axis = axis}, bf16);
      const GuardedCopy output(BagBytes(plan.output()), flush);
      std::vector<std::byte> right;
      for (const char* const kernel : {"reference", "cpu.encoded"}) {
        std::snprintf(running, sizeof running, "%s", plan.str().c_str());
        plan.run({stored.start(), scales.start(), zeros.start(), indices.start(), output.start()},
                 {.kernel = kernel});
        right = right.empty() ? output.bytes() : right;
        ASSERT_TRUE(output.bytes() == right) << plan.str();
        output.fill(kUntouchedBag);
      }
    }
  }
}

}  // namespace
}  // namespace sheaf
