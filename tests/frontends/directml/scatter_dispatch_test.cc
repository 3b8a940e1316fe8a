// SPDX-License-Identifier: MIT
//
// Running a scatter: its bindings, in place or not, owned inputs, and memory that may not be
// touched.
#include <gmock/gmock.h>

#include <cstdint>

#include "frontends/directml/dml.h"
#include "helpers/guarded.h"

using namespace dml_test;
using testing::StartsWith;

using Floats = std::vector<float>;

namespace {

constexpr const char* kScatterBindings[] = {"InputTensor", "IndicesTensor", "UpdatesTensor",
                                            "OutputTensor"};

// Two columns of [3, 2] changed, with room for offsets.
class DirectmlScatterDispatch : public testing::Test {
 protected:
  Floats input = Floats(64, 1.0f), updates = Floats(64, 7.0f), output = Floats(64, -1.0f);
  Uints indices = Uints(64, 2);
  ScatterBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(updates),
                         HostBuffer(output)};
  Bindings bindings = buffers.bindings();
  Compiled compiled = compile(sound());

  static Call sound() { return scatter_elements(f32({3, 2}), u32({1, 2}), f32({1, 2}), 0); }

  HRESULT dispatch() { return compiled.device->Dispatch(compiled.op.Get(), bindings); }
  void expect_refused(const std::string& what, const std::string& detail) {
    EXPECT_EQ(dispatch(), E_INVALIDARG);
    EXPECT_THAT(LastErrorText(),
                StartsWith("DML_OPERATOR_SCATTER_ELEMENTS: " + what + "\n  " + detail + "\n"));
    EXPECT_EQ(output, Floats(64, -1.0f));
    EXPECT_EQ(input, Floats(64, 1.0f));
  }
  void expect_result(const Floats& result) {
    ASSERT_EQ(dispatch(), S_OK) << LastErrorText();
    EXPECT_EQ(Floats(output.begin(), output.begin() + 6), result);
    EXPECT_EQ(Floats(output.begin() + 6, output.end()), Floats(58, -1.0f));
  }
};

TEST_F(DirectmlScatterDispatch, WrongCounts) {
  bindings.InputCount = 2;
  EXPECT_EQ(dispatch(), E_INVALIDARG);
  EXPECT_STREQ(LastErrorText(),
               "DML_OPERATOR_SCATTER_ELEMENTS: wrong number of bindings\n"
               "  2 inputs are bound, but this operator has 3\n"
               "  data f32[3, 2]   indices u32[1, 2]   updates f32[1, 2]   axis 0   output "
               "f32[3, 2]\n"
               "  try: inputs InputTensor, IndicesTensor, UpdatesTensor; output OutputTensor");
  bindings.InputCount = 4;
  expect_refused("wrong number of bindings", "4 inputs are bound, but this operator has 3");
  bindings = buffers.bindings();
  bindings.OutputCount = 0;
  expect_refused("wrong number of bindings", "0 outputs are bound, but this operator has 1");
}

TEST_F(DirectmlScatterDispatch, NullPointersAndRanges) {
  bindings.Inputs = nullptr;
  expect_refused("null pointer", "the list of inputs is null");
  bindings = buffers.bindings();
  const UINT64 needed[] = {24, 8, 8, 24};
  for (int i = 0; i < 4; ++i) {
    const std::string name = kScatterBindings[i];
    const DML_BUFFER_BINDING kept = buffers.ranges[i];
    buffers.ranges[i].Buffer = nullptr;
    expect_refused("null pointer", name + " is bound to a null Buffer");
    buffers.ranges[i] = {&buffers.buffers[i], 0, needed[i] - 1};
    expect_refused("binding too small", name + " has SizeInBytes " + std::to_string(needed[i] - 1) +
                                            ", but needs " + std::to_string(needed[i]));
    buffers.ranges[i] = {&buffers.buffers[i], 8, 100};
    expect_refused("binding not aligned", name + " has Offset 8, which is no multiple of 16");
    buffers.ranges[i] = kept;
    buffers.descs[i].Type = DML_BINDING_TYPE_NONE;
    expect_refused("not bound", name + " has a binding of Type 0");
    buffers.descs[i].Type = DML_BINDING_TYPE_BUFFER;
  }
  buffers.buffers[3] = HostBuffer(std::as_const(output));
  expect_refused("buffer is read-only",
                 "OutputTensor is bound to a HostBuffer made from a const pointer");
}

