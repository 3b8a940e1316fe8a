// SPDX-License-Identifier: MIT
//
// Indices that another thread changes while calls run never lead outside a buffer: each tensor lies
// between pages that may not be touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "helpers/guarded.h"
#include "helpers/guarded_tensor.h"
#include "helpers/problem_plan.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr auto kTimePerPlan = std::chrono::milliseconds(40);
constexpr int64_t kExtent = 1000;

size_t tensor_bytes(const TensorSpec& spec) {
  return static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
}

// A tensor whose last byte is the last that may be touched.
struct Guarded {
  explicit Guarded(const TensorSpec& spec)
      : memory(tensor_bytes(spec)), data(memory.part(tensor_bytes(spec), Flush::kBack).data()) {}
  GuardedMemory memory;
  std::byte* data;
};

// Writes good and hostile values over one another until it goes.
template <class Index>
class Flipper {
 public:
  Flipper(std::byte* indices, int64_t count)
      : indices_(reinterpret_cast<Index*>(indices)), count_(count), thread_([this] { run(); }) {}
  ~Flipper() {
    stop_ = true;
    thread_.join();
  }
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;

 private:
  void run() {
    constexpr Index kValues[] = {0,
                                 static_cast<Index>(kExtent),
                                 static_cast<Index>(-kExtent - 1),
                                 std::numeric_limits<Index>::max(),
                                 std::numeric_limits<Index>::min(),
                                 kExtent - 1,
                                 static_cast<Index>(-1),
                                 5};
    for (size_t turn = 0; !stop_; ++turn) {
      for (int64_t i = static_cast<int64_t>(turn % 7); i < count_; i += 7) {
        const Index value = kValues[(turn + static_cast<size_t>(i)) % std::size(kValues)];
        std::atomic_ref<Index>(indices_[i]).store(value, std::memory_order_relaxed);
      }
    }
  }

