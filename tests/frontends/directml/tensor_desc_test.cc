// SPDX-License-Identifier: MIT
//
// Buffer tensor descriptors, each wrong in one way.
#include <gmock/gmock.h>

#include <cstdint>

#include "frontends/directml/dml.h"

using namespace dml_test;
using testing::StartsWith;

namespace {

// Changes one of the three tensors of a sound call.
struct Place {
  Tensor Call::*tensor;
  const char* name;
};
constexpr Place kPlaces[] = {{&Call::input, "InputTensor"},
                             {&Call::indices, "IndicesTensor"},
                             {&Call::output, "OutputTensor"}};

template <class Change>
std::string refusal_of(const Place& place, Change change) {
  Call call = sound_gather();
  change(call.*place.tensor);
  return refusal(call);
}

// The two lines that tell what is wrong.
std::string lines(const std::string& what, const std::string& detail) {
  return "DML_OPERATOR_GATHER: " + what + "\n  " + detail + "\n";
}

}  // namespace

TEST(DirectmlTensorDesc, TheCallToBeBrokenIsSound) {
  EXPECT_EQ(sound_gather().create(device().Get(), nullptr), S_FALSE) << LastErrorText();
}

TEST(DirectmlTensorDesc, NullPointers) {
  // The helper sets the pointers, so these descriptors are put together by hand.
  Call call = sound_gather();
  for (int missing = 0; missing < 3; ++missing) {
    const DML_TENSOR_DESC* tensors[] = {call.input.desc(), call.indices.desc(), call.output.desc()};
    const auto refused = [&] {
      const DML_GATHER_OPERATOR_DESC desc{tensors[0], tensors[1], tensors[2], 0, 1};
      const DML_OPERATOR_DESC op{DML_OPERATOR_GATHER, &desc};
      EXPECT_EQ(device()->CreateOperator(&op, nullptr), E_INVALIDARG);
      return std::string(LastErrorText());
    };
    const std::string name = kPlaces[missing].name;
    tensors[missing] = nullptr;
    EXPECT_THAT(refused(), StartsWith(lines("null pointer", name + " is null")));
    const DML_TENSOR_DESC without_desc{DML_TENSOR_TYPE_BUFFER, nullptr};
    tensors[missing] = &without_desc;
    EXPECT_THAT(refused(), StartsWith(lines("null pointer", name + ".Desc is null")));
    DML_BUFFER_TENSOR_DESC without_sizes = (call.*kPlaces[missing].tensor).buffer;
    without_sizes.Sizes = nullptr;
    const DML_TENSOR_DESC around{DML_TENSOR_TYPE_BUFFER, &without_sizes};
    tensors[missing] = &around;
    EXPECT_THAT(refused(), StartsWith(lines("null pointer", name + ".Sizes is null")));
  }
}

TEST(DirectmlTensorDesc, AllThreeTensorsNull) {
  const DML_GATHER_OPERATOR_DESC desc{};
  const DML_OPERATOR_DESC op{DML_OPERATOR_GATHER, &desc};
  EXPECT_EQ(device()->CreateOperator(&op, nullptr), E_INVALIDARG);
  EXPECT_STREQ(LastErrorText(),
               "DML_OPERATOR_GATHER: null pointer\n"
               "  InputTensor is null\n"
               "  InputTensor null   IndicesTensor null   OutputTensor null   Axis 0   "
               "IndexDimensions 0\n"
               "  try: describe every tensor; none is optional");
}

TEST(DirectmlTensorDesc, WrongTensorType) {
  for (const Place& place : kPlaces) {
    for (const int type : {0, 2, -1, INT32_MAX}) {
      EXPECT_THAT(
          refusal_of(place, [&](Tensor& t) { t.tensor.Type = static_cast<DML_TENSOR_TYPE>(type); }),
          StartsWith(lines("not a buffer tensor",
                           std::string(place.name) + ".Type = " + std::to_string(type))));
    }
  }
}

TEST(DirectmlTensorDesc, UnknownDataTypes) {
  for (const int type : {0, 14, -1, 64, INT32_MIN}) {
    EXPECT_THAT(
        refusal_of(kPlaces[0],
                   [&](Tensor& t) { t.buffer.DataType = static_cast<DML_TENSOR_DATA_TYPE>(type); }),
        StartsWith("DML_OPERATOR_GATHER: type not supported\n  InputTensor is DataType " +
                   std::to_string(type) + ", but DML_FEATURE_LEVEL_6_4 takes FLOAT32"));
  }
}