TEST_F(DirectmlScatterDispatch, OutputThatOverlapsAnInput) {
  buffers.ranges[1] = {&buffers.buffers[3], 0, 256};
  expect_refused("output overlaps an input", "output and indices share memory");
  buffers.ranges[1] = {&buffers.buffers[1], 0, 256};
  buffers.ranges[2] = {&buffers.buffers[3], 16, 64};
  expect_refused("output overlaps an input", "output and updates share memory");
  buffers.ranges[2] = {&buffers.buffers[2], 0, 256};
  buffers.ranges[0] = {&buffers.buffers[3], 16, 64};  // not the same place: not in place
  expect_refused("output overlaps an input", "output and data share memory");
}

TEST_F(DirectmlScatterDispatch, TheSamePlaceInAnotherLayoutIsNotInPlace) {
  Call call = sound();
  call.input = f32({3, 2}, {1, 3});
  compiled = compile(call);
  buffers.ranges[0] = {&buffers.buffers[3], 0, 256};
  expect_refused("output overlaps an input", "output and data share memory");
}

TEST_F(DirectmlScatterDispatch, CopiesTheInputFirst) {
  expect_result({1, 1, 1, 1, 7, 7});
  EXPECT_EQ(input, Floats(64, 1.0f));
}

TEST_F(DirectmlScatterDispatch, InPlace) {
  buffers.ranges[0] = {&buffers.buffers[3], 0, 24};
  expect_result({-1, -1, -1, -1, 7, 7});
  const HostBuffer again(output);  // another HostBuffer of the same memory
  buffers.ranges[0] = {&again, 0, 24};
  indices.assign(64, 0);
  expect_result({7, 7, -1, -1, 7, 7});
}

// Chromium pads with strides of 0; strides of dimensions of size 1 do not matter.
TEST_F(DirectmlScatterDispatch, InPlaceWithOtherStridesOfThePadding) {
  Call call = scatter_elements(f32({1, 3, 2}, {0, 2, 1}), u32({1, 1, 2}), f32({1, 1, 2}), 1);
  call.output = f32({1, 3, 2}, {6, 2, 1});
  compiled = compile(call);
  buffers.ranges[0] = {&buffers.buffers[3], 0, 24};
  expect_result({-1, -1, -1, -1, 7, 7});
  call = scatter_nd(f32({1, 3, 2}, {0, 2, 1}), u32({1, 1, 1}), f32({1, 1, 2}), 2, 2);
  call.output = f32({1, 3, 2});
  compiled = compile(call);
  indices.assign(64, 1);
  expect_result({-1, -1, 7, 7, 7, 7});
}

// A part of a tensor: one buffer as input and output, with smaller sizes and its own strides.
TEST_F(DirectmlScatterDispatch, APartInPlace) {
  compiled = compile(scatter_elements(f32({3, 1}, {2, 1}), u32({1, 1}), f32({1, 1}), 0));
  buffers.ranges[0] = {&buffers.buffers[3], 0, 20};
  expect_result({-1, -1, -1, -1, 7, -1});
}

// TensorFlow-DirectML: the input is one zero, broadcast by strides of 0.
TEST_F(DirectmlScatterDispatch, BroadcastInput) {
  Call call = scatter_nd(f32({3, 2}, {0, 0}), u32({1, 1}), f32({1, 2}), 2, 2);
  call.output = f32({3, 2});
  EXPECT_EQ(call.input.buffer.TotalTensorSizeInBytes, 4u);
  compiled = compile(call);
  input[0] = 0;
  expect_result({0, 0, 0, 0, 7, 7});
}

