// SPDX-License-Identifier: MIT
//
// A program in the manner of a benchmark runner: it finds every function by name, asks for the
// newest interfaces, lists adapters, and times dispatches that it repeats in one list.
#include <dlfcn.h>
#include <dxcore.h>

#include "compat/gather_rows.h"
#include "compat/heap_allocator.h"

using namespace compat;

namespace {

template <class Function>
Function* find(const char* name) {
  auto* found = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (found == nullptr) {
    throw std::runtime_error(name);
  }
  return found;
}

using CreateFactory = HRESULT(REFIID, void**);
using CreateDevice = HRESULT(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**);
using CreateDml = HRESULT(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, REFIID,
                          void**);

std::vector<ComPtr<IDXCoreAdapter>> all_adapters() {
  ComPtr<IDXCoreAdapterFactory> factory;
  COMPAT_CHECK(find<CreateFactory>("DXCoreCreateAdapterFactory")(
      __uuidof(IDXCoreAdapterFactory), reinterpret_cast<void**>(factory.GetAddressOf())));
  ComPtr<IDXCoreAdapterList> list;
  const GUID attribute = DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML;
  COMPAT_CHECK(factory->CreateAdapterList(1, &attribute, list.GetAddressOf()));
  const DXCoreAdapterPreference preferences[] = {DXCoreAdapterPreference::Hardware,
                                                 DXCoreAdapterPreference::HighPerformance};
  COMPAT_CHECK(list->Sort(2, preferences));
  std::vector<ComPtr<IDXCoreAdapter>> adapters;
  for (uint32_t i = 0; i < list->GetAdapterCount(); ++i) {
    ComPtr<IDXCoreAdapter> adapter;
    COMPAT_CHECK(list->GetAdapter(i, adapter.GetAddressOf()));
    adapters.push_back(adapter);
  }
  return adapters;
}

// A device with one list that is always open, and pairs of timestamps.
class Runner {
 public:
  explicit Runner(IUnknown* adapter) {
    COMPAT_CHECK(find<CreateDevice>("D3D12CreateDevice")(
        adapter, D3D_FEATURE_LEVEL_1_0_CORE, __uuidof(ID3D12Device9),
        reinterpret_cast<void**>(device_.GetAddressOf())));
    D3D12_FEATURE_DATA_ARCHITECTURE1 architecture{};
    COMPAT_CHECK(device_->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE1, &architecture,
                                              sizeof architecture));
    custom_heaps_ = architecture.UMA != FALSE && architecture.CacheCoherentUMA != FALSE;
    COMPAT_CHECK(device_->SetBackgroundProcessingMode(
        D3D12_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK,
        D3D12_MEASUREMENTS_ACTION_KEEP_ALL, nullptr, nullptr));
    COMPAT_CHECK(device_->SetStablePowerState(TRUE));
    COMPAT_CHECK(device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence_)));
    D3D12_COMMAND_QUEUE_DESC queue_desc{};
    queue_desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    queue_desc.Flags = D3D12_COMMAND_QUEUE_FLAG_DISABLE_GPU_TIMEOUT;
    COMPAT_CHECK(device_->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&queue_)));
    COMPAT_CHECK(find<CreateDml>("DMLCreateDevice1")(
        device_.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_5_0, __uuidof(IDMLDevice1),
        reinterpret_cast<void**>(dml_.GetAddressOf())));
    COMPAT_CHECK(device_->CreateCommandAllocator(queue_desc.Type, IID_PPV_ARGS(&allocator_)));
    COMPAT_CHECK(device_->CreateCommandList(0, queue_desc.Type, allocator_.Get(), nullptr,
                                            IID_PPV_ARGS(&list_)));
    COMPAT_CHECK(dml_->CreateCommandRecorder(IID_PPV_ARGS(&recorder_)));
    const D3D12_QUERY_HEAP_DESC times{D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2, 0};
    COMPAT_CHECK(device_->CreateQueryHeap(&times, IID_PPV_ARGS(&times_)));
  }

  ComPtr<ID3D12Resource> buffer(UINT64 bytes, D3D12_HEAP_TYPE type) {
    D3D12_HEAP_PROPERTIES heap = CD3DX12_HEAP_PROPERTIES(type);
    if (custom_heaps_ && type == D3D12_HEAP_TYPE_DEFAULT) {
      heap = {D3D12_HEAP_TYPE_CUSTOM, D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE, D3D12_MEMORY_POOL_L0,
              0, 0};
    }
    const auto desc =
        CD3DX12_RESOURCE_DESC::Buffer(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    ComPtr<ID3D12Resource> made;
    COMPAT_CHECK(device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                  D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                  IID_PPV_ARGS(&made)));
    return made;
  }

  ComPtr<ID3D12Resource> upload(const Bytes& bytes) {
    const auto staging = buffer(bytes.size(), D3D12_HEAP_TYPE_UPLOAD);
    auto made = buffer(bytes.size(), D3D12_HEAP_TYPE_DEFAULT);
    void* mapped = nullptr;
    COMPAT_CHECK(staging->Map(0, nullptr, &mapped));
    std::memcpy(mapped, bytes.data(), bytes.size());
    staging->Unmap(0, nullptr);
    list_->CopyResource(made.Get(), staging.Get());
    keep_.push_back(staging);
    return made;
  }

  Bytes download(ID3D12Resource* from) {
    const UINT64 bytes = from->GetDesc().Width;
    const auto readback = buffer(bytes, D3D12_HEAP_TYPE_READBACK);
    list_->CopyResource(readback.Get(), from);
    submit();
    void* mapped = nullptr;
    COMPAT_CHECK(readback->Map(0, nullptr, &mapped));
    Bytes read(static_cast<size_t>(bytes));
    std::memcpy(read.data(), mapped, read.size());
    return read;
  }

  // Seconds of `repeats` dispatches.
  double time(IDMLCompiledOperator* op, IDMLBindingTable* table, int repeats) {
    const auto resolved = buffer(16, D3D12_HEAP_TYPE_READBACK);
    list_->EndQuery(times_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
    for (int i = 0; i < repeats; ++i) {
      recorder_->RecordDispatch(list_.Get(), op, table);
      const auto barrier = CD3DX12_RESOURCE_BARRIER::UAV(nullptr);
      list_->ResourceBarrier(1, &barrier);
    }
    list_->EndQuery(times_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 1);
    list_->ResolveQueryData(times_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 2, resolved.Get(), 0);
    submit();
    UINT64 frequency = 0;
    COMPAT_CHECK(queue_->GetTimestampFrequency(&frequency));
    const UINT64* read = nullptr;
    COMPAT_CHECK(
        resolved->Map(0, nullptr, const_cast<void**>(reinterpret_cast<const void**>(&read))));
    return static_cast<double>(read[1] - read[0]) / static_cast<double>(frequency);
  }

  void submit() {
    COMPAT_CHECK(list_->Close());
    ID3D12CommandList* lists[] = {list_.Get()};
    queue_->ExecuteCommandLists(1, lists);
    COMPAT_CHECK(queue_->Signal(fence_.Get(), ++value_));
    COMPAT_CHECK(fence_->SetEventOnCompletion(value_, nullptr));
    COMPAT_CHECK(device_->GetDeviceRemovedReason());
    COMPAT_CHECK(dml_->GetDeviceRemovedReason());
    COMPAT_CHECK(allocator_->Reset());
    COMPAT_CHECK(list_->Reset(allocator_.Get(), nullptr));
    keep_.clear();
  }

  IDMLDevice1* dml() { return dml_.Get(); }
  ID3D12Device* device() { return device_.Get(); }
  void copy(ID3D12Resource* to, ID3D12Resource* from) { list_->CopyResource(to, from); }

  ComPtr<IDMLBindingTable> table(IDMLDispatchable* op) {
    const DML_BINDING_PROPERTIES properties = op->GetBindingProperties();
    const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
                                          properties.RequiredDescriptorCount,
                                          D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    COMPAT_CHECK(device_->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap_)));
    ID3D12DescriptorHeap* heaps[] = {heap_.Get()};
    list_->SetDescriptorHeaps(1, heaps);
    const DML_BINDING_TABLE_DESC table_desc{op, heap_->GetCPUDescriptorHandleForHeapStart(),
                                            heap_->GetGPUDescriptorHandleForHeapStart(),
                                            properties.RequiredDescriptorCount};
    ComPtr<IDMLBindingTable> made;
    COMPAT_CHECK(dml_->CreateBindingTable(&table_desc, IID_PPV_ARGS(&made)));
    return made;
  }

 private:
  ComPtr<ID3D12Device9> device_;
  ComPtr<IDMLDevice1> dml_;
  ComPtr<ID3D12Fence> fence_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  ComPtr<IDMLCommandRecorder> recorder_;
  ComPtr<ID3D12QueryHeap> times_;
  ComPtr<ID3D12DescriptorHeap> heap_;
  std::vector<ComPtr<ID3D12Resource>> keep_;
  UINT64 value_ = 0;
  bool custom_heaps_ = false;
};

