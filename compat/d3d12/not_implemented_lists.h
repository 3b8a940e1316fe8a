// SPDX-License-Identifier: MIT
//
// The methods of command lists that are not there: each says so once and answers E_NOTIMPL. One
// that returns nothing makes the list fail when it is closed.
#pragma once

#include "com_object.h"
#include "d3d12.h"

namespace sheaf::d3d12 {

using com::missing;

class GraphicsCommandListStubs : public ID3D12GraphicsCommandList4 {
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
  void BeginQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {
    missing("ID3D12GraphicsCommandList::BeginQuery");
  }
  void SetPredication(ID3D12Resource*, UINT64, D3D12_PREDICATION_OP) override {
    missing("ID3D12GraphicsCommandList::SetPredication");
  }
  void ExecuteIndirect(ID3D12CommandSignature*, UINT, ID3D12Resource*, UINT64, ID3D12Resource*,
                       UINT64) override {
    missing("ID3D12GraphicsCommandList::ExecuteIndirect");
  }
  void AtomicCopyBufferUINT(ID3D12Resource*, UINT64, ID3D12Resource*, UINT64, UINT,
                            ID3D12Resource* const*,
                            const D3D12_SUBRESOURCE_RANGE_UINT64*) override {
    missing("ID3D12GraphicsCommandList1::AtomicCopyBufferUINT");
  }
  void AtomicCopyBufferUINT64(ID3D12Resource*, UINT64, ID3D12Resource*, UINT64, UINT,
                              ID3D12Resource* const*,
                              const D3D12_SUBRESOURCE_RANGE_UINT64*) override {
    missing("ID3D12GraphicsCommandList1::AtomicCopyBufferUINT64");
  }
  void OMSetDepthBounds(FLOAT, FLOAT) override {
    missing("ID3D12GraphicsCommandList1::OMSetDepthBounds");
  }
  void SetSamplePositions(UINT, UINT, D3D12_SAMPLE_POSITION*) override {
    missing("ID3D12GraphicsCommandList1::SetSamplePositions");
  }
  void ResolveSubresourceRegion(ID3D12Resource*, UINT, UINT, UINT, ID3D12Resource*, UINT,
                                D3D12_RECT*, DXGI_FORMAT, D3D12_RESOLVE_MODE) override {
    missing("ID3D12GraphicsCommandList1::ResolveSubresourceRegion");
  }
  void SetViewInstanceMask(UINT) override {
    missing("ID3D12GraphicsCommandList1::SetViewInstanceMask");
  }
  void WriteBufferImmediate(UINT, const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER*,
                            const D3D12_WRITEBUFFERIMMEDIATE_MODE*) override {
    missing("ID3D12GraphicsCommandList2::WriteBufferImmediate");
  }
  void SetProtectedResourceSession(ID3D12ProtectedResourceSession*) override {
    missing("ID3D12GraphicsCommandList3::SetProtectedResourceSession");
  }
  void BeginRenderPass(UINT, const D3D12_RENDER_PASS_RENDER_TARGET_DESC*,
                       const D3D12_RENDER_PASS_DEPTH_STENCIL_DESC*,
                       D3D12_RENDER_PASS_FLAGS) override {
    missing("ID3D12GraphicsCommandList4::BeginRenderPass");
  }
  void EndRenderPass() override { missing("ID3D12GraphicsCommandList4::EndRenderPass"); }
  void InitializeMetaCommand(ID3D12MetaCommand*, const void*, SIZE_T) override {
    missing("ID3D12GraphicsCommandList4::InitializeMetaCommand");
  }
  void ExecuteMetaCommand(ID3D12MetaCommand*, const void*, SIZE_T) override {
    missing("ID3D12GraphicsCommandList4::ExecuteMetaCommand");
  }
  void BuildRaytracingAccelerationStructure(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC*, UINT,
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*) override {
    missing("ID3D12GraphicsCommandList4::BuildRaytracingAccelerationStructure");
  }
  void EmitRaytracingAccelerationStructurePostbuildInfo(
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*, UINT,
      const D3D12_GPU_VIRTUAL_ADDRESS*) override {
    missing("ID3D12GraphicsCommandList4::EmitRaytracingAccelerationStructurePostbuildInfo");
  }
  void CopyRaytracingAccelerationStructure(
      D3D12_GPU_VIRTUAL_ADDRESS, D3D12_GPU_VIRTUAL_ADDRESS,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE) override {
    missing("ID3D12GraphicsCommandList4::CopyRaytracingAccelerationStructure");
  }
  void SetPipelineState1(ID3D12StateObject*) override {
    missing("ID3D12GraphicsCommandList4::SetPipelineState1");
  }
  void DispatchRays(const D3D12_DISPATCH_RAYS_DESC*) override {
    missing("ID3D12GraphicsCommandList4::DispatchRays");
  }

 protected:
  // What Close reports: a recorded call that was refused.
  HRESULT refused_ = S_OK;

 private:
  void missing(const char* method) { refused_ = com::missing(method); }
};

}  // namespace sheaf::d3d12