TEST_F(DirectmlScatterDispatch, PaddingOfTheOutputIsKept) {
  Call call = sound();
  call.output = f32({3, 2}, {3, 1});
  compiled = compile(call);
  ASSERT_EQ(dispatch(), S_OK) << LastErrorText();
  EXPECT_EQ(Floats(output.begin(), output.begin() + 9), (Floats{1, 1, -1, 1, 1, -1, 7, 7, -1}));
}

TEST_F(DirectmlScatterDispatch, OwnedInputs) {
  Call call = sound();
  for (Tensor* tensor : {&call.input, &call.indices, &*call.updates}) {
    tensor->buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  }
  compiled = compile(call);
  ASSERT_EQ(compiled.op->GetBindingProperties().PersistentResourceSize, 768u);
  std::vector<std::byte> storage(1024);
  const HostBuffer persistent(storage);
  const DML_BUFFER_BINDING range{&persistent, 0, 768};
  const DML_BINDING_DESC resource{DML_BINDING_TYPE_BUFFER, &range};
  const Bindings start{3, buffers.descs, 0, nullptr, &resource};
  ASSERT_EQ(compiled.device->InitializeOperator(compiled.op.Get(), start), S_OK) << LastErrorText();
  const DML_BINDING_DESC none[] = {kNone, kNone, kNone};
  bindings.PersistentResource = &resource;
  expect_refused("owned tensor bound",
                 "InputTensor is OWNED_BY_DML; it is bound at initialisation only");
  bindings.Inputs = none;
  // The owned input must survive: the persistent resource is no place to scatter in.
  const std::vector<std::byte> kept = storage;
  buffers.ranges[3] = {&persistent, 0, 256};
  expect_refused("output overlaps the persistent resource",
                 "OutputTensor and PersistentResource share memory");
  EXPECT_EQ(storage, kept);
  buffers.ranges[3] = {&buffers.buffers[3], 0, 256};
  std::fill(updates.begin(), updates.end(), 0.0f);  // the caller's memory is free
  expect_result({1, 1, 1, 1, 7, 7});
}

// Strides may reach over almost 2^63 bytes: two such inputs are more than can be counted.
TEST(DirectmlScatterOwned, MoreThanAPersistentResourceCanHold) {
  const Uints many{1u << 31}, wide{UINT32_MAX};
  const Tensor spread(DML_TENSOR_DATA_TYPE_UINT8, many, wide);
  Call call = scatter_elements(spread, u32(many), spread, 0);
  call.input.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  EXPECT_EQ(call.create(device().Get(), nullptr), S_FALSE) << LastErrorText();
  call.updates->buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  EXPECT_EQ(call.create(device().Get(), nullptr), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(),
              StartsWith("DML_OPERATOR_SCATTER_ELEMENTS: tensors too large\n"
                         "  the inputs that are OWNED_BY_DML need more than 2^63 - 1 bytes "
                         "together\n"));
}

// Hostile indices write nowhere but into the output, which touches forbidden memory.
TEST(DirectmlScatterIndices, StayInsideTheOutput) {
  const std::vector<int64_t> indices{0, 4, 5, -5, -6, INT64_MAX, INT64_MIN};
  const auto count = static_cast<UINT>(indices.size());
  const auto u8 = [](Uints sizes) { return Tensor(DML_TENSOR_DATA_TYPE_UINT8, std::move(sizes)); };
  for (const Flush flush : {Flush::kFront, Flush::kBack}) {
    for (const bool nd : {false, true}) {
      Call call = nd ? scatter_nd(u8({1, 5}), i64({count, 1}), u8({1, count}), 1, 2)
                     : scatter_elements(u8({1, 5}), i64({1, count}), u8({1, count}), 1);
      const Compiled compiled = compile(call);
      const GuardedMemory memory(8);
      const auto output = memory.part(8, flush);
      std::vector<uint8_t> input(8, 1), updates{10, 11, 12, 13, 14, 15, 16, 0};
      const ScatterBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(updates),
                                   HostBuffer(output)};
      ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings()), S_OK)
          << LastErrorText();
      EXPECT_EQ(output[0], std::byte{16});
      EXPECT_EQ(output[1], std::byte{1});
      EXPECT_EQ(output[4], std::byte{15});
    }
  }
}

}  // namespace
