// SPDX-License-Identifier: MIT
//
// The interfaces of Direct3D 12. The order of the methods is the order of the virtual table, which
// is fixed for ever. Include d3d12.h.
#pragma once

#include "sheaf_d3d12_state_objects.h"

struct ID3D10Blob;
struct ID3D12CommandAllocator;
struct ID3D12CommandList;
struct ID3D12CommandQueue;
struct ID3D12CommandSignature;
struct ID3D12DescriptorHeap;
struct ID3D12Device;
struct ID3D12DeviceChild;
struct ID3D12Fence;
struct ID3D12GraphicsCommandList;
struct ID3D12Heap;
struct ID3D12Object;
struct ID3D12Pageable;
struct ID3D12PipelineState;
struct ID3D12QueryHeap;
struct ID3D12Resource;
struct ID3D12RootSignature;
struct ID3D12StateObject;
struct SECURITY_ATTRIBUTES;

using ID3DBlob = ID3D10Blob;

struct ID3D12Object : IUnknown {
  virtual HRESULT GetPrivateData(REFGUID guid, UINT* data_size, void* data) = 0;
  virtual HRESULT SetPrivateData(REFGUID guid, UINT data_size, const void* data) = 0;
  virtual HRESULT SetPrivateDataInterface(REFGUID guid, const IUnknown* data) = 0;
  virtual HRESULT SetName(LPCWSTR name) = 0;
};
SHEAF_DECLARE_IID(ID3D12Object, 0xc4fec28f, 0x7966, 0x4e95, 0x9f, 0x94, 0xf4, 0x31, 0xcb, 0x56,
                  0xc3, 0xb8)

struct ID3D12DeviceChild : ID3D12Object {
  virtual HRESULT GetDevice(REFIID riid, void** device) = 0;
};
SHEAF_DECLARE_IID(ID3D12DeviceChild, 0x905db94b, 0xa00c, 0x4140, 0x9d, 0xf5, 0x2b, 0x64, 0xca, 0x9e,
                  0xa3, 0x57)

struct ID3D12Pageable : ID3D12DeviceChild {};
SHEAF_DECLARE_IID(ID3D12Pageable, 0x63ee58fb, 0x1268, 0x4835, 0x86, 0xda, 0xf0, 0x08, 0xce, 0x62,
                  0xf0, 0xd6)

struct ID3D12RootSignature : ID3D12DeviceChild {};
SHEAF_DECLARE_IID(ID3D12RootSignature, 0xc54a6b66, 0x72df, 0x4ee8, 0x8b, 0xe5, 0xa9, 0x46, 0xa1,
                  0x42, 0x92, 0x14)

struct ID3D12Heap : ID3D12Pageable {
  virtual D3D12_HEAP_DESC GetDesc() = 0;
};
SHEAF_DECLARE_IID(ID3D12Heap, 0x6b3b2502, 0x6e51, 0x45b3, 0x90, 0xee, 0x98, 0x84, 0x26, 0x5e, 0x8d,
                  0xf3)

struct ID3D12Resource : ID3D12Pageable {
  virtual HRESULT Map(UINT subresource, const D3D12_RANGE* read_range, void** data) = 0;
  virtual void Unmap(UINT subresource, const D3D12_RANGE* written_range) = 0;
  virtual D3D12_RESOURCE_DESC GetDesc() = 0;
  virtual D3D12_GPU_VIRTUAL_ADDRESS GetGPUVirtualAddress() = 0;
  virtual HRESULT WriteToSubresource(UINT dst_subresource, const D3D12_BOX* dst_box,
                                     const void* src_data, UINT src_row_pitch,
                                     UINT src_depth_pitch) = 0;
  virtual HRESULT ReadFromSubresource(void* dst_data, UINT dst_row_pitch, UINT dst_depth_pitch,
                                      UINT src_subresource, const D3D12_BOX* src_box) = 0;
  virtual HRESULT GetHeapProperties(D3D12_HEAP_PROPERTIES* heap_properties,
                                    D3D12_HEAP_FLAGS* heap_flags) = 0;
};
SHEAF_DECLARE_IID(ID3D12Resource, 0x696442be, 0xa72e, 0x4059, 0xbc, 0x79, 0x5b, 0x5c, 0x98, 0x04,
                  0x0f, 0xad)

