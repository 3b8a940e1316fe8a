// SPDX-License-Identifier: MIT
//
// The methods of devices, queues, resources and heaps that are not there: each says so once and
// answers E_NOTIMPL.
#pragma once

#include "com_object.h"
#include "d3d12.h"

namespace sheaf::d3d12 {

using com::missing;

class DeviceStubs : public ID3D12Device9 {
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
  HRESULT CreateCommandSignature(const D3D12_COMMAND_SIGNATURE_DESC*, ID3D12RootSignature*, REFIID,
                                 void** out) override {
    return missing("ID3D12Device::CreateCommandSignature", out);
  }
  void GetResourceTiling(ID3D12Resource*, UINT*, D3D12_PACKED_MIP_INFO*, D3D12_TILE_SHAPE*, UINT*,
                         UINT, D3D12_SUBRESOURCE_TILING*) override {
    missing("ID3D12Device::GetResourceTiling");
  }
  HRESULT CreatePipelineLibrary(const void*, SIZE_T, REFIID, void** out) override {
    return missing("ID3D12Device1::CreatePipelineLibrary", out);
  }
  HRESULT SetEventOnMultipleFenceCompletion(ID3D12Fence* const*, const UINT64*, UINT,
                                            D3D12_MULTIPLE_FENCE_WAIT_FLAGS, HANDLE) override {
    return missing("ID3D12Device1::SetEventOnMultipleFenceCompletion");
  }
  HRESULT CreatePipelineState(const D3D12_PIPELINE_STATE_STREAM_DESC*, REFIID,
                              void** out) override {
    return missing("ID3D12Device2::CreatePipelineState", out);
  }
  HRESULT OpenExistingHeapFromAddress(const void*, REFIID, void** out) override {
    return missing("ID3D12Device3::OpenExistingHeapFromAddress", out);
  }
  HRESULT OpenExistingHeapFromFileMapping(HANDLE, REFIID, void** out) override {
    return missing("ID3D12Device3::OpenExistingHeapFromFileMapping", out);
  }
  HRESULT CreateProtectedResourceSession(const D3D12_PROTECTED_RESOURCE_SESSION_DESC*, REFIID,
                                         void** out) override {
    return missing("ID3D12Device4::CreateProtectedResourceSession", out);
  }
  HRESULT CreateLifetimeTracker(ID3D12LifetimeOwner*, REFIID, void** out) override {
    return missing("ID3D12Device5::CreateLifetimeTracker", out);
  }
  HRESULT EnumerateMetaCommandParameters(REFGUID, D3D12_META_COMMAND_PARAMETER_STAGE, UINT*, UINT*,
                                         D3D12_META_COMMAND_PARAMETER_DESC*) override {
    return missing("ID3D12Device5::EnumerateMetaCommandParameters");
  }
  HRESULT CreateMetaCommand(REFGUID, UINT, const void*, SIZE_T, REFIID, void** out) override {
    return missing("ID3D12Device5::CreateMetaCommand", out);
  }
  HRESULT CreateStateObject(const D3D12_STATE_OBJECT_DESC*, REFIID, void** out) override {
    return missing("ID3D12Device5::CreateStateObject", out);
  }
  void GetRaytracingAccelerationStructurePrebuildInfo(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS*,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO*) override {
    missing("ID3D12Device5::GetRaytracingAccelerationStructurePrebuildInfo");
  }
  D3D12_DRIVER_MATCHING_IDENTIFIER_STATUS CheckDriverMatchingIdentifier(
      D3D12_SERIALIZED_DATA_TYPE,
      const D3D12_SERIALIZED_DATA_DRIVER_MATCHING_IDENTIFIER*) override {
    missing("ID3D12Device5::CheckDriverMatchingIdentifier");
    return D3D12_DRIVER_MATCHING_IDENTIFIER_UNSUPPORTED_TYPE;
  }
  HRESULT AddToStateObject(const D3D12_STATE_OBJECT_DESC*, ID3D12StateObject*, REFIID,
                           void** out) override {
    return missing("ID3D12Device7::AddToStateObject", out);
  }
  HRESULT CreateProtectedResourceSession1(const D3D12_PROTECTED_RESOURCE_SESSION_DESC1*, REFIID,
                                          void** out) override {
    return missing("ID3D12Device7::CreateProtectedResourceSession1", out);
  }
  void CreateSamplerFeedbackUnorderedAccessView(ID3D12Resource*, ID3D12Resource*,
                                                D3D12_CPU_DESCRIPTOR_HANDLE) override {
    missing("ID3D12Device8::CreateSamplerFeedbackUnorderedAccessView");
  }
  HRESULT CreateShaderCacheSession(const D3D12_SHADER_CACHE_SESSION_DESC*, REFIID,
                                   void** out) override {
    return missing("ID3D12Device9::CreateShaderCacheSession", out);
  }
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
};

class ResourceStubs : public ID3D12Resource2 {
 public:
  HRESULT WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT, UINT) override {
    return missing("ID3D12Resource::WriteToSubresource");
  }
  HRESULT ReadFromSubresource(void*, UINT, UINT, UINT, const D3D12_BOX*) override {
    return missing("ID3D12Resource::ReadFromSubresource");
  }
  HRESULT GetProtectedResourceSession(REFIID, void** out) override {
    return missing("ID3D12Resource1::GetProtectedResourceSession", out);
  }
};

class HeapStubs : public ID3D12Heap1 {
 public:
  HRESULT GetProtectedResourceSession(REFIID, void** out) override {
    return missing("ID3D12Heap1::GetProtectedResourceSession", out);
  }
};

}  // namespace sheaf::d3d12
