// SPDX-License-Identifier: MIT
//
// Bindings: what is refused, and that the output is untouched then.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>

#include "frontends/directml/dml.h"

using namespace dml_test;
using testing::StartsWith;

using Floats = std::vector<float>;

namespace {

constexpr const char* kGatherBindings[] = {"InputTensor", "IndicesTensor", "OutputTensor"};

// Buffers that fit sound_gather(), with room for an offset of 64 bytes.
class DirectmlDispatch : public testing::Test {
 protected:
  Floats input = Floats(64, 1.0f), output = Floats(64, -1.0f);
  Uints indices = Uints(64, 0);
  WholeBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(output)};
  Bindings bindings = buffers.bindings();
  Compiled compiled = compile(sound_gather());

  HRESULT dispatch() { return compiled.device->Dispatch(compiled.op.Get(), bindings); }

  // The first two lines of a refusal.
  void expect_refused(const std::string& what, const std::string& detail) {
    EXPECT_EQ(dispatch(), E_INVALIDARG);
    EXPECT_THAT(LastErrorText(),
                StartsWith("DML_OPERATOR_GATHER: " + what + "\n  " + detail + "\n"));
    EXPECT_EQ(output, Floats(64, -1.0f));
  }
};

TEST_F(DirectmlDispatch, WrongCounts) {
  for (const UINT count : {0u, 1u, 3u, UINT32_MAX}) {
    bindings.InputCount = count;
    expect_refused("wrong number of bindings",
                   std::to_string(count) + " inputs are bound, but this operator has 2");
  }
  bindings.InputCount = 2;
  for (const UINT count : {0u, 2u, UINT32_MAX}) {
    bindings.OutputCount = count;
    expect_refused("wrong number of bindings",
                   std::to_string(count) + " outputs are bound, but this operator has 1");
  }
}

TEST_F(DirectmlDispatch, NullLists) {
  bindings.Inputs = nullptr;
  expect_refused("null pointer", "the list of inputs is null");
  bindings = buffers.bindings();
  bindings.Outputs = nullptr;
  expect_refused("null pointer", "the list of outputs is null");
}

TEST_F(DirectmlDispatch, NoBindingsAtAll) {
  bindings = {};
  expect_refused("wrong number of bindings", "0 inputs are bound, but this operator has 2");
}

TEST_F(DirectmlDispatch, WrongBindingTypes) {
  for (int i = 0; i < 3; ++i) {
    for (const int type : {0, 2, 3, -1}) {
      buffers.descs[i].Type = static_cast<DML_BINDING_TYPE>(type);
      expect_refused("not bound", std::string(kGatherBindings[i]) + " has a binding of Type " +
                                      std::to_string(type));
    }
    buffers.descs[i].Type = DML_BINDING_TYPE_BUFFER;
  }
}

TEST_F(DirectmlDispatch, NullPointers) {
  const HostBuffer no_memory(static_cast<void*>(nullptr), 256);
  for (int i = 0; i < 3; ++i) {
    const std::string name = kGatherBindings[i];
    const DML_BUFFER_BINDING kept = buffers.ranges[i];
    buffers.ranges[i].Buffer = &no_memory;
    expect_refused("null pointer", name + " is bound to a buffer without memory");
    buffers.ranges[i].Buffer = nullptr;
    expect_refused("null pointer", name + " is bound to a null Buffer");
    buffers.ranges[i] = kept;
    buffers.descs[i].Desc = nullptr;
    expect_refused("null pointer", name + " has a binding whose Desc is null");
    buffers.descs[i].Desc = &buffers.ranges[i];
  }
  EXPECT_EQ(dispatch(), S_OK);
}