TEST(DirectmlTensorDesc, FlagsAreNoneOrOwned) {
  for (const Place& place : kPlaces) {
    for (const int flags : {2, 3, -1, INT32_MIN}) {
      EXPECT_THAT(
          refusal_of(place,
                     [&](Tensor& t) { t.buffer.Flags = static_cast<DML_TENSOR_FLAGS>(flags); }),
          StartsWith(lines("unknown flags",
                           std::string(place.name) + ".Flags = " + std::to_string(flags))));
    }
  }
}

TEST(DirectmlTensorDesc, OnlyInputsAreOwned) {
  EXPECT_THAT(
      refusal_of(kPlaces[2], [](Tensor& t) { t.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML; }),
      StartsWith(lines("output owned by DML",
                       "OutputTensor.Flags has DML_TENSOR_FLAG_OWNED_BY_DML, which is for "
                       "inputs")));
  Call call = sound_gather();
  call.input.buffer.Flags = call.indices.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  EXPECT_EQ(call.create(device().Get(), nullptr), S_FALSE) << LastErrorText();
}

TEST(DirectmlTensorDesc, DimensionCountsOutOfRange) {
  Call call = sound_gather();
  for (const UINT count : {0u, 9u, 33u, kHuge}) {
    call.input.desc();
    DML_BUFFER_TENSOR_DESC input = call.input.buffer;
    input.DimensionCount = count;
    const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &input};
    const DML_GATHER_OPERATOR_DESC desc{&tensor, call.indices.desc(), call.output.desc(), 0, 1};
    const DML_OPERATOR_DESC op{DML_OPERATOR_GATHER, &desc};
    EXPECT_EQ(device()->CreateOperator(&op, nullptr), E_INVALIDARG);
    EXPECT_THAT(LastErrorText(),
                StartsWith(lines("dimension count not supported",
                                 "InputTensor.DimensionCount = " + std::to_string(count) +
                                     ", but DML_FEATURE_LEVEL_6_4 takes 1 to 8")));
  }
}

TEST(DirectmlTensorDesc, DimensionCountsThatDiffer) {
  EXPECT_THAT(refusal(gather(f32({3, 2}), u32({4}), f32({4, 2}), 0, 1)),
              StartsWith(lines("dimension counts differ",
                               "IndicesTensor.DimensionCount = 1, but "
                               "that of InputTensor is 2")));
  EXPECT_THAT(refusal(gather(f32({3, 2}), u32({1, 4}), f32({1, 4, 2}), 0, 1)),
              StartsWith(lines("dimension counts differ",
                               "OutputTensor.DimensionCount = 3, but "
                               "that of InputTensor is 2")));
}

TEST(DirectmlTensorDesc, SizesOfZero) {
  for (const Place& place : kPlaces) {
    for (const size_t d : {size_t{0}, size_t{1}}) {
      EXPECT_THAT(refusal_of(place, [&](Tensor& t) { t.sizes[d] = 0; }),
                  StartsWith(lines("empty tensor", std::string(place.name) + ".Sizes[" +
                                                       std::to_string(d) + "] = 0")));
    }
  }
}

TEST(DirectmlTensorDesc, MoreThan32BitsOfElements) {
  const std::string detail = ".Sizes multiply to more than 4294967295";
  for (const Place& place : kPlaces) {
    for (const Uints& sizes :
         {Uints{kHuge, 2}, Uints{2, kHuge}, Uints{kHuge, kHuge}, Uints{65536, 65536}}) {
      EXPECT_THAT(refusal_of(place,
                             [&](Tensor& t) {
                               t.sizes = sizes;
                               t.strides = {0, 0};
                               t.buffer.TotalTensorSizeInBytes = UINT64_MAX;
                             }),
                  StartsWith(lines("too many elements", place.name + detail)));
    }
  }
  Call call = sound_gather();
  call.input = f32(Uints(8, kHuge), Uints(8, kHuge));
  call.input.buffer.TotalTensorSizeInBytes = UINT64_MAX;
  EXPECT_THAT(refusal(call), StartsWith(lines("too many elements", "InputTensor" + detail)));
}

// The most that is allowed: a table of 2^32 - 1 elements, described but not made.
TEST(DirectmlTensorDesc, ExactlyThatManyElements) {
  Call call = gather(f32({kHuge}), u32({4}), f32({4}), 0, 1);
  EXPECT_EQ(call.create(device().Get(), nullptr), S_FALSE) << LastErrorText();
}

TEST(DirectmlTensorDesc, StridesThatReachTooFar) {
  for (const Place& place : kPlaces) {
    EXPECT_THAT(refusal_of(place,
                           [](Tensor& t) {
                             t.sizes = {kHuge, 1};
                             t.strides = {kHuge, 1};
                             t.buffer.TotalTensorSizeInBytes = UINT64_MAX;
                           }),
                StartsWith(lines("tensor too large", std::string(place.name) +
                                                         ".Strides reach further than 2^63 - 1 "
                                                         "bytes")));
  }
}

