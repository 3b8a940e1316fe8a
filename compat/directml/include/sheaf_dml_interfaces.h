// SPDX-License-Identifier: MIT
//
// DirectML's interfaces, graphs and functions. The order of the methods is the order of the virtual
// table. Include directml.h.
#pragma once

#include "d3d12.h"
#include "sheaf_dml_types.h"
#if !SHEAF_OWN_D3D12
#include <dxguids/dxguids.h>  // where the d3d12.h found first is Microsoft's
#endif

struct DML_BUFFER_BINDING {
  ID3D12Resource* Buffer;
  UINT64 Offset;
  UINT64 SizeInBytes;
};

struct DML_BUFFER_ARRAY_BINDING {
  UINT BindingCount;
  const DML_BUFFER_BINDING* Bindings;
};

struct IDMLDispatchable;

struct DML_BINDING_TABLE_DESC {
  IDMLDispatchable* Dispatchable;
  D3D12_CPU_DESCRIPTOR_HANDLE CPUDescriptorHandle;
  D3D12_GPU_DESCRIPTOR_HANDLE GPUDescriptorHandle;
  UINT SizeInDescriptors;
};

enum DML_GRAPH_EDGE_TYPE : int32_t {
  DML_GRAPH_EDGE_TYPE_INVALID = 0,
  DML_GRAPH_EDGE_TYPE_INPUT = 1,
  DML_GRAPH_EDGE_TYPE_OUTPUT = 2,
  DML_GRAPH_EDGE_TYPE_INTERMEDIATE = 3,
};

struct DML_GRAPH_EDGE_DESC {
  DML_GRAPH_EDGE_TYPE Type;
  const void* Desc;
};

struct DML_INPUT_GRAPH_EDGE_DESC {
  UINT GraphInputIndex;
  UINT ToNodeIndex;
  UINT ToNodeInputIndex;
  const char* Name;
};

struct DML_OUTPUT_GRAPH_EDGE_DESC {
  UINT FromNodeIndex;
  UINT FromNodeOutputIndex;
  UINT GraphOutputIndex;
  const char* Name;
};

struct DML_INTERMEDIATE_GRAPH_EDGE_DESC {
  UINT FromNodeIndex;
  UINT FromNodeOutputIndex;
  UINT ToNodeIndex;
  UINT ToNodeInputIndex;
  const char* Name;
};

enum DML_GRAPH_NODE_TYPE : int32_t {
  DML_GRAPH_NODE_TYPE_INVALID = 0,
  DML_GRAPH_NODE_TYPE_OPERATOR = 1,
  DML_GRAPH_NODE_TYPE_CONSTANT = 2,
};

struct DML_GRAPH_NODE_DESC {
  DML_GRAPH_NODE_TYPE Type;
  const void* Desc;
};

struct IDMLOperator;

struct DML_OPERATOR_GRAPH_NODE_DESC {
  IDMLOperator* Operator;
  const char* Name;
};

struct DML_CONSTANT_DATA_GRAPH_NODE_DESC {
  const void* Data;  // read by CompileGraph only
  SIZE_T DataSize;
  const char* Name;
};

struct DML_GRAPH_DESC {
  UINT InputCount;
  UINT OutputCount;
  UINT NodeCount;
  const DML_GRAPH_NODE_DESC* Nodes;
  UINT InputEdgeCount;
  const DML_GRAPH_EDGE_DESC* InputEdges;
  UINT OutputEdgeCount;
  const DML_GRAPH_EDGE_DESC* OutputEdges;
  UINT IntermediateEdgeCount;
  const DML_GRAPH_EDGE_DESC* IntermediateEdges;
};

struct IDMLObject : IUnknown {
  virtual HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) = 0;
  virtual HRESULT SetPrivateData(REFGUID guid, UINT size, const void* data) = 0;
  virtual HRESULT SetPrivateDataInterface(REFGUID guid, IUnknown* object) = 0;
  virtual HRESULT SetName(PCWSTR name) = 0;
};

struct IDMLPageable;
struct IDMLCompiledOperator;

struct IDMLDevice : IDMLObject {
  virtual HRESULT CheckFeatureSupport(DML_FEATURE feature, UINT query_size, const void* query,
                                      UINT support_size, void* support) = 0;
  virtual HRESULT CreateOperator(const DML_OPERATOR_DESC* desc, REFIID iid, void** op) = 0;
  virtual HRESULT CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID iid,
                                  void** compiled) = 0;
  virtual HRESULT CreateOperatorInitializer(UINT count, IDMLCompiledOperator* const* operators,
                                            REFIID iid, void** initializer) = 0;
  virtual HRESULT CreateCommandRecorder(REFIID iid, void** recorder) = 0;
  virtual HRESULT CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID iid,
                                     void** table) = 0;
  virtual HRESULT Evict(UINT count, IDMLPageable* const* objects) = 0;
  virtual HRESULT MakeResident(UINT count, IDMLPageable* const* objects) = 0;
  virtual HRESULT GetDeviceRemovedReason() = 0;
  virtual HRESULT GetParentDevice(REFIID iid, void** device) = 0;
};

struct IDMLDeviceChild : IDMLObject {
  virtual HRESULT GetDevice(REFIID iid, void** device) = 0;
};

struct IDMLPageable : IDMLDeviceChild {};

struct IDMLOperator : IDMLDeviceChild {};

struct IDMLDispatchable : IDMLPageable {
  virtual DML_BINDING_PROPERTIES GetBindingProperties() = 0;
};

struct IDMLCompiledOperator : IDMLDispatchable {};

struct IDMLOperatorInitializer : IDMLDispatchable {
  virtual HRESULT Reset(UINT count, IDMLCompiledOperator* const* operators) = 0;
};

struct IDMLBindingTable : IDMLDeviceChild {
  virtual void BindInputs(UINT count, const DML_BINDING_DESC* bindings) = 0;
  virtual void BindOutputs(UINT count, const DML_BINDING_DESC* bindings) = 0;
  virtual void BindTemporaryResource(const DML_BINDING_DESC* binding) = 0;
  virtual void BindPersistentResource(const DML_BINDING_DESC* binding) = 0;
  virtual HRESULT Reset(const DML_BINDING_TABLE_DESC* desc) = 0;
};

struct IDMLCommandRecorder : IDMLDeviceChild {
  virtual void RecordDispatch(ID3D12CommandList* list, IDMLDispatchable* dispatchable,
                              IDMLBindingTable* bindings) = 0;
};

struct IDMLDebugDevice : IUnknown {
  virtual void SetMuteDebugOutput(BOOL mute) = 0;
};

struct IDMLDevice1 : IDMLDevice {
  virtual HRESULT CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID iid,
                               void** compiled) = 0;
};

extern "C" {
HRESULT DMLCreateDevice(ID3D12Device* d3d12, DML_CREATE_DEVICE_FLAGS flags, REFIID iid,
                        void** device);
HRESULT DMLCreateDevice1(ID3D12Device* d3d12, DML_CREATE_DEVICE_FLAGS flags,
                         DML_FEATURE_LEVEL minimum, REFIID iid, void** device);
}
