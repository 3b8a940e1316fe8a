// SPDX-License-Identifier: MIT
//
// sheaf run on single nodes, beside ONNX's own backend tests (scripts/test, step conformance): what
// those leave out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bytes.h"
#include "io/scratch.h"
#include "tools/program.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace sheaf;

// Runs a graph whose input is x = {{0, 1, 2}, {3, 4, 5}} of type int64, and whose output is y.
class OnnxNodes : public testing::Test {
 protected:
  OnnxNodes() {
    const std::vector<int64_t> x = {0, 1, 2, 3, 4, 5};
    save(scratch_.path("x.npy"), "", view(x, {2, 3}));
  }

  Finished run(const std::string& nodes) const {
    const std::string model = scratch_.write("m.onnx", field(7, nodes + field(11, field(1, "x"))));
    return run_sheaf({"run", model, "--input", "x=" + scratch_.path("x.npy"), "-o",
                      "y=" + scratch_.path("y.npy")});
  }
  std::string error(const std::string& nodes) const { return run(nodes).err; }

  std::vector<int64_t> y(const std::string& nodes, const Dims& sizes) const {
    const Finished finished = run(nodes);
    EXPECT_EQ(finished.status, 0) << finished.err;
    if (finished.status != 0) {
      return {};
    }
    const Array array = open_table(scratch_.path("y.npy")).load();
    EXPECT_EQ(array.sizes(), sizes);
    const auto elements = array.elements<int64_t>();
    return {elements.begin(), elements.end()};
  }

  Scratch scratch_;
};

TEST_F(OnnxNodes, SliceClipsAndGoesBackwards) {
  const std::string lists = list_node("last", {INT64_MAX}) + list_node("first", {INT64_MIN}) +
                            list_node("axis", {-1}) + list_node("step", {-2});
  EXPECT_THAT(y(lists + node("Slice", {"x", "last", "first", "axis", "step"}, "y"), {2, 2}),
              ElementsAre(2, 0, 5, 3));
  EXPECT_THAT(y(lists + node("Slice", {"x", "last", "first", "axis", "first"}, "y"), {2, 1}),
              ElementsAre(2, 5));
  EXPECT_THAT(y(lists + node("Slice", {"x", "last", "last", "axis"}, "y"), {2, 0}), IsEmpty());
  // Attributes, before opset 10.
  EXPECT_THAT(y(node("Slice", {"x"}, "y", numbers("starts", {1}) + numbers("ends", {9})), {1, 3}),
              ElementsAre(3, 4, 5));
  EXPECT_THAT(error(list_node("nought", {0}) +
                    node("Slice", {"x", "nought", "nought", "nought", "nought"}, "y")),
              HasSubstr("axis 0 has a step of 0, or is named twice"));
}

TEST_F(OnnxNodes, CastLeavesOutIntegersOfLessThanAByte) {
  EXPECT_THAT(error(node("Cast", {"x"}, "y", number("to", 22))),
              HasSubstr("elements of i4 (ONNX type 22) are moved, not converted"));
}

TEST_F(OnnxNodes, PadCutsWhereItIsNegative) {
  EXPECT_THAT(y(node("Pad", {"x"}, "y", numbers("pads", {-1, 1, 0, -1})), {1, 3}),
              ElementsAre(0, 3, 4));
  EXPECT_THAT(y(list_node("p", {1, 1}) + list_node("a", {-1}) +
                    node("Pad", {"x", "p", "", "a"}, "y", text("mode", "wrap")),
                {2, 5}),
              ElementsAre(2, 0, 1, 2, 0, 5, 3, 4, 5, 3));
  EXPECT_THAT(error(node("Pad", {"x"}, "y", numbers("pads", {1, 1}))),
              HasSubstr("it has 2 pads for 2 axes"));
  EXPECT_THAT(error(node("Pad", {"x"}, "y", numbers("pads", {INT64_MAX, 0, 1, 0}))),
              HasSubstr("its pads are beyond 2^63 - 1"));
  EXPECT_THAT(error(node("Pad", {"x"}, "y", text("mode", "mirror"))),
              HasSubstr("its mode is \"mirror\""));
}

TEST_F(OnnxNodes, SplitAndConcatInOrder) {
  const std::string three = field(1, field(1, "x") + field(2, "a") + field(2, "b") + field(2, "c") +
                                         field(4, "Split") + number("axis", 1));
  EXPECT_THAT(y(three + node("Concat", {"c", "a"}, "y", number("axis", 0)), {4, 1}),
              ElementsAre(2, 5, 0, 3));
  EXPECT_THAT(error(node("Split", {"x"}, "y", numbers("split", {1, 1}))),
              HasSubstr("it has 1 outputs"));
  EXPECT_THAT(error(node("Concat", {"x", "y"}, "z")), HasSubstr("its input \"y\" has no value"));
}

TEST_F(OnnxNodes, ShapesAndTypes) {
  EXPECT_THAT(
      y(node("Shape", {"x"}, "s", number("start", -1)) + node("ConstantOfShape", {"s"}, "zeros") +
            node("Cast", {"zeros"}, "y", number("to", 7)),
        {3}),
      ElementsAre(0, 0, 0));
  EXPECT_THAT(y(list_node("s", {2, 1, 1}) + node("Expand", {"x", "s"}, "y"), {2, 2, 3}),
              ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
  EXPECT_THAT(error(list_node("s", {4, -1}) + node("Reshape", {"x", "s"}, "y")),
              HasSubstr("has 6 elements, but [4, 1] has 4"));
  EXPECT_THAT(error(node("Cast", {"x"}, "y", number("to", 8))),
              HasSubstr("its `to` is 8, no type that Sheaf has"));
  EXPECT_THAT(error(node("Cast", {"x"}, "y", number("to", 17))), HasSubstr("try: saturate = 0"));
  EXPECT_THAT(error(node("Transpose", {"x"}, "y", numbers("perm", {0, 0}))),
              HasSubstr("its perm is not an order of the dimensions"));
  EXPECT_THAT(error(node("Unsqueeze", {"x"}, "y", numbers("axes", {0, 0}))),
              HasSubstr("axis 0 is named twice"));
}

// The shape is a tensor without elements, which may have no memory either.
TEST_F(OnnxNodes, ReshapeToAScalar) {
  const std::string one = list_node("zeros", {0, 0}) + list_node("ones", {1, 1}) +
                          node("Slice", {"x", "zeros", "ones"}, "first");
  const std::string empty = list_node("zero", {0}) + node("Slice", {"zero", "zero", "zero"}, "s");
  EXPECT_THAT(y(one + empty + node("Reshape", {"first", "s"}, "y"), {}), ElementsAre(0));
}

TEST_F(OnnxNodes, ARefusalNamesTheNode) {
  EXPECT_THAT(error(list_node("ids", {7}) + node("Gather", {"x", "ids"}, "y")),
              HasSubstr("run: node \"n_Gather\" of type Gather\n  gather: index out of range"));
  EXPECT_THAT(error(list_node("r", {1}) + node("Tile", {"x", "r"}, "y")),
              HasSubstr("run: node \"n_Tile\" of type Tile\n  it has 1 repeats for i64[2, 3]"));
}

}  // namespace
