// SPDX-License-Identifier: MIT
//
// The methods that are not there: each says so once and answers E_NOTIMPL. One that returns nothing
// makes the command list fail when it is closed.
#pragma once

#include "com_object.h"
#include "d3d12.h"

namespace sheaf::d3d12 {

using com::missing;

class GraphicsCommandListStubs : public ID3D12GraphicsCommandList {
 public:
  void DrawInstanced(UINT, UINT, UINT, UINT) override {
    missing("ID3D12GraphicsCommandList::DrawInstanced");
  }
  void DrawIndexedInstanced(UINT, UINT, UINT, INT, UINT) override {
    missing("ID3D12GraphicsCommandList::DrawIndexedInstanced");
  }
  void Dispatch(UINT, UINT, UINT) override { missing("ID3D12GraphicsCommandList::Dispatch"); }
  void CopyTextureRegion(const D3D12_TEXTURE_COPY_LOCATION*, UINT, UINT, UINT,
                         const D3D12_TEXTURE_COPY_LOCATION*, const D3D12_BOX*) override {
    missing("ID3D12GraphicsCommandList::CopyTextureRegion");
  }
  void CopyTiles(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                 const D3D12_TILE_REGION_SIZE*, ID3D12Resource*, UINT64,
                 D3D12_TILE_COPY_FLAGS) override {
    missing("ID3D12GraphicsCommandList::CopyTiles");
  }
  void ResolveSubresource(ID3D12Resource*, UINT, ID3D12Resource*, UINT, DXGI_FORMAT) override {
    missing("ID3D12GraphicsCommandList::ResolveSubresource");
  }
  void IASetPrimitiveTopology(D3D12_PRIMITIVE_TOPOLOGY) override {
    missing("ID3D12GraphicsCommandList::IASetPrimitiveTopology");
  }
  void RSSetViewports(UINT, const D3D12_VIEWPORT*) override {
    missing("ID3D12GraphicsCommandList::RSSetViewports");
  }
  void RSSetScissorRects(UINT, const D3D12_RECT*) override {
    missing("ID3D12GraphicsCommandList::RSSetScissorRects");
  }
  void OMSetBlendFactor(const FLOAT*) override {
    missing("ID3D12GraphicsCommandList::OMSetBlendFactor");
  }
  void OMSetStencilRef(UINT) override { missing("ID3D12GraphicsCommandList::OMSetStencilRef"); }
  void SetPipelineState(ID3D12PipelineState*) override {
    missing("ID3D12GraphicsCommandList::SetPipelineState");
  }
  void ExecuteBundle(ID3D12GraphicsCommandList*) override {
    missing("ID3D12GraphicsCommandList::ExecuteBundle");
  }
  void SetComputeRootSignature(ID3D12RootSignature*) override {
    missing("ID3D12GraphicsCommandList::SetComputeRootSignature");
  }
  void SetGraphicsRootSignature(ID3D12RootSignature*) override {
    missing("ID3D12GraphicsCommandList::SetGraphicsRootSignature");
  }
  void SetComputeRootDescriptorTable(UINT, D3D12_GPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12GraphicsCommandList::SetComputeRootDescriptorTable");
  }
  void SetGraphicsRootDescriptorTable(UINT, D3D12_GPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12GraphicsCommandList::SetGraphicsRootDescriptorTable");
  }
  void SetComputeRoot32BitConstant(UINT, UINT, UINT) override {
    missing("ID3D12GraphicsCommandList::SetComputeRoot32BitConstant");
  }
  void SetGraphicsRoot32BitConstant(UINT, UINT, UINT) override {
    missing("ID3D12GraphicsCommandList::SetGraphicsRoot32BitConstant");
  }
  void SetComputeRoot32BitConstants(UINT, UINT, const void*, UINT) override {
    missing("ID3D12GraphicsCommandList::SetComputeRoot32BitConstants");
  }
  void SetGraphicsRoot32BitConstants(UINT, UINT, const void*, UINT) override {
    missing("ID3D12GraphicsCommandList::SetGraphicsRoot32BitConstants");
  }
  void SetComputeRootConstantBufferView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
    missing("ID3D12GraphicsCommandList::SetComputeRootConstantBufferView");
  }
  void SetGraphicsRootConstantBufferView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
    missing("ID3D12GraphicsCommandList::SetGraphicsRootConstantBufferView");
  }
  void SetComputeRootShaderResourceView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
    missing("ID3D12GraphicsCommandList::SetComputeRootShaderResourceView");
  }
  void SetGraphicsRootShaderResourceView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
    missing("ID3D12GraphicsCommandList::SetGraphicsRootShaderResourceView");
  }
  void SetComputeRootUnorderedAccessView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
    missing("ID3D12GraphicsCommandList::SetComputeRootUnorderedAccessView");
  }
  void SetGraphicsRootUnorderedAccessView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) override {
    missing("ID3D12GraphicsCommandList::SetGraphicsRootUnorderedAccessView");
  }
  void IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW*) override {
    missing("ID3D12GraphicsCommandList::IASetIndexBuffer");
  }
  void IASetVertexBuffers(UINT, UINT, const D3D12_VERTEX_BUFFER_VIEW*) override {
    missing("ID3D12GraphicsCommandList::IASetVertexBuffers");
  }
  void SOSetTargets(UINT, UINT, const D3D12_STREAM_OUTPUT_BUFFER_VIEW*) override {
    missing("ID3D12GraphicsCommandList::SOSetTargets");
  }
  void OMSetRenderTargets(UINT, const D3D12_CPU_DESCRIPTOR_HANDLE*, BOOL,
                          const D3D12_CPU_DESCRIPTOR_HANDLE*) override {
    missing("ID3D12GraphicsCommandList::OMSetRenderTargets");
  }
  void ClearDepthStencilView(D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_CLEAR_FLAGS, FLOAT, UINT8, UINT,
                             const D3D12_RECT*) override {
    missing("ID3D12GraphicsCommandList::ClearDepthStencilView");
  }
  void ClearRenderTargetView(D3D12_CPU_DESCRIPTOR_HANDLE, const FLOAT*, UINT,
                             const D3D12_RECT*) override {
    missing("ID3D12GraphicsCommandList::ClearRenderTargetView");
  }
  void ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE,
                                    ID3D12Resource*, const UINT*, UINT,
                                    const D3D12_RECT*) override {
    missing("ID3D12GraphicsCommandList::ClearUnorderedAccessViewUint");
  }
  void ClearUnorderedAccessViewFloat(D3D12_GPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE,
                                     ID3D12Resource*, const FLOAT*, UINT,
                                     const D3D12_RECT*) override {
    missing("ID3D12GraphicsCommandList::ClearUnorderedAccessViewFloat");
  }
  void BeginQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {
    missing("ID3D12GraphicsCommandList::BeginQuery");
  }
  void EndQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {
    missing("ID3D12GraphicsCommandList::EndQuery");
  }
  void ResolveQueryData(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT, UINT, ID3D12Resource*,
                        UINT64) override {
    missing("ID3D12GraphicsCommandList::ResolveQueryData");
  }
  void SetPredication(ID3D12Resource*, UINT64, D3D12_PREDICATION_OP) override {
    missing("ID3D12GraphicsCommandList::SetPredication");
  }
  void ExecuteIndirect(ID3D12CommandSignature*, UINT, ID3D12Resource*, UINT64, ID3D12Resource*,
                       UINT64) override {
    missing("ID3D12GraphicsCommandList::ExecuteIndirect");
  }

 protected:
  // What Close reports: a recorded call that was refused.
  HRESULT refused_ = S_OK;

 private:
  void missing(const char* method) { refused_ = com::missing(method); }
};

