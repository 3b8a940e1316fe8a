// SPDX-License-Identifier: MIT
//
// One device in many threads: adapters, heaps, placed buffers, clears, timestamps and messages.
// Runs under ThreadSanitizer.
#include <dxcore.h>
#include <dxgi1_6.h>
#include <synchapi.h>

#include <atomic>
#include <thread>

#include "compat/machine.h"

using namespace compat;

namespace {

constexpr int kThreads = 4, kRounds = 8;

template <class Work>
void in_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&work, i] { work(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// What a thread has of its own on a device that it shares.
struct Lane {
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  UINT64 done = 0;

  explicit Lane(ID3D12Device* device) {
    const D3D12_COMMAND_QUEUE_DESC desc{};
    COMPAT_CHECK(device->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)));
    COMPAT_CHECK(
        device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)));
    COMPAT_CHECK(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(),
                                           nullptr, IID_PPV_ARGS(&list)));
    COMPAT_CHECK(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  }

  // Runs what was recorded, waits, and opens the list again.
  void finish() {
    COMPAT_CHECK(list->Close());
    ID3D12CommandList* lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);
    COMPAT_CHECK(queue->Signal(fence.Get(), ++done));
    const HANDLE event = CreateEvent(nullptr, FALSE, FALSE, nullptr);
    COMPAT_CHECK(fence->SetEventOnCompletion(done, event));
    EXPECT_EQ(WaitForSingleObject(event, INFINITE), WAIT_OBJECT_0);
    CloseHandle(event);
    COMPAT_CHECK(allocator->Reset());
    COMPAT_CHECK(list->Reset(allocator.Get(), nullptr));
  }
};

ComPtr<ID3D12Resource> placed(ID3D12Device* device, ID3D12Heap* heap, UINT64 at, UINT64 bytes) {
  const auto desc =
      CD3DX12_RESOURCE_DESC::Buffer(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  ComPtr<ID3D12Resource> made;
  COMPAT_CHECK(device->CreatePlacedResource(heap, at, &desc, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                                            nullptr, IID_PPV_ARGS(&made)));
  return made;
}

// Clears a buffer to `value` between two timestamps, and reads both back.
void clear_and_time(Machine& machine, Lane& lane, ID3D12Resource* buffer, UINT value) {
  ID3D12Device* const device = machine.d3d12.Get();
  const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1,
                                        D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
  ComPtr<ID3D12DescriptorHeap> views;
  COMPAT_CHECK(device->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&views)));
  D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
  view.Format = DXGI_FORMAT_R32_UINT;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.NumElements = 64;
  const auto place = views->GetCPUDescriptorHandleForHeapStart();
  device->CreateUnorderedAccessView(buffer, nullptr, &view, place);
  const D3D12_QUERY_HEAP_DESC two{D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2, 0};
  ComPtr<ID3D12QueryHeap> times;
  COMPAT_CHECK(device->CreateQueryHeap(&two, IID_PPV_ARGS(&times)));
  const auto read = machine.buffer(256, D3D12_HEAP_TYPE_READBACK);
  const auto ticks = machine.buffer(16, D3D12_HEAP_TYPE_READBACK);
  const UINT values[4] = {value, 0, 0, 0};
  lane.list->EndQuery(times.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
  lane.list->ClearUnorderedAccessViewUint(views->GetGPUDescriptorHandleForHeapStart(), place,
                                          buffer, values, 0, nullptr);
  lane.list->EndQuery(times.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 1);
  lane.list->ResolveQueryData(times.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 2, ticks.Get(), 0);
  lane.list->CopyBufferRegion(read.Get(), 0, buffer, 0, 256);
  lane.finish();
  void* data = nullptr;
  COMPAT_CHECK(read->Map(0, nullptr, &data));
  EXPECT_EQ(static_cast<const UINT*>(data)[63], value);
  COMPAT_CHECK(ticks->Map(0, nullptr, &data));
  EXPECT_LE(static_cast<const UINT64*>(data)[0], static_cast<const UINT64*>(data)[1]);
}

