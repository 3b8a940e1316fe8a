// SPDX-License-Identifier: MIT
//
// What every DirectML program writes once: Direct3D's objects, buffers, and the way from a compiled
// operator to its output. Written against directml.h, as a client would.
#pragma once

#include <d3d12.h>
#include <d3dx12.h>
#include <directml.h>
#include <gtest/gtest.h>
#include <wrl/client.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "sheaf_directml.h"

extern "C" long SheafLiveObjects();

namespace compat {

using Microsoft::WRL::ComPtr;
using Bytes = std::vector<std::byte>;

inline void check(HRESULT result, const char* call) {
  if (FAILED(result)) {
    throw std::runtime_error(std::string(call) + ": " + SheafDmlLastErrorText());
  }
}
#define COMPAT_CHECK(call) ::compat::check((call), #call)

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  return Bytes(first, first + values.size() * sizeof(T));
}

template <class T>
std::vector<T> values_of(const Bytes& bytes, size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  return values;
}

using Ranges = std::vector<DML_BUFFER_BINDING>;

// Binds whole lists of ranges; a range without a buffer is DML_BINDING_TYPE_NONE.
inline void bind(IDMLBindingTable* table, const Ranges& inputs, const Ranges& outputs) {
  const auto descs = [](const Ranges& ranges) {
    std::vector<DML_BINDING_DESC> made;
    for (const DML_BUFFER_BINDING& range : ranges) {
      made.push_back({range.Buffer == nullptr ? DML_BINDING_TYPE_NONE : DML_BINDING_TYPE_BUFFER,
                      range.Buffer == nullptr ? nullptr : &range});
    }
    return made;
  };
  table->BindInputs(static_cast<UINT>(inputs.size()), descs(inputs).data());
  table->BindOutputs(static_cast<UINT>(outputs.size()), descs(outputs).data());
}

// Collects what is reported while it lives.
class Messages {
 public:
  Messages() {
    SheafSetMessageCallback(
        [](const char* text, void* context) {
          static_cast<std::vector<std::string>*>(context)->emplace_back(text);
        },
        &texts_);
  }
  ~Messages() { SheafSetMessageCallback(nullptr, nullptr); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  const std::vector<std::string>& texts() const { return texts_; }
  // The last one; none are left.
  std::string take() {
    const std::string last = texts_.empty() ? "" : texts_.back();
    texts_.clear();
    return last;
  }

 private:
  std::vector<std::string> texts_;
};

// Asks an object for another interface.
template <class To, class From>
ComPtr<To> as(const ComPtr<From>& from) {
  ComPtr<To> to;
  COMPAT_CHECK(from->QueryInterface(__uuidof(To), reinterpret_cast<void**>(to.GetAddressOf())));
  return to;
}

struct Machine {
  ComPtr<ID3D12Device> d3d12;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<IDMLDevice1> dml;
  ComPtr<IDMLCommandRecorder> recorder;

