// SPDX-License-Identifier: MIT
//
// Every reason for which a scatter is refused, with its text.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "helpers/refusal.h"
#include "plan/request.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

const TensorSpec kData(f32, {3, 2});
const TensorSpec kIndices(i64, {4});
const TensorSpec kUpdates(f32, {4, 2});
const std::string kTensors = "  data f32[3, 2]   indices i64[4]   updates f32[4, 2]   axis 0";

std::string scatter_refusal(const TensorSpec& data, const TensorSpec& indices,
                            const TensorSpec& updates, const ScatterOptions& options = {}) {
  return refusal([&] { plan_scatter(data, indices, updates, options); });
}

// The command line has no need to say what follows from the other shapes.
TEST(InferScatterUpdates, AreComputedWhereNoneAreGiven) {
  Request r = request_from(Op::kScatter);
  r.data = kData;
  r.indices = kIndices;
  r.updates_given = false;
  EXPECT_EQ(make_plan(r).updates(), kUpdates);
  r.axis = 7;
  EXPECT_EQ(refusal([&] { make_plan(r); }),
            "scatter: axis out of range\n"
            "  axis = 7, but data has 2 dimensions (allowed -2..1)\n"
            "  data f32[3, 2]   indices i64[4]   axis 7\n"
            "  try: an axis from -2 to 1");
}

TEST(InferScatterRule, FillBelongsToGathersAndSkipToScatters) {
  EXPECT_EQ(
      scatter_refusal(kData, kIndices, kUpdates, {.rule = {.out_of_range = OutOfRange::kFill}}),
      "scatter: index rule of another operator\n"
      "  out_of_range = fill, but there is no output element to fill for an update that goes "
      "nowhere\n" +
          kTensors + "\n  try: out_of_range = skip");
  EXPECT_EQ(
      refusal([&] { plan_gather(kData, kIndices, {.rule = {.out_of_range = OutOfRange::kSkip}}); }),
      "gather: index rule of another operator\n"
      "  out_of_range = skip, but an output element has to come from somewhere\n"
      "  data f32[3, 2]   indices i64[4]   axis 0\n"
      "  try: out_of_range = fill");
}

TEST(InferScatterRule, ValuesOutsideTheEnumerationsAreRefused) {
  EXPECT_EQ(scatter_refusal(kData, kIndices, kUpdates,
                            {.rule = {.out_of_range = static_cast<OutOfRange>(6)}}),
            "scatter: unknown index rule\n"
            "  negative = 0 and out_of_range = 6, but 0..1 and 0..5 have a meaning\n" +
                kTensors + "\n  try: one of the named rules");
  EXPECT_EQ(scatter_refusal(kData, kIndices, kUpdates, {.reduction = static_cast<Reduction>(7)}),
            "scatter: unknown reduction\n"
            "  reduction = 7, but 0..6 have a meaning\n" +
                kTensors + "   reduction unknown\n  try: one of the named reductions");
}

TEST(InferReduction, HasToFitTheType) {
  const auto text = [](DType type, Reduction reduction) {
    return scatter_refusal({type, {3}}, {i64, {4}}, {type, {4}}, {.reduction = reduction});
  };
  EXPECT_EQ(text(opaque(24), Reduction::kAdd),
            "scatter: reduction does not fit the type\n"
            "  reduction = add on opaque24: opaque elements are only ever copied\n"
            "  data opaque24[3]   indices i64[4]   updates opaque24[4]   axis 0   reduction add\n"
            "  try: another type, or reduction = none");
  EXPECT_EQ(text(i4, Reduction::kMax),
            "scatter: reduction does not fit the type\n"
            "  reduction = max on i4: integers of less than a byte are only ever copied\n"
            "  data i4[3]   indices i64[4]   updates i4[4]   axis 0   reduction max\n"
            "  try: another type, or reduction = none");
  EXPECT_EQ(text(c64, Reduction::kMax),
            "scatter: reduction does not fit the type\n"
            "  reduction = max on c64: complex numbers have no order\n"
            "  data c64[3]   indices i64[4]   updates c64[4]   axis 0   reduction max\n"
            "  try: add, sub, mul, mean or none");
  EXPECT_EQ(text(boolean, Reduction::kMean),
            "scatter: reduction does not fit the type\n"
            "  reduction = mean on bool: a bool cannot hold a mean\n"
            "  data bool[3]   indices i64[4]   updates bool[4]   axis 0   reduction mean\n"
            "  try: another type, or reduction = none");
  for (const Reduction reduction : {Reduction::kAdd, Reduction::kSub, Reduction::kMul,
                                    Reduction::kMin, Reduction::kMax, Reduction::kMean}) {
    EXPECT_EQ(text(opaque(1), reduction).find("scatter: reduction does not fit the type\n"), 0u);
  }
  EXPECT_EQ(text(c128, Reduction::kMin).find("scatter: reduction does not fit the type\n"), 0u);
  EXPECT_NO_THROW(plan_scatter({opaque(24), {3}}, {i64, {4}}, {opaque(24), {4}}));
  EXPECT_NO_THROW(
      plan_scatter({boolean, {3}}, {i64, {4}}, {boolean, {4}}, {.reduction = Reduction::kMax}));
}

