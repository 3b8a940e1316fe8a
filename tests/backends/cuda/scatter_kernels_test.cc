// SPDX-License-Identifier: MIT
//
// Scatters of every form, each on every CUDA kernel that takes it, against the reference backend:
// the same bits, in and out of place.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "helpers/device.h"
#include "helpers/device_check.h"
#include "helpers/problem_plan.h"
#include "helpers/scatter_oracle.h"

namespace sheaf {
namespace {

class CudaScatterKernels : public DeviceTest {};

const std::vector<Reduction> kFew = {Reduction::kNone, Reduction::kAdd, Reduction::kMax,
                                     Reduction::kMean};

// Rows of these many bytes, many of which meet.
std::vector<DeviceCheck> rows() {
  std::vector<DeviceCheck> checks;
  for (const int64_t bytes : {1, 2, 3, 4, 8, 12, 16, 20, 31, 33, 64, 100, 200, 1000, 10248}) {
    for (const size_t shift : {0u, 1u, 4u}) {
      for (const Reduction reduction : kFew) {
        const Plan plan = plan_scatter({u8, {97, bytes}}, {i32, {301}}, {u8, {301, bytes}},
                                       {.reduction = reduction});
        checks.push_back({plan, spread(97, i32), shift});
      }
    }
  }
  return checks;
}

std::vector<DeviceCheck> types() {
  std::vector<DeviceCheck> checks;
  for (const DType type : oracle::kNumberTypes) {
    for (const Reduction reduction : oracle::kReductions) {
      if (!oracle::joins(type, reduction)) {
        continue;
      }
      for (const bool self : {true, false}) {
        const auto shift = static_cast<size_t>(type.bytes() < 16 ? type.bytes() : 0);
        const Plan by_rows = plan_scatter({type, {31, 3}}, {i64, {200}}, {type, {200, 3}},
                                          {.reduction = reduction, .include_self = self});
        checks.push_back({by_rows, spread(31, i64), shift});
        const Plan by_elements =
            plan_scatter_elements({type, {31, 3}}, {i64, {200, 3}}, {type, {200, 3}},
                                  {.reduction = reduction, .include_self = self});
        checks.push_back({by_elements, spread(31, i64)});
      }
    }
  }
  return checks;
}

std::vector<DeviceCheck> forms() {
  std::vector<DeviceCheck> checks;
  for (const Reduction reduction : kFew) {
    const auto add = [&](const Plan& plan, int64_t extent, size_t shift = 0) {
      checks.push_back({plan, spread(extent, plan.indices().dtype), shift});
    };
    for (const int64_t count : {1, 32, 33, 257, 1025, 70000}) {
      add(plan_scatter_elements({f32, {19, 7}}, {i32, {count, 7}}, {f32, {count, 7}},
                                {.axis = 0, .reduction = reduction}),
          19);
      add(plan_scatter_elements({f32, {5, 19}}, {i32, {5, count}}, {f32, {5, count}},
                                {.axis = -1, .reduction = reduction}),
          19);
      add(plan_scatter({f32, {3, 50}}, {i32, {count}}, {f32, {3, count}},
                       {.axis = 1, .reduction = reduction}),
          50, 4);
    }
    add(plan_scatter({f32, {6, 50, 8}}, {i32, {6, 33}}, {f32, {6, 33, 8}},
                     {.axis = 1, .batch_dims = 1, .reduction = reduction}),
        50);
    for (const int64_t length : {1, 2, 3, 4}) {
      Dims updates = {6, 70};
      for (int d = static_cast<int>(length) + 1; d < 6; ++d) {
        updates.push_back(Dims{6, 5, 4, 3, 7, 2}[d]);
      }
      add(plan_scatter_nd({f32, {6, 5, 4, 3, 7, 2}}, {i64, {6, 70, length}}, {f32, updates},
                          {.batch_dims = 1, .reduction = reduction}),
          3);
    }
    // Transposed, reversed and with gaps.
    add(plan_scatter({f32, {40, 9}, {1, 40}}, {i32, {65}, {-2}}, {f32, {65, 9}, {-18, -2}},
                     {f32, {40, 9}, {21, 2}}, {.reduction = reduction}),
        40);
    // Windows that overlap, whole or cut at the edge.
    for (const bool whole : {true, false}) {
      add(plan_xla_scatter({f32, {30, 20}}, {i64, {2, 50}}, {f32, {50, 3, 2}},
                           {.update_window_dims = {1, 2},
                            .scatter_dims_to_operand_dims = {1, 0},
                            .index_vector_dim = 0,
                            .reduction = reduction,
                            .skip_whole_window = whole}),
          33);
    }
  }
  return checks;
}

// One index per element, enough columns for every multiprocessor: cells are kept in shared memory.
std::vector<DeviceCheck> columns() {
  constexpr int64_t kMany = 300;
  std::vector<DeviceCheck> checks;
  for (const DType type : {u8, f16, f32, i64, c64, c128}) {
    for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd, Reduction::kMul}) {
      for (const int64_t count : {20, 64, 2100}) {
        for (const DType index : {i32, i64, u8}) {
          const size_t shift = reduction == Reduction::kNone ? 1 : 0;
          checks.push_back(
              {plan_scatter_elements({type, {kMany, 70}}, {index, {kMany, count}},
                                     {type, {kMany, count}}, {.axis = 1, .reduction = reduction}),
               spread(70, index), shift});
          checks.push_back(
              {plan_scatter_elements({type, {70, kMany * 8 - 3}}, {index, {count, kMany * 8 - 3}},
                                     {type, {count, kMany * 8 - 3}},
                                     {.axis = 0, .reduction = reduction}),
               spread(70, index), shift});
        }
      }
    }
  }
  // Indices that are the same for all columns, and those that are skipped.
  for (const Reduction reduction : kFew) {
    const IndexRule skip{.out_of_range = OutOfRange::kSkip};
    checks.push_back({plan_scatter({f32, {kMany, 50}}, {i32, {400}}, {f32, {kMany, 400}},
                                   {.axis = 1, .reduction = reduction, .rule = skip}),
                      spread(75, i32)});
    checks.push_back(
        {plan_scatter_elements({f32, {3, 50, 200}}, {i64, {3, 90, 200}}, {f32, {3, 90, 200}},
                               {.axis = 1, .reduction = reduction, .rule = skip}),
         spread(75, i64)});
  }
  return checks;
}

