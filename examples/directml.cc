// SPDX-License-Identifier: MIT
//
// A DirectML program in the order of Microsoft's HelloDirectML sample, with a gather in the place
// of its identity.
#include <d3d12.h>
#include <directml.h>
#include <dxgi1_4.h>
#include <wrl/client.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using Microsoft::WRL::ComPtr;

namespace {

void check(HRESULT result, const char* call) {
  if (FAILED(result)) {
    std::printf("%s failed: 0x%08x\n", call, static_cast<unsigned>(result));
    std::exit(1);
  }
}

struct Direct3D {
  ComPtr<ID3D12Device> device;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
};

Direct3D create_direct3d() {
  Direct3D d3d;
  ComPtr<IDXGIFactory4> factory;
  check(CreateDXGIFactory1(IID_PPV_ARGS(&factory)), "CreateDXGIFactory1");
  ComPtr<IDXGIAdapter> adapter;
  check(factory->EnumAdapters(0, adapter.GetAddressOf()), "EnumAdapters");
  check(D3D12CreateDevice(adapter.Get(), D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d.device)),
        "D3D12CreateDevice");
  D3D12_COMMAND_QUEUE_DESC desc{};
  desc.Type = D3D12_COMMAND_LIST_TYPE_DIRECT;
  check(d3d.device->CreateCommandQueue(&desc, IID_PPV_ARGS(&d3d.queue)), "CreateCommandQueue");
  check(d3d.device->CreateCommandAllocator(desc.Type, IID_PPV_ARGS(&d3d.allocator)),
        "CreateCommandAllocator");
  check(d3d.device->CreateCommandList(0, desc.Type, d3d.allocator.Get(), nullptr,
                                      IID_PPV_ARGS(&d3d.list)),
        "CreateCommandList");
  return d3d;
}

void close_execute_reset_wait(Direct3D& d3d) {
  check(d3d.list->Close(), "Close");
  ID3D12CommandList* lists[] = {d3d.list.Get()};
  d3d.queue->ExecuteCommandLists(1, lists);
  ComPtr<ID3D12Fence> fence;
  check(d3d.device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
  check(d3d.queue->Signal(fence.Get(), 1), "Signal");
  check(fence->SetEventOnCompletion(1, nullptr), "SetEventOnCompletion");
  check(d3d.allocator->Reset(), "Reset");
  check(d3d.list->Reset(d3d.allocator.Get(), nullptr), "Reset");
}

ComPtr<ID3D12Resource> create_buffer(Direct3D& d3d, UINT64 bytes, D3D12_HEAP_TYPE type) {
  D3D12_HEAP_PROPERTIES heap{};
  heap.Type = type;
  D3D12_RESOURCE_DESC desc{};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = bytes;
  desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  ComPtr<ID3D12Resource> buffer;
  check(d3d.device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                            D3D12_RESOURCE_STATE_COMMON, nullptr,
                                            IID_PPV_ARGS(&buffer)),
        "CreateCommittedResource");
  return buffer;
}

template <class T>
ComPtr<ID3D12Resource> upload(Direct3D& d3d, const std::vector<T>& values) {
  const UINT64 bytes = values.size() * sizeof(T);
  const auto staging = create_buffer(d3d, bytes, D3D12_HEAP_TYPE_UPLOAD);
  auto buffer = create_buffer(d3d, bytes, D3D12_HEAP_TYPE_DEFAULT);
  void* mapped = nullptr;
  check(staging->Map(0, nullptr, &mapped), "Map");
  std::memcpy(mapped, values.data(), static_cast<size_t>(bytes));
  staging->Unmap(0, nullptr);
  d3d.list->CopyResource(buffer.Get(), staging.Get());  // keeps the staging buffer until it ran
  return buffer;
}

