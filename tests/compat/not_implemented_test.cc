// SPDX-License-Identifier: MIT
//
// What methods that are not there leave behind, and those that are taken without effect.
// missing_methods_test.cc has each of them.
#include "compat/machine.h"

using namespace compat;

namespace {

class NotImplemented : public testing::Test {
 protected:
  NotImplemented() {
    SheafSetMessageCallback([](const char*, void*) {}, nullptr);
  }
  ~NotImplemented() override { SheafSetMessageCallback(nullptr, nullptr); }

  Machine machine_;
};

// These change nothing, as commands run one after the other.
TEST_F(NotImplemented, WhatIsTakenWithoutEffect) {
  ID3D12GraphicsCommandList& list = *machine_.list.Get();
  list.ClearState(nullptr);
  list.ResourceBarrier(0, nullptr);
  list.SetDescriptorHeaps(0, nullptr);
  list.DiscardResource(nullptr, nullptr);
  list.SetMarker(0, nullptr, 0);
  list.BeginEvent(0, nullptr, 0);
  list.EndEvent();
  EXPECT_EQ(list.Close(), S_OK);
  machine_.queue->SetMarker(0, nullptr, 0);
  machine_.queue->BeginEvent(0, nullptr, 0);
  machine_.queue->EndEvent();
  EXPECT_EQ(machine_.queue->GetDesc().Type, D3D12_COMMAND_LIST_TYPE_DIRECT);
  EXPECT_EQ(machine_.d3d12->MakeResident(0, nullptr), S_OK);
  EXPECT_EQ(machine_.d3d12->Evict(0, nullptr), S_OK);
  EXPECT_EQ(machine_.d3d12->SetStablePowerState(FALSE), S_OK);
  EXPECT_EQ(machine_.dml->MakeResident(0, nullptr), S_OK);
  EXPECT_EQ(machine_.dml->Evict(0, nullptr), S_OK);
  const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 3, {}, 0};
  ComPtr<ID3D12DescriptorHeap> heap;
  COMPAT_CHECK(machine_.d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap)));
  EXPECT_EQ(heap->GetDesc().NumDescriptors, 3u);
}

// What should have received an object is null.
TEST_F(NotImplemented, NoObjects) {
  ID3D12Device& device = *machine_.d3d12.Get();
  const GUID& iid = __uuidof(IUnknown);
  void* made = this;
  const auto missing = [&](HRESULT result) {
    EXPECT_EQ(result, E_NOTIMPL);
    EXPECT_EQ(made, nullptr);
    made = this;
  };
  missing(device.CreateGraphicsPipelineState(nullptr, iid, &made));
  missing(device.CreateComputePipelineState(nullptr, iid, &made));
  missing(device.CreateRootSignature(0, nullptr, 0, iid, &made));
  missing(device.OpenSharedHandle(nullptr, iid, &made));
  missing(device.CreateCommandSignature(nullptr, nullptr, iid, &made));
}

}  // namespace
