// SPDX-License-Identifier: MIT
//
// The last checks before a scatter runs, and what it leaves alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

const std::string kTensors =
    "  data f32[3, 2]   indices i64[2]   updates f32[2, 2]   axis 0   output f32[3, 2]\n";

class ScatterRun : public testing::Test {
 protected:
  const Plan plan = plan_scatter({f32, {3, 2}}, {i64, {2}}, {f32, {2, 2}});
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> indices = {2, 0};
  const std::vector<float> updates = {10, 20, 30, 40};
  std::vector<float> output = std::vector<float>(6, -1);
  const std::vector<float> untouched = output;
  const std::vector<float> scattered = {30, 40, 3, 4, 10, 20};
};

TEST_F(ScatterRun, RefusesNullPointers) {
  const auto text = [](const std::string& tensor) {
    return "scatter: null pointer\n  " + tensor + " has elements, but its pointer is null\n" +
           kTensors + "  try: pass the tensor's memory";
  };
  const void *d = data.data(), *i = indices.data(), *u = updates.data();
  EXPECT_EQ(refusal([&] { plan.run(nullptr, i, u, output.data()); }), text("data"));
  EXPECT_EQ(refusal([&] { plan.run(d, nullptr, u, output.data()); }), text("indices"));
  EXPECT_EQ(refusal([&] { plan.run(d, i, nullptr, output.data()); }), text("updates"));
  EXPECT_EQ(refusal([&] { plan.run(d, i, u, nullptr); }), text("output"));
  EXPECT_EQ(output, untouched);
}

TEST_F(ScatterRun, TakesNullForWhatIsEmptyOrNotRead) {
  EXPECT_NO_THROW(plan_scatter({f32, {3, 0}}, {i64, {2}}, {f32, {2, 0}})
                      .run(nullptr, indices.data(), nullptr, nullptr));
  plan_scatter({f32, {3, 2}}, {i64, {0}}, {f32, {0, 2}})
      .run(data.data(), nullptr, nullptr, output.data());
  EXPECT_EQ(output, data);
  plan_scatter({f32, {3, 2}}, {i64, {2}}, {f32, {2, 2}}, {.onto_zeros = true})
      .run(nullptr, indices.data(), updates.data(), output.data());
  EXPECT_EQ(output, (std::vector<float>{30, 40, 0, 0, 10, 20}));
  // Zero-length tuples: every update goes to all of data.
  plan_scatter_nd({f32, {2}}, {i64, {2, 0}}, {f32, {2, 2}})
      .run(data.data(), nullptr, updates.data(), output.data());
  EXPECT_EQ(output[0], 30);
  EXPECT_EQ(output[1], 40);
}

TEST_F(ScatterRun, RefusesTheCallOfTheOtherKind) {
  EXPECT_EQ(refusal([&] { plan.run(data.data(), indices.data(), output.data()); }),
            "scatter: plan of another operator\n"
            "  this is a scatter, but it was run as a gather\n" +
                kTensors + "  try: run(data, indices, updates, output)");
  const Plan gathers = plan_gather({f32, {3, 2}}, {i64, {2}});
  EXPECT_EQ(
      refusal([&] { gathers.run(data.data(), indices.data(), updates.data(), output.data()); }),
      "gather: plan of another operator\n"
      "  this is a gather, but it was run as a scatter\n"
      "  data f32[3, 2]   indices i64[2]   axis 0   output f32[2, 2]\n"
      "  try: run(data, indices, output)");
  EXPECT_EQ(output, untouched);
}

