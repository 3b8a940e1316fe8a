// SPDX-License-Identifier: MIT
//
// Every example of DirectML's own pages on the four operators, with the numbers printed there.
// docs/directml.md has the list of the slips in them and how each is read.
#include "frontends/directml/dml.h"

using namespace dml_test;

using Floats = std::vector<float>;

TEST(DirectmlGatherPage, Example1RemapsOneDimension) {
  EXPECT_EQ(
      run(gather(f32({4}), u32({5}), f32({5}), 0, 1), Floats{11, 12, 13, 14}, Uints{3, 1, 3, 0, 2}),
      (Floats{14, 12, 14, 11, 13}));
}

TEST(DirectmlGatherPage, Example2ConcatenatesRows) {
  EXPECT_EQ(run(gather(f32({3, 2}), u32({1, 4}), f32({4, 2}), 0, 1), Floats{1, 2, 3, 4, 5, 6},
                Uints{0, 1, 1, 2}),
            (Floats{1, 2, 3, 4, 3, 4, 5, 6}));
}

// Printed with IndexDimensions 2, which would make {3, 1, 2}; the printed output has two
// dimensions, so the leading one of the indices is padding.
TEST(DirectmlGatherPage, Example3SwapsColumnsAsPrinted) {
  EXPECT_EQ(run(gather(f32({3, 2}), u32({1, 2}), f32({3, 2}), 1, 2), Floats{1, 2, 3, 4, 5, 6},
                Uints{1, 0}),
            (Floats{2, 1, 4, 3, 6, 5}));
}

TEST(DirectmlGatherPage, Example3IsTheSameWithIndexDimensions1) {
  const Compiled printed = compile(gather(f32({3, 2}), u32({1, 2}), f32({3, 2}), 1, 2));
  const Compiled meant = compile(gather(f32({3, 2}), u32({1, 2}), f32({3, 2}), 1, 1));
  EXPECT_EQ(printed.op->GetPlan(), meant.op->GetPlan());
}

// The title says axis 1, the field 2: the field counts the padding.
TEST(DirectmlGatherPage, Example4NestsIndicesInTheLastAxis) {
  EXPECT_EQ(run(gather(f32({1, 3, 3}), u32({1, 1, 2}), f32({3, 1, 2}), 2, 2),
                Floats{1, 2, 3, 4, 5, 6, 7, 8, 9}, Uints{0, 2}),
            (Floats{1, 3, 4, 6, 7, 9}));
}

TEST(DirectmlGatherPage, Example5NestsIndicesInTheFirstAxis) {
  EXPECT_EQ(run(gather(f32({1, 3, 2}), u32({1, 2, 2}), f32({2, 2, 2}), 1, 2),
                Floats{1, 2, 3, 4, 5, 6}, Uints{0, 1, 1, 2}),
            (Floats{1, 2, 3, 4, 3, 4, 5, 6}));
}

// IndicesTensor {1, 1, 4, 6} with IndexDimensions 3 means {1, 4, 6}.
TEST(DirectmlGatherPage, IndexDimensionsExample) {
  Uints indices(24);
  Floats expected;
  for (UINT i = 0; i < 24; ++i) {
    indices[i] = (i * 5) % 7;
    expected.push_back(static_cast<float>(indices[i] * 10));
  }
  EXPECT_EQ(run(gather(f32({1, 1, 1, 7}), u32({1, 1, 4, 6}), f32({1, 1, 4, 6}), 3, 3),
                Floats{0, 10, 20, 30, 40, 50, 60}, indices),
            expected);
}

// The output is printed as UINT32, but must have the input's type.
TEST(DirectmlGatherElementsPage, ExampleWithTheOutputTypeMended) {
  EXPECT_EQ(run(gather_elements(f32({3, 3}), u32({2, 3}), f32({2, 3}), 0),
                Floats{1, 2, 3, 4, 5, 6, 7, 8, 9}, Uints{1, 2, 0, 2, 0, 0}),
            (Floats{4, 8, 3, 7, 2, 3}));
}

TEST(DirectmlGatherElementsPage, ExampleAsPrintedIsRefused) {
  EXPECT_EQ(refusal(gather_elements(f32({3, 3}), u32({2, 3}), u32({2, 3}), 0)),
            "DML_OPERATOR_GATHER_ELEMENTS: types differ\n"
            "  OutputTensor is UINT32, but InputTensor is FLOAT32\n"
            "  InputTensor FLOAT32 {3, 3}   IndicesTensor UINT32 {2, 3}   OutputTensor UINT32 "
            "{2, 3}   Axis 0\n"
            "  try: the same type; nothing is converted");
}

TEST(DirectmlGatherNdPage, Example1RemapsRows) {
  EXPECT_EQ(
      run(gather_nd(f32({2, 2}), u32({2, 1}), f32({2, 2}), 2, 2), Floats{0, 1, 2, 3}, Uints{1, 0}),
      (Floats{2, 3, 0, 1}));
}

TEST(DirectmlGatherNdPage, Example2RemapsPairs) {
  EXPECT_EQ(run(gather_nd(f32({1, 2, 2, 2}), u32({1, 1, 2, 2}), f32({1, 1, 2, 2}), 3, 2),
                Floats{0, 1, 2, 3, 4, 5, 6, 7}, Uints{0, 1, 1, 0}),
            (Floats{2, 3, 4, 5}));
}

