// SPDX-License-Identifier: MIT
//
// Every refusal of the operators that are no gather or scatter, as a text.
#include "compat/fluent.h"

using namespace compat;

namespace {

class NeighbourRefusals : public testing::Test {
 protected:
  // The text without its third line, which describes the tensors.
  template <class Fill>
  std::string refusal(DML_OPERATOR_TYPE type, const std::vector<TensorDesc>& inputs,
                      const std::vector<TensorDesc>& outputs, Fill fill) {
    Graph graph(machine_.dml.Get());
    std::vector<Expression> from;
    for (const TensorDesc& input : inputs) {
      from.push_back(graph.input(static_cast<UINT>(from.size()), input));
    }
    try {
      graph.add(type, from, outputs, fill);
    } catch (const std::runtime_error&) {
      std::string text = SheafDmlLastErrorText();
      const size_t given = text.find('\n', text.find('\n') + 1);
      return text.erase(given, text.find('\n', given + 1) - given);
    }
    return "not refused";
  }

  std::string identity(const TensorDesc& from, const TensorDesc& to) {
    return refusal(DML_OPERATOR_ELEMENT_WISE_IDENTITY, {from}, {to}, [](const auto* t) {
      return DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC{&t[0], &t[1], nullptr};
    });
  }
  std::string tile(const TensorDesc& from, const TensorDesc& to, UINT count, const UINT* repeats) {
    return refusal(DML_OPERATOR_TILE, {from}, {to}, [=](const auto* t) {
      return DML_TILE_OPERATOR_DESC{&t[0], &t[1], count, repeats};
    });
  }
  std::string join(UINT count, bool list, UINT axis) {
    return refusal(DML_OPERATOR_JOIN, {row_, row_}, {{kFloat, {1, 8}}}, [=](const auto* t) {
      return DML_JOIN_OPERATOR_DESC{count, list ? &t[0] : nullptr, &t[2], axis};
    });
  }
  std::string slice1(UINT offset, UINT size, INT stride, UINT kept) {
    const UINT offsets[] = {0, offset}, sizes[] = {1, size};
    const INT strides[] = {1, stride};
    return refusal(DML_OPERATOR_SLICE1, {row_}, {{kFloat, {1, kept}}}, [&](const auto* t) {
      return DML_SLICE1_OPERATOR_DESC{&t[0], &t[1], 2, offsets, sizes, strides};
    });
  }
  std::string pad(DML_PADDING_MODE mode, UINT end) {
    const UINT before[] = {0, 0}, after[] = {0, end};
    return refusal(DML_OPERATOR_PADDING, {row_}, {{kFloat, {1, 5}}}, [&](const auto* t) {
      return DML_PADDING_OPERATOR_DESC{&t[0], &t[1], mode, 0, 2, before, after};
    });
  }
  std::string top_k(UINT k, UINT kept) {
    return refusal(DML_OPERATOR_TOP_K, {row_}, {{kFloat, {1, kept}}, {kUint, {1, kept}}},
                   [=](const auto* t) {
                     return DML_TOP_K_OPERATOR_DESC{&t[0], &t[1], &t[2], 1, k};
                   });
  }
  std::string fill(DML_TENSOR_DATA_TYPE to, DML_TENSOR_DATA_TYPE value) {
    return refusal(DML_OPERATOR_FILL_VALUE_CONSTANT, {}, {{to, {1, 4}}}, [=](const auto* t) {
      return DML_FILL_VALUE_CONSTANT_OPERATOR_DESC{&t[0], value, {}};
    });
  }

  const TensorDesc row_{kFloat, {1, 4}};

