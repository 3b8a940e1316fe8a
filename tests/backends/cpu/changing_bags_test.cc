// SPDX-License-Identifier: MIT
//
// Indices, segments and weights that another thread changes while bags run never lead outside a
// tensor: each lies before a page that may not be touched.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "execution/registry.h"
#include "helpers/bag_problem.h"
#include "helpers/guarded.h"
#include "helpers/guarded_tensor.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr auto kTimePerBag = std::chrono::milliseconds(30);
constexpr int64_t kRows = 200, kEntries = 2000, kBags = 40;

size_t bytes_in(const TensorSpec& spec) {
  return static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
}

struct GuardedBag {
  explicit GuardedBag(const TensorSpec& spec)
      : memory(bytes_in(spec)), data(memory.part(bytes_in(spec), Flush::kBack).data()) {}
  GuardedMemory memory;
  std::byte* data;
};

// Writes good and hostile numbers over one another until it goes.
class Changes {
 public:
  Changes(std::byte* indices, std::byte* segments, int64_t segment_count, std::byte* weights)
      : indices_(reinterpret_cast<int64_t*>(indices)),
        segments_(reinterpret_cast<int64_t*>(segments)),
        segment_count_(segment_count),
        weights_(reinterpret_cast<uint32_t*>(weights)),
        thread_([this] { run(); }) {}
  ~Changes() {
    stop_ = true;
    thread_.join();
  }
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;

 private:
  template <class T>
  static void set(T& place, T value) {
    std::atomic_ref<T>(place).store(value, std::memory_order_relaxed);
  }

  void run() {
    constexpr int64_t kValues[] = {0, kRows, -kRows - 1, INT64_MAX, INT64_MIN, kRows - 1, -1, 5};
    for (size_t turn = 0; !stop_; ++turn) {
      // Many of them at once, or one among good ones, which are read as they stand.
      const bool many = turn % 2 == 0;
      for (size_t i = many ? turn % 7 : 0; i < kEntries; i += many ? 7 : 1) {
        set(indices_[i],
            many ? kValues[(turn + i) % std::size(kValues)] : static_cast<int64_t>(i) % kRows);
        set(weights_[i], static_cast<uint32_t>(turn * 0x9E3779B9 + i));
      }
      for (size_t flips = 0; !many && flips < 200; ++flips) {
        int64_t& one = indices_[(turn * 7919 + flips * 104729) % kEntries];
        set(one, kValues[(turn + flips) % std::size(kValues)]);
        set(one, int64_t{3});
      }
      // Now and then all of them are good for a moment.
      for (int64_t s = 0; s < segment_count_; ++s) {
        const int64_t good = s * (kEntries / kBags);
        const bool hostile = turn % 4 == 3 && (s + static_cast<int64_t>(turn)) % 5 == 0;
        set(segments_[s], hostile ? kValues[turn / 4 % std::size(kValues)] : good);
      }
    }
  }

  int64_t* indices_;
  int64_t* segments_;
  int64_t segment_count_;
  uint32_t* weights_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

std::set<std::string> bag_kernels_tried;

void run_while_all_changes(const EncodedSpec& data, const BagOptions& options, bool weighted) {
  BagSpecs specs{data, TensorSpec(i64, {kEntries}), TensorSpec(i64, {kBags})};
  if (weighted) {
    specs.weights = TensorSpec(f32, {kEntries});
  }
  const BagPlan plan = plan_bag(specs, options);
  const GuardedBag stored(data.stored), indices(*specs.indices), segments(*specs.segments),
      weights(TensorSpec(f32, {kEntries})), output(plan.output());
  const Changes changes(indices.data, segments.data, kBags, weights.data);
  std::vector<std::string_view> kernels = bag_kernels(plan);
  int64_t done = 0, runs = 0;
  const auto end = std::chrono::steady_clock::now() + kTimePerBag;
  for (; runs < std::ssize(kernels) * 4 || std::chrono::steady_clock::now() < end; ++runs) {
    const std::string_view kernel = kernels[static_cast<size_t>(runs) % kernels.size()];
    bag_kernels_tried.insert(std::string(kernel));
    std::snprintf(running, sizeof running, "%s", plan.str().c_str());
    try {
      plan.run(
          {.stored = stored.data,
           .indices = indices.data,
           .segments = segments.data,
           .weights = weighted ? weights.data : nullptr,
           .output = output.data},
          {.threads = runs % 3 == 0 ? 2 : 1, .kernel = kernel, .output_is_fresh = runs % 2 == 0});
      ++done;
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.code()) == static_cast<int>(ErrorCode::kCancelled), false);
    }
  }
  EXPECT_GE(runs, done);
}

class ChangingBags : public testing::TestWithParam<OutOfRange> {};

TEST_P(ChangingBags, StayInside) {
  tell_on_crash();
  bag_kernels_tried.clear();
  const BagOptions options{.rule = {.out_of_range = GetParam()}};
  BagOptions padded = options;
  padded.padding_index = 5;
  padded.pool = Pool::kMax;
  for (const bool weighted : {false, true}) {
    for (const int64_t columns : {1, 7, 64, 130}) {
      run_while_all_changes(TensorSpec(f32, {kRows, columns}), options, weighted);
    }
    run_while_all_changes(TensorSpec(bf16, {kRows, 33}), padded, weighted);
    run_while_all_changes(TensorSpec(f64, {kRows, 5}), padded, weighted);
    run_while_all_changes(encoded_rows(Encoding::kRowU8F32, {kRows, 21}), options, weighted);
    run_while_all_changes(encoded_rows(Encoding::kRowU4F16, {kRows, 35}), padded, weighted);
    run_while_all_changes(encoded_rows(Encoding::kQ4_0, {kRows, 64}), options, weighted);
  }
  std::set<std::string> all;
  for (const Backend* backend : host_backends()) {
    for (const BagKernel& kernel : backend->bag) {
      all.insert(std::string(kernel.name));
    }
  }
  if (GetParam() == OutOfRange::kFill) {
    all.erase("cpu.bag");  // it has no rows of a fill value
  }
  EXPECT_EQ(bag_kernels_tried, all);
}

INSTANTIATE_TEST_SUITE_P(Rules, ChangingBags,
                         testing::Values(OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                         OutOfRange::kWrap, OutOfRange::kSkip),
                         [](const auto& rule) { return std::string(to_string(rule.param)); });

// Gathers of encoded tables: the same, for indices.
TEST(ChangingEncodedGathers, StayInside) {
  tell_on_crash();
  const EncodedSpec table = encoded_rows(Encoding::kRowU4F16, {kRows, 9});
  for (const OutOfRange rule :
       {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
    const EncodedGatherPlan plan = plan_gather_encoded(
        table, TensorSpec(i64, {kEntries}), GatherOptions{.rule = {.out_of_range = rule}});
    const GuardedBag stored(table.stored), indices(TensorSpec(i64, {kEntries})),
        weights(TensorSpec(f32, {kEntries})), output(plan.output());
    const Changes changes(indices.data, nullptr, 0, weights.data);
    const auto end = std::chrono::steady_clock::now() + kTimePerBag;
    for (int64_t runs = 0; runs < 8 || std::chrono::steady_clock::now() < end; ++runs) {
      try {
        plan.run({stored.data, nullptr, nullptr, indices.data, output.data},
                 {.threads = runs % 3 == 0 ? 2 : 1,
                  .kernel = runs % 4 < 2 ? "cpu" : "reference",
                  .output_is_fresh = runs % 2 == 0});
      } catch (const IndexError&) {
      }
    }
  }
}

}  // namespace
}  // namespace sheaf
