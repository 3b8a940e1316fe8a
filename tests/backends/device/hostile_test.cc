// SPDX-License-Identifier: MIT
//
// Bad indices on a device: refused with the words of the reference backend and the output
// untouched, or led by the rule to where the reference backend is led. DeviceCheck compares both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "helpers/device.h"
#include "helpers/device_check.h"
#include "helpers/problem_plan.h"
#include "helpers/refusal.h"

namespace sheaf {
namespace {

using oracle::Wide;

class DeviceHostile : public DeviceTest {};

// Good everywhere, except for `value` at the positions given.
auto bad_at(std::vector<int64_t> positions, Wide value) {
  return [=](int64_t number) {
    const bool bad = std::find(positions.begin(), positions.end(), number) != positions.end();
    return bad ? value : Wide{number % 3};
  };
}

Plan scatter_of(const TensorSpec& data, const TensorSpec& indices, OutOfRange rule,
                Reduction reduction = Reduction::kAdd) {
  Dims updates = indices.sizes;
  for (int d = 1; d < data.rank(); ++d) {
    updates.push_back(data.sizes[d]);
  }
  return plan_scatter(data, indices, {data.dtype, updates},
                      {.reduction = reduction, .rule = {.out_of_range = rule}});
}

TEST_F(DeviceHostile, EdgesOfEveryIndexType) {
  for (const DType type : kIndexTypes) {
    for (const Wide value : {smallest(type), largest(type), largest(type) - 1, Wide{100},
                             type.is_signed_integer() ? Wide{-101} : Wide{101}}) {
      for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kWrap}) {
        const IndexRule index_rule{.out_of_range = rule};
        DeviceCheck{plan_gather({f32, {100, 5}}, {type, {77}}, {.rule = index_rule}),
                    bad_at({3, 70}, value)}
            .run();
        DeviceCheck{plan_gather_elements({u8, {100, 5}}, {type, {77, 5}}, {.rule = index_rule}),
                    bad_at({3, 70}, value)}
            .run();
        DeviceCheck{scatter_of({f32, {100, 5}}, {type, {77}}, rule), bad_at({3, 70}, value)}.run();
      }
      DeviceCheck{
          plan_gather({f32, {100}}, {type, {9}}, {.rule = {.out_of_range = OutOfRange::kFill}}),
          bad_at({0, 8}, value)}
          .run();
      DeviceCheck{scatter_of({f32, {100}}, {type, {9}}, OutOfRange::kSkip), bad_at({0, 8}, value)}
          .run();
    }
  }
}

// One bad index among many, wherever it stands: first, last, and where blocks of threads meet.
TEST_F(DeviceHostile, TheOnlyBadIndexIsFound) {
  constexpr int64_t kCount = 100'003;
  for (const int64_t at : {int64_t{0}, int64_t{31}, int64_t{32}, int64_t{255}, int64_t{256},
                           int64_t{1023}, int64_t{65535}, kCount - 1}) {
    DeviceCheck{plan_gather({u8, {3}}, {i32, {kCount}}), bad_at({at}, 3)}.run();
    DeviceCheck{scatter_of({i32, {3}}, {i64, {kCount}}, OutOfRange::kFail, Reduction::kMax),
                bad_at({at}, -4)}
        .run();
  }
  // The first in order, however many there are and whoever finds it.
  DeviceCheck{plan_gather({u8, {3}}, {i32, {kCount}}), bad_at({99'000, 70'000, 5'000, 5'001}, 7)}
      .run();
}

