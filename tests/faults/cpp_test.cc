// SPDX-License-Identifier: MIT
//
// The C++ calls: one-shot, planned, and everything a plan can be asked for.
#include "faults/each_allocation.h"
#include "plan/reductions.h"
#include "sheaf/sheaf.h"

namespace sheaf::faults {
namespace {

const std::vector<float> kData = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // 4 rows of 3
const std::vector<int64_t> kRows = {3, 0};
const std::vector<int64_t> kElements = {3, 0, 1, 2, 2, 2};
const std::vector<int64_t> kTuples = {3, 0, 1, 2};
const std::vector<float> kUpdates = {20, 21, 22, 23, 24, 25};
const std::vector<float> kTwo = {20, 21};

ConstTensor data() { return view(kData, {4, 3}); }
ConstTensor rows() { return view(kRows); }
ConstTensor elements() { return view(kElements, {2, 3}); }
ConstTensor tuples() { return view(kTuples, {2, 2}); }
ConstTensor updates() { return view(kUpdates, {2, 3}); }
Tensor tensor(Output& output, const Dims& sizes) { return {output, {f32, sizes}}; }

void keep(const Array& array, Output& output) {
  const auto values = array.elements<float>();
  std::copy(values.begin(), values.end(), output);
}

const XlaGatherOptions kXlaGather{.offset_dims = {1},
                                  .collapsed_slice_dims = {0},
                                  .start_index_map = {0},
                                  .index_vector_dim = 1,
                                  .slice_sizes = {1, 3}};
const XlaScatterOptions kXlaScatter{.update_window_dims = {1},
                                    .inserted_window_dims = {0},
                                    .scatter_dims_to_operand_dims = {0},
                                    .index_vector_dim = 1,
                                    .reduction = Reduction::kAdd};

TEST(OutOfMemoryEverywhere, Gathers) {
  EXPECT_GT(fail_each_allocation("gather",
                                 [](Output& o) {
                                   gather(data(), rows(), tensor(o, {2, 3}));
                                 }),
            0);
  fail_each_allocation("gather, new", [](Output& o) { keep(gather(data(), rows()), o); });
  fail_each_allocation("gather_elements", [](Output& o) {
    gather_elements(data(), elements(), tensor(o, {2, 3}));
  });
  fail_each_allocation("gather_elements, new",
                       [](Output& o) { keep(gather_elements(data(), elements()), o); });
  fail_each_allocation("gather_nd", [](Output& o) { gather_nd(data(), tuples(), tensor(o, {2})); });
  fail_each_allocation("gather_nd, new", [](Output& o) { keep(gather_nd(data(), tuples()), o); });
  fail_each_allocation("gather, fill", [](Output& o) {
    gather(data(), rows(), tensor(o, {2, 3}),
           {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 5}});
  });
  fail_each_allocation("xla_gather", [](Output& o) {
    xla_gather(data(), rows(), tensor(o, {2, 3}), kXlaGather);
  });
  fail_each_allocation("xla_gather, new",
                       [](Output& o) { keep(xla_gather(data(), rows(), kXlaGather), o); });
}

// Two bags of the rows 0..3 and their gradients: all pools that sort, pick or divide.
TEST(OutOfMemoryEverywhere, BagsAndTheirGradients) {
  const std::vector<int64_t> offsets = {0, 2};
  const BagTensors tensors{data(), view(kTuples), view(offsets), std::nullopt};
  const ConstTensor gradient = view(kUpdates, {2, 3});
  for (const auto pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
    const BagOptions options{.pool = pool};
    fail_each_allocation("bag", [&](Output& o) { bag(tensors, tensor(o, {2, 3}), options); });
    fail_each_allocation(
        "bag gradient", [&](Output& o) { keep(bag_data_gradient(tensors, gradient, options), o); });
    fail_each_allocation("bag gradient, rows", [&](Output& o) {
      keep(bag_row_gradient(tensors, gradient, options).values, o);
    });
  }
}

TEST(OutOfMemoryEverywhere, Experts) {
  const ConstTensor experts = view(kTuples, {4, 1});
  fail_each_allocation("moe", [&](Output& o) {
    const MoePermuted sent = moe_permute(data(), experts, {.experts = 4});
    keep(moe_unpermute(sent.rows.tensor(), sent.inverse.tensor()), o);
  });
}

TEST(OutOfMemoryEverywhere, Scatters) {
  for (const ReductionRow& row : kReductions) {
    const Reduction reduction = row.value;
    for (const bool include_self : {true, false}) {
      const ScatterOptions options{.reduction = reduction, .include_self = include_self};
      fail_each_allocation("scatter", [&](Output& o) {
        scatter(data(), rows(), updates(), tensor(o, {4, 3}), options);
      });
      fail_each_allocation(
          "scatter, new", [&](Output& o) { keep(scatter(data(), rows(), updates(), options), o); });
      fail_each_allocation("scatter_elements", [&](Output& o) {
        scatter_elements(data(), elements(), updates(), tensor(o, {4, 3}),
                         {.reduction = reduction, .include_self = include_self});
      });
      fail_each_allocation("scatter_nd", [&](Output& o) {
        scatter_nd(data(), tuples(), view(kTwo), tensor(o, {4, 3}),
                   {.reduction = reduction, .include_self = include_self});
      });
    }
    fail_each_allocation("scatter onto zeros", [&](Output& o) {
      scatter({nullptr, {f32, {4, 3}}}, rows(), updates(), tensor(o, {4, 3}),
              {.reduction = reduction, .onto_zeros = true});
    });
  }
  fail_each_allocation("xla_scatter", [](Output& o) {
    xla_scatter(data(), rows(), updates(), tensor(o, {4, 3}), kXlaScatter);
  });
}

// Narrow floats that accumulate in f32 need copies of both tensors.
TEST(OutOfMemoryEverywhere, ScattersInF32) {
  const std::vector<uint16_t> half(12, 0x3C00);
  EXPECT_GT(fail_each_allocation("scatter of f16",
                                 [&](Output& o) {
                                   scatter({half.data(), {f16, {4, 3}}}, rows(),
                                           {half.data(), {f16, {2, 3}}}, {o, {f16, {4, 3}}},
                                           {.reduction = Reduction::kAdd, .accumulate_f32 = true});
                                 }),
            2);
}

TEST(OutOfMemoryEverywhere, Plans) {
  const Plan plan = plan_gather(data().spec, rows().spec);
  const Plan mean =
      plan_scatter(data().spec, rows().spec, updates().spec, {.reduction = Reduction::kMean});
  fail_each_allocation("run", [&](Output& o) { plan.run(kData.data(), kRows.data(), o); });
  fail_each_allocation("run on a queue", [&](Output& o) {
    run(plan, kData.data(), kRows.data(), o, {.threads = 2});
  });
  fail_each_allocation(
      "run a mean", [&](Output& o) { mean.run(kData.data(), kRows.data(), kUpdates.data(), o); });
  fail_each_allocation("plan and vjp", [&](Output&) { vjp(plan); });
  fail_each_allocation("str", [&](Output&) { static_cast<void>(plan.str()); });
  fail_each_allocation("json", [&](Output&) { static_cast<void>(mean.json()); });
  fail_each_allocation("kernels_for", [&](Output&) { kernels_for(plan); });
  fail_each_allocation("kernel_name", [&](Output&) { static_cast<void>(kernel_name(plan)); });
  fail_each_allocation("backend_names", [&](Output&) { backend_names(); });
  fail_each_allocation("element_map", [&](Output&) { element_map(plan, rows()); });
}

// What is refused is refused, or reported as a lack of memory for the text.
TEST(OutOfMemoryEverywhere, Refusals) {
  const std::vector<int64_t> bad = {0, 9};
  for (int allowed = 0; allowed < 1000; ++allowed) {
    Output output;
    clear(output);
    allow_allocations(allowed);
    const End end = end_of(
        [&](Output& o) {
          gather(data(), view(bad), tensor(o, {2, 3}));
        },
        output);
    allow_allocations(-1);
    EXPECT_TRUE(untouched(output));
    if (end == End::kOther) {
      return;  // an IndexError
    }
    EXPECT_EQ(end, End::kOutOfMemory);
  }
  ADD_FAILURE() << "never refused";
}

}  // namespace
}  // namespace sheaf::faults