  explicit Machine(IUnknown* adapter = nullptr) {
    COMPAT_CHECK(D3D12CreateDevice(adapter, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)));
    const D3D12_COMMAND_QUEUE_DESC desc{};
    COMPAT_CHECK(d3d12->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)));
    COMPAT_CHECK(
        d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)));
    COMPAT_CHECK(d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(),
                                          nullptr, IID_PPV_ARGS(&list)));
    COMPAT_CHECK(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)));
    COMPAT_CHECK(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));
  }

  ComPtr<ID3D12Resource> buffer(UINT64 bytes, D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT) {
    const CD3DX12_HEAP_PROPERTIES heap(type);
    const CD3DX12_RESOURCE_DESC desc = CD3DX12_RESOURCE_DESC::Buffer(bytes);
    ComPtr<ID3D12Resource> made;
    COMPAT_CHECK(d3d12->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                IID_PPV_ARGS(&made)));
    return made;
  }

  ComPtr<ID3D12Resource> upload(const Bytes& bytes) {
    const auto staging = buffer(bytes.size(), D3D12_HEAP_TYPE_UPLOAD);
    auto made = buffer(bytes.size());
    const auto pitch = static_cast<LONG_PTR>(bytes.size());
    const D3D12_SUBRESOURCE_DATA data{bytes.data(), pitch, pitch};
    if (UpdateSubresources(list.Get(), made.Get(), staging.Get(), 0, 0, 1, &data) != bytes.size()) {
      throw std::runtime_error("UpdateSubresources");
    }
    return made;
  }

  Bytes download(ID3D12Resource* from) {
    const UINT64 size = from->GetDesc().Width;
    const auto readback = buffer(size, D3D12_HEAP_TYPE_READBACK);
    list->CopyResource(readback.Get(), from);
    execute();
    void* mapped = nullptr;
    COMPAT_CHECK(readback->Map(0, nullptr, &mapped));
    Bytes bytes(static_cast<size_t>(size));
    std::memcpy(bytes.data(), mapped, bytes.size());
    return bytes;
  }

  void execute() {
    COMPAT_CHECK(list->Close());
    ID3D12CommandList* lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);
    ComPtr<ID3D12Fence> fence;
    COMPAT_CHECK(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
    COMPAT_CHECK(queue->Signal(fence.Get(), 1));
    COMPAT_CHECK(fence->SetEventOnCompletion(1, nullptr));
    COMPAT_CHECK(allocator->Reset());
    COMPAT_CHECK(list->Reset(allocator.Get(), nullptr));
  }

  ComPtr<IDMLBindingTable> table(IDMLDispatchable* dispatchable) {
    D3D12_DESCRIPTOR_HEAP_DESC desc{};
    desc.NumDescriptors = dispatchable->GetBindingProperties().RequiredDescriptorCount;
    desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    COMPAT_CHECK(d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap_)));
    const DML_BINDING_TABLE_DESC table_desc{
        dispatchable, heap_->GetCPUDescriptorHandleForHeapStart(),
        heap_->GetGPUDescriptorHandleForHeapStart(), desc.NumDescriptors};
    ComPtr<IDMLBindingTable> made;
    COMPAT_CHECK(dml->CreateBindingTable(&table_desc, IID_PPV_ARGS(&made)));
    return made;
  }

  // Records a compiled operator that needs no temporary or persistent resource.
  void record(IDMLCompiledOperator* op, const Ranges& inputs, const Ranges& outputs) {
    const auto made = table(op);
    bind(made.Get(), inputs, outputs);
    recorder->RecordDispatch(list.Get(), op, made.Get());
  }

  // Runs a compiled operator without owned tensors; one buffer for each input and output.
  std::vector<Bytes> run(IDMLCompiledOperator* op, const std::vector<Bytes>& inputs,
                         const std::vector<UINT64>& output_bytes) {
    std::vector<ComPtr<ID3D12Resource>> buffers;
    for (const Bytes& input : inputs) {
      buffers.push_back(upload(input));
    }
    for (const UINT64 bytes : output_bytes) {
      buffers.push_back(buffer(bytes));
    }
    std::vector<DML_BUFFER_BINDING> ranges;
    std::vector<DML_BINDING_DESC> bindings;
    for (const auto& made : buffers) {
      ranges.push_back({made.Get(), 0, made->GetDesc().Width});
    }
    for (const DML_BUFFER_BINDING& range : ranges) {
      bindings.push_back({DML_BINDING_TYPE_BUFFER, &range});
    }
    const auto made = table(op);
    made->BindInputs(static_cast<UINT>(inputs.size()), bindings.data());
    made->BindOutputs(static_cast<UINT>(output_bytes.size()), bindings.data() + inputs.size());
    ComPtr<ID3D12Resource> temporary;
    const UINT64 temporary_bytes = op->GetBindingProperties().TemporaryResourceSize;
    if (temporary_bytes != 0) {
      temporary = buffer(temporary_bytes);
      const DML_BUFFER_BINDING range{temporary.Get(), 0, temporary_bytes};
      const DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &range};
      made->BindTemporaryResource(&binding);
    }
    recorder->RecordDispatch(list.Get(), op, made.Get());
    std::vector<Bytes> outputs;
    for (size_t i = inputs.size(); i < buffers.size(); ++i) {
      outputs.push_back(download(buffers[i].Get()));
    }
    COMPAT_CHECK(dml->GetDeviceRemovedReason());
    return outputs;
  }

 private:
  ComPtr<ID3D12DescriptorHeap> heap_;
};

}  // namespace compat