 private:
  Machine machine_;
};

TEST_F(NeighbourRefusals, Identity) {
  EXPECT_EQ(identity(row_, {kFloat, {4, 1}}),
            "DML_OPERATOR_ELEMENT_WISE_IDENTITY: sizes differ\n"
            "  InputTensor has {1, 4}, but OutputTensor {4, 1}\n"
            "  try: equal sizes; Strides of 0 repeat an input");
  EXPECT_EQ(identity(row_, {kInt, {1, 4}}),
            "DML_OPERATOR_ELEMENT_WISE_IDENTITY: types differ\n"
            "  the tensors are f32 and i32\n"
            "  try: the same type; only DML_OPERATOR_CAST converts");
}

TEST_F(NeighbourRefusals, Tile) {
  const UINT ones[] = {1, 1, 1};
  EXPECT_EQ(tile(row_, row_, 2, nullptr),
            "DML_OPERATOR_TILE: null pointer\n"
            "  Repeats is null\n"
            "  try: one entry for each dimension");
  EXPECT_EQ(tile(row_, row_, 3, ones),
            "DML_OPERATOR_TILE: dimension counts differ\n"
            "  RepeatsCount = 3, but the tensors have 2 dimensions\n"
            "  try: RepeatsCount = 2");
  EXPECT_EQ(tile(row_, {kFloat, {4}}, 2, ones),
            "DML_OPERATOR_TILE: dimension counts differ\n"
            "  the tensors have 2 and 1 dimensions\n"
            "  try: pad the shorter one with leading dimensions of size 1");
  constexpr auto kByte = DML_TENSOR_DATA_TYPE_UINT8;
  EXPECT_EQ(tile({kByte, {(1u << 31) + 1}}, {kByte, {(1u << 31) + 1}, {0xFFFFFFFF}}, 1, ones),
            "DML_OPERATOR_TILE: output has the wrong shape\n"
            "  dimension 0: 2147483649 entries of stride 4294967295, repeated 1 times, are more "
            "than 2^63 - 1\n"
            "  try: fewer repeats");
}

TEST_F(NeighbourRefusals, Join) {
  const std::string next = "\n  try: 1 to 65536 tensors";
  EXPECT_EQ(join(0, true, 1), "DML_OPERATOR_JOIN: no tensors\n  InputTensors has 0 tensors" + next);
  EXPECT_EQ(join(65537, true, 1),
            "DML_OPERATOR_JOIN: no tensors\n  InputTensors has 65537 tensors" + next);
  EXPECT_EQ(join(2, false, 1),
            "DML_OPERATOR_JOIN: no tensors\n  InputTensors has 2 tensors and is null" + next);
  EXPECT_EQ(join(2, true, 2),
            "DML_OPERATOR_JOIN: Axis out of range\n"
            "  Axis = 2, but only 0 to 1 is possible\n"
            "  try: Axis from 0 to 1");
}

TEST_F(NeighbourRefusals, Windows) {
  const auto text = [](const std::string& window, const std::string& counts) {
    return "DML_OPERATOR_SLICE1: window does not fit\n  dimension 1: " + window +
           " of 4 entries give at most " + counts +
           " are asked for\n  try: a window inside the tensor, and no more entries than it has";
  };
  EXPECT_EQ(slice1(0, 4, 1, 4), "not refused");
  EXPECT_EQ(slice1(0, 0, 1, 1), text("offset 0, size 0, stride 1", "0, and 1"));
  EXPECT_EQ(slice1(0, 4, 0, 1), text("offset 0, size 4, stride 0", "0, and 1"));
  EXPECT_EQ(slice1(1, 4, 1, 4), text("offset 1, size 4, stride 1", "4, and 4"));
  EXPECT_EQ(slice1(0xFFFFFFFF, 0xFFFFFFFF, 1, 4),
            text("offset 4294967295, size 4294967295, stride 1", "4294967295, and 4"));
  EXPECT_EQ(slice1(0, 4, -2, 3), text("offset 0, size 4, stride -2", "2, and 3"));
}

TEST_F(NeighbourRefusals, Slice) {
  const auto slice = [&](const TensorDesc& from, UINT kept, UINT size, UINT offset, UINT step) {
    return refusal(DML_OPERATOR_SLICE, {from}, {{from.type, {kept}}}, [&](const auto* t) {
      return DML_SLICE_OPERATOR_DESC{&t[0], &t[1], 1, &offset, &size, &step};
    });
  };
  EXPECT_EQ(slice({kFloat, {4}}, 2, 3, 0, 1),
            "DML_OPERATOR_SLICE: output has the wrong shape\n"
            "  Sizes = {3}, but OutputTensor.Sizes = {2}\n"
            "  try: an output of those sizes");
  const TensorDesc huge(DML_TENSOR_DATA_TYPE_UINT8, {0xFFFFFFFF});
  constexpr UINT kHalf = (1u << 31) + 1;
  EXPECT_EQ(slice(huge, kHalf, kHalf, 0xFFFFFFFF, 0xFFFFFFFF),
            "DML_OPERATOR_SLICE: slice outside the tensor\n"
            "  dimension 0: 2147483649 entries from 4294967295 in steps of 4294967295 end after "
            "2^63 - 1\n"
            "  try: a slice inside the tensor");
  EXPECT_NE(slice({kFloat, {4}}, 1, 1, 0, 0).find("slice outside the tensor"), std::string::npos)
      << "a step of 0";
}

TEST_F(NeighbourRefusals, Padding) {
  EXPECT_EQ(pad(DML_PADDING_MODE_CONSTANT, 1), "not refused");
  EXPECT_EQ(pad(static_cast<DML_PADDING_MODE>(5), 1),
            "DML_OPERATOR_PADDING: unknown padding mode\n"
            "  PaddingMode = 5\n"
            "  try: DML_PADDING_MODE_CONSTANT (0) to DML_PADDING_MODE_WRAP (4)");
  EXPECT_EQ(pad(DML_PADDING_MODE_CONSTANT, 2),
            "DML_OPERATOR_PADDING: output has the wrong shape\n"
            "  OutputTensor.Sizes[1] = 5, but the padded input has 6\n"
            "  try: sizes of the input, plus the padding");
}

TEST_F(NeighbourRefusals, PaddingWithAValue) {
  const auto refused = [&](const TensorDesc& to, UINT count, bool before, bool after,
                           DML_PADDING_MODE mode, DML_TENSOR_DATA_TYPE value) {
    const UINT zeros[] = {0, 0}, ends[] = {0, 1};
    return refusal(DML_OPERATOR_PADDING1, {row_}, {to}, [&](const auto* t) {
      return DML_PADDING1_OPERATOR_DESC{
          &t[0], &t[1], mode, value, {}, count, before ? zeros : nullptr, after ? ends : nullptr};
    });
  };
  const TensorDesc wider(kFloat, {1, 5});
  const auto constant = DML_PADDING_MODE_CONSTANT;
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_EQ(refused(wider, 2, true, true, constant, kFloat), "not refused");
  has(refused(wider, 2, true, true, constant, kInt), "the value is INT32, but OutputTensor is f32");
  has(refused(wider, 3, true, true, constant, kFloat), "DimensionCount = 3");
  has(refused(wider, 2, false, true, constant, kFloat), "StartPadding is null");
  has(refused(wider, 2, true, false, constant, kFloat), "EndPadding is null");
  has(refused(wider, 2, true, true, static_cast<DML_PADDING_MODE>(7), kFloat), "PaddingMode = 7");
  has(refused(row_, 2, true, true, constant, kFloat), "the padded input has 5");
  has(refused({kFloat, {5}}, 2, true, true, constant, kFloat), "2 and 1 dimensions");
  has(refused({kInt, {1, 5}}, 2, true, true, constant, kFloat), "the tensors are f32 and i32");
}

TEST_F(NeighbourRefusals, TopK) {
  EXPECT_EQ(top_k(2, 2), "not refused");
  EXPECT_EQ(top_k(0, 1),
            "DML_OPERATOR_TOP_K: K out of range\n"
            "  K = 0, but Axis has 4 entries\n"
            "  try: K from 1 to 4");
  EXPECT_EQ(top_k(5, 5),
            "DML_OPERATOR_TOP_K: K out of range\n"
            "  K = 5, but Axis has 4 entries\n"
            "  try: K from 1 to 4");
  EXPECT_EQ(top_k(2, 3),
            "DML_OPERATOR_TOP_K: output has the wrong shape\n"
            "  OutputValueTensor.Sizes = {1, 3}, but K = 2\n"
            "  try: K entries along Axis");
}

TEST_F(NeighbourRefusals, Values) {
  EXPECT_EQ(fill(kFloat, kFloat), "not refused");
  EXPECT_EQ(fill(kFloat, kInt),
            "DML_OPERATOR_FILL_VALUE_CONSTANT: types differ\n"
            "  the value is INT32, but OutputTensor is f32\n"
            "  try: a value of the output's type");
  EXPECT_EQ(fill(DML_TENSOR_DATA_TYPE_UINT8, DML_TENSOR_DATA_TYPE_UINT4),
            "DML_OPERATOR_FILL_VALUE_CONSTANT: types differ\n"
            "  the value is UINT4, but OutputTensor is u8\n"
            "  try: a value of the output's type");
}

}  // namespace