// Updates of `cells` along both axes, so many columns that each has a thread to itself.
void add_few_cells(std::vector<DeviceCheck>& checks, DType type, DType index, int64_t cells,
                   int64_t columns, int64_t count, const ScatterElementsOptions& options,
                   size_t shift = 0) {
  ScatterElementsOptions along = options;
  along.axis = 1;
  const auto any =
      spread(options.rule.out_of_range == OutOfRange::kFail ? cells : cells + 3, index);
  checks.push_back({plan_scatter_elements({type, {columns, cells}}, {index, {columns, count}},
                                          {type, {columns, count}}, along),
                    any, shift});
  checks.push_back({plan_scatter_elements({type, {cells, columns}}, {index, {count, columns}},
                                          {type, {count, columns}}, options),
                    any, shift});
}

std::vector<DeviceCheck> columns_of_few_cells() {
  std::vector<DeviceCheck> checks;
  for (const DType type : {f16, bf16, f32, f64, i32, i64, u16, c64}) {
    const auto bytes = static_cast<size_t>(type == c64 ? 4 : type.bytes());
    for (const Reduction reduction : oracle::kReductions) {
      if (oracle::joins(type, reduction)) {
        add_few_cells(checks, type, i64, 10, 2011, 40, {.reduction = reduction});
      }
    }
    for (const int64_t count : {8, 64, 200, 201}) {
      add_few_cells(checks, type, i64, 10, 2011, count, {.reduction = Reduction::kAdd});
    }
    add_few_cells(checks, type, i32, 3, 2048, 72, {.reduction = Reduction::kMul}, bytes);
    add_few_cells(checks, type, u8, 3, 2048, 72, {.reduction = Reduction::kMul});
  }
  // More columns than threads.
  add_few_cells(checks, f32, i32, 70, 60001, 40, {.reduction = Reduction::kAdd});
  for (const OutOfRange rule :
       {OutOfRange::kClamp, OutOfRange::kWrap, OutOfRange::kSkip, OutOfRange::kFail}) {
    for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
      for (const DType index : {i64, u64}) {
        add_few_cells(checks, f32, index, 10, 2048, 48,
                      {.reduction = Reduction::kAdd, .rule = {negative, rule}});
      }
    }
  }
  return checks;
}

