// SPDX-License-Identifier: MIT
//
// OWNED_BY_DML: copied at initialisation, not bound at dispatch.
#include <gmock/gmock.h>

#include <cstdint>

#include "frontends/directml/dml.h"

using namespace dml_test;
using testing::StartsWith;

using Floats = std::vector<float>;

namespace {

class DirectmlOwned : public testing::Test {
 protected:
  Floats input{1, 2, 3, 4, 5, 6}, output = Floats(8, -1.0f);
  Uints indices{2, 0, 1, 9};
  alignas(16) std::byte storage[1024] = {};
  WholeBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(output)};
  HostBuffer persistent{static_cast<void*>(storage), sizeof storage};
  DML_BUFFER_BINDING persistent_range{&persistent, 0, sizeof storage};
  DML_BINDING_DESC persistent_binding{DML_BINDING_TYPE_BUFFER, &persistent_range};
  Bindings start{2, buffers.descs, 0, nullptr, &persistent_binding};
  Compiled compiled;

  void compile_with(bool own_input, bool own_indices) {
    Call call = gather(f32({3, 2}), u32({1, 4}), f32({4, 2}), 0, 1);
    call.input.buffer.Flags = own_input ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE;
    call.indices.buffer.Flags = own_indices ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE;
    compiled = compile(call);
  }
  HRESULT initialize() { return compiled.device->InitializeOperator(compiled.op.Get(), start); }
  HRESULT dispatch() {
    Bindings bindings = buffers.bindings();
    bindings.PersistentResource = start.PersistentResource;
    return compiled.device->Dispatch(compiled.op.Get(), bindings);
  }
  void expect_refused(HRESULT result, const std::string& what, const std::string& detail) {
    EXPECT_EQ(result, E_INVALIDARG);
    EXPECT_THAT(LastErrorText(),
                StartsWith("DML_OPERATOR_GATHER: " + what + "\n  " + detail + "\n"));
    for (const std::byte byte : storage) {
      ASSERT_EQ(byte, std::byte{0});
    }
    EXPECT_EQ(output, Floats(8, -1.0f));
  }
};

TEST_F(DirectmlOwned, PersistentResourceMustBeBound) {
  compile_with(true, false);
  buffers.descs[1] = kNone;
  for (const DML_BINDING_DESC* missing : {static_cast<const DML_BINDING_DESC*>(nullptr), &kNone}) {
    start.PersistentResource = missing;
    const char* detail = "a tensor is OWNED_BY_DML, and its 256 bytes are kept there";
    expect_refused(initialize(), "persistent resource not bound", detail);
    expect_refused(dispatch(), "persistent resource not bound", detail);
  }
}

TEST_F(DirectmlOwned, PersistentResourceMustFit) {
  compile_with(true, true);
  persistent_range.SizeInBytes = 511;
  expect_refused(initialize(), "binding too small",
                 "PersistentResource has SizeInBytes 511, but needs 512");
  persistent_range = {&persistent, 16, 512};
  expect_refused(initialize(), "binding not aligned",
                 "PersistentResource has Offset 16, which is no multiple of 256");
  persistent_range = {&persistent, 768, 512};
  expect_refused(initialize(), "binding outside its buffer",
                 "PersistentResource has Offset 768 and SizeInBytes 512, but the buffer has 1024 "
                 "bytes");
  const HostBuffer read_only(static_cast<const void*>(storage), sizeof storage);
  persistent_range = {&read_only, 0, 512};
  expect_refused(initialize(), "buffer is read-only",
                 "PersistentResource is bound to a HostBuffer made from a const pointer");
}

TEST_F(DirectmlOwned, OwnedTensorsMustBeBoundAtInitialisation) {
  compile_with(true, true);
  buffers.descs[1] = kNone;
  expect_refused(initialize(), "not bound", "IndicesTensor has a binding of Type 0");
  buffers.descs[1] = {DML_BINDING_TYPE_BUFFER, nullptr};
  expect_refused(initialize(), "null pointer", "IndicesTensor has a binding whose Desc is null");
}