TEST(SharedDevice, PlacedBuffersClearsAndTimestamps) {
  const long before = SheafLiveObjects();
  {
    Machine machine;
    const UINT64 room = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;
    const D3D12_HEAP_DESC desc{kThreads * room, CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT), 0,
                               D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS};
    ComPtr<ID3D12Heap> heap;  // one for all, a part for each
    COMPAT_CHECK(machine.d3d12->CreateHeap(&desc, IID_PPV_ARGS(&heap)));
    in_threads([&](int thread) {
      Lane lane(machine.d3d12.Get());
      for (int round = 0; round < kRounds; ++round) {
        const auto buffer =
            placed(machine.d3d12.Get(), heap.Get(), static_cast<UINT64>(thread) * room, 256);
        clear_and_time(machine, lane, buffer.Get(), static_cast<UINT>(100 * thread + round));
        UINT64 frequency = 0, gpu = 0, cpu = 0;
        COMPAT_CHECK(lane.queue->GetTimestampFrequency(&frequency));
        COMPAT_CHECK(lane.queue->GetClockCalibration(&gpu, &cpu));
        EXPECT_GT(frequency, 0u);
      }
    });
  }
  EXPECT_EQ(SheafLiveObjects(), before);
}

TEST(SharedDevice, AdaptersAndFeatures) {
  const long before = SheafLiveObjects();
  in_threads([](int) {
    for (int round = 0; round < kRounds; ++round) {
      ComPtr<IDXCoreAdapterFactory> factory;
      COMPAT_CHECK(DXCoreCreateAdapterFactory(IID_PPV_ARGS(&factory)));
      const GUID attribute = DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE;
      ComPtr<IDXCoreAdapterList> list;
      COMPAT_CHECK(factory->CreateAdapterList(1, &attribute, list.GetAddressOf()));
      ASSERT_GT(list->GetAdapterCount(), 0u);
      ComPtr<IDXCoreAdapter> adapter;
      COMPAT_CHECK(list->GetAdapter(0, adapter.GetAddressOf()));
      ComPtr<IDXGIFactory4> dxgi;
      COMPAT_CHECK(CreateDXGIFactory2(0, IID_PPV_ARGS(&dxgi)));
      ComPtr<IDXGIAdapter1> first;
      COMPAT_CHECK(dxgi->EnumAdapters1(0, first.GetAddressOf()));
      const Machine machine(adapter.Get());
      D3D12_FEATURE_DATA_ARCHITECTURE1 architecture{};
      COMPAT_CHECK(machine.d3d12->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE1, &architecture,
                                                      sizeof architecture));
    }
  });
  EXPECT_EQ(SheafLiveObjects(), before);
}

TEST(SharedDevice, MessagesOfManyThreads) {
  ComPtr<ID3D12Debug> debug;
  COMPAT_CHECK(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)));
  debug->EnableDebugLayer();
  SheafSetMessageCallback([](const char*, void*) {}, nullptr);  // not to stderr
  {
    Machine machine;
    const auto queue = as<ID3D12InfoQueue1>(machine.d3d12);
    queue->ClearStoredMessages();
    std::atomic<int> seen = 0;
    DWORD cookie = 0;
    COMPAT_CHECK(queue->RegisterMessageCallback(
        [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR,
           void* context) { ++*static_cast<std::atomic<int>*>(context); },
        D3D12_MESSAGE_CALLBACK_FLAG_NONE, &seen, &cookie));
    in_threads([&](int) {
      for (int round = 0; round < kRounds; ++round) {
        void* none = nullptr;
        EXPECT_EQ(machine.d3d12->CreateHeap(nullptr, __uuidof(ID3D12Heap), &none), E_INVALIDARG);
        SIZE_T bytes = 0;
        EXPECT_EQ(queue->GetMessage(0, nullptr, &bytes), S_FALSE);
      }
    });
    EXPECT_EQ(queue->GetNumStoredMessages(), UINT64{kThreads * kRounds});
    EXPECT_EQ(seen, kThreads * kRounds);
    COMPAT_CHECK(queue->UnregisterMessageCallback(cookie));
  }
  SheafSetMessageCallback(nullptr, nullptr);
}

}  // namespace
