// SPDX-License-Identifier: MIT
//
// The methods that are not there: each is in its place, and says so.
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

// A recorded one makes the list fail when it is closed.
TEST_F(NotImplemented, OfLists) {
  using List = ID3D12GraphicsCommandList;
  void (*const calls[])(List&) = {
      [](List& l) { l.DrawInstanced(0, 0, 0, 0); },
      [](List& l) { l.DrawIndexedInstanced(0, 0, 0, 0, 0); },
      [](List& l) { l.Dispatch(0, 0, 0); },
      [](List& l) { l.CopyTextureRegion(nullptr, 0, 0, 0, nullptr, nullptr); },
      [](List& l) { l.CopyTiles(nullptr, nullptr, nullptr, nullptr, 0, {}); },
      [](List& l) { l.ResolveSubresource(nullptr, 0, nullptr, 0, DXGI_FORMAT_UNKNOWN); },
      [](List& l) { l.IASetPrimitiveTopology({}); },
      [](List& l) { l.RSSetViewports(0, nullptr); },
      [](List& l) { l.RSSetScissorRects(0, nullptr); },
      [](List& l) { l.OMSetBlendFactor(nullptr); },
      [](List& l) { l.OMSetStencilRef(0); },
      [](List& l) { l.SetPipelineState(nullptr); },
      [](List& l) { l.ExecuteBundle(nullptr); },
      [](List& l) { l.SetComputeRootSignature(nullptr); },
      [](List& l) { l.SetGraphicsRootSignature(nullptr); },
      [](List& l) { l.SetComputeRootDescriptorTable(0, {}); },
      [](List& l) { l.SetGraphicsRootDescriptorTable(0, {}); },
      [](List& l) { l.SetComputeRoot32BitConstant(0, 0, 0); },
      [](List& l) { l.SetGraphicsRoot32BitConstant(0, 0, 0); },
      [](List& l) { l.SetComputeRoot32BitConstants(0, 0, nullptr, 0); },
      [](List& l) { l.SetGraphicsRoot32BitConstants(0, 0, nullptr, 0); },
      [](List& l) { l.SetComputeRootConstantBufferView(0, 0); },
      [](List& l) { l.SetGraphicsRootConstantBufferView(0, 0); },
      [](List& l) { l.SetComputeRootShaderResourceView(0, 0); },
      [](List& l) { l.SetGraphicsRootShaderResourceView(0, 0); },
      [](List& l) { l.SetComputeRootUnorderedAccessView(0, 0); },
      [](List& l) { l.SetGraphicsRootUnorderedAccessView(0, 0); },
      [](List& l) { l.IASetIndexBuffer(nullptr); },
      [](List& l) { l.IASetVertexBuffers(0, 0, nullptr); },
      [](List& l) { l.SOSetTargets(0, 0, nullptr); },
      [](List& l) { l.OMSetRenderTargets(0, nullptr, FALSE, nullptr); },
      [](List& l) { l.ClearDepthStencilView({}, {}, 0, 0, 0, nullptr); },
      [](List& l) { l.ClearRenderTargetView({}, nullptr, 0, nullptr); },
      [](List& l) { l.BeginQuery(nullptr, {}, 0); },
      [](List& l) { l.SetPredication(nullptr, 0, {}); },
      [](List& l) { l.ExecuteIndirect(nullptr, 0, nullptr, 0, nullptr, 0); },
  };
  List& list = *machine_.list.Get();
  for (size_t i = 0; i < std::size(calls); ++i) {
    calls[i](list);
    EXPECT_EQ(list.Close(), E_NOTIMPL) << i;
    EXPECT_EQ(list.Reset(machine_.allocator.Get(), nullptr), S_OK);
  }
}

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

TEST_F(NotImplemented, OfQueuesAndResources) {
  ID3D12CommandQueue& queue = *machine_.queue.Get();
  queue.UpdateTileMappings(nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, {});
  queue.CopyTileMappings(nullptr, nullptr, nullptr, nullptr, nullptr, {});
  const auto buffer = machine_.buffer(16);
  EXPECT_EQ(buffer->WriteToSubresource(0, nullptr, nullptr, 0, 0), E_NOTIMPL);
  EXPECT_EQ(buffer->ReadFromSubresource(nullptr, 0, 0, 0, nullptr), E_NOTIMPL);
}

TEST_F(NotImplemented, OfDevices) {
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
  EXPECT_EQ(device.CreateSharedHandle(nullptr, nullptr, 0, nullptr, nullptr), E_NOTIMPL);
  EXPECT_EQ(device.OpenSharedHandleByName(nullptr, 0, nullptr), E_NOTIMPL);
  device.CreateConstantBufferView(nullptr, {});
  device.CreateShaderResourceView(nullptr, nullptr, {});
  device.CreateRenderTargetView(nullptr, nullptr, {});
  device.CreateDepthStencilView(nullptr, nullptr, {});
  device.CreateSampler(nullptr, {});
  device.GetResourceTiling(nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr);
}

}  // namespace
