// SPDX-License-Identifier: MIT
//
// The objects behind the interfaces: blocks of memory and buffers in them, a list of things to do,
// a queue that does them, and a fence.
#pragma once

#include <memory>
#include <vector>

#include "adapters.h"
#include "bridge.h"
#include "com_object.h"
#include "d3d12.h"
#include "descriptors.h"
#include "memory_block.h"
#include "not_implemented.h"
#include "not_implemented_lists.h"
#include "timeline.h"

namespace sheaf::d3d12 {

// What the objects need of their device.
class DeviceState : public DeviceStubs {
 public:
  explicit DeviceState(const Adapter& adapter) : adapter_(adapter) {}
  const std::shared_ptr<Removal>& removal() const { return removal_; }
  const Adapter& adapter() const { return adapter_; }
  DescriptorPlaces& descriptors() { return descriptors_; }

 protected:
  ~DeviceState() = default;

 private:
  const Adapter& adapter_;
  std::shared_ptr<Removal> removal_ = std::make_shared<Removal>();
  DescriptorPlaces descriptors_;
};

// Children keep their device alive. `Base` is the interface, or its stubs.
template <class Derived, class Base, class... Reachable>
class Child : public com::Named<Derived, const IUnknown, Base, ID3D12Object, ID3D12DeviceChild,
                                Reachable...> {
 public:
  explicit Child(DeviceState* device) : device_(device) {}
  HRESULT GetDevice(REFIID iid, void** device) override {
    return device_->QueryInterface(iid, device);
  }
  const std::shared_ptr<Removal>& removal() const { return device_->removal(); }
  DeviceState& device() const { return *device_; }

 private:
  com::Ref<DeviceState> device_;
};

class Heap final : public Child<Heap, HeapStubs, ID3D12Pageable, ID3D12Heap, ID3D12Heap1> {
 public:
  // Throws as Memory does.
  Heap(DeviceState* device, const D3D12_HEAP_DESC& desc);
  D3D12_HEAP_DESC GetDesc() override { return desc_; }
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;
  const std::shared_ptr<Memory>& memory() const { return memory_; }

 private:
  D3D12_HEAP_DESC desc_;
  std::shared_ptr<Memory> memory_;
};

// A buffer: a part of a block of memory.
struct Placement {
  std::shared_ptr<Memory> memory;
  UINT64 start;
  D3D12_HEAP_PROPERTIES heap;
  D3D12_HEAP_FLAGS flags;
};

class Resource final : public Child<Resource, ResourceStubs, ID3D12Pageable, ID3D12Resource,
                                    ID3D12Resource1, ID3D12Resource2> {
 public:
  Resource(DeviceState* device, Placement placement, const D3D12_RESOURCE_DESC& desc);

  HRESULT Map(UINT subresource, const D3D12_RANGE* read, void** data) override;
  void Unmap(UINT subresource, const D3D12_RANGE* written) override;
  D3D12_RESOURCE_DESC GetDesc() override { return desc_; }
  D3D12_RESOURCE_DESC1 GetDesc1() override;
  D3D12_GPU_VIRTUAL_ADDRESS GetGPUVirtualAddress() override;
  HRESULT GetHeapProperties(D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS* flags) override;
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;

 private:
  std::byte* data() const { return placement_.memory->data() + placement_.start; }

  Placement placement_;
  D3D12_RESOURCE_DESC desc_;
};

class CommandAllocator final : public Child<CommandAllocator, ID3D12CommandAllocator,
                                            ID3D12Pageable, ID3D12CommandAllocator> {
 public:
  using Child::Child;
  HRESULT Reset() override { return removal()->check(); }
};

class DescriptorHeap final
    : public Child<DescriptorHeap, ID3D12DescriptorHeap, ID3D12Pageable, ID3D12DescriptorHeap> {
 public:
  DescriptorHeap(DeviceState* device, const D3D12_DESCRIPTOR_HEAP_DESC& desc);
  ~DescriptorHeap();
  D3D12_DESCRIPTOR_HEAP_DESC GetDesc() override { return desc_; }
  D3D12_CPU_DESCRIPTOR_HANDLE GetCPUDescriptorHandleForHeapStart() override;
  D3D12_GPU_DESCRIPTOR_HANDLE GetGPUDescriptorHandleForHeapStart() override;

 private:
  D3D12_DESCRIPTOR_HEAP_DESC desc_;
  std::vector<Descriptor> descriptors_;
};

// Timestamps in nanoseconds, as lists write them.
class QueryHeap final : public Child<QueryHeap, ID3D12QueryHeap, ID3D12Pageable, ID3D12QueryHeap> {
 public:
  QueryHeap(DeviceState* device, const D3D12_QUERY_HEAP_DESC& desc)
      : Child(device), times_(desc.Count) {}
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;
  size_t count() const { return times_.size(); }
  void write(size_t index);
  std::vector<UINT64> read(size_t first, size_t count) const;