TEST_F(ScatterRun, RefusesOutputsThatOverlapInputs) {
  std::vector<float> shared(16, 7);
  const std::vector<float> before = shared;
  const auto text = [](const std::string& tensor) {
    return "scatter: output overlaps an input\n  output and " + tensor + " share memory\n" +
           kTensors + "  try: a separate output, then copy it back";
  };
  EXPECT_EQ(
      refusal([&] { plan.run(data.data(), indices.data(), shared.data() + 5, shared.data()); }),
      text("updates"));
  EXPECT_EQ(
      refusal([&] { plan.run(shared.data() + 1, indices.data(), updates.data(), shared.data()); }),
      text("data"))
      << "partly the same memory";
  std::array<int64_t, 8> numbers = {2, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(refusal([&] { plan.run(data.data(), numbers.data(), updates.data(), numbers.data()); }),
            text("indices"));
  EXPECT_EQ(shared, before);
  // Beside each other is fine, and so are data and updates in one place.
  plan.run(shared.data() + 6, indices.data(), shared.data() + 6, shared.data());
  EXPECT_EQ(shared, before);
}

TEST_F(ScatterRun, RefusesOtherStridesInTheSamePlace) {
  // As if data were transposed: in place it would be read after it was written.
  const Plan turned = plan_scatter({f32, {2, 2}, {1, 2}}, {i64, {2}}, {f32, {2, 2}});
  std::vector<float> square = {1, 2, 3, 4};
  EXPECT_EQ(refusal([&] {
              turned.run(square.data(), indices.data(), updates.data(), square.data());
            }).find("scatter: output overlaps an input\n  output and data share memory\n"),
            0u);
  // Strides that are never used do not count.
  const Plan padded = plan_scatter({f32, {1, 3}, {77, 1}}, {i64, {1}}, {f32, {1, 1}}, {.axis = 1});
  padded.run(square.data(), indices.data(), updates.data(), square.data());
  EXPECT_EQ(square, (std::vector<float>{1, 2, 10, 4}));
  // What is not read may lie anywhere.
  const Plan zeros =
      plan_scatter({f32, {2, 2}, {1, 2}}, {i64, {1}}, {f32, {1, 2}}, {.onto_zeros = true});
  const std::vector<int64_t> first = {1};
  zeros.run(square.data() + 1, first.data(), updates.data(), square.data());
  EXPECT_EQ(square, (std::vector<float>{0, 0, 10, 20}));
}

TEST_F(ScatterRun, InPlaceIsTheSameAsOutOfPlace) {
  for (const std::string& kernel : accepting_kernels(plan)) {
    plan.run(data.data(), indices.data(), updates.data(), output.data(), {.kernel = kernel});
    EXPECT_EQ(output, scattered) << kernel;
    std::vector<float> both = data;
    plan.run(both.data(), indices.data(), updates.data(), both.data(), {.kernel = kernel});
    EXPECT_EQ(both, scattered) << kernel;
  }
}

TEST_F(ScatterRun, LeavesTheOutputAloneOnABadIndex) {
  const std::vector<int64_t> bad = {2, 3};
  for (const std::string& kernel : accepting_kernels(plan)) {
    const IndexError error = index_error([&] {
      plan.run(data.data(), bad.data(), updates.data(), output.data(), {.kernel = kernel});
    });
    EXPECT_EQ(error.position(), (Dims{1})) << kernel;
    EXPECT_EQ(error.what(),
              "scatter: index out of range\n"
              "  indices[1] = 3, but axis 0 of data has 3 entries (allowed -3..2); 1 of 2 indices "
              "are out of range\n" +
                  kTensors +
                  "  try: out_of_range = clamp or skip;  picture: sheaf explain 'scatter f32[3,2] "
                  "i64[2]={0,3} f32[2,2] axis=0'");
    EXPECT_EQ(output, untouched) << kernel;
  }
  const Plan empty = plan_scatter({f32, {3, 0}}, {i64, {2}}, {f32, {2, 0}});
  index_error([&] { empty.run(nullptr, bad.data(), nullptr, nullptr); });
}

TEST_F(ScatterRun, LeavesGapsInTheOutputAlone) {
  const Plan gaps = plan_scatter({f32, {3, 2}}, {i64, {2}}, {f32, {2, 2}}, {f32, {3, 2}, {-3, 1}},
                                 {.reduction = Reduction::kMean, .include_self = false});
  for (const std::string& kernel : accepting_kernels(gaps)) {
    std::vector<float> rows(9, -1);
    gaps.run(data.data(), indices.data(), updates.data(), rows.data() + 6, {.kernel = kernel});
    EXPECT_EQ(rows, (std::vector<float>{10, 20, -1, 3, 4, -1, 30, 40, -1})) << kernel;
  }
}

// Indices that repeat by a stride of 0 mean what they mean written out, whether or not they cover
// the rows of data.
TEST(ScatterMean, RepeatedIndicesMeanWhatTheyDoWrittenOut) {
  const std::vector<int64_t> once = {2, 0, 2, 2};
  for (const int64_t width : {3, 2}) {
    for (const bool include_self : {true, false}) {
      const ScatterElementsOptions mean{.reduction = Reduction::kMean,
                                        .include_self = include_self};
      const TensorSpec data_spec(f32, {4, 3}), updates_spec(f32, {4, width});
      std::vector<float> data(12), updates(static_cast<size_t>(4 * width));
      std::iota(data.begin(), data.end(), 1.0F);
      std::iota(updates.begin(), updates.end(), 100.0F);
      std::vector<int64_t> written_out;
      for (const int64_t index : once) {
        written_out.insert(written_out.end(), static_cast<size_t>(width), index);
      }
      const Plan repeated =
          plan_scatter_elements(data_spec, {i64, {4, width}, {1, 0}}, updates_spec, mean);
      const Plan full = plan_scatter_elements(data_spec, {i64, {4, width}}, updates_spec, mean);
      std::vector<float> expected(12);
      full.run(data.data(), written_out.data(), updates.data(), expected.data(),
               {.kernel = "reference"});
      for (const std::string& kernel : accepting_kernels(repeated)) {
        std::vector<float> output(12);
        repeated.run(data.data(), once.data(), updates.data(), output.data(), {.kernel = kernel});
        EXPECT_EQ(output, expected) << kernel << " " << width << " " << include_self;
      }
    }
  }
}

TEST_F(ScatterRun, RefusesTensorsItWasNotMadeFor) {
  const std::vector<float> flat(4);
  EXPECT_EQ(refusal([&] {
              plan.run(view(data, {3, 2}), view(indices), view(flat), view(output, {3, 2}));
            }),
            "scatter: updates differs from the plan's\n"
            "  got f32[4], planned for f32[2, 2]\n" +
                kTensors + "  try: a plan for these tensors, or these strides");
  plan.run(view(data, {3, 2}), view(indices), view(updates, {2, 2}), view(output, {3, 2}));
  EXPECT_EQ(output, scattered);
}

TEST_F(ScatterRun, RefusesKernelsThatAreNotThere) {
  EXPECT_EQ(refusal(
                [&] {
                  plan.run(data.data(), indices.data(), updates.data(), output.data(),
                           {.kernel = "abacus"});
                },
                ErrorCode::kUnsupported),
            "scatter: no such kernel\n"
            "  \"abacus\" names no scatter kernel of this build\n" +
                kTensors + "  try: another kernel; sheaf doctor lists the backends");
  EXPECT_EQ(kernels_for(plan).back().name, "reference.loops");
  EXPECT_EQ(kernel_name(plan, {.kernel = "reference"}), "reference.loops");
}

TEST(ScatterOneShot, WritesIntoTheOutputGiven) {
  std::vector<float> table = {1, 2, 3, 4, 5, 6};
  const std::vector<int32_t> indices = {1, 0};
  const std::vector<float> updates = {10, 20, 30, 40, 50, 60};
  scatter(view(table, {3, 2}), view(indices), view(updates, {3, 2}), view(table, {3, 2}),
          {.axis = 1, .reduction = Reduction::kAdd});
  EXPECT_EQ(table, (std::vector<float>{21, 12, 43, 34, 65, 56}));
  scatter_elements(view(table, {3, 2}), view(indices, {1, 2}),
                   view(std::vector<float>{-1, -2}, {1, 2}), view(table, {3, 2}));
  EXPECT_EQ(table, (std::vector<float>{21, -2, -1, 34, 65, 56}));
  scatter_nd(view(table, {3, 2}), view(indices), view(std::vector<float>{7}, {}),
             view(table, {3, 2}));
  EXPECT_EQ(table[2], 7);
  xla_scatter(view(table, {3, 2}), view(indices), view(std::vector<float>{8, 9}, {2, 1}),
              view(table, {3, 2}),
              {.update_window_dims = {0, 1}, .scatter_dims_to_operand_dims = {0, 1}});
  EXPECT_EQ(table, (std::vector<float>{21, -2, 8, 34, 9, 56}));
}

TEST(ScatterOneShot, MakesAnArray) {
  const std::vector<float> table = {1, 2, 3, 4};
  const std::vector<int8_t> indices = {-1, 0};
  const std::vector<float> updates = {10, 20, 30, 40};
  const auto values = [](const Array& array) {
    const auto all = array.elements<float>();
    return std::vector<float>(all.begin(), all.end());
  };
  EXPECT_EQ(values(scatter(view(table, {2, 2}), view(indices), view(updates, {2, 2}))),
            (std::vector<float>{30, 40, 10, 20}));
  EXPECT_EQ(values(scatter_elements(view(table, {2, 2}), view(indices, {1, 2}),
                                    view(std::vector<float>{10, 20}, {1, 2}))),
            (std::vector<float>{1, 20, 10, 4}));
  EXPECT_EQ(values(scatter_nd(view(table), view(indices, {2, 1}), view(std::vector<float>{5, 6}))),
            (std::vector<float>{6, 2, 3, 5}));
  EXPECT_EQ(
      values(xla_scatter(view(table), view(std::vector<int8_t>{3}), view(std::vector<float>{5, 6}),
                         {.update_window_dims = {0}, .scatter_dims_to_operand_dims = {0}})),
      (std::vector<float>{1, 2, 3, 5}))
      << "the second element of the window is outside";
  EXPECT_THROW(scatter(view(table), view(std::vector<int8_t>{4}), view(std::vector<float>{1})),
               IndexError);
}

}  // namespace
}  // namespace sheaf