TEST_F(DirectmlOwned, OtherTensorsMayNotBeBoundAtInitialisation) {
  compile_with(true, false);
  expect_refused(initialize(), "bound at initialisation",
                 "IndicesTensor is not OWNED_BY_DML; it is bound when dispatched");
}

TEST_F(DirectmlOwned, OwnedTensorsMayNotBeBoundAtDispatch) {
  compile_with(true, false);
  expect_refused(dispatch(), "owned tensor bound",
                 "InputTensor is OWNED_BY_DML; it is bound at initialisation only");
}

TEST_F(DirectmlOwned, PersistentResourceOfItsOwn) {
  compile_with(false, true);
  buffers.descs[0] = kNone;
  buffers.ranges[1] = {&persistent, 64, 256};
  expect_refused(initialize(), "persistent resource overlaps an input",
                 "PersistentResource and IndicesTensor share memory");
}

TEST_F(DirectmlOwned, NothingOwnedNeedsNothing) {
  compile_with(false, false);
  EXPECT_EQ(compiled.op->GetBindingProperties().PersistentResourceSize, 0u);
  start = {};
  EXPECT_EQ(initialize(), S_OK) << LastErrorText();
  const DML_BINDING_DESC none[] = {kNone, kNone};
  start = {2, none, 0, nullptr, nullptr};
  EXPECT_EQ(initialize(), S_OK) << LastErrorText();
  start.Inputs = buffers.descs;
  expect_refused(initialize(), "bound at initialisation",
                 "InputTensor is not OWNED_BY_DML; it is bound when dispatched");
}

TEST_F(DirectmlOwned, EveryCombinationGathers) {
  for (const bool own_input : {false, true}) {
    for (const bool own_indices : {false, true}) {
      compile_with(own_input, own_indices);
      const DML_BINDING_PROPERTIES properties = compiled.op->GetBindingProperties();
      EXPECT_EQ(properties.PersistentResourceSize,
                (own_input ? 256u : 0u) + (own_indices ? 256u : 0u));
      EXPECT_EQ(properties.TemporaryResourceSize, 0u);
      EXPECT_EQ(properties.RequiredDescriptorCount, 0u);
      const DML_BINDING_DESC bound[] = {buffers.descs[0], buffers.descs[1]};
      const DML_BINDING_DESC at_start[] = {own_input ? bound[0] : kNone,
                                           own_indices ? bound[1] : kNone};
      const bool any = own_input || own_indices;
      start = {2, at_start, 0, nullptr, any ? &persistent_binding : nullptr};
      ASSERT_EQ(initialize(), S_OK) << LastErrorText();

      const Floats kept_input = input;
      const Uints kept_indices = indices;
      if (own_input) {
        input.assign(6, 0.0f);  // the caller's memory is free after initialisation
        buffers.descs[0] = kNone;
      }
      if (own_indices) {
        indices.assign(4, 0u);
        buffers.descs[1] = kNone;
      }
      output.assign(8, -1.0f);
      ASSERT_EQ(dispatch(), S_OK) << LastErrorText();
      EXPECT_EQ(output, (Floats{5, 6, 1, 2, 3, 4, 5, 6}));
      std::copy(kept_input.begin(), kept_input.end(), input.begin());
      std::copy(kept_indices.begin(), kept_indices.end(), indices.begin());
      buffers.descs[0] = bound[0];
      buffers.descs[1] = bound[1];
    }
  }
}

TEST_F(DirectmlOwned, OutputOverThePersistentResource) {
  compile_with(true, false);
  buffers.descs[1] = kNone;
  ASSERT_EQ(initialize(), S_OK) << LastErrorText();
  buffers.descs[0] = kNone;
  buffers.descs[1] = {DML_BINDING_TYPE_BUFFER, &buffers.ranges[1]};
  buffers.ranges[2] = {&persistent, 0, 256};
  EXPECT_EQ(dispatch(), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(), StartsWith("DML_OPERATOR_GATHER: output overlaps an input\n"));
}

}  // namespace