struct ID3D12CommandAllocator : ID3D12Pageable {
  virtual HRESULT Reset() = 0;
};
SHEAF_DECLARE_IID(ID3D12CommandAllocator, 0x6102dee4, 0xaf59, 0x4b09, 0xb9, 0x99, 0xb4, 0x4d, 0x73,
                  0xf0, 0x9b, 0x24)

struct ID3D12Fence : ID3D12Pageable {
  virtual UINT64 GetCompletedValue() = 0;
  virtual HRESULT SetEventOnCompletion(UINT64 value, HANDLE h_event) = 0;
  virtual HRESULT Signal(UINT64 value) = 0;
};
SHEAF_DECLARE_IID(ID3D12Fence, 0x0a753dcf, 0xc4d8, 0x4b91, 0xad, 0xf6, 0xbe, 0x5a, 0x60, 0xd9, 0x5a,
                  0x76)

struct ID3D12PipelineState : ID3D12Pageable {
  virtual HRESULT GetCachedBlob(ID3DBlob** blob) = 0;
};
SHEAF_DECLARE_IID(ID3D12PipelineState, 0x765a30f3, 0xf624, 0x4c6f, 0xa8, 0x28, 0xac, 0xe9, 0x48,
                  0x62, 0x24, 0x45)

struct ID3D12DescriptorHeap : ID3D12Pageable {
  virtual D3D12_DESCRIPTOR_HEAP_DESC GetDesc() = 0;
  virtual D3D12_CPU_DESCRIPTOR_HANDLE GetCPUDescriptorHandleForHeapStart() = 0;
  virtual D3D12_GPU_DESCRIPTOR_HANDLE GetGPUDescriptorHandleForHeapStart() = 0;
};
SHEAF_DECLARE_IID(ID3D12DescriptorHeap, 0x8efb471d, 0x616c, 0x4f49, 0x90, 0xf7, 0x12, 0x7b, 0xb7,
                  0x63, 0xfa, 0x51)

struct ID3D12QueryHeap : ID3D12Pageable {};
SHEAF_DECLARE_IID(ID3D12QueryHeap, 0x0d9658ae, 0xed45, 0x469e, 0xa6, 0x1d, 0x97, 0x0e, 0xc5, 0x83,
                  0xca, 0xb4)

struct ID3D12CommandSignature : ID3D12Pageable {};
SHEAF_DECLARE_IID(ID3D12CommandSignature, 0xc36a797c, 0xec80, 0x4f0a, 0x89, 0x85, 0xa7, 0xb2, 0x47,
                  0x50, 0x82, 0xd1)

struct ID3D12StateObject : ID3D12Pageable {};
SHEAF_DECLARE_IID(ID3D12StateObject, 0x47016943, 0xfca8, 0x4594, 0x93, 0xea, 0xaf, 0x25, 0x8b, 0x55,
                  0x34, 0x6d)

struct ID3D12CommandList : ID3D12DeviceChild {
  virtual D3D12_COMMAND_LIST_TYPE GetType() = 0;
};
SHEAF_DECLARE_IID(ID3D12CommandList, 0x7116d91c, 0xe7e4, 0x47ce, 0xb8, 0xc6, 0xec, 0x81, 0x68, 0xf4,
                  0x37, 0xe5)