 private:
  mutable std::mutex mutex_;
  std::vector<UINT64> times_;
};

// The clock of queues.
inline constexpr UINT64 kTicksPerSecond = 1000000000;
UINT64 clock_ticks();

class CommandList final : public Child<CommandList, GraphicsCommandListStubs, ID3D12CommandList,
                                       ID3D12GraphicsCommandList, ID3D12GraphicsCommandList1,
                                       ID3D12GraphicsCommandList2, ID3D12GraphicsCommandList3,
                                       ID3D12GraphicsCommandList4>,
                          private Recorder {
 public:
  CommandList(DeviceState* device, D3D12_COMMAND_LIST_TYPE type, bool closed)
      : Child(device), type_(type), closed_(closed) {}

  D3D12_COMMAND_LIST_TYPE GetType() override { return type_; }
  HRESULT Close() override;
  HRESULT Reset(ID3D12CommandAllocator* allocator, ID3D12PipelineState* state) override;
  void ClearState(ID3D12PipelineState*) override {}
  void CopyBufferRegion(ID3D12Resource* target, UINT64 target_offset, ID3D12Resource* source,
                        UINT64 source_offset, UINT64 bytes) override;
  void CopyResource(ID3D12Resource* target, ID3D12Resource* source) override;
  void ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE view,
                                    ID3D12Resource* resource, const UINT* values, UINT rects,
                                    const D3D12_RECT* rect) override;
  void ClearUnorderedAccessViewFloat(D3D12_GPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE view,
                                     ID3D12Resource* resource, const FLOAT* values, UINT rects,
                                     const D3D12_RECT* rect) override;
  void EndQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT index) override;
  void ResolveQueryData(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT first, UINT count,
                        ID3D12Resource* target, UINT64 offset) override;
  // Commands run in order, one at a time: there is nothing to wait for.
  void ResourceBarrier(UINT, const D3D12_RESOURCE_BARRIER*) override {}
  void SetDescriptorHeaps(UINT, ID3D12DescriptorHeap* const*) override {}
  void DiscardResource(ID3D12Resource*, const D3D12_DISCARD_REGION*) override {}
  void SetMarker(UINT, const void*, UINT) override {}
  void BeginEvent(UINT, const void*, UINT) override {}
  void EndEvent() override {}
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;

 private:
  struct Entry {
    Command now;
    LateCommand late;  // if `now` is empty
  };
  void record(Command command) override { add({std::move(command), nullptr}); }
  void record_late(LateCommand command) override { add({nullptr, std::move(command)}); }
  void refuse(HRESULT result, const char* text) override;
  Command submission() override;
  void add(Entry entry);
  // Runs the body of a recorded call: what it throws refuses the list.
  template <class Body>
  void guarded(const char* who, Body body) noexcept;
  void copy(ID3D12Resource* target, UINT64 target_offset, ID3D12Resource* source,
            UINT64 source_offset, UINT64 bytes);
  template <class Value>
  void clear(D3D12_CPU_DESCRIPTOR_HANDLE view, ID3D12Resource* resource, const Value* values,
             UINT rects, const D3D12_RECT* rect);

  D3D12_COMMAND_LIST_TYPE type_;
  bool closed_;
  // Queues share what was submitted: a list may be reset while its work waits.
  std::shared_ptr<std::vector<Entry>> entries_ = std::make_shared<std::vector<Entry>>();
};

class Fence final : public Child<Fence, ID3D12Fence1, ID3D12Pageable, ID3D12Fence, ID3D12Fence1> {
 public:
  Fence(DeviceState* device, UINT64 value, D3D12_FENCE_FLAGS flags)
      : Child(device),
        state_(std::make_shared<FenceState>(device->removal(), value)),
        flags_(flags) {}
  ~Fence() { Timeline::get().release_fence(*state_); }
  UINT64 GetCompletedValue() override { return Timeline::get().completed(*state_); }
  HRESULT SetEventOnCompletion(UINT64 value, HANDLE event) override;
  HRESULT Signal(UINT64 value) override { return Timeline::get().signal(*state_, value); }
  D3D12_FENCE_FLAGS GetCreationFlags() override { return flags_; }
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;
  const std::shared_ptr<FenceState>& state() const { return state_; }

 private:
  std::shared_ptr<FenceState> state_;
  D3D12_FENCE_FLAGS flags_;
};

class CommandQueue final
    : public Child<CommandQueue, CommandQueueStubs, ID3D12Pageable, ID3D12CommandQueue> {
 public:
  CommandQueue(DeviceState* device, const D3D12_COMMAND_QUEUE_DESC& desc)
      : Child(device), desc_(desc), state_(Timeline::get().add_queue(device->removal())) {}
  ~CommandQueue() { Timeline::get().release_queue(*state_); }
  void ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) override;
  void SetMarker(UINT, const void*, UINT) override {}
  void BeginEvent(UINT, const void*, UINT) override {}
  void EndEvent() override {}
  HRESULT Signal(ID3D12Fence* fence, UINT64 value) override;
  HRESULT Wait(ID3D12Fence* fence, UINT64 value) override;
  HRESULT GetTimestampFrequency(UINT64* frequency) override;
  HRESULT GetClockCalibration(UINT64* gpu_timestamp, UINT64* cpu_timestamp) override;
  D3D12_COMMAND_QUEUE_DESC GetDesc() override { return desc_; }

 private:
  HRESULT submit(Submission::Kind kind, ID3D12Fence* fence, UINT64 value);

  D3D12_COMMAND_QUEUE_DESC desc_;
  std::shared_ptr<QueueState> state_;
};

// Objects of this library, told apart by private data as bridge.h says.
inline constexpr GUID kFence{
    0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x03}};
inline constexpr GUID kHeap{
    0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x04}};
inline constexpr GUID kQueryHeap{
    0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x05}};

// Copies a view into what GetPrivateData was given.
template <class View>
HRESULT give_view(const View& view, UINT* size, void* data) {
  if (size == nullptr) {
    return E_INVALIDARG;
  }
  const UINT room = std::exchange(*size, static_cast<UINT>(sizeof view));
  if (data == nullptr) {
    return S_OK;
  }
  if (room < sizeof view) {
    return DXGI_ERROR_MORE_DATA;
  }
  std::memcpy(data, &view, sizeof view);
  return S_OK;
}

}  // namespace sheaf::d3d12