TEST(DxDispatchLike, EveryAdapter) {
  const long before = SheafLiveObjects();
  for (const auto& adapter : all_adapters()) {
    Runner runner(adapter.Get());
    const GatherRows rows{50, 8, 20};
    const auto op = rows.compile(runner.dml());
    const auto picks = rows.some_picks(3);
    const auto table = runner.upload(bytes_of(rows.table()));
    const auto indices = runner.upload(bytes_of(picks));
    const auto output = runner.buffer(rows.output_bytes(), D3D12_HEAP_TYPE_DEFAULT);
    const auto bindings = runner.table(op.Get());
    bind(bindings.Get(),
         {{table.Get(), 0, rows.table_bytes()}, {indices.Get(), 0, rows.picks_bytes()}},
         {{output.Get(), 0, rows.output_bytes()}});
    EXPECT_GT(runner.time(op.Get(), bindings.Get(), 3), 0);
    EXPECT_EQ(values_of<float>(runner.download(output.Get()), rows.expected(picks).size()),
              rows.expected(picks));
  }
  EXPECT_EQ(SheafLiveObjects(), before);
}

// The same with buffers in a heap: the second run's lie over the first one's.
TEST(DxDispatchLike, PlacedBuffers) {
  for (const auto& adapter : all_adapters()) {
    Runner runner(adapter.Get());
    HeapAllocator heap(runner.device(), 4 * UINT64{D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT});
    for (const GatherRows& rows : {GatherRows{50, 8, 20}, GatherRows{9, 5, 30}}) {
      heap.rewind();
      const auto op = rows.compile(runner.dml());
      const auto picks = rows.some_picks(1);
      const auto table = heap.allocate(rows.table_bytes());
      const auto indices = heap.allocate(rows.picks_bytes());
      const auto output = heap.allocate(rows.output_bytes());
      const auto from_table = runner.upload(bytes_of(rows.table()));
      const auto from_picks = runner.upload(bytes_of(picks));
      runner.copy(table.Get(), from_table.Get());
      runner.copy(indices.Get(), from_picks.Get());
      const auto bindings = runner.table(op.Get());
      bind(bindings.Get(),
           {{table.Get(), 0, rows.table_bytes()}, {indices.Get(), 0, rows.picks_bytes()}},
           {{output.Get(), 0, rows.output_bytes()}});
      EXPECT_GT(runner.time(op.Get(), bindings.Get(), 2), 0);
      EXPECT_EQ(values_of<float>(runner.download(output.Get()), rows.expected(picks).size()),
                rows.expected(picks));
    }
  }
}

}  // namespace