TEST(InferUpdates, HaveTheTypeOfData) {
  EXPECT_EQ(scatter_refusal(kData, kIndices, {f64, {4, 2}}),
            "scatter: types differ\n"
            "  updates is f64, but data is f32\n"
            "  data f32[3, 2]   indices i64[4]   updates f64[4, 2]   axis 0\n"
            "  try: updates of type f32; nothing is converted");
  EXPECT_EQ(scatter_refusal(kData, kIndices, {DType(Kind::kFloat32, 3), {4, 2}})
                .find("scatter: unknown element type\n  updates has elements of kind"),
            0u);
}

TEST(InferUpdates, HaveTheShapeThatAGatherWouldMake) {
  EXPECT_EQ(scatter_refusal(kData, kIndices, {f32, {2, 4}}),
            "scatter: updates have the wrong shape\n"
            "  updates is [2, 4], but this call takes [4, 2]\n"
            "  data f32[3, 2]   indices i64[4]   updates f32[2, 4]   axis 0\n"
            "  try: updates of shape [4, 2]");
  const auto shape = [](const TensorSpec& data, const Dims& indices, const Dims& updates,
                        const ScatterOptions& options) {
    return scatter_refusal(data, {i64, indices}, {f32, updates}, options);
  };
  EXPECT_NE(shape({f32, {2, 3, 5}}, {2, 7}, {2, 7}, {.axis = 1, .batch_dims = 1})
                .find("this call takes [2, 7, 5]"),
            std::string::npos);
  EXPECT_EQ(refusal([] {
              plan_scatter_elements({f32, {3, 5}}, {i64, {2, 5}}, {f32, {3, 5}});
            }),
            "scatter_elements: updates have the wrong shape\n"
            "  updates is [3, 5], but this call takes [2, 5]\n"
            "  data f32[3, 5]   indices i64[2, 5]   updates f32[3, 5]   axis 0\n"
            "  try: updates of shape [2, 5]");
  EXPECT_EQ(refusal([] {
              plan_scatter_nd({f32, {3, 5}}, {i64, {4, 1}}, {f32, {4}});
            }),
            "scatter_nd: updates have the wrong shape\n"
            "  updates is [4], but this call takes [4, 5]\n"
            "  data f32[3, 5]   indices i64[4, 1]   updates f32[4]\n"
            "  try: updates of shape [4, 5]");
}

TEST(InferUpdates, AreATensorLikeAnyOther) {
  EXPECT_EQ(scatter_refusal(kData, kIndices, {f32, {4, 2}, {2}}),
            "scatter: strides do not match sizes\n"
            "  updates has 2 sizes but 1 strides\n"
            "  data f32[3, 2]   indices i64[4]   updates f32[4, 2] strides [2]   axis 0\n"
            "  try: give one stride, in elements, for each dimension");
  EXPECT_EQ(scatter_refusal(kData, kIndices, {f32, {4, -2}, {1, 1}})
                .find("scatter: negative size\n  updates.sizes[1] = -2, but sizes are 0 or more"),
            0u);
  EXPECT_EQ(scatter_refusal(kData, kIndices, {f32, {4, 2}, {INT64_MAX, 1}})
                .find("scatter: tensor too large\n  the strides of updates reach further"),
            0u);
}