// The table's rows that the indices name: {3, 2} by {1, 4} gives {4, 2}.
ComPtr<IDMLCompiledOperator> compile_gather(IDMLDevice* device) {
  const UINT sizes[3][2] = {{3, 2}, {1, 4}, {4, 2}};
  DML_BUFFER_TENSOR_DESC buffers[3] = {};
  DML_TENSOR_DESC tensors[3] = {};
  for (int i = 0; i < 3; ++i) {
    buffers[i].DataType = i == 1 ? DML_TENSOR_DATA_TYPE_UINT32 : DML_TENSOR_DATA_TYPE_FLOAT32;
    buffers[i].DimensionCount = 2;
    buffers[i].Sizes = sizes[i];
    buffers[i].TotalTensorSizeInBytes = UINT64{4} * sizes[i][0] * sizes[i][1];
    tensors[i] = {DML_TENSOR_TYPE_BUFFER, &buffers[i]};
  }
  DML_GATHER_OPERATOR_DESC gather{};
  gather.InputTensor = &tensors[0];
  gather.IndicesTensor = &tensors[1];
  gather.OutputTensor = &tensors[2];
  gather.Axis = 0;
  gather.IndexDimensions = 1;
  const DML_OPERATOR_DESC desc{DML_OPERATOR_GATHER, &gather};
  ComPtr<IDMLOperator> op;
  check(device->CreateOperator(&desc, IID_PPV_ARGS(&op)), "CreateOperator");
  ComPtr<IDMLCompiledOperator> compiled;
  check(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
        "CompileOperator");
  return compiled;
}

}  // namespace

int main() {
  Direct3D d3d = create_direct3d();
  ComPtr<IDMLDevice> device;
  check(DMLCreateDevice(d3d.device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)),
        "DMLCreateDevice");
  const ComPtr<IDMLCompiledOperator> gather = compile_gather(device.Get());

  // Initialise the operator, with a descriptor heap that is large enough for both stages.
  ComPtr<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* operators[] = {gather.Get()};
  check(device->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)),
        "CreateOperatorInitializer");
  D3D12_DESCRIPTOR_HEAP_DESC heap_desc{};
  heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  heap_desc.NumDescriptors = std::max(initializer->GetBindingProperties().RequiredDescriptorCount,
                                      gather->GetBindingProperties().RequiredDescriptorCount);
  heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  ComPtr<ID3D12DescriptorHeap> heap;
  check(d3d.device->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)), "CreateDescriptorHeap");
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  d3d.list->SetDescriptorHeaps(1, heaps);

  DML_BINDING_TABLE_DESC table_desc{};
  table_desc.Dispatchable = initializer.Get();
  table_desc.CPUDescriptorHandle = heap->GetCPUDescriptorHandleForHeapStart();
  table_desc.GPUDescriptorHandle = heap->GetGPUDescriptorHandleForHeapStart();
  table_desc.SizeInDescriptors = heap_desc.NumDescriptors;
  ComPtr<IDMLBindingTable> table;
  check(device->CreateBindingTable(&table_desc, IID_PPV_ARGS(&table)), "CreateBindingTable");
  ComPtr<IDMLCommandRecorder> recorder;
  check(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), "CreateCommandRecorder");
  recorder->RecordDispatch(d3d.list.Get(), initializer.Get(), table.Get());
  close_execute_reset_wait(d3d);

  // Bind and execute.
  table_desc.Dispatchable = gather.Get();
  check(table->Reset(&table_desc), "Reset");
  const auto rows = upload(d3d, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto indices = upload(d3d, std::vector<UINT>{2, 0, 2, 1});
  const UINT64 output_bytes = 32;
  const auto output = create_buffer(d3d, output_bytes, D3D12_HEAP_TYPE_DEFAULT);
  const DML_BUFFER_BINDING ranges[] = {
      {rows.Get(), 0, 24}, {indices.Get(), 0, 16}, {output.Get(), 0, output_bytes}};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &ranges[0]},
                                     {DML_BINDING_TYPE_BUFFER, &ranges[1]}};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &ranges[2]}};
  // [example directml-com]
  table->BindInputs(2, inputs);
  table->BindOutputs(1, outputs);
  recorder->RecordDispatch(d3d.list.Get(), gather.Get(), table.Get());

  const auto readback = create_buffer(d3d, output_bytes, D3D12_HEAP_TYPE_READBACK);
  d3d.list->CopyResource(readback.Get(), output.Get());
  close_execute_reset_wait(d3d);
  check(device->GetDeviceRemovedReason(), "the dispatch");
  // [/example]

  void* mapped = nullptr;
  check(readback->Map(0, nullptr, &mapped), "Map");
  float result[8];
  std::memcpy(result, mapped, sizeof result);
  for (int i = 0; i < 8; i += 2) {
    std::printf("%g %g\n", static_cast<double>(result[i]), static_cast<double>(result[i + 1]));
  }
  return result[0] == 5 && result[7] == 4 ? 0 : 1;
}
