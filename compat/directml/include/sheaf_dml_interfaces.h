// SPDX-License-Identifier: MIT
//
// DirectML's interfaces, graphs and functions. The order of the methods is the order of the virtual
// table. Include directml.h.
#pragma once

#include "d3d12.h"
#include "sheaf_dml_types.h"

enum DML_FEATURE_LEVEL {
  DML_FEATURE_LEVEL_1_0 = 0x1000,
  DML_FEATURE_LEVEL_2_0 = 0x2000,
  DML_FEATURE_LEVEL_2_1 = 0x2100,
  DML_FEATURE_LEVEL_3_0 = 0x3000,
  DML_FEATURE_LEVEL_3_1 = 0x3100,
  DML_FEATURE_LEVEL_4_0 = 0x4000,
  DML_FEATURE_LEVEL_4_1 = 0x4100,
  DML_FEATURE_LEVEL_5_0 = 0x5000,
  DML_FEATURE_LEVEL_5_1 = 0x5100,
  DML_FEATURE_LEVEL_5_2 = 0x5200,
  DML_FEATURE_LEVEL_6_0 = 0x6000,
  DML_FEATURE_LEVEL_6_1 = 0x6100,
  DML_FEATURE_LEVEL_6_2 = 0x6200,
  DML_FEATURE_LEVEL_6_3 = 0x6300,
  DML_FEATURE_LEVEL_6_4 = 0x6400,
};

enum DML_FEATURE {
  DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT = 0,
  DML_FEATURE_FEATURE_LEVELS = 1,
};

struct DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT {
  DML_TENSOR_DATA_TYPE DataType;
};

struct DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT {
  BOOL IsSupported;
};

struct DML_FEATURE_QUERY_FEATURE_LEVELS {
  UINT RequestedFeatureLevelCount;
  const DML_FEATURE_LEVEL* RequestedFeatureLevels;
};

struct DML_FEATURE_DATA_FEATURE_LEVELS {
  DML_FEATURE_LEVEL MaxSupportedFeatureLevel;
};

enum DML_CREATE_DEVICE_FLAGS {
  DML_CREATE_DEVICE_FLAG_NONE = 0,
  DML_CREATE_DEVICE_FLAG_DEBUG = 1,
};
DEFINE_ENUM_FLAG_OPERATORS(DML_CREATE_DEVICE_FLAGS)

enum DML_EXECUTION_FLAGS {
  DML_EXECUTION_FLAG_NONE = 0,
  DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION = 1,
  DML_EXECUTION_FLAG_DISABLE_META_COMMANDS = 2,
  DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE = 4,
};
DEFINE_ENUM_FLAG_OPERATORS(DML_EXECUTION_FLAGS)

enum DML_BINDING_TYPE {
  DML_BINDING_TYPE_NONE = 0,
  DML_BINDING_TYPE_BUFFER = 1,
  DML_BINDING_TYPE_BUFFER_ARRAY = 2,
};

struct DML_BINDING_DESC {
  DML_BINDING_TYPE Type;
  const void* Desc;
};

struct DML_BUFFER_BINDING {
  ID3D12Resource* Buffer;
  UINT64 Offset;
  UINT64 SizeInBytes;
};

struct DML_BUFFER_ARRAY_BINDING {
  UINT BindingCount;
  const DML_BUFFER_BINDING* Bindings;
};

struct DML_BINDING_PROPERTIES {
  UINT RequiredDescriptorCount;
  UINT64 TemporaryResourceSize;
  UINT64 PersistentResourceSize;
};

struct IDMLDispatchable;

struct DML_BINDING_TABLE_DESC {
  IDMLDispatchable* Dispatchable;
  D3D12_CPU_DESCRIPTOR_HANDLE CPUDescriptorHandle;
  D3D12_GPU_DESCRIPTOR_HANDLE GPUDescriptorHandle;
  UINT SizeInDescriptors;
};

enum DML_GRAPH_EDGE_TYPE {
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

enum DML_GRAPH_NODE_TYPE {
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