// The same with batches, gaps between rows, and indices that all columns share.
std::vector<DeviceCheck> layouts_of_few_cells() {
  std::vector<DeviceCheck> checks;
  const auto add = [&](const Plan& plan) {
    checks.push_back({plan, spread(12, plan.indices().dtype)});
  };
  for (const Reduction reduction : kFew) {
    const IndexRule skip{.out_of_range = OutOfRange::kSkip};
    const ScatterElementsOptions options{.axis = 1, .reduction = reduction, .rule = skip};
    add(plan_scatter_elements({f32, {30, 8, 90}}, {i64, {30, 48, 90}}, {f32, {30, 48, 90}},
                              options));
    add(plan_scatter({f32, {3000, 9}}, {i32, {400}}, {f32, {3000, 400}},
                     {.axis = 1, .reduction = reduction, .rule = skip}));
    for (const int64_t gap : {4, 1}) {
      const TensorSpec cells(f32, {2000, 9}, {2 * 9 + gap, 2});
      add(plan_scatter_elements(cells, {i64, {2000, 64}, {64 + gap, 1}},
                                {f32, {2000, 64}, {64 + gap, 1}}, cells, options));
    }
  }
  return checks;
}

// Columns too long for several of them to share a block: they are turned first.
std::vector<DeviceCheck> long_columns() {
  const auto plan = [](DType type, DType index, Reduction reduction) {
    return plan_scatter_elements({type, {9000, 301}}, {index, {2500, 301}}, {type, {2500, 301}},
                                 {.axis = 0, .reduction = reduction});
  };
  const Plan batches = plan_scatter_elements(
      {f32, {2, 9000, 260}}, {i64, {2, 2300, 260}}, {f32, {2, 2300, 260}},
      {.axis = 1, .reduction = Reduction::kAdd, .rule = {.out_of_range = OutOfRange::kSkip}});
  return {{plan(f32, i64, Reduction::kAdd), spread(9000, i64), 4},
          {plan(f16, i32, Reduction::kMul), spread(9000, i32), 2},
          {plan(u8, u16, Reduction::kMax), spread(9000, u16), 1},
          {batches, spread(11000, i64)}};
}

oracle::Wide anywhere(int64_t number, int64_t cells) {
  const uint64_t mixed = static_cast<uint64_t>(number) * 2654435761U >> 7;
  return oracle::Wide{static_cast<int64_t>(mixed) % cells};
}

// Lists of every length about those at which another kernel takes them, of cells of every width.
std::vector<DeviceCheck> long_lists() {
  const auto in_turn = [](int64_t number) { return oracle::Wide{number % 2}; };
  std::vector<DeviceCheck> checks;
  for (const int64_t columns : {1, 3, 16, 33, 100}) {
    for (const int64_t count : {127, 128, 129, 130, 255, 1025, 4097, 9000}) {
      for (const DType type : {f32, f64, bf16, c64}) {
        const Plan plan =
            plan_scatter({type, {2, columns}}, {i32, {2 * count}}, {type, {2 * count, columns}},
                         {.reduction = Reduction::kAdd});
        checks.push_back({plan, in_turn, columns == 33 ? 8u : 0u});
      }
    }
  }
  // Elements of every size, at addresses that are multiples of no more, and two loops over updates.
  for (const DType type : {u8, f16, f32, f64, c128}) {
    const auto shift = static_cast<size_t>(type == c128 ? 8 : type.bytes());
    for (const int64_t columns : {1, 7, 16, 67}) {
      const Plan plan = plan_scatter({type, {2, columns}}, {i32, {2900}}, {type, {2900, columns}},
                                     {.reduction = Reduction::kMul});
      checks.push_back({plan, in_turn, shift});
    }
    const TensorSpec turned(type, {50, 58, 16}, {16, 16 * 50, 1});
    checks.push_back(
        {plan_scatter({type, {2, 16}}, {i32, {50, 58}}, turned, {.reduction = Reduction::kMul}),
         in_turn});
  }
  // More groups of lists than a GPU has teams of warps, so that each takes several in turn.
  checks.push_back({plan_scatter({f32, {40, 400}}, {i32, {12000}}, {f32, {12000, 400}},
                                 {.reduction = Reduction::kAdd}),
                    spread(40, i32)});
  return checks;
}

