// SPDX-License-Identifier: MIT
//
// A program in the manner of ONNX Runtime's provider: the fastest adapter of DXGI, one pool of
// buffers, one heap of descriptors that is handed out in pieces, buffers that are filled with a
// pattern, and lists that are recorded once and executed with new bindings.
#include <dxgi1_6.h>
#include <synchapi.h>

#include "compat/gather_rows.h"
#include "compat/heap_allocator.h"

using namespace compat;

namespace {

ComPtr<IDXGIAdapter1> fastest_adapter() {
  ComPtr<IDXGIFactory6> factory;
  COMPAT_CHECK(CreateDXGIFactory2(0, IID_PPV_ARGS(factory.GetAddressOf())));
  ComPtr<IDXGIAdapter1> adapter;
  for (UINT i = 0; factory->EnumAdapterByGpuPreference(
                       i, DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE,
                       IID_PPV_ARGS(adapter.ReleaseAndGetAddressOf())) != DXGI_ERROR_NOT_FOUND;
       ++i) {
    DXGI_ADAPTER_DESC1 desc{};
    COMPAT_CHECK(adapter->GetDesc1(&desc));
    const bool basic_driver = desc.VendorId == 0x1414 && desc.DeviceId == 0x8c;
    if ((desc.Flags & DXGI_ADAPTER_FLAG_SOFTWARE) == 0 && !basic_driver) {
      return adapter;
    }
  }
  throw std::runtime_error("no adapter");
}

// Descriptors of one heap, in pieces.
class DescriptorPool {
 public:
  DescriptorPool(ID3D12Device* device, UINT count) {
    const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, count,
                                          D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    COMPAT_CHECK(device->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap_)));
    step_ = device->GetDescriptorHandleIncrementSize(desc.Type);
  }
  struct Piece {
    D3D12_CPU_DESCRIPTOR_HANDLE cpu;
    D3D12_GPU_DESCRIPTOR_HANDLE gpu;
  };
  Piece take(UINT count) {
    const auto at = static_cast<INT>(next_);
    next_ += count;
    return {CD3DX12_CPU_DESCRIPTOR_HANDLE(heap_->GetCPUDescriptorHandleForHeapStart(), at, step_),
            CD3DX12_GPU_DESCRIPTOR_HANDLE(heap_->GetGPUDescriptorHandleForHeapStart(), at, step_)};
  }

 private:
  ComPtr<ID3D12DescriptorHeap> heap_;
  UINT step_ = 0, next_ = 0;
};

class Provider {
 public:
  Provider() : machine_(fastest_adapter().Get()), pool_(machine_.d3d12.Get(), 256) {}

  // A pattern of 1, 2, 4, 8 or 16 bytes, as often as it fits.
  void fill(ID3D12Resource* buffer, const Bytes& pattern) {
    D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
    view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
    view.Format = pattern.size() == 1   ? DXGI_FORMAT_R8_UINT
                  : pattern.size() == 2 ? DXGI_FORMAT_R16_UINT
                  : pattern.size() == 4 ? DXGI_FORMAT_R32_UINT
                  : pattern.size() == 8 ? DXGI_FORMAT_R32G32_UINT
                                        : DXGI_FORMAT_R32G32B32A32_UINT;
    view.Buffer.NumElements = static_cast<UINT>(buffer->GetDesc().Width / pattern.size());
    const auto piece = pool_.take(1);
    machine_.d3d12->CreateUnorderedAccessView(buffer, nullptr, &view, piece.cpu);
    UINT values[4]{};
    std::memcpy(values, pattern.data(), pattern.size());
    machine_.list->ClearUnorderedAccessViewUint(piece.gpu, piece.cpu, buffer, values, 0, nullptr);
  }

  Machine machine_;
  DescriptorPool pool_;
};

TEST(ProviderLike, Patterns) {
  Provider provider;
  for (const size_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    Bytes pattern;
    for (size_t i = 0; i < bytes; ++i) {
      pattern.push_back(static_cast<std::byte>(17 * i + 3));
    }
    const auto buffer = provider.machine_.buffer(160);
    provider.fill(buffer.Get(), pattern);
    const Bytes read = provider.machine_.download(buffer.Get());
    for (size_t i = 0; i < read.size(); ++i) {
      ASSERT_EQ(read[i], pattern[i % bytes]) << bytes;
    }
  }
}

TEST(ProviderLike, ListsAreExecutedAgain) {
  const long before = SheafLiveObjects();
  {
    Provider provider;
    Machine& machine = provider.machine_;
    const GatherRows rows{30, 6, 9};
    const auto op = rows.compile(machine.dml.Get(), DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
    const UINT count = op->GetBindingProperties().RequiredDescriptorCount;
    const auto piece = provider.pool_.take(count);
    const DML_BINDING_TABLE_DESC desc{op.Get(), piece.cpu, piece.gpu, count};
    ComPtr<IDMLBindingTable> bindings;
    COMPAT_CHECK(machine.dml->CreateBindingTable(&desc, IID_PPV_ARGS(&bindings)));

    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> reused;
    COMPAT_CHECK(machine.d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                       IID_PPV_ARGS(&allocator)));
    COMPAT_CHECK(machine.d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                  allocator.Get(), nullptr, IID_PPV_ARGS(&reused)));
    machine.recorder->RecordDispatch(reused.Get(), op.Get(), bindings.Get());
    COMPAT_CHECK(reused->Close());

    ComPtr<ID3D12Fence> fence;
    COMPAT_CHECK(machine.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
    const HANDLE event = CreateEvent(nullptr, FALSE, FALSE, nullptr);
    const auto table = machine.upload(bytes_of(rows.table()));
    machine.execute();
    HeapAllocator heap(machine.d3d12.Get(), 2 * UINT64{D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT});
    for (UINT run = 0; run < 4; ++run) {
      const auto picks = rows.some_picks(run);
      const auto indices = machine.upload(bytes_of(picks));
      machine.execute();
      heap.rewind();  // every second output is placed, over the one before
      const auto output =
          run % 2 == 0 ? machine.buffer(rows.output_bytes()) : heap.allocate(rows.output_bytes());
      bind(bindings.Get(),
           {{table.Get(), 0, rows.table_bytes()}, {indices.Get(), 0, rows.picks_bytes()}},
           {{output.Get(), 0, rows.output_bytes()}});
      ID3D12CommandList* lists[] = {reused.Get()};
      machine.queue->ExecuteCommandLists(1, lists);
      COMPAT_CHECK(machine.queue->Signal(fence.Get(), run + 1));
      COMPAT_CHECK(fence->SetEventOnCompletion(run + 1, event));
      EXPECT_EQ(WaitForSingleObject(event, INFINITE), WAIT_OBJECT_0);
      EXPECT_EQ(values_of<float>(machine.download(output.Get()), rows.expected(picks).size()),
                rows.expected(picks));
    }
    EXPECT_TRUE(CloseHandle(event));
    COMPAT_CHECK(machine.dml->GetDeviceRemovedReason());
  }
  EXPECT_EQ(SheafLiveObjects(), before);
}

}  // namespace