class CommandQueueStubs : public ID3D12CommandQueue {
 public:
  void UpdateTileMappings(ID3D12Resource*, UINT, const D3D12_TILED_RESOURCE_COORDINATE*,
                          const D3D12_TILE_REGION_SIZE*, ID3D12Heap*, UINT,
                          const D3D12_TILE_RANGE_FLAGS*, const UINT*, const UINT*,
                          D3D12_TILE_MAPPING_FLAGS) override {
    missing("ID3D12CommandQueue::UpdateTileMappings");
  }
  void CopyTileMappings(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*, ID3D12Resource*,
                        const D3D12_TILED_RESOURCE_COORDINATE*, const D3D12_TILE_REGION_SIZE*,
                        D3D12_TILE_MAPPING_FLAGS) override {
    missing("ID3D12CommandQueue::CopyTileMappings");
  }
  HRESULT GetTimestampFrequency(UINT64*) override {
    return missing("ID3D12CommandQueue::GetTimestampFrequency");
  }
  HRESULT GetClockCalibration(UINT64*, UINT64*) override {
    return missing("ID3D12CommandQueue::GetClockCalibration");
  }
};

class DeviceStubs : public ID3D12Device {
 public:
  HRESULT CreateGraphicsPipelineState(const D3D12_GRAPHICS_PIPELINE_STATE_DESC*, REFIID,
                                      void** out) override {
    return missing("ID3D12Device::CreateGraphicsPipelineState", out);
  }
  HRESULT CreateComputePipelineState(const D3D12_COMPUTE_PIPELINE_STATE_DESC*, REFIID,
                                     void** out) override {
    return missing("ID3D12Device::CreateComputePipelineState", out);
  }
  HRESULT CreateRootSignature(UINT, const void*, SIZE_T, REFIID, void** out) override {
    return missing("ID3D12Device::CreateRootSignature", out);
  }
  void CreateConstantBufferView(const D3D12_CONSTANT_BUFFER_VIEW_DESC*,
                                D3D12_CPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12Device::CreateConstantBufferView");
  }
  void CreateShaderResourceView(ID3D12Resource*, const D3D12_SHADER_RESOURCE_VIEW_DESC*,
                                D3D12_CPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12Device::CreateShaderResourceView");
  }
  void CreateUnorderedAccessView(ID3D12Resource*, ID3D12Resource*,
                                 const D3D12_UNORDERED_ACCESS_VIEW_DESC*,
                                 D3D12_CPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12Device::CreateUnorderedAccessView");
  }
  void CreateRenderTargetView(ID3D12Resource*, const D3D12_RENDER_TARGET_VIEW_DESC*,
                              D3D12_CPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12Device::CreateRenderTargetView");
  }
  void CreateDepthStencilView(ID3D12Resource*, const D3D12_DEPTH_STENCIL_VIEW_DESC*,
                              D3D12_CPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12Device::CreateDepthStencilView");
  }
  void CreateSampler(const D3D12_SAMPLER_DESC*, D3D12_CPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12Device::CreateSampler");
  }
  void CopyDescriptors(UINT, const D3D12_CPU_DESCRIPTOR_HANDLE*, const UINT*, UINT,
                       const D3D12_CPU_DESCRIPTOR_HANDLE*, const UINT*,
                       D3D12_DESCRIPTOR_HEAP_TYPE) override {
    missing("ID3D12Device::CopyDescriptors");
  }
  void CopyDescriptorsSimple(UINT, D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE,
                             D3D12_DESCRIPTOR_HEAP_TYPE) override {
    missing("ID3D12Device::CopyDescriptorsSimple");
  }
  HRESULT CreateHeap(const D3D12_HEAP_DESC*, REFIID, void** out) override {
    return missing("ID3D12Device::CreateHeap", out);
  }
  HRESULT CreatePlacedResource(ID3D12Heap*, UINT64, const D3D12_RESOURCE_DESC*,
                               D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*, REFIID,
                               void** out) override {
    return missing("ID3D12Device::CreatePlacedResource", out);
  }
  HRESULT CreateReservedResource(const D3D12_RESOURCE_DESC*, D3D12_RESOURCE_STATES,
                                 const D3D12_CLEAR_VALUE*, REFIID, void** out) override {
    return missing("ID3D12Device::CreateReservedResource", out);
  }
  HRESULT CreateSharedHandle(ID3D12DeviceChild*, const SECURITY_ATTRIBUTES*, DWORD, LPCWSTR,
                             HANDLE*) override {
    return missing("ID3D12Device::CreateSharedHandle");
  }
  HRESULT OpenSharedHandle(HANDLE, REFIID, void** out) override {
    return missing("ID3D12Device::OpenSharedHandle", out);
  }
  HRESULT OpenSharedHandleByName(LPCWSTR, DWORD, HANDLE*) override {
    return missing("ID3D12Device::OpenSharedHandleByName");
  }
  HRESULT CreateQueryHeap(const D3D12_QUERY_HEAP_DESC*, REFIID, void** out) override {
    return missing("ID3D12Device::CreateQueryHeap", out);
  }
  HRESULT CreateCommandSignature(const D3D12_COMMAND_SIGNATURE_DESC*, ID3D12RootSignature*, REFIID,
                                 void** out) override {
    return missing("ID3D12Device::CreateCommandSignature", out);
  }
  void GetResourceTiling(ID3D12Resource*, UINT*, D3D12_PACKED_MIP_INFO*, D3D12_TILE_SHAPE*, UINT*,
                         UINT, D3D12_SUBRESOURCE_TILING*) override {
    missing("ID3D12Device::GetResourceTiling");
  }
};

class ResourceStubs : public ID3D12Resource {
 public:
  HRESULT WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT, UINT) override {
    return missing("ID3D12Resource::WriteToSubresource");
  }
  HRESULT ReadFromSubresource(void*, UINT, UINT, UINT, const D3D12_BOX*) override {
    return missing("ID3D12Resource::ReadFromSubresource");
  }
};

}  // namespace sheaf::d3d12
