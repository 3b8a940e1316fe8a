// SPDX-License-Identifier: MIT
#include "objects.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include "support/checked.h"

namespace sheaf::d3d12 {
namespace {

// Direct3D places committed buffers on such boundaries; DirectML's alignments are divisors of it.
constexpr UINT64 kPlacement = 65536;

// A Fence of this library.
constexpr GUID kFence{0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x03}};

std::byte* allocate(UINT64 bytes) {
  const UINT64 alignment = bytes >= kPlacement ? kPlacement : 256;
  // What is no size_t, or more than half of all, no allocator has.
  const UINT64 rounded = checked_round_up(bytes, alignment).value_or(UINT64_MAX);
  const size_t size = rounded > SIZE_MAX / 2 ? 0 : static_cast<size_t>(rounded);
  void* memory = size == 0 ? nullptr : std::aligned_alloc(static_cast<size_t>(alignment), size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::memset(memory, 0, size);
  return static_cast<std::byte*>(memory);
}

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

// An error of a device that commands met; no exception may leave COM.
void run_or_remove(const Command& command, Removal& removal) {
  HRESULT reason = S_OK;
  try {
    return command();
  } catch (const std::bad_alloc&) {
    reason = E_OUTOFMEMORY;
  } catch (const std::exception& error) {
    reason = DXGI_ERROR_DRIVER_INTERNAL_ERROR;
    com::report(error.what(), true);
  } catch (...) {
    reason = E_FAIL;
  }
  Timeline::get().remove(removal, reason);
}

}  // namespace

void Resource::Free::operator()(std::byte* memory) const { std::free(memory); }

Resource::Resource(DeviceState* device, const char* device_name, const D3D12_HEAP_PROPERTIES& heap,
                   D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC& desc)
    : Child(device), heap_(heap), flags_(flags), desc_(desc), device_name_("") {
  if (*device_name == 0 || heap.Type != D3D12_HEAP_TYPE_DEFAULT) {
    memory_.reset(allocate(desc.Width));
    return;
  }
  device_name_ = device_name;
  on_device_.emplace(device_name, static_cast<size_t>(desc.Width));
  on_device_->fill(std::byte{0}, static_cast<size_t>(desc.Width));
}

HRESULT Resource::Map(UINT subresource, const D3D12_RANGE* read, void** data) {
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  // A heap of type DEFAULT has no address on a GPU's host; programs that map one are wrong there.
  if (subresource != 0 || heap_.Type == D3D12_HEAP_TYPE_DEFAULT ||
      (read != nullptr && read->End > desc_.Width)) {
    com::report(
        com::words({.who = "ID3D12Resource::Map",
                    .what = "cannot be mapped",
                    .detail = "the buffer lies in a default heap, the subresource is not 0, or "
                              "the range ends outside the buffer",
                    .given = "heap type " + std::to_string(heap_.Type) + "   subresource " +
                             std::to_string(subresource),
                    .next = "copy it to a buffer of D3D12_HEAP_TYPE_READBACK"}),
        false);
    return E_INVALIDARG;
  }
  if (data != nullptr) {
    *data = memory_.get();
  }
  return S_OK;
}

void Resource::Unmap(UINT, const D3D12_RANGE*) {}

D3D12_GPU_VIRTUAL_ADDRESS Resource::GetGPUVirtualAddress() {
  return reinterpret_cast<uintptr_t>(on_device_ ? on_device_->data() : memory_.get());
}

HRESULT Resource::GetHeapProperties(D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS* flags) {
  if (properties != nullptr) {
    *properties = heap_;
  }
  if (flags != nullptr) {
    *flags = flags_;
  }
  return S_OK;
}

HRESULT Resource::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  if (guid == kBufferMemory) {
    return give_view(BufferMemory{on_device_ ? on_device_->data() : memory_.get(), desc_.Width,
                                  heap_.Type != D3D12_HEAP_TYPE_UPLOAD,
                                  on_device_ ? &*on_device_ : nullptr, device_name_},
                     size, data);
  }
  return Child::GetPrivateData(guid, size, data);
}

D3D12_CPU_DESCRIPTOR_HANDLE DescriptorHeap::GetCPUDescriptorHandleForHeapStart() {
  return {reinterpret_cast<SIZE_T>(descriptors_.data())};
}

D3D12_GPU_DESCRIPTOR_HANDLE DescriptorHeap::GetGPUDescriptorHandleForHeapStart() {
  return {reinterpret_cast<uintptr_t>(descriptors_.data())};
}

HRESULT CommandList::Close() {
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  if (closed_) {
    return E_FAIL;
  }
  closed_ = true;
  return refused_;
}

HRESULT CommandList::Reset(ID3D12CommandAllocator* allocator, ID3D12PipelineState*) {
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  if (allocator == nullptr) {
    return E_INVALIDARG;
  }
  if (!closed_) {
    return E_FAIL;  // it is still being recorded
  }
  return com::guarded([&] {
    entries_ = std::make_shared<std::vector<Entry>>();
    closed_ = false;
    refused_ = S_OK;
    return S_OK;
  });
}

void CommandList::add(Entry entry) {
  if (closed_) {
    return refuse(E_FAIL, "ID3D12GraphicsCommandList: recorded after Close");
  }
  entries_->push_back(std::move(entry));
}

