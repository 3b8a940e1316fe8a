// SPDX-License-Identifier: MIT
//
// Newer versions of the interfaces: each adds to the one before it. Include d3d12.h.
#pragma once

#include "sheaf_d3d12_interfaces.h"

struct ID3D12Heap1 : ID3D12Heap {
  virtual HRESULT GetProtectedResourceSession(REFIID riid, void** protected_session) = 0;
};
SHEAF_DECLARE_IID(ID3D12Heap1, 0x572F7389, 0x2168, 0x49E3, 0x96, 0x93, 0xD6, 0xDF, 0x58, 0x71, 0xBF,
                  0x6D)

struct ID3D12Resource1 : ID3D12Resource {
  virtual HRESULT GetProtectedResourceSession(REFIID riid, void** protected_session) = 0;
};
SHEAF_DECLARE_IID(ID3D12Resource1, 0x9D5E227A, 0x4430, 0x4161, 0x88, 0xB3, 0x3E, 0xCA, 0x6B, 0xB1,
                  0x6E, 0x19)

struct ID3D12Resource2 : ID3D12Resource1 {
  virtual D3D12_RESOURCE_DESC1 GetDesc1() = 0;
};
SHEAF_DECLARE_IID(ID3D12Resource2, 0xBE36EC3B, 0xEA85, 0x4AEB, 0xA4, 0x5A, 0xE9, 0xD7, 0x64, 0x04,
                  0xA4, 0x95)

struct ID3D12Fence1 : ID3D12Fence {
  virtual D3D12_FENCE_FLAGS GetCreationFlags() = 0;
};
SHEAF_DECLARE_IID(ID3D12Fence1, 0x433685fe, 0xe22b, 0x4ca0, 0xa8, 0xdb, 0xb5, 0xb4, 0xf4, 0xdd,
                  0x0e, 0x4a)

struct ID3D12GraphicsCommandList1 : ID3D12GraphicsCommandList {
  virtual void AtomicCopyBufferUINT(
      ID3D12Resource* dst_buffer, UINT64 dst_offset, ID3D12Resource* src_buffer, UINT64 src_offset,
      UINT dependencies, ID3D12Resource* const* dependent_resources,
      const D3D12_SUBRESOURCE_RANGE_UINT64* dependent_subresource_ranges) = 0;
  virtual void AtomicCopyBufferUINT64(
      ID3D12Resource* dst_buffer, UINT64 dst_offset, ID3D12Resource* src_buffer, UINT64 src_offset,
      UINT dependencies, ID3D12Resource* const* dependent_resources,
      const D3D12_SUBRESOURCE_RANGE_UINT64* dependent_subresource_ranges) = 0;
  virtual void OMSetDepthBounds(FLOAT min, FLOAT max) = 0;
  virtual void SetSamplePositions(UINT num_samples_per_pixel, UINT num_pixels,
                                  D3D12_SAMPLE_POSITION* sample_positions) = 0;
  virtual void ResolveSubresourceRegion(ID3D12Resource* dst_resource, UINT dst_subresource,
                                        UINT dst_x, UINT dst_y, ID3D12Resource* src_resource,
                                        UINT src_subresource, D3D12_RECT* src_rect,
                                        DXGI_FORMAT format, D3D12_RESOLVE_MODE resolve_mode) = 0;
  virtual void SetViewInstanceMask(UINT mask) = 0;
};
SHEAF_DECLARE_IID(ID3D12GraphicsCommandList1, 0x553103fb, 0x1fe7, 0x4557, 0xbb, 0x38, 0x94, 0x6d,
                  0x7d, 0x0e, 0x7c, 0xa7)

struct ID3D12GraphicsCommandList2 : ID3D12GraphicsCommandList1 {
  virtual void WriteBufferImmediate(UINT count, const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER* params,
                                    const D3D12_WRITEBUFFERIMMEDIATE_MODE* modes) = 0;
};
SHEAF_DECLARE_IID(ID3D12GraphicsCommandList2, 0x38C3E585, 0xFF17, 0x412C, 0x91, 0x50, 0x4F, 0xC6,
                  0xF9, 0xD7, 0x2A, 0x28)

struct ID3D12GraphicsCommandList3 : ID3D12GraphicsCommandList2 {
  virtual void SetProtectedResourceSession(
      ID3D12ProtectedResourceSession* protected_resource_session) = 0;
};
SHEAF_DECLARE_IID(ID3D12GraphicsCommandList3, 0x6FDA83A7, 0xB84C, 0x4E38, 0x9A, 0xC8, 0xC7, 0xBD,
                  0x22, 0x01, 0x6B, 0x3D)