TEST_F(DirectmlDispatch, RangesOutsideTheBuffer) {
  struct Case {
    UINT64 offset, size;
  };
  for (int i = 0; i < 3; ++i) {
    for (const Case& c :
         {Case{0, 257}, Case{16, 241}, Case{272, 0}, Case{UINT64_MAX, 1}, Case{UINT64_MAX - 15, 32},
          Case{16, UINT64_MAX}, Case{UINT64_MAX, UINT64_MAX}}) {
      buffers.ranges[i].Offset = c.offset;
      buffers.ranges[i].SizeInBytes = c.size;
      expect_refused("binding outside its buffer",
                     std::string(kGatherBindings[i]) + " has Offset " + std::to_string(c.offset) +
                         " and SizeInBytes " + std::to_string(c.size) +
                         ", but the buffer has 256 bytes");
    }
    buffers.ranges[i] = {&buffers.buffers[i], 0, 256};
  }
}

TEST_F(DirectmlDispatch, RangesSmallerThanTheTensor) {
  const UINT64 needed[] = {24, 16, 32};
  for (int i = 0; i < 3; ++i) {
    for (const UINT64 size : {UINT64{0}, needed[i] - 1}) {
      buffers.ranges[i].SizeInBytes = size;
      expect_refused("binding too small", std::string(kGatherBindings[i]) + " has SizeInBytes " +
                                              std::to_string(size) + ", but needs " +
                                              std::to_string(needed[i]));
    }
    buffers.ranges[i].SizeInBytes = needed[i];
  }
  EXPECT_EQ(dispatch(), S_OK) << LastErrorText();
}

// What counts is TotalTensorSizeInBytes, not what the elements need.
TEST_F(DirectmlDispatch, RangesSmallerThanTheTotalSize) {
  Call call = sound_gather();
  call.input.buffer.TotalTensorSizeInBytes = 300;
  compiled = compile(call);
  expect_refused("binding too small", "InputTensor has SizeInBytes 256, but needs 300");
  call.input.buffer.TotalTensorSizeInBytes = UINT64_MAX;
  compiled = compile(call);
  expect_refused("binding too small",
                 "InputTensor has SizeInBytes 256, but needs 18446744073709551615");
}

TEST_F(DirectmlDispatch, OffsetsThatAreNotAligned) {
  for (int i = 0; i < 3; ++i) {
    for (const UINT64 offset : {UINT64{1}, UINT64{4}, UINT64{8}, UINT64{24}}) {
      buffers.ranges[i] = {&buffers.buffers[i], offset, 200};
      expect_refused("binding not aligned", std::string(kGatherBindings[i]) + " has Offset " +
                                                std::to_string(offset) +
                                                ", which is no multiple of 16");
    }
    buffers.ranges[i] = {&buffers.buffers[i], 0, 256};
  }
}

TEST_F(DirectmlDispatch, AlignmentsThatWereGuaranteed) {
  Call call = sound_gather();
  call.input.buffer.GuaranteedBaseOffsetAlignment = 64;
  call.indices.buffer.GuaranteedBaseOffsetAlignment = 4;  // 16 is the least all the same
  compiled = compile(call);
  buffers.ranges[0] = {&buffers.buffers[0], 32, 200};
  expect_refused("binding not aligned", "InputTensor has Offset 32, which is no multiple of 64");
  buffers.ranges[0] = {&buffers.buffers[0], 64, 192};
  buffers.ranges[1] = {&buffers.buffers[1], 8, 200};
  expect_refused("binding not aligned", "IndicesTensor has Offset 8, which is no multiple of 16");
  buffers.ranges[1] = {&buffers.buffers[1], 16, 200};
  EXPECT_EQ(dispatch(), S_OK) << LastErrorText();
}

TEST_F(DirectmlDispatch, ReadOnlyOutput) {
  buffers.buffers[2] = HostBuffer(std::as_const(output));
  expect_refused("buffer is read-only",
                 "OutputTensor is bound to a HostBuffer made from a const pointer");
}

TEST_F(DirectmlDispatch, OutputThatOverlapsAnInput) {
  buffers.ranges[0] = {&buffers.buffers[2], 16, 240};
  expect_refused("output overlaps an input", "output and data share memory");
  buffers.ranges[0] = {&buffers.buffers[0], 0, 256};
  buffers.ranges[1] = {&buffers.buffers[2], 0, 256};
  expect_refused("output overlaps an input", "output and indices share memory");
}