TEST(DirectmlTensorDesc, StridesOfDimensionsOfSizeOneDoNotMatter) {
  Call call = gather(f32({1, 3, 2}, {kHuge, 2, 1}), u32({1, 1, 4}, {kHuge, kHuge, 1}),
                     f32({1, 4, 2}, {kHuge, 2, 1}), 1, 1);
  EXPECT_EQ(call.create(device().Get(), nullptr), S_FALSE) << LastErrorText();
}

TEST(DirectmlTensorDesc, TotalSizeBelowTheMinimum) {
  for (const Place& place : kPlaces) {
    Call call = sound_gather();
    const UINT64 needed = (call.*place.tensor).buffer.TotalTensorSizeInBytes;
    for (const UINT64 total : {UINT64{0}, needed - 1}) {
      EXPECT_THAT(refusal_of(place, [&](Tensor& t) { t.buffer.TotalTensorSizeInBytes = total; }),
                  StartsWith(lines("TotalTensorSizeInBytes too small",
                                   std::string(place.name) + ".TotalTensorSizeInBytes = " +
                                       std::to_string(total) + ", but its sizes and strides need " +
                                       std::to_string(needed))));
    }
  }
}

TEST(DirectmlTensorDesc, TotalSizeIsRoundedUpToFour) {
  const auto u8 = [](Uints sizes) { return Tensor(DML_TENSOR_DATA_TYPE_UINT8, std::move(sizes)); };
  Call call = gather(u8({5}), u32({3}), u8({3}), 0, 1);
  call.input.buffer.TotalTensorSizeInBytes = 5;
  EXPECT_THAT(refusal(call),
              StartsWith(lines("TotalTensorSizeInBytes too small",
                               "InputTensor.TotalTensorSizeInBytes = 5, but its sizes and strides "
                               "need 8")));
}

TEST(DirectmlTensorDesc, TotalSizeMayBeLarger) {
  Call call = sound_gather();
  call.input.buffer.TotalTensorSizeInBytes = UINT64_MAX;
  call.indices.buffer.TotalTensorSizeInBytes = 1000;
  call.output.buffer.TotalTensorSizeInBytes = 33;
  EXPECT_EQ(call.create(device().Get(), nullptr), S_FALSE) << LastErrorText();
}

TEST(DirectmlTensorDesc, AlignmentsThatAreNone) {
  for (const Place& place : kPlaces) {
    for (const UINT alignment : {1u, 2u, 3u, 12u, 48u, kHuge}) {
      EXPECT_THAT(
          refusal_of(place, [&](Tensor& t) { t.buffer.GuaranteedBaseOffsetAlignment = alignment; }),
          StartsWith(lines("bad alignment",
                           std::string(place.name) +
                               ".GuaranteedBaseOffsetAlignment = " + std::to_string(alignment) +
                               ", but it is 0 or a power of two of at least 4")));
    }
  }
}

TEST(DirectmlTensorDesc, AlignmentsThatAre) {
  for (const UINT alignment : {0u, 4u, 8u, 16u, 4096u, 1u << 31}) {
    Call call = sound_gather();
    call.input.buffer.GuaranteedBaseOffsetAlignment = alignment;
    EXPECT_EQ(call.create(device().Get(), nullptr), S_FALSE) << LastErrorText();
  }
}

TEST(DirectmlTensorDesc, AnOutputMayNotBroadcast) {
  Call call = sound_gather();
  call.output = f32({4, 2}, {0, 1});
  EXPECT_THAT(refusal(call),
              StartsWith(lines("output overlaps itself",
                               "strides [0, 1] place several elements in one spot")));
  call.output = f32({4, 2}, {1, 1});
  EXPECT_THAT(refusal(call),
              StartsWith(lines("output overlaps itself",
                               "strides [1, 1] place several elements in one spot")));
}

TEST(DirectmlTensorDesc, StridesAreShownInRefusals) {
  Call call = sound_gather();
  call.input = f32({3, 2}, {7, 1});
  call.output.sizes = {4, 3};
  call.output.buffer.TotalTensorSizeInBytes = 48;
  EXPECT_EQ(refusal(call),
            "DML_OPERATOR_GATHER: output has the wrong shape\n"
            "  OutputTensor.Sizes = {4, 3}, but this operator makes {4, 2}\n"
            "  InputTensor FLOAT32 {3, 2} strides {7, 1}   IndicesTensor UINT32 {1, 4}   "
            "OutputTensor FLOAT32 {4, 3}   Axis 0   IndexDimensions 1\n"
            "  try: OutputTensor.Sizes = {4, 2}");
}