TEST(InferScatterElements, NamesWhatAScatterHas) {
  EXPECT_EQ(refusal([] {
              plan_scatter_elements({f32, {3, 5}}, {i64, {2}}, {f32, {2}});
            }),
            "scatter_elements: ranks differ\n"
            "  indices has 1 dimension, but data has 2\n"
            "  data f32[3, 5]   indices i64[2]   updates f32[2]   axis 0\n"
            "  try: indices of the same rank as data; to write whole slices use scatter");
  EXPECT_EQ(refusal([] {
              plan_scatter_elements({f32, {3, 5}}, {i64, {2, 6}}, {f32, {2, 6}});
            }),
            "scatter_elements: shapes do not fit\n"
            "  dimension 1 of indices has 6 entries, but data has 5 there\n"
            "  data f32[3, 5]   indices i64[2, 6]   updates f32[2, 6]   axis 0\n"
            "  try: indices no larger than data off the axis");
}

TEST(InferScatter, RefusesTooManyDimensionsOfUpdates) {
  EXPECT_NE(scatter_refusal({f32, Dims(20, 1)}, {i64, Dims(20, 1)}, {f32, {1}})
                .find("\n  the updates would have 39 dimensions, but at most 32 are supported\n"),
            std::string::npos);
}

TEST(InferScatterOutput, IsDataAgain) {
  const auto output = [](const TensorSpec& spec) {
    return refusal([&] { plan_scatter(kData, kIndices, kUpdates, spec); });
  };
  EXPECT_EQ(output({f32, {4, 2}}),
            "scatter: output has the wrong shape\n"
            "  output is [4, 2], but this call makes [3, 2]\n" +
                kTensors + "   output f32[4, 2]\n  try: an output of shape [3, 2]");
  EXPECT_EQ(output({i32, {3, 2}}),
            "scatter: types differ\n"
            "  output is i32, but data is f32\n" +
                kTensors +
                "   output i32[3, 2]\n  try: an output of type f32; nothing is converted");
  EXPECT_EQ(output({f32, {3, 2}, {1, 1}}),
            "scatter: output overlaps itself\n"
            "  strides [1, 1] place several elements in one spot\n" +
                kTensors +
                "   output f32[3, 2] strides [1, 1]\n"
                "  try: an output whose strides keep its elements apart");
  // Data may overlap itself: it is only read. The output then is too large to be packed.
  EXPECT_EQ(refusal([] {
              plan_scatter({f64, {int64_t{1} << 61}, {0}}, {i64, {1}}, {f64, {1}});
            }),
            "scatter: output too large\n"
            "  the output would be f64[2305843009213693952]: more than 2^63 - 1 bytes\n"
            "  data f64[2305843009213693952] strides [0]   indices i64[1]   updates f64[1]   axis "
            "0\n"
            "  try: smaller data");
}

TEST(InferScatter, AnEmptyAxisTakesNoUpdate) {
  const auto plan = [](OutOfRange rule) {
    return plan_scatter({f32, {0, 2}}, {i64, {4}}, {f32, {4, 2}}, {.rule = {.out_of_range = rule}});
  };
  for (const OutOfRange rule :
       {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kWrap, OutOfRange::kTrust}) {
    const IndexError error = index_error([&] { plan(rule); });
    EXPECT_EQ(error.bad_count(), 4);
    EXPECT_EQ(std::string(error.what()),
              "scatter: index into an empty axis\n"
              "  axis 0 of data has no entries, but there 4 indices are given\n"
              "  data f32[0, 2]   indices i64[4]   updates f32[4, 2]   axis 0   output f32[0, 2]\n"
              "  try: no indices, or data with entries on this axis");
  }
  const std::vector<int64_t> indices = {0, -1, 5, INT64_MIN};
  const std::vector<float> updates(8, 1);
  EXPECT_NO_THROW(plan(OutOfRange::kSkip).run(nullptr, indices.data(), updates.data(), nullptr));
}

