// SPDX-License-Identifier: MIT
//
// ONNX has no calls of its own here: its scatters are Sheaf's, with Sheaf's defaults. Each test
// holds one sentence of the specification, Scatter-9 to ScatterElements-18 and ScatterND-18.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sheaf/sheaf.h"

namespace {

using sheaf::ConstTensor;
using sheaf::Dims;
using sheaf::Reduction;
using testing::ElementsAre;

using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

struct Input {
  Floats values;
  Dims sizes;
  ConstTensor tensor() const { return {values.data(), {sheaf::f32, sizes}}; }
};

struct Indices {
  Longs values;
  Dims sizes;
  ConstTensor tensor() const { return {values.data(), {sheaf::i64, sizes}}; }
};

Floats values_of(const sheaf::Array& array) {
  const auto elements = array.elements<float>();
  return Floats(elements.begin(), elements.end());
}

Floats scatter_elements(const Input& data, const Indices& indices, const Input& updates,
                        const sheaf::ScatterElementsOptions& options = {}) {
  return values_of(
      sheaf::scatter_elements(data.tensor(), indices.tensor(), updates.tensor(), options));
}

Floats scatter_nd(const Input& data, const Indices& indices, const Input& updates,
                  const sheaf::ScatterNdOptions& options = {}) {
  return values_of(sheaf::scatter_nd(data.tensor(), indices.tensor(), updates.tensor(), options));
}

const Input kRow{{1, 2, 3, 4, 5}, {1, 5}};

}  // namespace

// The operator's first example: without an axis it is 0, and duplicates aside every update finds
// its row in its own column.
TEST(OnnxScatterElements, WithoutAxis) {
  const Input zeros{Floats(9, 0.0f), {3, 3}};
  const Input updates{{1, 1.1f, 1.2f, 2, 2.1f, 2.2f}, {2, 3}};
  EXPECT_THAT(scatter_elements(zeros, {{1, 0, 2, 0, 2, 1}, {2, 3}}, updates),
              ElementsAre(2, 1.1f, 0, 1, 0, 2.2f, 0, 2.1f, 1.2f));
}

TEST(OnnxScatterElements, WithAxis) {
  const Input updates{{1.1f, 2.1f}, {1, 2}};
  for (const int64_t axis : {1, -1}) {  // a negative axis counts from the end, since 11
    EXPECT_THAT(scatter_elements(kRow, {{1, 3}, {1, 2}}, updates, {.axis = axis}),
                ElementsAre(1, 1.1f, 3, 2.1f, 5));
  }
}

TEST(OnnxScatterElements, NegativeIndices) {
  EXPECT_THAT(scatter_elements(kRow, {{1, -3}, {1, 2}}, {{1.1f, 2.1f}, {1, 2}}, {.axis = 1}),
              ElementsAre(1, 1.1f, 2.1f, 4, 5));
}

TEST(OnnxScatterElements, IndicesOutsideAreAnError) {
  for (const int64_t outside : {5, -6}) {
    EXPECT_THROW(scatter_elements(kRow, {{outside}, {1, 1}}, {{9}, {1, 1}}, {.axis = 1}),
                 sheaf::IndexError);
  }
}

// Off the axis indices and updates may be smaller than data.
TEST(OnnxScatterElements, SmallerIndices) {
  EXPECT_THAT(scatter_elements({{1, 2, 3, 4}, {2, 2}}, {{1}, {1, 1}}, {{9}, {1, 1}}),
              ElementsAre(1, 2, 9, 4));
}

// add and mul since 16, min and max since 18: joined to what is there, duplicates one by one.
TEST(OnnxScatterElements, Reductions) {
  const auto reduced = [](Reduction reduction, Floats updates) {
    return scatter_elements(kRow, {{1, 1}, {1, 2}}, {std::move(updates), {1, 2}},
                            {.axis = 1, .reduction = reduction});
  };
  EXPECT_THAT(reduced(Reduction::kAdd, {1.5f, 2.5f}), ElementsAre(1, 6, 3, 4, 5));
  EXPECT_THAT(reduced(Reduction::kMul, {1.5f, 4}), ElementsAre(1, 12, 3, 4, 5));
  EXPECT_THAT(reduced(Reduction::kMax, {1, 2.5f}), ElementsAre(1, 2.5f, 3, 4, 5));
  EXPECT_THAT(reduced(Reduction::kMin, {1, 2.5f}), ElementsAre(1, 1, 3, 4, 5));
}

TEST(OnnxScatterNd, Elements) {
  EXPECT_THAT(
      scatter_nd({{1, 2, 3, 4, 5, 6, 7, 8}, {8}}, {{4, 3, 1, 7}, {4, 1}}, {{9, 10, 11, 12}, {4}}),
      ElementsAre(1, 11, 3, 10, 9, 6, 7, 12));
}

TEST(OnnxScatterNd, Slices) {
  const Input data{{1, 2, 3, 4, 5, 6, 7, 8}, {4, 1, 2}};
  EXPECT_THAT(scatter_nd(data, {{0, 2}, {2, 1}}, {{50, 60, 70, 80}, {2, 1, 2}}),
              ElementsAre(50, 60, 3, 4, 70, 80, 7, 8));
}

TEST(OnnxScatterNd, NegativeIndices) {
  EXPECT_THAT(scatter_nd({{1, 2, 3, 4}, {2, 2}}, {{-1, 0, 0, -1}, {2, 2}}, {{8, 9}, {2}}),
              ElementsAre(1, 9, 8, 4));
  EXPECT_THROW(scatter_nd({{1, 2, 3, 4}, {2, 2}}, {{-3, 0}, {1, 2}}, {{8}, {1}}),
               sheaf::IndexError);
}

TEST(OnnxScatterNd, Reductions) {
  const auto reduced = [](Reduction reduction) {
    return scatter_nd({{1, 2, 3, 4}, {2, 2}}, {{1, 1}, {2, 1}}, {{5, 0.5f, 2, 3}, {2, 2}},
                      {.reduction = reduction});
  };
  EXPECT_THAT(reduced(Reduction::kAdd), ElementsAre(1, 2, 10, 7.5f));
  EXPECT_THAT(reduced(Reduction::kMul), ElementsAre(1, 2, 30, 6));
  EXPECT_THAT(reduced(Reduction::kMax), ElementsAre(1, 2, 5, 4));
  EXPECT_THAT(reduced(Reduction::kMin), ElementsAre(1, 2, 2, 0.5f));
}

// No indices: the data comes back as it is.
TEST(OnnxScatter, NoUpdates) {
  EXPECT_THAT(scatter_elements(kRow, {{}, {1, 0}}, {{}, {1, 0}}, {.axis = 1}),
              ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(scatter_nd(kRow, {{}, {0, 2}}, {{}, {0}}), ElementsAre(1, 2, 3, 4, 5));
}