// Long lists that are many, beside a huge one and short ones.
std::vector<DeviceCheck> many_long_lists() {
  constexpr int64_t kCells = 1500, kUpdates = 300'000;
  const auto uneven = [](int64_t number) {
    return number % 10 == 0   ? oracle::Wide{3}
           : number % 10 == 1 ? anywhere(number, kCells)
                              : anywhere(number, kCells - 200);
  };
  const auto plan = [](DType type, int64_t columns, Reduction reduction) {
    return plan_scatter({type, {kCells, columns}}, {i32, {kUpdates}}, {type, {kUpdates, columns}},
                        {.reduction = reduction});
  };
  const TensorSpec turned(f32, {500, 600, 16}, {16, 16 * 500, 1});
  const Plan some_skipped =
      plan_scatter({f32, {kCells - 50, 16}}, {i32, {kUpdates}}, {f32, {kUpdates, 16}},
                   {.reduction = Reduction::kSub, .rule = {.out_of_range = OutOfRange::kSkip}});
  return {
      {some_skipped, uneven},
      {plan(f32, 1, Reduction::kNone), uneven},
      {plan(f32, 16, Reduction::kAdd), uneven},
      {plan(f32, 20, Reduction::kMax), uneven},
      {plan(f16, 8, Reduction::kAdd), uneven},
      {plan(f64, 6, Reduction::kMul), uneven},
      {plan_scatter({f32, {kCells, 16}}, {i32, {500, 600}}, turned, {.reduction = Reduction::kMin}),
       uneven}};
}

constexpr int64_t kChained = 70000, kChainedCells = 30000, kMi = 1 << 20;

Plan chained_add(int64_t cells, int64_t updates, int64_t columns, IndexRule rule = {}) {
  return plan_scatter({f32, {cells, columns}}, {i64, {updates}}, {f32, {updates, columns}},
                      {.reduction = Reduction::kAdd, .rule = rule});
}

// Narrow updates of many cells, which are linked into chains. Chains of every length about those
// at which they are brought in order elsewhere, or left to the sort.
std::vector<DeviceCheck> chain_lengths() {
  std::vector<DeviceCheck> checks;
  for (const int64_t columns : {1, 4, 16}) {
    // Cell c has c + 1 updates, from all over; the others few, and some indices lead nowhere.
    checks.push_back(
        {chained_add(kChainedCells, kChained, columns, {.out_of_range = OutOfRange::kSkip}),
         [](int64_t number) {
           int64_t cell = 0, at = number * 7919 % kChained;
           while (cell < 100 && at > cell) {
             at -= ++cell;
           }
           return cell < 100 ? oracle::Wide{cell} : 100 + anywhere(number, kChainedCells);
         }});
    // Half of the updates of one cell: a sample shows it.
    checks.push_back({chained_add(kChainedCells, kChained, columns), [](int64_t number) {
                        return number % 2 == 0 ? oracle::Wide{7} : anywhere(number, kChainedCells);
                      }});
    // Neighbours lead to one cell, 40 and 100 of them: no sample shows the second.
    for (const int64_t length : {40, 100}) {
      checks.push_back({chained_add(kMi, kMi, columns),
                        [=](int64_t number) { return oracle::Wide{number / length}; }});
    }
    // 300 updates of one cell, out of order with the others.
    checks.push_back({chained_add(kMi, kMi, columns), [](int64_t number) {
                        return number % 3500 == 3 ? oracle::Wide{9} : anywhere(number, kMi);
                      }});
  }
  return checks;
}

std::vector<DeviceCheck> chains() {
  std::vector<DeviceCheck> checks = chain_lengths();
  for (const DType type : {f16, bf16, f32, f64}) {
    for (const Reduction reduction : oracle::kReductions) {
      const Plan plan = plan_scatter({type, {kChainedCells, 3}}, {i32, {kChained}},
                                     {type, {kChained, 3}}, {.reduction = reduction});
      checks.push_back(
          {plan, spread(kChainedCells, i32), static_cast<size_t>(type.bytes() < 8 ? 2 : 8) * 2});
    }
  }
  for (const OutOfRange rule :
       {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kSkip, OutOfRange::kWrap}) {
    checks.push_back({chained_add(kChainedCells, kChained, 2, {.out_of_range = rule}),
                      spread(kChainedCells + 10, i64)});
  }
  // One bad index, the last.
  checks.push_back({chained_add(kChainedCells, kChained, 4), [](int64_t number) {
                      return number + 1 == kChained ? oracle::Wide{kChainedCells}
                                                    : anywhere(number, kChainedCells);
                    }});
  // Two indices per update, and updates in another order than theirs, the same for all, reversed.
  const auto pairs = [](const TensorSpec& updates) {
    return plan_scatter_nd({f32, {300, 200}}, {i64, {260, 270, 2}}, updates,
                           {.reduction = Reduction::kSub});
  };
  checks.push_back({pairs({f32, {260, 270}, {1, 260}}), spread(200, i64), 4});
  checks.push_back({pairs({f32, {260, 270}, {0, 0}}), spread(200, i64)});
  checks.push_back({pairs({f32, {260, 270}, {-270, -1}}), spread(200, i64)});
  return checks;
}

