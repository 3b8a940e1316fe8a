// SPDX-License-Identifier: MIT
//
// Gathers of every form, each on every CUDA kernel that takes it, against the reference backend.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "helpers/device.h"
#include "helpers/device_check.h"
#include "helpers/problem_plan.h"

namespace sheaf {
namespace {

class CudaGatherKernels : public DeviceTest {};

// Rows of these many bytes: all small ones, those between the sizes of loads, large ones.
std::vector<int64_t> row_sizes() {
  std::vector<int64_t> sizes = {100, 200, 256, 1000, 1024, 4096, 10248};
  for (int64_t bytes = 1; bytes <= 64; ++bytes) {
    sizes.push_back(bytes);
  }
  return sizes;
}

std::vector<DeviceCheck> rows() {
  std::vector<DeviceCheck> checks;
  for (const int64_t bytes : row_sizes()) {
    for (const size_t shift : {0u, 1u, 2u, 4u, 8u}) {
      const DType type = kIndexTypes[(static_cast<size_t>(bytes) + shift) % kIndexTypes.size()];
      checks.push_back({plan_gather({u8, {97, bytes}}, {type, {301}}), spread(97, type), shift});
    }
  }
  for (const DType type : {i32, i64}) {  // up to 2^17 words have a thread each
    for (const int64_t count : {2048, 2049, 9001}) {
      checks.push_back({plan_gather({u8, {97, 1024}}, {type, {count}}), spread(97, type)});
    }
  }
  return checks;
}

// The index picks inside an inner axis, the same for every row.
// Enough for every multiprocessor to have one: fewer are not worth bringing to shared memory.
constexpr int64_t kManyRows = 300;

std::vector<DeviceCheck> inner_axis() {
  std::vector<DeviceCheck> checks;
  for (const DType type : {u8, f16, f32, f64, c128}) {
    for (const int64_t entries : {1, 2, 31, 32, 33, 1000, 70000}) {
      for (const int64_t picked : {1, 33, 1500}) {
        const int64_t rows = entries <= 1000 ? kManyRows : 13;
        checks.push_back({plan_gather({type, {rows, entries}}, {i32, {picked}}, {.axis = 1}),
                          spread(entries, i32), type == u8 ? 1u : 0u});
      }
    }
    checks.push_back(
        {plan_gather({type, {5, 77, 3}}, {i64, {4, 9}}, {.axis = 1}), spread(77, i64)});
    // Entries of several elements, at addresses that are multiples of one only.
    checks.push_back({plan_gather({type, {kManyRows, 64, 4}}, {i64, {64}},
                                  {type, {kManyRows, 64, 4}, {257, 4, 1}}, {.axis = 1}),
                      spread(64, i64)});
  }
  return checks;
}

std::vector<DeviceCheck> elements() {
  std::vector<DeviceCheck> checks;
  for (const DType type : {u8, bf16, f32, i64, c128}) {
    for (const int64_t count : {1, 2, 31, 32, 33, 255, 256, 257, 1025, 70000}) {
      checks.push_back(
          {plan_gather_elements({type, {19, 7}}, {i32, {count, 7}}, {.axis = 0}), spread(19, i32)});
      const int64_t rows = count <= 2000 ? kManyRows : 5;
      for (const DType index : {i32, i64, u16}) {
        checks.push_back(
            {plan_gather_elements({type, {rows, 19}}, {index, {rows, count}}, {.axis = -1}),
             spread(19, index)});
      }
    }
    checks.push_back(
        {plan_gather_elements({type, {3, 90, 4}}, {u8, {3, 50, 2}}, {.axis = 1}), spread(90, u8)});
  }
  return checks;
}

// Rows of which two, or one, do not fit into shared memory.
std::vector<DeviceCheck> long_rows() {
  std::vector<DeviceCheck> checks;
  for (const DType type : {u8, f16, f32, f64, c128}) {
    const int64_t bytes = type == u8 || type == f32 ? 300'000 : 150'000;
    const int64_t entries = bytes / type.bytes();
    // An odd number of indices, and rows at odd addresses, where no two are read at once.
    for (const int64_t picked : {bytes / 32 + 100, bytes / 32 + 101}) {
      checks.push_back({plan_gather({type, {kManyRows, entries}}, {i64, {picked}}, {.axis = 1}),
                        spread(entries, i64), type == u8 ? 1u : 0u});
      checks.push_back(
          {plan_gather_elements({type, {kManyRows, entries}}, {i32, {kManyRows, picked}},
                                {.axis = 1, .rule = {Negative::kOutOfRange, OutOfRange::kFill, 7}}),
           spread(entries + entries / 3, i32)});
    }
  }
  return checks;
}

std::vector<DeviceCheck> tuples() {
  std::vector<DeviceCheck> checks;
  for (const int64_t length : {0, 1, 2, 3, 4}) {
    for (const int64_t batch : {0, 1}) {
      const Plan plan =
          plan_gather_nd({f32, {6, 5, 4, 3, 7, 2}}, {i64, {6, 70, length}}, {.batch_dims = batch});
      checks.push_back({plan, spread(3, i64)});
    }
  }
  checks.push_back({plan_gather({f32, {6, 50, 8}}, {i32, {6, 33}}, {.axis = 1, .batch_dims = 1}),
                    spread(50, i32)});
  const Plan window = plan_xla_gather({f32, {30, 20}}, {i64, {2, 50}},
                                      {.offset_dims = {1, 2},
                                       .start_index_map = {1, 0},
                                       .index_vector_dim = 0,
                                       .slice_sizes = {3, 2}});
  checks.push_back({window, spread(30, i64)});
  return checks;
}

// Transposed, reversed, with gaps, repeated; outputs too.
std::vector<DeviceCheck> strided() {
  std::vector<DeviceCheck> checks;
  for (const size_t shift : {0u, 4u}) {
    const TensorSpec turned(f32, {40, 9}, {1, 40});
    const TensorSpec reversed(f32, {40, 9}, {-9, -1});
    const TensorSpec gaps(f32, {40, 9}, {21, 2});
    const TensorSpec repeated(f32, {40, 9}, {0, 1});
    for (const TensorSpec& data : {turned, reversed, gaps, repeated}) {
      for (const Dims& output : {Dims{9, 1}, Dims{1, 65}, Dims{-18, -2}}) {
        const Plan plan = plan_gather(data, {i32, {65}, {-2}}, {f32, {65, 9}, output});
        checks.push_back({plan, spread(40, i32), shift});
      }
      checks.push_back({plan_gather_elements(data, {i16, {7, 9}, {1, 7}}), spread(40, i16)});
    }
  }
  return checks;
}

// Columns of a table that does not fit into the second-level cache of any device.
std::vector<DeviceCheck> far_columns() {
  const Plan plan = plan_gather_elements({f32, {5000, 4100}}, {i32, {640, 4100}});
  const Plan odd = plan_gather_elements({f16, {4000, 4097}}, {i64, {600, 4097}},
                                        {.rule = {Negative::kOutOfRange, OutOfRange::kFill, 7}});
  const Plan batches =
      plan_gather_elements({f32, {2, 4000, 1030}}, {u16, {2, 600, 1030}}, {.axis = 1});
  return {{plan, spread(5000, i32), 4}, {odd, spread(6000, i64)}, {batches, spread(4000, u16)}};
}

// Columns of tables that are held in shared memory by strips of every width, whole or in part, with
// columns that fill no strip, and addresses that are aligned to elements only.
std::vector<DeviceCheck> held_columns() {
  constexpr int64_t kOutputs = 1'100'000;  // enough for 256 multiprocessors
  constexpr int64_t kRows[] = {50, 2500, 5000, 12000, 16500};
  std::vector<DeviceCheck> checks;
  const auto add = [&](DType type, int64_t rows) {
    const auto shift = static_cast<size_t>(type == c128 ? 0 : type.bytes());
    checks.push_back(
        {plan_gather_elements({type, {rows, 64}}, {i64, {kOutputs / 60, 64}}), spread(rows, i64)});
    checks.push_back({plan_gather_elements({type, {rows, 67}}, {i64, {kOutputs / 60, 67}}),
                      spread(rows, i64), shift});
    checks.push_back(
        {plan_gather_elements({type, {3, rows, 40}}, {i32, {3, kOutputs / 100, 40}},
                              {.axis = 1, .rule = {Negative::kOutOfRange, OutOfRange::kFill, 7}}),
         spread(rows + rows / 3, i32)});
  };
  for (const int64_t rows : kRows) {
    add(f32, rows);
  }
  for (const DType type : {u8, f16, f64, c128}) {
    add(type, 2500);
    add(type, 16500);
  }
  // More strips than blocks, and indices of another type.
  checks.push_back(
      {plan_gather_elements({f32, {900, 8000}}, {u16, {280, 8000}}), spread(900, u16)});
  checks.push_back({plan_gather_elements({f32, {280, 60, 64}}, {i64, {280, 300, 64}}, {.axis = 1}),
                    spread(60, i64)});
  // Rows with gaps, which are aligned to less and less, and a table that is read backwards.
  for (const int64_t gap : {4, 2, 1}) {
    const TensorSpec data(f32, {600, 128}, {128 + gap, 1});
    checks.push_back({plan_gather_elements(data, {i64, {9000, 128}, {136, 1}},
                                           {f32, {9000, 128}, {128 + gap, 1}}),
                      spread(600, i64)});
  }
  const TensorSpec backwards(f32, {4, 600, 128}, {-600 * 128, 128, 1});
  checks.push_back(
      {plan_gather_elements(backwards, {i32, {4, 2200, 128}}, {.axis = 1}), spread(600, i32)});
  return checks;
}

TEST_F(CudaGatherKernels, Rows) { run_all(rows()); }
TEST_F(CudaGatherKernels, InnerAxis) { run_all(inner_axis()); }
TEST_F(CudaGatherKernels, Elements) { run_all(elements()); }
TEST_F(CudaGatherKernels, LongRows) { run_all(long_rows()); }
TEST_F(CudaGatherKernels, Tuples) { run_all(tuples()); }
TEST_F(CudaGatherKernels, Strided) { run_all(strided()); }
TEST_F(CudaGatherKernels, FarColumns) { run_all(far_columns()); }
TEST_F(CudaGatherKernels, HeldColumns) { run_all(held_columns()); }

// Every rule with indices of which a third is outside, on both sides.
TEST_F(CudaGatherKernels, Rules) {
  for (const DType type : kIndexTypes) {
    for (const OutOfRange rule :
         {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
      for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
        const IndexRule index_rule{negative, rule, 7};
        for (const int64_t columns : {1, 4, 33, 64}) {
          DeviceCheck{plan_gather({f32, {50, columns}}, {type, {400}}, {.rule = index_rule}),
                      spread(75, type)}
              .run();
        }
        DeviceCheck{plan_gather({f32, {6, 50}}, {type, {400}}, {.axis = 1, .rule = index_rule}),
                    spread(75, type)}
            .run();
        DeviceCheck{
            plan_gather({f32, {kManyRows, 50}}, {type, {400}}, {.axis = 1, .rule = index_rule}),
            spread(75, type)}
            .run();
        if (type == i64 || type == u64) {  // held columns: enough outputs take their time
          DeviceCheck{
              plan_gather_elements({f32, {50, 1024}}, {type, {1100, 1024}}, {.rule = index_rule}),
              spread(75, type)}
              .run();
        }
        DeviceCheck{plan_gather_elements({f32, {kManyRows, 50}}, {type, {kManyRows, 24}},
                                         {.axis = 1, .rule = index_rule}),
                    spread(75, type)}
            .run();
        DeviceCheck{plan_gather_elements({f32, {50, 6}}, {type, {100, 6}}, {.rule = index_rule}),
                    spread(75, type)}
            .run();
      }
    }
  }
}

TEST_F(CudaGatherKernels, NoKernelGoesUntried) {
  EXPECT_EQ(untried_kernels({rows(), inner_axis(), elements(), long_rows(), tuples(), strided(),
                             far_columns(), held_columns()}),
            std::set<std::string>());
}

}  // namespace
}  // namespace sheaf
