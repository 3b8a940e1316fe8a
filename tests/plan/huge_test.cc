// SPDX-License-Identifier: MIT
//
// Tables above 2^32 elements and above 2^31 rows, in address space that is never filled.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "helpers/guarded.h"
#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr int64_t k31 = int64_t{1} << 31;
constexpr int64_t k32 = int64_t{1} << 32;

// Indices of any type, and what the gathered bytes have to be, on every kernel.
void expect_bytes(const Plan& plan, const void* data, const std::vector<int64_t>& indices,
                  const std::vector<uint8_t>& expected) {
  const auto bytes = static_cast<size_t>(plan.indices().dtype.bytes());
  std::vector<std::byte> memory(indices.size() * bytes);
  for (size_t i = 0; i < indices.size(); ++i) {
    write_index(plan.indices().dtype, indices[i], memory.data() + i * bytes);
  }
  for (const std::string& kernel : accepting_kernels(plan)) {
    std::vector<uint8_t> output(expected.size(), 0xEE);
    plan.run(data, memory.data(), output.data(), {.kernel = kernel});
    EXPECT_EQ(output, expected) << kernel;
  }
}

TEST(CVE_2019_16778, NarrowIndicesIntoMoreThan32BitsOfElements) {
  const int64_t count = k32 + 10;
  const SparseMemory table(count);
  const auto mark = [&](int64_t at, uint8_t value) { table.data()[at] = value; };
  mark(0, 1);
  mark(k31 - 1, 2);
  mark(k31, 3);
  mark(k32 - 1, 4);
  mark(k32, 5);
  mark(count - 1, 6);
  mark(count - k31, 7);  // INT32_MIN from the end
  mark(count - 128, 8);
  const TensorSpec data(u8, {count});
  const auto plan = [&](DType type, int64_t indices, OutOfRange out_of_range) {
    return plan_gather(data, {type, {indices}}, {.rule = {.out_of_range = out_of_range}});
  };
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kWrap,
                                OutOfRange::kFill, OutOfRange::kTrust}) {
    expect_bytes(plan(i64, 7, rule), table.data(), {0, k31 - 1, k31, k32 - 1, k32, count - 1, -1},
                 {1, 2, 3, 4, 5, 6, 6});
    expect_bytes(plan(i32, 4, rule), table.data(), {0, k31 - 1, -1, -k31}, {1, 2, 6, 7});
    expect_bytes(plan(u32, 4, rule), table.data(), {0, k31 - 1, k31, k32 - 1}, {1, 2, 3, 4});
    expect_bytes(plan(u64, 3, rule), table.data(), {k31, k32, count - 1}, {3, 5, 6});
    expect_bytes(plan(i8, 3, rule), table.data(), {0, -128, -1}, {1, 8, 6});
  }
  const std::vector<int64_t> bad = {0, count};
  std::vector<uint8_t> output(2, 0xEE);
  EXPECT_EQ(index_error([&] {
              plan(i64, 2, OutOfRange::kFail).run(table.data(), bad.data(), output.data());
            }).position(),
            (Dims{1}));
  // Modulo 2^32 this index would be a good one.
  expect_bytes(plan(i64, 1, OutOfRange::kClamp), table.data(), {k32 + k32}, {6});
}

TEST(CVE_2020_15202, MoreThan31BitsOfRows) {
  const int64_t rows = k31 + 5;
  const SparseMemory table(rows * 2);
  table.data()[2 * (k31 - 1)] = 1;
  table.data()[2 * k31 + 1] = 2;
  table.data()[2 * (rows - 1)] = 3;
  const TensorSpec data(u8, {rows, 2});
  expect_bytes(plan_gather(data, {i64, {3}}), table.data(), {k31 - 1, k31, -1}, {1, 0, 0, 2, 3, 0});
  expect_bytes(plan_gather(data, {i32, {1}}), table.data(), {k31 - 1}, {1, 0});
  expect_bytes(plan_gather_nd(data, {u32, {2, 2}}), table.data(), {k31, 1, rows - 1, 0}, {2, 3});
  expect_bytes(plan_gather_elements(data, {i64, {2, 2}}), table.data(), {k31 - 1, k31, -1, -1},
               {1, 2, 3, 0});
  expect_bytes(plan_xla_gather(data, {i64, {1, 1}},
                               {.offset_dims = {1, 2},
                                .start_index_map = {0},
                                .index_vector_dim = 1,
                                .slice_sizes = {2, 2}}),
               table.data(), {rows}, {0, 0, 3, 0});
}

TEST(Huge, OffsetsAddUpBeyond32Bits) {
  // Two rows of 2^32 + 8: the second begins behind 2^32.
  const int64_t columns = k32 + 8;
  const SparseMemory table(2 * columns);
  table.data()[columns - 1] = 1;
  table.data()[2 * columns - 1] = 2;
  table.data()[columns] = 3;
  const TensorSpec data(u8, {2, columns});
  expect_bytes(plan_gather_nd(data, {i64, {3, 2}}), table.data(), {0, columns - 1, 1, -1, 1, 0},
               {1, 2, 3});
  expect_bytes(plan_gather_elements(data, {i64, {2, 2}}, {.axis = 1}), table.data(),
               {columns - 1, 0, 0, -1}, {1, 0, 3, 2});
  // Backwards: element [0, 0] is the last byte.
  const TensorSpec backwards(u8, {2, columns}, {-columns, -1});
  expect_bytes(plan_gather_nd(backwards, {i64, {2, 2}}), table.data() + 2 * columns - 1,
               {0, 0, 1, 0}, {2, 1});
}

TEST(Huge, IndicesAndOutputsFarApart) {
  const SparseMemory indices(3 * k32);
  const SparseMemory output(3 * k32);
  const std::vector<uint8_t> data = {10, 11, 12};
  indices.data()[0] = 2;
  indices.data()[k32 - 1] = 1;
  const Plan plan = plan_gather({u8, {3}}, {u8, {3}, {k32 - 1}}, {u8, {3}, {k32 + 1}});
  for (const std::string& kernel : accepting_kernels(plan)) {
    for (int64_t i = 0; i < 3; ++i) {
      output.data()[i * (k32 + 1)] = 0xEE;
    }
    plan.run(data.data(), indices.data(), output.data(), {.kernel = kernel});
    EXPECT_EQ(output.data()[0], 12) << kernel;
    EXPECT_EQ(output.data()[k32 + 1], 11) << kernel;
    EXPECT_EQ(output.data()[2 * (k32 + 1)], 10) << kernel;
  }
}

}  // namespace
}  // namespace sheaf