struct ID3D12GraphicsCommandList : ID3D12CommandList {
  virtual HRESULT Close() = 0;
  virtual HRESULT Reset(ID3D12CommandAllocator* allocator, ID3D12PipelineState* initial_state) = 0;
  virtual void ClearState(ID3D12PipelineState* pipeline_state) = 0;
  virtual void DrawInstanced(UINT vertex_count_per_instance, UINT instance_count,
                             UINT start_vertex_location, UINT start_instance_location) = 0;
  virtual void DrawIndexedInstanced(UINT index_count_per_instance, UINT instance_count,
                                    UINT start_index_location, INT base_vertex_location,
                                    UINT start_instance_location) = 0;
  virtual void Dispatch(UINT thread_group_count_x, UINT thread_group_count_y,
                        UINT thread_group_count_z) = 0;
  virtual void CopyBufferRegion(ID3D12Resource* dst_buffer, UINT64 dst_offset,
                                ID3D12Resource* src_buffer, UINT64 src_offset,
                                UINT64 num_bytes) = 0;
  virtual void CopyTextureRegion(const D3D12_TEXTURE_COPY_LOCATION* dst, UINT dst_x, UINT dst_y,
                                 UINT dst_z, const D3D12_TEXTURE_COPY_LOCATION* src,
                                 const D3D12_BOX* src_box) = 0;
  virtual void CopyResource(ID3D12Resource* dst_resource, ID3D12Resource* src_resource) = 0;
  virtual void CopyTiles(ID3D12Resource* tiled_resource,
                         const D3D12_TILED_RESOURCE_COORDINATE* tile_region_start_coordinate,
                         const D3D12_TILE_REGION_SIZE* tile_region_size, ID3D12Resource* buffer,
                         UINT64 buffer_start_offset_in_bytes, D3D12_TILE_COPY_FLAGS flags) = 0;
  virtual void ResolveSubresource(ID3D12Resource* dst_resource, UINT dst_subresource,
                                  ID3D12Resource* src_resource, UINT src_subresource,
                                  DXGI_FORMAT format) = 0;
  virtual void IASetPrimitiveTopology(D3D12_PRIMITIVE_TOPOLOGY primitive_topology) = 0;
  virtual void RSSetViewports(UINT num_viewports, const D3D12_VIEWPORT* viewports) = 0;
  virtual void RSSetScissorRects(UINT num_rects, const D3D12_RECT* rects) = 0;
  virtual void OMSetBlendFactor(const FLOAT* blend_factor) = 0;
  virtual void OMSetStencilRef(UINT stencil_ref) = 0;
  virtual void SetPipelineState(ID3D12PipelineState* pipeline_state) = 0;
  virtual void ResourceBarrier(UINT num_barriers, const D3D12_RESOURCE_BARRIER* barriers) = 0;
  virtual void ExecuteBundle(ID3D12GraphicsCommandList* command_list) = 0;
  virtual void SetDescriptorHeaps(UINT num_descriptor_heaps,
                                  ID3D12DescriptorHeap* const* descriptor_heaps) = 0;
  virtual void SetComputeRootSignature(ID3D12RootSignature* root_signature) = 0;
  virtual void SetGraphicsRootSignature(ID3D12RootSignature* root_signature) = 0;
  virtual void SetComputeRootDescriptorTable(UINT root_parameter_index,
                                             D3D12_GPU_DESCRIPTOR_HANDLE base_descriptor) = 0;
  virtual void SetGraphicsRootDescriptorTable(UINT root_parameter_index,
                                              D3D12_GPU_DESCRIPTOR_HANDLE base_descriptor) = 0;
  virtual void SetComputeRoot32BitConstant(UINT root_parameter_index, UINT src_data,
                                           UINT dest_offset_in32_bit_values) = 0;
  virtual void SetGraphicsRoot32BitConstant(UINT root_parameter_index, UINT src_data,
                                            UINT dest_offset_in32_bit_values) = 0;
  virtual void SetComputeRoot32BitConstants(UINT root_parameter_index, UINT num32_bit_values_to_set,
                                            const void* src_data,
                                            UINT dest_offset_in32_bit_values) = 0;
  virtual void SetGraphicsRoot32BitConstants(UINT root_parameter_index,
                                             UINT num32_bit_values_to_set, const void* src_data,
                                             UINT dest_offset_in32_bit_values) = 0;
  virtual void SetComputeRootConstantBufferView(UINT root_parameter_index,
                                                D3D12_GPU_VIRTUAL_ADDRESS buffer_location) = 0;
  virtual void SetGraphicsRootConstantBufferView(UINT root_parameter_index,
                                                 D3D12_GPU_VIRTUAL_ADDRESS buffer_location) = 0;
  virtual void SetComputeRootShaderResourceView(UINT root_parameter_index,
                                                D3D12_GPU_VIRTUAL_ADDRESS buffer_location) = 0;
  virtual void SetGraphicsRootShaderResourceView(UINT root_parameter_index,
                                                 D3D12_GPU_VIRTUAL_ADDRESS buffer_location) = 0;
  virtual void SetComputeRootUnorderedAccessView(UINT root_parameter_index,
                                                 D3D12_GPU_VIRTUAL_ADDRESS buffer_location) = 0;
  virtual void SetGraphicsRootUnorderedAccessView(UINT root_parameter_index,
                                                  D3D12_GPU_VIRTUAL_ADDRESS buffer_location) = 0;
  virtual void IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW* view) = 0;
  virtual void IASetVertexBuffers(UINT start_slot, UINT num_views,
                                  const D3D12_VERTEX_BUFFER_VIEW* views) = 0;
  virtual void SOSetTargets(UINT start_slot, UINT num_views,
                            const D3D12_STREAM_OUTPUT_BUFFER_VIEW* views) = 0;
  virtual void OMSetRenderTargets(UINT num_render_target_descriptors,
                                  const D3D12_CPU_DESCRIPTOR_HANDLE* render_target_descriptors,
                                  BOOL r_ts_single_handle_to_descriptor_range,
                                  const D3D12_CPU_DESCRIPTOR_HANDLE* depth_stencil_descriptor) = 0;
  virtual void ClearDepthStencilView(D3D12_CPU_DESCRIPTOR_HANDLE depth_stencil_view,
                                     D3D12_CLEAR_FLAGS clear_flags, FLOAT depth, UINT8 stencil,
                                     UINT num_rects, const D3D12_RECT* rects) = 0;
  virtual void ClearRenderTargetView(D3D12_CPU_DESCRIPTOR_HANDLE render_target_view,
                                     const FLOAT* color_rgba, UINT num_rects,
                                     const D3D12_RECT* rects) = 0;
  virtual void ClearUnorderedAccessViewUint(
      D3D12_GPU_DESCRIPTOR_HANDLE view_gpu_handle_in_current_heap,
      D3D12_CPU_DESCRIPTOR_HANDLE view_cpu_handle, ID3D12Resource* resource, const UINT* values,
      UINT num_rects, const D3D12_RECT* rects) = 0;
  virtual void ClearUnorderedAccessViewFloat(
      D3D12_GPU_DESCRIPTOR_HANDLE view_gpu_handle_in_current_heap,
      D3D12_CPU_DESCRIPTOR_HANDLE view_cpu_handle, ID3D12Resource* resource, const FLOAT* values,
      UINT num_rects, const D3D12_RECT* rects) = 0;
  virtual void DiscardResource(ID3D12Resource* resource, const D3D12_DISCARD_REGION* region) = 0;
  virtual void BeginQuery(ID3D12QueryHeap* query_heap, D3D12_QUERY_TYPE type, UINT index) = 0;
  virtual void EndQuery(ID3D12QueryHeap* query_heap, D3D12_QUERY_TYPE type, UINT index) = 0;
  virtual void ResolveQueryData(ID3D12QueryHeap* query_heap, D3D12_QUERY_TYPE type,
                                UINT start_index, UINT num_queries,
                                ID3D12Resource* destination_buffer,
                                UINT64 aligned_destination_buffer_offset) = 0;
  virtual void SetPredication(ID3D12Resource* buffer, UINT64 aligned_buffer_offset,
                              D3D12_PREDICATION_OP operation) = 0;
  virtual void SetMarker(UINT metadata, const void* data, UINT size) = 0;
  virtual void BeginEvent(UINT metadata, const void* data, UINT size) = 0;
  virtual void EndEvent() = 0;
  virtual void ExecuteIndirect(ID3D12CommandSignature* command_signature, UINT max_command_count,
                               ID3D12Resource* argument_buffer, UINT64 argument_buffer_offset,
                               ID3D12Resource* count_buffer, UINT64 count_buffer_offset) = 0;
};
SHEAF_DECLARE_IID(ID3D12GraphicsCommandList, 0x5b160d0f, 0xac1b, 0x4185, 0x8b, 0xa8, 0xb3, 0xae,
                  0x42, 0xa5, 0xa4, 0x55)