// In any order, where the order does not show.
std::vector<DeviceCheck> relaxed() {
  std::vector<DeviceCheck> checks;
  for (const DType type : {i8, i16, i32, i64, u8, u16, u32, u64}) {
    for (const Reduction reduction : {Reduction::kAdd, Reduction::kMin, Reduction::kMax}) {
      for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kSkip}) {
        const Plan plan =
            plan_scatter({type, {31, 3}}, {i32, {999}}, {type, {999, 3}},
                         {.reduction = reduction, .relaxed = true, .rule = {.out_of_range = rule}});
        checks.push_back({plan, spread(31, i32), static_cast<size_t>(type.bytes())});
        checks.push_back({plan, spread(40, i32)});
      }
    }
  }
  return checks;
}

TEST_F(CudaScatterKernels, Rows) { run_all(rows()); }
TEST_F(CudaScatterKernels, Types) { run_all(types()); }
TEST_F(CudaScatterKernels, Forms) { run_all(forms()); }
TEST_F(CudaScatterKernels, Columns) { run_all(columns()); }
TEST_F(CudaScatterKernels, ColumnsOfFewCells) { run_all(columns_of_few_cells()); }
TEST_F(CudaScatterKernels, LayoutsOfFewCells) { run_all(layouts_of_few_cells()); }
TEST_F(CudaScatterKernels, LongColumns) { run_all(long_columns()); }
TEST_F(CudaScatterKernels, LongLists) { run_all(long_lists()); }
TEST_F(CudaScatterKernels, ManyLongLists) { run_all(many_long_lists()); }
TEST_F(CudaScatterKernels, Chains) { run_all(chains()); }
TEST_F(CudaScatterKernels, Relaxed) { run_all(relaxed()); }

TEST_F(CudaScatterKernels, Rules) {
  for (const DType type : kIndexTypes) {
    for (const OutOfRange rule :
         {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kSkip, OutOfRange::kWrap}) {
      for (const Reduction reduction : kFew) {
        for (const bool zeros : {false, true}) {
          const Plan plan = plan_scatter({f32, {50, 3}}, {type, {400}}, {f32, {400, 3}},
                                         {.reduction = reduction,
                                          .include_self = !zeros,
                                          .onto_zeros = zeros,
                                          .rule = {.out_of_range = rule}});
          DeviceCheck{plan, spread(75, type)}.run();
        }
      }
    }
  }
}

// What one run leaves in a workspace must not show in the next.
TEST_F(CudaScatterKernels, ChainsOneAfterTheOther) {
  const Plan plan = chained_add(kChainedCells, kChained, 1);
  const cuda::Workspace workspace(plan);
  CudaMemory indices(kChained * 8), updates(kChained * 4), output(kChainedCells * 4);
  const std::vector<float> ones(kChained, 1);
  updates.upload(ones.data(), updates.bytes());
  for (const int64_t cells : {int64_t{1}, kChainedCells, kChained / 100, kChainedCells}) {
    std::vector<int64_t> picked(kChained);
    std::vector<float> expected(kChainedCells), got(kChainedCells);
    for (int64_t i = 0; i < kChained; ++i) {
      picked[static_cast<size_t>(i)] = i % cells;
      expected[static_cast<size_t>(i % cells)] += 1;
    }
    indices.upload(picked.data(), indices.bytes());
    output.fill(std::byte{0}, output.bytes());
    cuda::run(plan, output.data(), indices.data(), updates.data(), output.data(), workspace,
              nullptr, {.kernel = "cuda.chained"});
    cuda::check(plan, workspace);
    output.download(got.data(), output.bytes());
    EXPECT_EQ(got, expected) << cells << " cells";
  }
}

TEST_F(CudaScatterKernels, NoKernelGoesUntried) {
  EXPECT_EQ(untried_kernels({rows(), types(), forms(), columns(), columns_of_few_cells(),
                             long_columns(), chains(), relaxed()}),
            std::set<std::string>());
}

}  // namespace
}  // namespace sheaf