struct ID3D12GraphicsCommandList4 : ID3D12GraphicsCommandList3 {
  virtual void BeginRenderPass(UINT num_render_targets,
                               const D3D12_RENDER_PASS_RENDER_TARGET_DESC* render_targets,
                               const D3D12_RENDER_PASS_DEPTH_STENCIL_DESC* depth_stencil,
                               D3D12_RENDER_PASS_FLAGS flags) = 0;
  virtual void EndRenderPass() = 0;
  virtual void InitializeMetaCommand(ID3D12MetaCommand* meta_command,
                                     const void* initialization_parameters_data,
                                     SIZE_T initialization_parameters_data_size_in_bytes) = 0;
  virtual void ExecuteMetaCommand(ID3D12MetaCommand* meta_command,
                                  const void* execution_parameters_data,
                                  SIZE_T execution_parameters_data_size_in_bytes) = 0;
  virtual void BuildRaytracingAccelerationStructure(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc, UINT num_postbuild_info_descs,
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC* postbuild_info_descs) = 0;
  virtual void EmitRaytracingAccelerationStructurePostbuildInfo(
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC* desc,
      UINT num_source_acceleration_structures,
      const D3D12_GPU_VIRTUAL_ADDRESS* source_acceleration_structure_data) = 0;
  virtual void CopyRaytracingAccelerationStructure(
      D3D12_GPU_VIRTUAL_ADDRESS dest_acceleration_structure_data,
      D3D12_GPU_VIRTUAL_ADDRESS source_acceleration_structure_data,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode) = 0;
  virtual void SetPipelineState1(ID3D12StateObject* state_object) = 0;
  virtual void DispatchRays(const D3D12_DISPATCH_RAYS_DESC* desc) = 0;
};
SHEAF_DECLARE_IID(ID3D12GraphicsCommandList4, 0x8754318e, 0xd3a9, 0x4541, 0x98, 0xcf, 0x64, 0x5b,
                  0x50, 0xdc, 0x48, 0x74)

struct ID3D12Device1 : ID3D12Device {
  virtual HRESULT CreatePipelineLibrary(const void* library_blob, SIZE_T blob_length, REFIID riid,
                                        void** pipeline_library) = 0;
  virtual HRESULT SetEventOnMultipleFenceCompletion(ID3D12Fence* const* fences,
                                                    const UINT64* fence_values, UINT num_fences,
                                                    D3D12_MULTIPLE_FENCE_WAIT_FLAGS flags,
                                                    HANDLE h_event) = 0;
  virtual HRESULT SetResidencyPriority(UINT num_objects, ID3D12Pageable* const* objects,
                                       const D3D12_RESIDENCY_PRIORITY* priorities) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device1, 0x77acce80, 0x638e, 0x4e65, 0x88, 0x95, 0xc1, 0xf2, 0x33, 0x86,
                  0x86, 0x3e)

struct ID3D12Device2 : ID3D12Device1 {
  virtual HRESULT CreatePipelineState(const D3D12_PIPELINE_STATE_STREAM_DESC* desc, REFIID riid,
                                      void** pipeline_state) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device2, 0x30baa41e, 0xb15b, 0x475c, 0xa0, 0xbb, 0x1a, 0xf5, 0xc5, 0xb6,
                  0x43, 0x28)

struct ID3D12Device3 : ID3D12Device2 {
  virtual HRESULT OpenExistingHeapFromAddress(const void* address, REFIID riid, void** heap) = 0;
  virtual HRESULT OpenExistingHeapFromFileMapping(HANDLE h_file_mapping, REFIID riid,
                                                  void** heap) = 0;
  virtual HRESULT EnqueueMakeResident(D3D12_RESIDENCY_FLAGS flags, UINT num_objects,
                                      ID3D12Pageable* const* objects, ID3D12Fence* fence_to_signal,
                                      UINT64 fence_value_to_signal) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device3, 0x81dadc15, 0x2bad, 0x4392, 0x93, 0xc5, 0x10, 0x13, 0x45, 0xc4,
                  0xaa, 0x98)

