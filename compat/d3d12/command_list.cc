// SPDX-License-Identifier: MIT
//
// What a list records: copies, clears and timestamps here, dispatches from DirectML's half.
#include <exception>
#include <stdexcept>
#include <string>

#include "objects.h"
#include "views.h"

namespace sheaf::d3d12 {
namespace {

bool inside(const BufferMemory& buffer, UINT64 offset, UINT64 bytes) {
  return buffer.data != nullptr && offset <= buffer.bytes && bytes <= buffer.bytes - offset;
}

// The query heap behind the interface. Throws std::invalid_argument if it cannot take the queries.
QueryHeap* checked_queries(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT first, UINT count) {
  auto* ours = private_view<QueryHeap*>(heap, kQueryHeap);
  if (ours == nullptr) {
    throw std::invalid_argument("the query heap is null, or of another Direct3D");
  }
  if (type != D3D12_QUERY_TYPE_TIMESTAMP) {
    throw std::invalid_argument("queries are of D3D12_QUERY_TYPE_TIMESTAMP");
  }
  if (first > ours->count() || count > ours->count() - first) {
    throw std::invalid_argument("the queries end after the heap");
  }
  return ours;
}

}  // namespace

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

template <class Body>
void CommandList::guarded(const char* who, Body body) noexcept {
  const HRESULT result = com::guarded([&] {
    try {
      body();
    } catch (const std::invalid_argument& reason) {
      const std::string text = com::words({.who = who,
                                           .what = "cannot be recorded",
                                           .detail = reason.what(),
                                           .given = "the list cannot be executed",
                                           .next = "docs/directml.md lists what is there"});
      refuse(E_INVALIDARG, text.c_str());
    }
    return S_OK;
  });
  if (FAILED(result)) {
    refused_ = result;  // no memory, neither for the command nor for words
  }
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
  guarded("ID3D12GraphicsCommandList::CopyBufferRegion",
          [&] { copy(target, target_offset, source, source_offset, bytes); });
}

void CommandList::copy(ID3D12Resource* target, UINT64 target_offset, ID3D12Resource* source,
                       UINT64 source_offset, UINT64 bytes) {
  const auto to = private_view<BufferMemory>(target, kBufferMemory);
  const auto from = private_view<BufferMemory>(source, kBufferMemory);
  if (!inside(to, target_offset, bytes) || !inside(from, source_offset, bytes) ||
      !to.written_by_commands) {
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

template <class Value>
void CommandList::clear(D3D12_CPU_DESCRIPTOR_HANDLE view, ID3D12Resource* resource,
                        const Value* values, UINT rects, const D3D12_RECT* rect) {
  const auto buffer = private_view<BufferMemory>(resource, kBufferMemory);
  Descriptor descriptor{};
  if (!device().descriptors().read(view.ptr, descriptor)) {
    throw std::invalid_argument("the CPU handle leads to no descriptor of this device");
  }
  if (buffer.data == nullptr || descriptor.buffer != buffer.data || values == nullptr) {
    throw std::invalid_argument("the descriptor is no view of the resource, or a pointer is null");
  }
  const UINT64 end = descriptor.first + descriptor.count;  // checked when the view was made
  if (!buffer.written_by_commands || end > buffer.bytes / descriptor.stride) {
    throw std::invalid_argument(
        "the resource is an upload buffer, or smaller than the one the view was made for");
  }
  if (rects > 0 && rect == nullptr) {
    throw std::invalid_argument("NumRects is not 0, but pRects is null");
  }
  struct Range {
    UINT64 first, count;
  };
  std::vector<Range> ranges;
  for (UINT i = 0; i < rects; ++i) {
    const D3D12_RECT& r = rect[i];
    if (r.left < 0 || r.left > r.right || static_cast<UINT>(r.right) > descriptor.count ||
        r.top != 0 || r.bottom != 1) {
      throw std::invalid_argument("a rectangle of a buffer has one row of elements of the view");
    }
    const auto left = static_cast<UINT64>(r.left), right = static_cast<UINT64>(r.right);
    ranges.push_back({descriptor.first + left, right - left});
  }
  if (rects == 0) {
    ranges.push_back({descriptor.first, descriptor.count});
  }
  record([keep = com::Ref(resource), buffer, element = element_of(descriptor, values),
          ranges = std::move(ranges)] {
    for (const Range& range : ranges) {
      fill_elements(buffer, element, range.first, range.count);
    }
  });
}

void CommandList::ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE,
                                               D3D12_CPU_DESCRIPTOR_HANDLE view,
                                               ID3D12Resource* resource, const UINT* values,
                                               UINT rects, const D3D12_RECT* rect) {
  guarded("ID3D12GraphicsCommandList::ClearUnorderedAccessViewUint",
          [&] { clear(view, resource, values, rects, rect); });
}

void CommandList::ClearUnorderedAccessViewFloat(D3D12_GPU_DESCRIPTOR_HANDLE,
                                                D3D12_CPU_DESCRIPTOR_HANDLE view,
                                                ID3D12Resource* resource, const FLOAT* values,
                                                UINT rects, const D3D12_RECT* rect) {
  guarded("ID3D12GraphicsCommandList::ClearUnorderedAccessViewFloat",
          [&] { clear(view, resource, values, rects, rect); });
}

void CommandList::EndQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT index) {
  guarded("ID3D12GraphicsCommandList::EndQuery", [&] {
    auto* queries = checked_queries(heap, type, index, 1);
    record([queries, keep = com::Ref(heap), index] { queries->write(index); });
  });
}

void CommandList::ResolveQueryData(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT first,
                                   UINT count, ID3D12Resource* target, UINT64 offset) {
  guarded("ID3D12GraphicsCommandList::ResolveQueryData", [&] {
    const auto* queries = checked_queries(heap, type, first, count);
    const auto to = private_view<BufferMemory>(target, kBufferMemory);
    if (offset % sizeof(UINT64) != 0 || !inside(to, offset, UINT64{count} * sizeof(UINT64)) ||
        !to.written_by_commands) {
      throw std::invalid_argument(
          "8 bytes per query do not fit the buffer at an offset that is a multiple of 8, or it is "
          "an upload buffer");
    }
    record([queries, to, first, count, offset, keep = com::Ref(heap), buffer = com::Ref(target)] {
      const std::vector<UINT64> times = queries->read(first, count);
      const UINT64 bytes = times.size() * sizeof(UINT64);
      if (to.on_device != nullptr) {
        to.upload(times.data(), bytes, offset);
      } else if (bytes > 0) {
        std::memcpy(to.data + offset, times.data(), static_cast<size_t>(bytes));
      }
    });
  });
}

}  // namespace sheaf::d3d12