  Index* indices_;
  int64_t count_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The kernels that a test has asked, and those that it has run, by whatever mover.
std::set<std::string> kernels_asked, kernels_tried;

std::string without_mover(const std::string& kernel) { return kernel.substr(0, kernel.find('/')); }

template <class Index>
void run_while_indices_change(const Plan& plan) {
  const Guarded data(plan.data());
  const Guarded indices(plan.indices());
  const Guarded output(plan.output());
  const Guarded updates(plan.is_scatter() ? plan.updates() : TensorSpec(u8, {1}));
  const Flipper<Index> flipper(indices.data, element_count(plan.indices().sizes));
  const std::vector<std::string> kernels = accepting_kernels(plan);
  for (const KernelReport& report : kernels_for(plan)) {
    kernels_asked.insert(without_mover(report.name));
  }
  for (const std::string& kernel : kernels) {
    kernels_tried.insert(without_mover(kernel));
  }
  int64_t runs = 0;
  const auto end = std::chrono::steady_clock::now() + kTimePerPlan;
  for (; runs < std::ssize(kernels) * 4 || std::chrono::steady_clock::now() < end; ++runs) {
    const RunOptions options{.threads = runs % 3 == 0 ? 2 : 1,
                             .kernel = kernels[static_cast<size_t>(runs) % kernels.size()],
                             .output_is_fresh = runs % 2 == 0};
    std::snprintf(running, sizeof running, "%s", plan.str().c_str());
    try {
      if (plan.is_scatter()) {
        plan.run(data.data, indices.data, updates.data, output.data, options);
      } else {
        plan.run(data.data, indices.data, output.data, options);
      }
    } catch (const IndexError&) {
    }
  }
  EXPECT_GE(runs, std::ssize(kernels));
}

class ChangingIndices : public testing::TestWithParam<OutOfRange> {
 protected:
  void SetUp() override {
    tell_on_crash();
    kernels_asked.clear();
    kernels_tried.clear();
  }
};

TEST_P(ChangingIndices, StayInsideOfGathers) {
  if (GetParam() == OutOfRange::kSkip) {
    GTEST_SKIP() << "a gather skips nothing";
  }
  const IndexRule rule{.out_of_range = GetParam()};
  for (const int64_t row : {1, 4, 8, 16, 32, 48, 64, 100}) {
    run_while_indices_change<int64_t>(
        plan_gather({u8, {kExtent, row}}, {i64, {3000}}, {.rule = rule}));
  }
  run_while_indices_change<int32_t>(
      plan_gather({f32, {kExtent, 1}}, {i32, {3000}}, {.rule = rule}));
  run_while_indices_change<int32_t>(
      plan_gather({f32, {20, kExtent}}, {i32, {500}}, {.axis = 1, .rule = rule}));
  run_while_indices_change<int64_t>(
      plan_gather_elements({f32, {20, kExtent}}, {i64, {20, 900}}, {.axis = 1, .rule = rule}));
  run_while_indices_change<uint64_t>(
      plan_gather_elements({f32, {kExtent, 20}}, {u64, {900, 20}}, {.axis = 0, .rule = rule}));
  run_while_indices_change<int64_t>(
      plan_gather_nd({f32, {kExtent, kExtent}}, {i64, {3000, 2}}, {.rule = rule}));
  run_while_indices_change<int64_t>(plan_gather({f32, {kExtent}}, {i64, {20}}, {.rule = rule}));
  run_while_indices_change<int64_t>(
      plan_gather({u8, {kExtent, 4096}}, {i64, {200}}, {.rule = rule}));
  run_while_indices_change<int64_t>(plan_xla_gather({f32, {kExtent + 2}}, {i64, {900, 1}},
                                                    {.offset_dims = {1},
                                                     .start_index_map = {0},
                                                     .index_vector_dim = 1,
                                                     .slice_sizes = {3},
                                                     .rule = rule}));
  if (GetParam() == OutOfRange::kFill) {
    kernels_asked.erase("cpu.small");  // it fills no rows
  }
  EXPECT_EQ(kernels_tried, kernels_asked);
}

TEST_P(ChangingIndices, StayInsideOfScatters) {
  if (GetParam() == OutOfRange::kFill) {
    GTEST_SKIP() << "a scatter fills nothing";
  }
  const IndexRule rule{.out_of_range = GetParam()};
  run_while_indices_change<int64_t>(plan_scatter_nd({f32, {kExtent, 16}}, {i64, {5000, 1}},
                                                    {f32, {5000, 16}},
                                                    {.reduction = Reduction::kAdd, .rule = rule}));
  run_while_indices_change<int32_t>(
      plan_scatter_elements({f32, {20, kExtent}}, {i32, {20, 900}}, {f32, {20, 900}},
                            {.axis = 1, .reduction = Reduction::kAdd, .rule = rule}));
  run_while_indices_change<int64_t>(
      plan_scatter_elements({f32, {kExtent, 20}}, {i64, {900, 20}}, {f32, {900, 20}},
                            {.axis = 0, .reduction = Reduction::kMean, .rule = rule}));
  run_while_indices_change<int32_t>(
      plan_scatter({f32, {kExtent, 128}}, {i32, {900}}, {f32, {900, 128}}, {.rule = rule}));
  run_while_indices_change<int64_t>(
      plan_scatter({f32, {kExtent, 2}}, {i64, {3000}}, {f32, {3000, 2}},
                   {.reduction = Reduction::kMax, .include_self = false, .rule = rule}));
  // Windows that overlap; under skip, those that are partly outside are cut.
  for (const bool whole : {false, true}) {
    run_while_indices_change<int64_t>(plan_xla_scatter({f32, {kExtent + 2}}, {i64, {900, 1}},
                                                       {f32, {900, 3}},
                                                       {.update_window_dims = {1},
                                                        .scatter_dims_to_operand_dims = {0},
                                                        .index_vector_dim = 1,
                                                        .reduction = Reduction::kAdd,
                                                        .skip_whole_window = whole,
                                                        .rule = rule}));
  }
  EXPECT_EQ(kernels_tried, kernels_asked);
}

INSTANTIATE_TEST_SUITE_P(Rules, ChangingIndices,
                         testing::Values(OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                         OutOfRange::kWrap, OutOfRange::kSkip),
                         [](const auto& rule) { return std::string(to_string(rule.param)); });

}  // namespace
}  // namespace sheaf