// data [batch 2, inserted 4, window 5], indices [batch 2, grid 3, tuple 2], updates [2, 3, 2]
struct XlaCall {
  Dims data = {2, 4, 5};
  Dims updates = {2, 3, 2};
  XlaScatterOptions options = {.update_window_dims = {2},
                               .inserted_window_dims = {1},
                               .input_batching_dims = {0},
                               .scatter_indices_batching_dims = {0},
                               .scatter_dims_to_operand_dims = {1, 2},
                               .index_vector_dim = 2};

  Plan plan() const {
    return plan_xla_scatter({f32, data}, {i64, {2, 3, 2}}, {f32, updates}, options);
  }
  // Lines 1, 2 and 4 of the refusal.
  std::string text() const {
    std::string all = refusal([&] { plan(); });
    const size_t third = all.find("\n  data ");
    EXPECT_NE(third, std::string::npos) << all;
    all.erase(third, all.find('\n', third + 1) - third);
    return all;
  }
};

TEST(InferXlaScatter, UsesTheWordsOfTheScatter) {
  EXPECT_NO_THROW(XlaCall().plan());
  XlaCall call;
  call.updates = {2, 3};
  EXPECT_EQ(call.text(),
            "xla_scatter: updates have the wrong rank\n"
            "  updates has 2 dimensions, but the indices and update_window_dims make 3\n"
            "  try: updates of 3 dimensions");
  call.updates = {2, 3, 6};
  EXPECT_EQ(call.text(),
            "xla_scatter: window larger than data\n"
            "  updates have windows of 6 on axis 2 of data, which has 5 entries\n"
            "  try: updates whose windows fit into data");
  call.updates = {2, 4, 2};
  EXPECT_EQ(call.text(),
            "xla_scatter: updates have the wrong shape\n"
            "  updates is [2, 4, 2], but this call takes [2, 3, 2]\n"
            "  try: updates of shape [2, 3, 2]");
  call = {};
  call.options.update_window_dims = {3};
  EXPECT_EQ(call.text(),
            "xla_scatter: update_window_dims out of range\n"
            "  update_window_dims[0] = 3, but it names one of 3 dimensions (allowed 0..2)\n"
            "  try: dimensions that exist");
  call = {};
  call.options.inserted_window_dims = {0};
  EXPECT_EQ(call.text(),
            "xla_scatter: inserted_window_dims meets input_batching_dims\n"
            "  dimension 0 is in both\n"
            "  try: each dimension in one of the two");
  call = {};
  call.options.scatter_indices_batching_dims = {};
  EXPECT_EQ(call.text(),
            "xla_scatter: scatter_indices_batching_dims has the wrong length\n"
            "  scatter_indices_batching_dims has 0 entries, but needs 1 (one for each of "
            "input_batching_dims)\n"
            "  try: a list of 1");
  call = {};
  call.options.scatter_dims_to_operand_dims = {1};
  EXPECT_EQ(call.text(),
            "xla_scatter: scatter_dims_to_operand_dims has the wrong length\n"
            "  scatter_dims_to_operand_dims has 1 entry, but needs 2 (one for each component of an "
            "index tuple)\n"
            "  try: a list of 2");
  call = {};
  call.options.inserted_window_dims = {};
  EXPECT_EQ(call.text(),
            "xla_scatter: update_window_dims has the wrong length\n"
            "  update_window_dims has 1 entry, but needs 2 (one for each dimension of data that is "
            "neither inserted nor batching)\n"
            "  try: a list of 2");
}

// Without an index the one place of an inserted dimension has to be there.
TEST(InferXlaScatter, AnInsertedDimensionWithoutIndexIsNotEmpty) {
  const auto plan = [](const Dims& updates, const Dims& map) {
    return plan_xla_scatter({f32, {0, 3}}, {i64, {1, map.size()}}, {f32, updates},
                            {.update_window_dims = {1},
                             .inserted_window_dims = {0},
                             .scatter_dims_to_operand_dims = map,
                             .index_vector_dim = 1});
  };
  EXPECT_NE(refusal([&] {
              plan({1, 2}, {1});
            })
                .find("window larger than data\n  updates have windows of 1 on axis 0 of data, "
                      "which has 0 entries\n"),
            std::string::npos);
  EXPECT_NO_THROW(plan({1, 0}, {1})) << "no update needs a place";
  EXPECT_NO_THROW(plan({1, 2}, {0})) << "skipped";
}

}  // namespace
}  // namespace sheaf