struct ID3D12CommandQueue : ID3D12Pageable {
  virtual void UpdateTileMappings(
      ID3D12Resource* resource, UINT num_resource_regions,
      const D3D12_TILED_RESOURCE_COORDINATE* resource_region_start_coordinates,
      const D3D12_TILE_REGION_SIZE* resource_region_sizes, ID3D12Heap* heap, UINT num_ranges,
      const D3D12_TILE_RANGE_FLAGS* range_flags, const UINT* heap_range_start_offsets,
      const UINT* range_tile_counts, D3D12_TILE_MAPPING_FLAGS flags) = 0;
  virtual void CopyTileMappings(ID3D12Resource* dst_resource,
                                const D3D12_TILED_RESOURCE_COORDINATE* dst_region_start_coordinate,
                                ID3D12Resource* src_resource,
                                const D3D12_TILED_RESOURCE_COORDINATE* src_region_start_coordinate,
                                const D3D12_TILE_REGION_SIZE* region_size,
                                D3D12_TILE_MAPPING_FLAGS flags) = 0;
  virtual void ExecuteCommandLists(UINT num_command_lists,
                                   ID3D12CommandList* const* command_lists) = 0;
  virtual void SetMarker(UINT metadata, const void* data, UINT size) = 0;
  virtual void BeginEvent(UINT metadata, const void* data, UINT size) = 0;
  virtual void EndEvent() = 0;
  virtual HRESULT Signal(ID3D12Fence* fence, UINT64 value) = 0;
  virtual HRESULT Wait(ID3D12Fence* fence, UINT64 value) = 0;
  virtual HRESULT GetTimestampFrequency(UINT64* frequency) = 0;
  virtual HRESULT GetClockCalibration(UINT64* gpu_timestamp, UINT64* cpu_timestamp) = 0;
  virtual D3D12_COMMAND_QUEUE_DESC GetDesc() = 0;
};
SHEAF_DECLARE_IID(ID3D12CommandQueue, 0x0ec870a6, 0x5d7e, 0x4c22, 0x8c, 0xfc, 0x5b, 0xaa, 0xe0,
                  0x76, 0x16, 0xed)