// The page's formula would make {…, 5, 6, 7} of this; its example {1, 1, 2, 6, 7} is right.
template <class MakeCall>
void expect_shape_example(MakeCall make_call) {
  Floats data(3 * 4 * 5 * 6 * 7);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(i);
  }
  const Floats output = run(make_call(f32({1, 1, 2, 6, 7})), data, Uints{2, 0, 1, 0, 3, 4});
  ASSERT_EQ(output.size(), size_t{84});
  EXPECT_EQ(output[0], static_cast<float>(((2 * 4 + 0) * 5 + 1) * 42));
  EXPECT_EQ(output[42], static_cast<float>(((0 * 4 + 3) * 5 + 4) * 42));
  EXPECT_EQ(output[83], static_cast<float>(((0 * 4 + 3) * 5 + 4) * 42 + 41));
  EXPECT_NE(refusal(make_call(f32({1, 2, 5, 6, 7}))).find("this operator makes {1, 1, 2, 6, 7}"),
            std::string::npos);
}

TEST(DirectmlGatherNdPage, ShapeExample) {
  expect_shape_example([](const Tensor& output) {
    return gather_nd(f32({3, 4, 5, 6, 7}), u32({1, 1, 1, 2, 3}), output, 5, 3);
  });
}

TEST(DirectmlGatherNd1Page, ShapeExample) {
  expect_shape_example([](const Tensor& output) {
    return gather_nd1(f32({3, 4, 5, 6, 7}), u32({1, 1, 1, 2, 3}), output, {5, 3, 0});
  });
}

// Indices {1, 4, 5, 2} with IndicesDimensionCount 3: a 4 x 5 array of pairs.
TEST(DirectmlGatherNdPage, TupleExample) {
  Uints indices;
  Floats expected;
  for (UINT i = 0; i < 20; ++i) {
    indices.insert(indices.end(), {i % 3, i % 2});
    expected.push_back(static_cast<float>((i % 3) * 2 + i % 2));
  }
  EXPECT_EQ(run(gather_nd(f32({1, 1, 3, 2}), u32({1, 4, 5, 2}), f32({1, 1, 4, 5}), 2, 3),
                Floats{0, 1, 2, 3, 4, 5}, indices),
            expected);
}

// Input {1, 1, 4, 6} with InputDimensionCount 3 means {1, 4, 6}: the first coordinate has one
// entry.
TEST(DirectmlGatherNdPage, InputDimensionCountExample) {
  Floats data(24);
  for (size_t i = 0; i < 24; ++i) {
    data[i] = static_cast<float>(i);
  }
  EXPECT_EQ(run(gather_nd(f32({1, 1, 4, 6}), u32({1, 1, 1, 2}), f32({1, 1, 1, 6}), 3, 2), data,
                Uints{0, 3}),
            (Floats{18, 19, 20, 21, 22, 23}));
}

TEST(DirectmlGatherNd1Page, Example1RemapsRows) {
  EXPECT_EQ(run(gather_nd1(f32({2, 2}), u32({2, 1}), f32({2, 2}), {2, 2, 0}), Floats{0, 1, 2, 3},
                Uints{1, 0}),
            (Floats{2, 3, 0, 1}));
}

TEST(DirectmlGatherNd1Page, Example2HasBatches) {
  EXPECT_EQ(
      run(gather_nd1(f32({1, 3, 2, 2}), u32({1, 3, 2, 2}), f32({1, 1, 3, 2}), {3, 3, 1}),
          Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, Uints{0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0}),
      (Floats{0, 3, 7, 4, 9, 10}));
}

// Indices {1, 3, 4, 5, 6, 7}, IndicesDimensionCount 5, BatchDimensionCount 2: batches {3, 4}, each
// with a 5 x 6 grid of 7-tuples. An input that has room for 7-tuples after two batch dimensions
// would need 9 dimensions, so the indices are cut to 6 of the 7 coordinates.
TEST(DirectmlGatherNd1Page, BatchDimensionExample) {
  const Uints input_sizes{3, 4, 2, 1, 2, 1, 1, 2};
  Floats data(3 * 4 * 8);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(i);
  }
  Uints indices;
  Floats expected;
  for (UINT at = 0; at < 3 * 4 * 5 * 6; ++at) {
    const UINT batch = at / 30, a = at % 2, b = at / 2 % 2, c = at / 4 % 2;
    indices.insert(indices.end(), {a, 0, b, 0, 0, c});
    expected.push_back(static_cast<float>(batch * 8 + a * 4 + b * 2 + c));
  }
  EXPECT_EQ(run(gather_nd1(f32(input_sizes), u32({1, 1, 1, 3, 4, 5, 6, 6}),
                           f32({1, 1, 1, 1, 3, 4, 5, 6}), {8, 5, 2}),
                data, indices),
            expected);
}

// Two pages say that ND1 without batches is ND.
TEST(DirectmlGatherNd1Page, NoBatchesIsGatherNd) {
  const Compiled nd =
      compile(gather_nd(f32({1, 2, 2, 2}), u32({1, 1, 2, 2}), f32({1, 1, 2, 2}), 3, 2));
  const Compiled nd1 =
      compile(gather_nd1(f32({1, 2, 2, 2}), u32({1, 1, 2, 2}), f32({1, 1, 2, 2}), {3, 2, 0}));
  EXPECT_EQ(nd.op->GetPlan(), nd1.op->GetPlan());
}
