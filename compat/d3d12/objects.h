// SPDX-License-Identifier: MIT
//
// The objects behind the interfaces: a buffer of host memory, a list of things to do, a queue that
// does them, and a fence.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bridge.h"
#include "com_object.h"
#include "d3d12.h"
#include "not_implemented.h"
#include "timeline.h"

namespace sheaf::d3d12 {

// What the objects need of their device.
class DeviceState : public DeviceStubs {
 public:
  const std::shared_ptr<Removal>& removal() const { return removal_; }

 protected:
  ~DeviceState() = default;

 private:
  std::shared_ptr<Removal> removal_ = std::make_shared<Removal>();
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

 private:
  com::Ref<DeviceState> device_;
};

class Resource final : public Child<Resource, ResourceStubs, ID3D12Pageable, ID3D12Resource> {
 public:
  // `device_name` is where default heaps lie; "" for the host. Throws std::bad_alloc, or
  // sheaf::Error if the device has no memory.
  Resource(DeviceState* device, const char* device_name, const D3D12_HEAP_PROPERTIES& heap,
           D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC& desc);

  HRESULT Map(UINT subresource, const D3D12_RANGE* read, void** data) override;
  void Unmap(UINT subresource, const D3D12_RANGE* written) override;
  D3D12_RESOURCE_DESC GetDesc() override { return desc_; }
  D3D12_GPU_VIRTUAL_ADDRESS GetGPUVirtualAddress() override;
  HRESULT GetHeapProperties(D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS* flags) override;
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  D3D12_HEAP_PROPERTIES heap_;
  D3D12_HEAP_FLAGS flags_;
  D3D12_RESOURCE_DESC desc_;
  std::unique_ptr<std::byte, Free> memory_;  // on the host,
  std::optional<DeviceMemory> on_device_;    // or here
  const char* device_name_;
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
  DescriptorHeap(DeviceState* device, const D3D12_DESCRIPTOR_HEAP_DESC& desc)
      : Child(device), desc_(desc), descriptors_(desc.NumDescriptors) {}
  D3D12_DESCRIPTOR_HEAP_DESC GetDesc() override { return desc_; }
  D3D12_CPU_DESCRIPTOR_HANDLE GetCPUDescriptorHandleForHeapStart() override;
  D3D12_GPU_DESCRIPTOR_HANDLE GetGPUDescriptorHandleForHeapStart() override;

 private:
  D3D12_DESCRIPTOR_HEAP_DESC desc_;
  std::vector<Descriptor> descriptors_;
};

class CommandList final : public Child<CommandList, GraphicsCommandListStubs, ID3D12CommandList,
                                       ID3D12GraphicsCommandList>,
                          private Recorder {
 public:
  CommandList(DeviceState* device, D3D12_COMMAND_LIST_TYPE type) : Child(device), type_(type) {}

  D3D12_COMMAND_LIST_TYPE GetType() override { return type_; }
  HRESULT Close() override;
  HRESULT Reset(ID3D12CommandAllocator* allocator, ID3D12PipelineState* state) override;
  void ClearState(ID3D12PipelineState*) override {}
  void CopyBufferRegion(ID3D12Resource* target, UINT64 target_offset, ID3D12Resource* source,
                        UINT64 source_offset, UINT64 bytes) override;
  void CopyResource(ID3D12Resource* target, ID3D12Resource* source) override;
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
  void copy(ID3D12Resource* target, UINT64 target_offset, ID3D12Resource* source,
            UINT64 source_offset, UINT64 bytes);

  D3D12_COMMAND_LIST_TYPE type_;
  bool closed_ = false;
  // Queues share what was submitted: a list may be reset while its work waits.
  std::shared_ptr<std::vector<Entry>> entries_ = std::make_shared<std::vector<Entry>>();
};

class Fence final : public Child<Fence, ID3D12Fence, ID3D12Pageable, ID3D12Fence> {
 public:
  Fence(DeviceState* device, UINT64 value)
      : Child(device), state_(std::make_shared<FenceState>(device->removal(), value)) {}
  ~Fence() { Timeline::get().release_fence(*state_); }
  UINT64 GetCompletedValue() override { return Timeline::get().completed(*state_); }
  HRESULT SetEventOnCompletion(UINT64 value, HANDLE event) override;
  HRESULT Signal(UINT64 value) override { return Timeline::get().signal(*state_, value); }
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;
  const std::shared_ptr<FenceState>& state() const { return state_; }

 private:
  std::shared_ptr<FenceState> state_;
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
  D3D12_COMMAND_QUEUE_DESC GetDesc() override { return desc_; }

 private:
  HRESULT submit(Submission::Kind kind, ID3D12Fence* fence, UINT64 value);

  D3D12_COMMAND_QUEUE_DESC desc_;
  std::shared_ptr<QueueState> state_;
};

}  // namespace sheaf::d3d12