TEST_F(DeviceHostile, AllBad) {
  for (const int64_t count : {1, 2, 1000, 300'000}) {
    const auto bad = [](int64_t number) { return Wide{1000 + number}; };
    DeviceCheck{plan_gather({f32, {9, 4}}, {i64, {count}}), bad}.run();
    DeviceCheck{scatter_of({f32, {9}}, {i64, {count}}, OutOfRange::kFail), bad}.run();
  }
}

// The first is the first of the tensor that was passed, not of memory and not of the loops.
TEST_F(DeviceHostile, FirstMeansRowMajor) {
  for (const Dims& strides : {Dims{20, 1}, Dims{1, 30}, Dims{-20, -1}, Dims{0, 1}, Dims{1, 0},
                              Dims{0, 0}, Dims{41, -2}}) {
    const TensorSpec indices(i32, {30, 20}, strides);
    const auto bad = [](int64_t number) {
      return Wide{number % 97 == 96 ? number : number % 20 % 3};
    };
    DeviceCheck{plan_gather({f32, {3}}, indices), bad}.run();
    DeviceCheck{plan_gather_elements({f32, {3, 20}}, indices), bad}.run();
  }
  for (const Dims& strides : {Dims{3, 1}, Dims{1, 0}, Dims{0, 1}}) {
    DeviceCheck{plan_gather_nd({f32, {3, 4, 5}}, TensorSpec(i64, {50, 3}, strides)),
                [](int64_t number) {
                  return Wide{number == 2 || number == 101 ? 5 : number == 121 ? -5 : 0};
                }}
        .run();
  }
}

// XLA's tuples may stand in any dimension.
TEST_F(DeviceHostile, TuplesThatAreNotLast) {
  for (const int64_t dim : {0, 1}) {
    const Dims sizes = dim == 0 ? Dims{2, 40} : Dims{40, 2};
    const IndexRule rule{Negative::kOutOfRange, OutOfRange::kFail};
    const Plan gathers = plan_xla_gather({f32, {9, 12}}, {i64, sizes},
                                         {.offset_dims = {1, 2},
                                          .start_index_map = {1, 0},
                                          .index_vector_dim = dim,
                                          .slice_sizes = {2, 3},
                                          .rule = rule});
    const Plan scatters = plan_xla_scatter({f32, {9, 12}}, {i64, sizes}, {f32, {40, 2, 3}},
                                           {.update_window_dims = {1, 2},
                                            .scatter_dims_to_operand_dims = {1, 0},
                                            .index_vector_dim = dim,
                                            .reduction = Reduction::kAdd,
                                            .rule = rule});
    for (const int64_t at : {1, 39, 40, 41, 79}) {
      DeviceCheck{gathers, bad_at({at, 77}, 10)}.run();
      DeviceCheck{scatters, bad_at({at, 77}, -1)}.run();
    }
  }
}

TEST_F(DeviceHostile, IndicesAreCheckedEvenIfNothingIsMoved) {
  DeviceCheck{plan_gather({f32, {3, 0}}, {i64, {20}}), bad_at({11}, 3)}.run();
  DeviceCheck{scatter_of({f32, {3, 0}}, {i64, {20}}, OutOfRange::kFail), bad_at({11}, 3)}.run();
}

// A workspace serves one run after the other, whatever became of them.
TEST_F(DeviceHostile, AFailedRunLeavesTheWorkspaceUsable) {
  const Plan plan = plan_gather({i32, {4}}, {i32, {3}});
  const std::vector<int32_t> table = {10, 11, 12, 13}, good = {3, 0, -1}, bad = {0, 4, 9};
  DeviceMemory data(test_device(), 16), good_indices(test_device(), 12);
  DeviceMemory bad_indices(test_device(), 12), output(test_device(), 12);
  data.upload(table.data(), 16);
  good_indices.upload(good.data(), 12);
  bad_indices.upload(bad.data(), 12);
  output.fill(std::byte{0xEE}, 12);
  const DeviceStream stream;
  const DeviceMemory workspace(test_device(), workspace_bytes(plan, {.device = test_device()}));
  const Queue queue = device_queue(workspace, stream);
  std::vector<int32_t> got(3);
  for (int round = 0; round < 3; ++round) {
    run(plan, data.data(), bad_indices.data(), output.data(), queue);
    const IndexError error = index_error([&] { finish(plan, queue); });
    EXPECT_EQ(error.position(), (Dims{1}));
    EXPECT_EQ(error.bad_count(), 2);
    output.download(got.data(), 12);
    EXPECT_EQ(got, round == 0 ? std::vector<int32_t>(3, int32_t(0xEEEEEEEE))
                              : (std::vector<int32_t>{13, 10, 13}));
    run(plan, data.data(), good_indices.data(), output.data(), queue);
    EXPECT_NO_THROW(finish(plan, queue));
    output.download(got.data(), 12);
    EXPECT_EQ(got, (std::vector<int32_t>{13, 10, 13}));
  }
  // Only the last run counts.
  run(plan, data.data(), bad_indices.data(), output.data(), queue);
  run(plan, data.data(), good_indices.data(), output.data(), queue);
  EXPECT_NO_THROW(finish(plan, queue));
}

}  // namespace
}  // namespace sheaf