struct ID3D12Device4 : ID3D12Device3 {
  virtual HRESULT CreateCommandList1(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                     D3D12_COMMAND_LIST_FLAGS flags, REFIID riid,
                                     void** command_list) = 0;
  virtual HRESULT CreateProtectedResourceSession(const D3D12_PROTECTED_RESOURCE_SESSION_DESC* desc,
                                                 REFIID riid, void** session) = 0;
  virtual HRESULT CreateCommittedResource1(const D3D12_HEAP_PROPERTIES* heap_properties,
                                           D3D12_HEAP_FLAGS heap_flags,
                                           const D3D12_RESOURCE_DESC* desc,
                                           D3D12_RESOURCE_STATES initial_resource_state,
                                           const D3D12_CLEAR_VALUE* optimized_clear_value,
                                           ID3D12ProtectedResourceSession* protected_session,
                                           REFIID riid_resource, void** resource) = 0;
  virtual HRESULT CreateHeap1(const D3D12_HEAP_DESC* desc,
                              ID3D12ProtectedResourceSession* protected_session, REFIID riid,
                              void** heap) = 0;
  virtual HRESULT CreateReservedResource1(const D3D12_RESOURCE_DESC* desc,
                                          D3D12_RESOURCE_STATES initial_state,
                                          const D3D12_CLEAR_VALUE* optimized_clear_value,
                                          ID3D12ProtectedResourceSession* protected_session,
                                          REFIID riid, void** resource) = 0;
  virtual D3D12_RESOURCE_ALLOCATION_INFO GetResourceAllocationInfo1(
      UINT visible_mask, UINT num_resource_descs, const D3D12_RESOURCE_DESC* resource_descs,
      D3D12_RESOURCE_ALLOCATION_INFO1* resource_allocation_info1) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device4, 0xe865df17, 0xa9ee, 0x46f9, 0xa4, 0x63, 0x30, 0x98, 0x31, 0x5a,
                  0xa2, 0xe5)

struct ID3D12Device5 : ID3D12Device4 {
  virtual HRESULT CreateLifetimeTracker(ID3D12LifetimeOwner* owner, REFIID riid,
                                        void** tracker) = 0;
  virtual void RemoveDevice() = 0;
  virtual HRESULT EnumerateMetaCommands(UINT* num_meta_commands,
                                        D3D12_META_COMMAND_DESC* descs) = 0;
  virtual HRESULT EnumerateMetaCommandParameters(
      REFGUID command_id, D3D12_META_COMMAND_PARAMETER_STAGE stage,
      UINT* total_structure_size_in_bytes, UINT* parameter_count,
      D3D12_META_COMMAND_PARAMETER_DESC* parameter_descs) = 0;
  virtual HRESULT CreateMetaCommand(REFGUID command_id, UINT node_mask,
                                    const void* creation_parameters_data,
                                    SIZE_T creation_parameters_data_size_in_bytes, REFIID riid,
                                    void** meta_command) = 0;
  virtual HRESULT CreateStateObject(const D3D12_STATE_OBJECT_DESC* desc, REFIID riid,
                                    void** state_object) = 0;
  virtual void GetRaytracingAccelerationStructurePrebuildInfo(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS* desc,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO* info) = 0;
  virtual D3D12_DRIVER_MATCHING_IDENTIFIER_STATUS CheckDriverMatchingIdentifier(
      D3D12_SERIALIZED_DATA_TYPE serialized_data_type,
      const D3D12_SERIALIZED_DATA_DRIVER_MATCHING_IDENTIFIER* identifier_to_check) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device5, 0x8b4f173b, 0x2fea, 0x4b80, 0x8f, 0x58, 0x43, 0x07, 0x19, 0x1a,
                  0xb9, 0x5d)

struct ID3D12Device6 : ID3D12Device5 {
  virtual HRESULT SetBackgroundProcessingMode(D3D12_BACKGROUND_PROCESSING_MODE mode,
                                              D3D12_MEASUREMENTS_ACTION measurements_action,
                                              HANDLE h_event_to_signal_upon_completion,
                                              BOOL* pb_further_measurements_desired) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device6, 0xc70b221b, 0x40e4, 0x4a17, 0x89, 0xaf, 0x02, 0x5a, 0x07, 0x27,
                  0xa6, 0xdc)

struct ID3D12Device7 : ID3D12Device6 {
  virtual HRESULT AddToStateObject(const D3D12_STATE_OBJECT_DESC* addition,
                                   ID3D12StateObject* state_object_to_grow_from, REFIID riid,
                                   void** new_state_object) = 0;
  virtual HRESULT CreateProtectedResourceSession1(
      const D3D12_PROTECTED_RESOURCE_SESSION_DESC1* desc, REFIID riid, void** session) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device7, 0x5c014b53, 0x68a1, 0x4b9b, 0x8b, 0xd1, 0xdd, 0x60, 0x46, 0xb9,
                  0x35, 0x8b)