TEST_F(DirectmlDispatch, ThePersistentResourceIsForOwnedTensors) {
  bindings.PersistentResource = &buffers.descs[0];
  expect_refused("needless persistent resource",
                 "PersistentResource is bound, but no tensor is OWNED_BY_DML");
  const DML_BINDING_DESC none{DML_BINDING_TYPE_NONE, nullptr};
  bindings.PersistentResource = &none;
  EXPECT_EQ(dispatch(), S_OK) << LastErrorText();
}

TEST_F(DirectmlDispatch, WholeRefusal) {
  buffers.ranges[0].SizeInBytes = 20;
  EXPECT_EQ(dispatch(), E_INVALIDARG);
  EXPECT_STREQ(LastErrorText(),
               "DML_OPERATOR_GATHER: binding too small\n"
               "  InputTensor has SizeInBytes 20, but needs 24\n"
               "  data f32[3, 2]   indices u32[4]   axis 0   output f32[4, 2]\n"
               "  try: as many bytes as TotalTensorSizeInBytes or PersistentResourceSize says");
}

TEST_F(DirectmlDispatch, OffsetsIntoOneBuffer) {
  // Indices, input and output side by side in one allocation.
  std::vector<std::byte> memory(256);
  const Uints picks{2, 0, 0, 1};
  const Floats rows{1, 2, 3, 4, 5, 6};
  std::memcpy(memory.data() + 16, picks.data(), 16);
  std::memcpy(memory.data() + 64, rows.data(), 24);
  const HostBuffer whole(memory);
  buffers.ranges[0] = {&whole, 64, 24};
  buffers.ranges[1] = {&whole, 16, 16};
  buffers.ranges[2] = {&whole, 128, 128};
  ASSERT_EQ(dispatch(), S_OK) << LastErrorText();
  Floats result(8);
  std::memcpy(result.data(), memory.data() + 128, 32);
  EXPECT_EQ(result, (Floats{5, 6, 1, 2, 1, 2, 3, 4}));
}

// DirectML may write into the padding of an output; here it is kept.
TEST_F(DirectmlDispatch, PaddingOfTheOutputIsKept) {
  Call call = sound_gather();
  call.output = f32({4, 2}, {3, 1});
  call.output.buffer.TotalTensorSizeInBytes = 64;
  const Floats result = run(call, Floats{1, 2, 3, 4, 5, 6}, Uints{2, 0, 0, 1});
  float untouched;
  std::memset(&untouched, kUntouched, sizeof untouched);
  EXPECT_EQ(result, (Floats{5, 6, untouched, 1, 2, untouched, 1, 2, untouched, 3, 4, untouched,
                            untouched, untouched, untouched, untouched}));
}

// Column 0 of a matrix with rows of 8, gathered into its column 4.
TEST_F(DirectmlDispatch, InterleavedTensorsDoNotOverlap) {
  Floats memory(24, -1.0f);
  memory[0] = 1;
  memory[8] = 2;
  memory[16] = 3;
  const Uints picks{2, 2, 0};
  compiled = compile(gather(f32({3}, {8}), u32({3}), f32({3}, {8}), 0, 1));
  const HostBuffer matrix(memory), pick_buffer(picks);
  buffers.ranges[0] = {&matrix, 0, 80};
  buffers.ranges[1] = {&pick_buffer, 0, 12};
  buffers.ranges[2] = {&matrix, 16, 80};
  ASSERT_EQ(dispatch(), S_OK) << LastErrorText();
  EXPECT_EQ((Floats{memory[4], memory[12], memory[20]}), (Floats{3, 3, 1}));
  EXPECT_EQ(std::count(memory.begin(), memory.end(), -1.0f), 18);
}

TEST_F(DirectmlDispatch, RunsAgain) {
  std::fill(indices.begin(), indices.end(), 2u);
  for (float value = 0; value < 3; ++value) {
    input[4] = input[5] = value;
    ASSERT_EQ(dispatch(), S_OK) << LastErrorText();
    EXPECT_EQ(Floats(output.begin(), output.begin() + 8), Floats(8, value));
    EXPECT_EQ(Floats(output.begin() + 8, output.end()), Floats(56, -1.0f));
  }
}

}  // namespace
