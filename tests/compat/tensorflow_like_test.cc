// SPDX-License-Identifier: MIT
//
// A program in the manner of TensorFlow's plugin: memory comes from heaps only, in buffers that are
// placed and that overlap over time; lists are taken in turn; buffers are zeroed by clears; another
// thread waits for fences.
#include <dxcore.h>
#include <synchapi.h>

#include <thread>

#include "compat/gather_rows.h"
#include "compat/heap_allocator.h"

using namespace compat;

namespace {

constexpr UINT64 kPlacement = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;

// Lists in turn: one is recorded while the queue may still have the other.
class Queue {
 public:
  Queue(ID3D12Device* device, ID3D12CommandQueue* queue) : queue_(queue) {
    COMPAT_CHECK(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence_)));
    for (Slot& slot : slots_) {
      COMPAT_CHECK(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_COMPUTE,
                                                  IID_PPV_ARGS(&slot.allocator)));
      COMPAT_CHECK(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_COMPUTE,
                                             slot.allocator.Get(), nullptr,
                                             IID_PPV_ARGS(&slot.list)));
      COMPAT_CHECK(slot.list->Close());
    }
  }

  // An open list.
  ID3D12GraphicsCommandList* open() {
    Slot& slot = slots_[turn_];
    COMPAT_CHECK(slot.allocator->Reset());
    COMPAT_CHECK(slot.list->Reset(slot.allocator.Get(), nullptr));
    return slot.list.Get();
  }
  // The value of the fence that says when it is done.
  UINT64 execute() {
    Slot& slot = slots_[turn_];
    turn_ = (turn_ + 1) % std::size(slots_);
    COMPAT_CHECK(slot.list->Close());
    ID3D12CommandList* lists[] = {slot.list.Get()};
    queue_->ExecuteCommandLists(1, lists);
    COMPAT_CHECK(queue_->Signal(fence_.Get(), ++value_));
    return value_;
  }
  void wait(UINT64 value) {
    const HANDLE event = CreateEvent(nullptr, FALSE, FALSE, nullptr);
    COMPAT_CHECK(fence_->SetEventOnCompletion(value, event));
    DWORD result = WAIT_FAILED;
    std::thread waits([&] { result = WaitForSingleObject(event, INFINITE); });
    waits.join();
    EXPECT_EQ(result, WAIT_OBJECT_0);
    EXPECT_TRUE(CloseHandle(event));
  }

 private:
  struct Slot {
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
  };
  ID3D12CommandQueue* queue_;
  ComPtr<ID3D12Fence> fence_;
  Slot slots_[2];
  size_t turn_ = 0;
  UINT64 value_ = 0;
};

void zero(Machine& machine, ID3D12GraphicsCommandList* list, ID3D12DescriptorHeap* heap,
          ID3D12Resource* buffer) {
  D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
  view.Format = DXGI_FORMAT_R32_TYPELESS;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.NumElements = static_cast<UINT>(buffer->GetDesc().Width / 4);
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
  const auto place = heap->GetCPUDescriptorHandleForHeapStart();
  machine.d3d12->CreateUnorderedAccessView(buffer, nullptr, &view, place);
  const UINT zeros[4]{};
  list->ClearUnorderedAccessViewUint(heap->GetGPUDescriptorHandleForHeapStart(), place, buffer,
                                     zeros, 0, nullptr);
}

void steps_on(IUnknown* adapter) {
  Machine machine(adapter);
  // Reserved buffers come first, and heaps where a device has no tiles.
  D3D12_FEATURE_DATA_D3D12_OPTIONS options{};
  COMPAT_CHECK(
      machine.d3d12->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof options));
  EXPECT_EQ(options.TiledResourcesTier, D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED);
  HeapAllocator allocator(machine.d3d12.Get(), 8 * kPlacement);
  Queue queue(machine.d3d12.Get(), machine.queue.Get());
  const GatherRows rows{40, 4, 12};
  const auto op = rows.compile(machine.dml.Get());
  const D3D12_DESCRIPTOR_HEAP_DESC heap_desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1, {}, 0};
  ComPtr<ID3D12DescriptorHeap> heap;
  COMPAT_CHECK(machine.d3d12->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)));
  const auto readback = machine.buffer(rows.output_bytes(), D3D12_HEAP_TYPE_READBACK);

  for (UINT step = 0; step < 5; ++step) {
    allocator.rewind();  // what the last step placed is gone
    const auto table = allocator.allocate(rows.table_bytes());
    const auto indices = allocator.allocate(rows.picks_bytes());
    // One buffer to compute in and one to copy from, over the same bytes.
    const auto outputs = allocator.allocate_over(rows.output_bytes(), 2);
    const auto &output = outputs[0], &source = outputs[1];
    const auto picks = rows.some_picks(step);
    ID3D12GraphicsCommandList* list = queue.open();
    const auto aliasing = CD3DX12_RESOURCE_BARRIER::Aliasing(nullptr, table.Get());
    list->ResourceBarrier(1, &aliasing);
    zero(machine, list, heap.Get(), output.Get());
    list->CopyBufferRegion(readback.Get(), 0, source.Get(), 0, rows.output_bytes());
    queue.wait(queue.execute());
    const float* read = nullptr;
    COMPAT_CHECK(
        readback->Map(0, nullptr, const_cast<void**>(reinterpret_cast<const void**>(&read))));
    EXPECT_EQ(std::vector<float>(read, read + rows.picks * rows.columns),
              std::vector<float>(rows.picks * rows.columns, 0.f));

    const auto from_table = machine.upload(bytes_of(rows.table()));
    const auto from_picks = machine.upload(bytes_of(picks));
    machine.execute();
    list = queue.open();
    list->CopyResource(table.Get(), from_table.Get());
    list->CopyResource(indices.Get(), from_picks.Get());
    const auto bindings = machine.table(op.Get());
    bind(bindings.Get(),
         {{table.Get(), 0, rows.table_bytes()}, {indices.Get(), 0, rows.picks_bytes()}},
         {{output.Get(), 0, rows.output_bytes()}});
    machine.recorder->RecordDispatch(list, op.Get(), bindings.Get());
    list->CopyBufferRegion(readback.Get(), 0, source.Get(), 0, rows.output_bytes());
    queue.wait(queue.execute());
    COMPAT_CHECK(machine.dml->GetDeviceRemovedReason());
    EXPECT_EQ(std::vector<float>(read, read + rows.picks * rows.columns), rows.expected(picks));
  }
}

TEST(TensorFlowLike, StepsInOneHeap) {
  const long before = SheafLiveObjects();
  ComPtr<IDXCoreAdapterFactory> factory;
  COMPAT_CHECK(DXCoreCreateAdapterFactory(__uuidof(IDXCoreAdapterFactory),
                                          reinterpret_cast<void**>(factory.GetAddressOf())));
  ComPtr<IDXCoreAdapterList> list;
  const GUID attribute = DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE;
  COMPAT_CHECK(factory->CreateAdapterList(1, &attribute, list.GetAddressOf()));
  for (uint32_t i = 0; i < list->GetAdapterCount(); ++i) {
    ComPtr<IDXCoreAdapter> adapter;
    COMPAT_CHECK(list->GetAdapter(i, adapter.GetAddressOf()));
    steps_on(adapter.Get());
  }
  factory.Reset();
  list.Reset();
  EXPECT_EQ(SheafLiveObjects(), before);
}

}  // namespace