struct ID3D12Device : ID3D12Object {
  virtual UINT GetNodeCount() = 0;
  virtual HRESULT CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID riid,
                                     void** command_queue) = 0;
  virtual HRESULT CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE type, REFIID riid,
                                         void** command_allocator) = 0;
  virtual HRESULT CreateGraphicsPipelineState(const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc,
                                              REFIID riid, void** pipeline_state) = 0;
  virtual HRESULT CreateComputePipelineState(const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc,
                                             REFIID riid, void** pipeline_state) = 0;
  virtual HRESULT CreateCommandList(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                    ID3D12CommandAllocator* command_allocator,
                                    ID3D12PipelineState* initial_state, REFIID riid,
                                    void** command_list) = 0;
  virtual HRESULT CheckFeatureSupport(D3D12_FEATURE feature, void* feature_support_data,
                                      UINT feature_support_data_size) = 0;
  virtual HRESULT CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC* descriptor_heap_desc,
                                       REFIID riid, void** heap) = 0;
  virtual UINT GetDescriptorHandleIncrementSize(
      D3D12_DESCRIPTOR_HEAP_TYPE descriptor_heap_type) = 0;
  virtual HRESULT CreateRootSignature(UINT node_mask, const void* blob_with_root_signature,
                                      SIZE_T blob_length_in_bytes, REFIID riid,
                                      void** root_signature) = 0;
  virtual void CreateConstantBufferView(const D3D12_CONSTANT_BUFFER_VIEW_DESC* desc,
                                        D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor) = 0;
  virtual void CreateShaderResourceView(ID3D12Resource* resource,
                                        const D3D12_SHADER_RESOURCE_VIEW_DESC* desc,
                                        D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor) = 0;
  virtual void CreateUnorderedAccessView(ID3D12Resource* resource, ID3D12Resource* counter_resource,
                                         const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc,
                                         D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor) = 0;
  virtual void CreateRenderTargetView(ID3D12Resource* resource,
                                      const D3D12_RENDER_TARGET_VIEW_DESC* desc,
                                      D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor) = 0;
  virtual void CreateDepthStencilView(ID3D12Resource* resource,
                                      const D3D12_DEPTH_STENCIL_VIEW_DESC* desc,
                                      D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor) = 0;
  virtual void CreateSampler(const D3D12_SAMPLER_DESC* desc,
                             D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor) = 0;
  virtual void CopyDescriptors(UINT num_dest_descriptor_ranges,
                               const D3D12_CPU_DESCRIPTOR_HANDLE* dest_descriptor_range_starts,
                               const UINT* dest_descriptor_range_sizes,
                               UINT num_src_descriptor_ranges,
                               const D3D12_CPU_DESCRIPTOR_HANDLE* src_descriptor_range_starts,
                               const UINT* src_descriptor_range_sizes,
                               D3D12_DESCRIPTOR_HEAP_TYPE descriptor_heaps_type) = 0;
  virtual void CopyDescriptorsSimple(UINT num_descriptors,
                                     D3D12_CPU_DESCRIPTOR_HANDLE dest_descriptor_range_start,
                                     D3D12_CPU_DESCRIPTOR_HANDLE src_descriptor_range_start,
                                     D3D12_DESCRIPTOR_HEAP_TYPE descriptor_heaps_type) = 0;
  virtual D3D12_RESOURCE_ALLOCATION_INFO GetResourceAllocationInfo(
      UINT visible_mask, UINT num_resource_descs, const D3D12_RESOURCE_DESC* resource_descs) = 0;
  virtual D3D12_HEAP_PROPERTIES GetCustomHeapProperties(UINT node_mask,
                                                        D3D12_HEAP_TYPE heap_type) = 0;
  virtual HRESULT CreateCommittedResource(const D3D12_HEAP_PROPERTIES* heap_properties,
                                          D3D12_HEAP_FLAGS heap_flags,
                                          const D3D12_RESOURCE_DESC* desc,
                                          D3D12_RESOURCE_STATES initial_resource_state,
                                          const D3D12_CLEAR_VALUE* optimized_clear_value,
                                          REFIID riid_resource, void** resource) = 0;
  virtual HRESULT CreateHeap(const D3D12_HEAP_DESC* desc, REFIID riid, void** heap) = 0;
  virtual HRESULT CreatePlacedResource(ID3D12Heap* heap, UINT64 heap_offset,
                                       const D3D12_RESOURCE_DESC* desc,
                                       D3D12_RESOURCE_STATES initial_state,
                                       const D3D12_CLEAR_VALUE* optimized_clear_value, REFIID riid,
                                       void** resource) = 0;
  virtual HRESULT CreateReservedResource(const D3D12_RESOURCE_DESC* desc,
                                         D3D12_RESOURCE_STATES initial_state,
                                         const D3D12_CLEAR_VALUE* optimized_clear_value,
                                         REFIID riid, void** resource) = 0;
  virtual HRESULT CreateSharedHandle(ID3D12DeviceChild* object,
                                     const SECURITY_ATTRIBUTES* attributes, DWORD access,
                                     LPCWSTR name, HANDLE* handle) = 0;
  virtual HRESULT OpenSharedHandle(HANDLE nt_handle, REFIID riid, void** obj) = 0;
  virtual HRESULT OpenSharedHandleByName(LPCWSTR name, DWORD access, HANDLE* nt_handle) = 0;
  virtual HRESULT MakeResident(UINT num_objects, ID3D12Pageable* const* objects) = 0;
  virtual HRESULT Evict(UINT num_objects, ID3D12Pageable* const* objects) = 0;
  virtual HRESULT CreateFence(UINT64 initial_value, D3D12_FENCE_FLAGS flags, REFIID riid,
                              void** fence) = 0;
  virtual HRESULT GetDeviceRemovedReason() = 0;
  virtual void GetCopyableFootprints(const D3D12_RESOURCE_DESC* resource_desc,
                                     UINT first_subresource, UINT num_subresources,
                                     UINT64 base_offset,
                                     D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts, UINT* num_rows,
                                     UINT64* row_size_in_bytes, UINT64* total_bytes) = 0;
  virtual HRESULT CreateQueryHeap(const D3D12_QUERY_HEAP_DESC* desc, REFIID riid, void** heap) = 0;
  virtual HRESULT SetStablePowerState(BOOL enable) = 0;
  virtual HRESULT CreateCommandSignature(const D3D12_COMMAND_SIGNATURE_DESC* desc,
                                         ID3D12RootSignature* root_signature, REFIID riid,
                                         void** command_signature) = 0;
  virtual void GetResourceTiling(
      ID3D12Resource* tiled_resource, UINT* num_tiles_for_entire_resource,
      D3D12_PACKED_MIP_INFO* packed_mip_desc,
      D3D12_TILE_SHAPE* standard_tile_shape_for_non_packed_mips, UINT* num_subresource_tilings,
      UINT first_subresource_tiling_to_get,
      D3D12_SUBRESOURCE_TILING* subresource_tilings_for_non_packed_mips) = 0;
  virtual LUID GetAdapterLuid() = 0;
};
SHEAF_DECLARE_IID(ID3D12Device, 0x189819f1, 0x1db6, 0x4b57, 0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b,
                  0x85, 0xf7)