struct ID3D12Device8 : ID3D12Device7 {
  virtual D3D12_RESOURCE_ALLOCATION_INFO GetResourceAllocationInfo2(
      UINT visible_mask, UINT num_resource_descs, const D3D12_RESOURCE_DESC1* resource_descs,
      D3D12_RESOURCE_ALLOCATION_INFO1* resource_allocation_info1) = 0;
  virtual HRESULT CreateCommittedResource2(const D3D12_HEAP_PROPERTIES* heap_properties,
                                           D3D12_HEAP_FLAGS heap_flags,
                                           const D3D12_RESOURCE_DESC1* desc,
                                           D3D12_RESOURCE_STATES initial_resource_state,
                                           const D3D12_CLEAR_VALUE* optimized_clear_value,
                                           ID3D12ProtectedResourceSession* protected_session,
                                           REFIID riid_resource, void** resource) = 0;
  virtual HRESULT CreatePlacedResource1(ID3D12Heap* heap, UINT64 heap_offset,
                                        const D3D12_RESOURCE_DESC1* desc,
                                        D3D12_RESOURCE_STATES initial_state,
                                        const D3D12_CLEAR_VALUE* optimized_clear_value, REFIID riid,
                                        void** resource) = 0;
  virtual void CreateSamplerFeedbackUnorderedAccessView(
      ID3D12Resource* targeted_resource, ID3D12Resource* feedback_resource,
      D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor) = 0;
  virtual void GetCopyableFootprints1(const D3D12_RESOURCE_DESC1* resource_desc,
                                      UINT first_subresource, UINT num_subresources,
                                      UINT64 base_offset,
                                      D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts, UINT* num_rows,
                                      UINT64* row_size_in_bytes, UINT64* total_bytes) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device8, 0x9218E6BB, 0xF944, 0x4F7E, 0xA7, 0x5C, 0xB1, 0xB2, 0xC7, 0xB7,
                  0x01, 0xF3)

struct ID3D12Device9 : ID3D12Device8 {
  virtual HRESULT CreateShaderCacheSession(const D3D12_SHADER_CACHE_SESSION_DESC* desc, REFIID riid,
                                           void** session) = 0;
  virtual HRESULT ShaderCacheControl(D3D12_SHADER_CACHE_KIND_FLAGS kinds,
                                     D3D12_SHADER_CACHE_CONTROL_FLAGS control) = 0;
  virtual HRESULT CreateCommandQueue1(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID creator_id,
                                      REFIID riid, void** command_queue) = 0;
};
SHEAF_DECLARE_IID(ID3D12Device9, 0x4c80e962, 0xf032, 0x4f60, 0xbc, 0x9e, 0xeb, 0xc2, 0xcf, 0xa1,
                  0xd8, 0x3c)

// `adapter` is one of DXCore's or DXGI's, or null for the first of them.
extern "C" HRESULT D3D12CreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL minimum_feature_level,
                                     REFIID iid, void** device);

// Bytes, as serialized root signatures come in them.
struct ID3D10Blob : IUnknown {
  virtual void* GetBufferPointer() = 0;
  virtual SIZE_T GetBufferSize() = 0;
};
SHEAF_DECLARE_IID(ID3D10Blob, 0x8ba5fb08, 0x5195, 0x40e2, 0xac, 0x58, 0x0d, 0x98, 0x9c, 0x3a, 0x01,
                  0x02)

// E_NOTIMPL: there are no shaders that would need one.
extern "C" HRESULT D3D12SerializeRootSignature(const D3D12_ROOT_SIGNATURE_DESC* desc,
                                               D3D_ROOT_SIGNATURE_VERSION version, ID3DBlob** blob,
                                               ID3DBlob** error_blob);
extern "C" HRESULT D3D12SerializeVersionedRootSignature(
    const D3D12_VERSIONED_ROOT_SIGNATURE_DESC* desc, ID3DBlob** blob, ID3DBlob** error_blob);
extern "C" HRESULT D3D12CreateRootSignatureDeserializer(const void* data, SIZE_T bytes, REFIID iid,
                                                        void** deserializer);
extern "C" HRESULT D3D12CreateVersionedRootSignatureDeserializer(const void* data, SIZE_T bytes,
                                                                 REFIID iid, void** deserializer);

// No feature is experimental: S_OK for none, E_NOINTERFACE for any.
extern "C" HRESULT D3D12EnableExperimentalFeatures(UINT count, const IID* features,
                                                   void* configurations, UINT* configuration_sizes);

// The debug layer (CLSID_D3D12Debug); E_NOINTERFACE for other classes.
extern "C" HRESULT D3D12GetInterface(REFIID class_id, REFIID iid, void** object);

// Their types, for programs that look them up by name.
using PFN_D3D12_CREATE_DEVICE = HRESULT (*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);
using PFN_D3D12_GET_DEBUG_INTERFACE = HRESULT (*)(REFIID, void**);
using PFN_D3D12_GET_INTERFACE = HRESULT (*)(REFIID, REFIID, void**);
using PFN_D3D12_SERIALIZE_ROOT_SIGNATURE = HRESULT (*)(const D3D12_ROOT_SIGNATURE_DESC*,
                                                       D3D_ROOT_SIGNATURE_VERSION, ID3DBlob**,
                                                       ID3DBlob**);
using PFN_D3D12_SERIALIZE_VERSIONED_ROOT_SIGNATURE =
    HRESULT (*)(const D3D12_VERSIONED_ROOT_SIGNATURE_DESC*, ID3DBlob**, ID3DBlob**);