void CommandList::refuse(HRESULT result, const char* text) {
  refused_ = result;
  com::report(text, true);
}

Command CommandList::submission() {
  if (!closed_ || refused_ != S_OK) {
    return nullptr;
  }
  std::vector<Command> late;
  for (const Entry& entry : *entries_) {
    if (!entry.now) {
      late.push_back(entry.late());
    }
  }
  return [entries = entries_, late = std::move(late)] {
    auto made = late.begin();
    for (const Entry& entry : *entries) {
      const Command& command = entry.now ? entry.now : *made++;
      if (command) {
        command();
      }
    }
  };
}

HRESULT CommandList::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  if (guid == kRecorder) {
    return give_view(static_cast<Recorder*>(this), size, data);
  }
  return Child::GetPrivateData(guid, size, data);
}

void CommandList::CopyBufferRegion(ID3D12Resource* target, UINT64 target_offset,
                                   ID3D12Resource* source, UINT64 source_offset, UINT64 bytes) {
  const HRESULT result = com::guarded([&] {
    copy(target, target_offset, source, source_offset, bytes);
    return S_OK;
  });
  if (FAILED(result)) {
    refused_ = result;  // no memory, neither for the command nor for words
  }
}

void CommandList::copy(ID3D12Resource* target, UINT64 target_offset, ID3D12Resource* source,
                       UINT64 source_offset, UINT64 bytes) {
  const auto to = private_view<BufferMemory>(target, kBufferMemory);
  const auto from = private_view<BufferMemory>(source, kBufferMemory);
  const auto inside = [bytes](const BufferMemory& buffer, UINT64 offset) {
    return buffer.data != nullptr && offset <= buffer.bytes && bytes <= buffer.bytes - offset;
  };
  if (!inside(to, target_offset) || !inside(from, source_offset) || !to.written_by_commands) {
    const std::string text = com::words(
        {.who = "ID3D12GraphicsCommandList::CopyBufferRegion",
         .what = "outside a buffer",
         .detail = "the range does not lie in both buffers, or the target is an upload buffer",
         .given = "offsets and NumBytes are in bytes",
         .next = "ranges inside the two buffers"});
    return refuse(E_INVALIDARG, text.c_str());
  }
  record([target = com::Ref(target), source = com::Ref(source), to, from, target_offset,
          source_offset, bytes] { copy_bytes(to, target_offset, from, source_offset, bytes); });
}

void CommandList::CopyResource(ID3D12Resource* target, ID3D12Resource* source) {
  const auto to = private_view<BufferMemory>(target, kBufferMemory);
  const auto from = private_view<BufferMemory>(source, kBufferMemory);
  if (to.data == nullptr || to.bytes != from.bytes) {
    const std::string text =
        com::words({.who = "ID3D12GraphicsCommandList::CopyResource",
                    .what = "buffers differ",
                    .detail = "the two buffers have different sizes, or one is null",
                    .given = "the whole buffer is copied",
                    .next = "CopyBufferRegion"});
    return refuse(E_INVALIDARG, text.c_str());
  }
  CopyBufferRegion(target, 0, source, 0, to.bytes);
}

HRESULT Fence::SetEventOnCompletion(UINT64 value, HANDLE event) {
  return com::guarded([&] {
    const auto descriptor = static_cast<int>(reinterpret_cast<intptr_t>(event));
    return event == nullptr ? Timeline::get().wait(*state_, value)
                            : Timeline::get().set_event(state_, value, descriptor);
  });
}

HRESULT Fence::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  return guid == kFence ? give_view(this, size, data) : Child::GetPrivateData(guid, size, data);
}

void CommandQueue::ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) {
  const HRESULT result = com::guarded([&] {
    for (UINT i = 0; i < count && lists != nullptr && !removal()->removed(); ++i) {
      auto* recorder = private_view<Recorder*>(lists[i], kRecorder);
      Command work = recorder == nullptr ? nullptr : recorder->submission();
      if (!work) {
        com::report(com::words({.who = "ID3D12CommandQueue::ExecuteCommandLists",
                                .what = recorder == nullptr ? "not a command list of this device"
                                                            : "not a list that was closed",
                                .detail = "it was skipped",
                                .given = "list " + std::to_string(i),
                                .next = recorder == nullptr ? "a list that this device created"
                                                            : "a list whose Close returned S_OK"}),
                    true);
        continue;
      }
      Timeline::get().submit(
          *state_,
          {Submission::kWork,
           [work = std::move(work), gone = removal()] { run_or_remove(work, *gone); }, nullptr});
    }
    return S_OK;
  });
  if (FAILED(result)) {
    Timeline::get().remove(*removal(), result);
  }
}

HRESULT CommandQueue::submit(Submission::Kind kind, ID3D12Fence* fence, UINT64 value) {
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  return com::guarded([&] {
    const auto* ours = private_view<Fence*>(fence, kFence);
    if (ours == nullptr) {
      return E_INVALIDARG;
    }
    Timeline::get().submit(*state_, {kind, nullptr, ours->state(), value});
    return S_OK;
  });
}

HRESULT CommandQueue::Signal(ID3D12Fence* fence, UINT64 value) {
  return submit(Submission::kSignal, fence, value);
}

HRESULT CommandQueue::Wait(ID3D12Fence* fence, UINT64 value) {
  return submit(Submission::kWait, fence, value);
}

}  // namespace sheaf::d3d12
