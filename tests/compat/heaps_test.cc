// SPDX-License-Identifier: MIT
//
// Heaps, and the buffers that are placed in them: what overlaps is one memory.
#include "compat/machine.h"

using namespace compat;

namespace {

constexpr UINT64 kTile = 65536;

ComPtr<ID3D12Heap> make_heap(Machine& machine, UINT64 bytes,
                             D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT) {
  const D3D12_HEAP_DESC desc{bytes, CD3DX12_HEAP_PROPERTIES(type), 0,
                             D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS};
  ComPtr<ID3D12Heap> heap;
  COMPAT_CHECK(machine.d3d12->CreateHeap(&desc, IID_PPV_ARGS(&heap)));
  return heap;
}

ComPtr<ID3D12Resource> place(Machine& machine, ID3D12Heap* heap, UINT64 offset, UINT64 bytes) {
  const auto desc =
      CD3DX12_RESOURCE_DESC::Buffer(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  ComPtr<ID3D12Resource> made;
  COMPAT_CHECK(machine.d3d12->CreatePlacedResource(heap, offset, &desc, D3D12_RESOURCE_STATE_COMMON,
                                                   nullptr, IID_PPV_ARGS(&made)));
  return made;
}

TEST(Heaps, RefusedHeaps) {
  Machine machine;
  Messages messages;
  const auto refused = [&](const D3D12_HEAP_DESC* desc, const std::string& reason) {
    void* heap = &machine;
    EXPECT_EQ(machine.d3d12->CreateHeap(desc, __uuidof(ID3D12Heap), &heap), E_INVALIDARG);
    EXPECT_EQ(heap, nullptr);
    EXPECT_EQ(messages.take(),
              "ID3D12Device::CreateHeap: not a heap\n  " + reason +
                  "\n  nothing was created\n"
                  "  try: D3D12_HEAP_TYPE_DEFAULT, UPLOAD or READBACK with SizeInBytes");
  };
  const CD3DX12_HEAP_PROPERTIES usual(D3D12_HEAP_TYPE_DEFAULT);
  D3D12_HEAP_DESC desc{kTile, usual, 0, D3D12_HEAP_FLAG_NONE};
  refused(nullptr, "pDesc is null, or SizeInBytes is 0");
  desc.SizeInBytes = 0;
  refused(&desc, "pDesc is null, or SizeInBytes is 0");
  desc = {kTile, usual, 4096, D3D12_HEAP_FLAG_NONE};
  refused(&desc, "the Alignment of a heap is 0, 65536 or 4194304");
  desc = {kTile, usual, 0, D3D12_HEAP_FLAG_SHARED};
  refused(&desc, "heaps are not shared, displayed or protected");
  desc = {kTile, usual, 0, D3D12_HEAP_FLAG_NONE};
  desc.Properties.Type = static_cast<D3D12_HEAP_TYPE>(0);
  refused(&desc, "there is no heap of this Type");
  desc.Properties = usual;
  desc.Properties.CreationNodeMask = 2;
  refused(&desc, "there is one node: the masks are 0 or 1");
  const std::string custom =
      "CPUPageProperty and MemoryPoolPreference are for D3D12_HEAP_TYPE_CUSTOM, which needs both; "
      "for other types they are 0";
  desc.Properties = usual;
  desc.Properties.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
  refused(&desc, custom);
  desc.Properties.Type = D3D12_HEAP_TYPE_CUSTOM;
  refused(&desc, custom);
  desc = {UINT64_MAX, usual, 0, D3D12_HEAP_FLAG_NONE};
  void* heap = &machine;
  EXPECT_TRUE(FAILED(machine.d3d12->CreateHeap(&desc, __uuidof(ID3D12Heap), &heap)));
  EXPECT_EQ(heap, nullptr);
}

TEST(Heaps, RefusedPlacements) {
  Machine machine, other;
  const auto heap = make_heap(machine, 2 * kTile);
  Messages messages;
  const auto refused = [&](ID3D12Heap* in, UINT64 offset, const D3D12_RESOURCE_DESC* desc,
                           const std::string& what, const std::string& reason) {
    void* made = &machine;
    EXPECT_EQ(machine.d3d12->CreatePlacedResource(in, offset, desc, D3D12_RESOURCE_STATE_COMMON,
                                                  nullptr, __uuidof(ID3D12Resource), &made),
              E_INVALIDARG);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(messages.take(),
              "ID3D12Device::CreatePlacedResource: " + what + "\n  " + reason +
                  "\n  nothing was created\n  try: " +
                  (what == "not a heap" ? "a heap of CreateHeap"
                                        : "a buffer inside the heap, at a multiple of 65536"));
  };
  auto desc = CD3DX12_RESOURCE_DESC::Buffer(16);
  refused(nullptr, 0, &desc, "not a heap", "the heap is null, or of another device");
  const auto foreign = make_heap(other, kTile);
  refused(foreign.Get(), 0, &desc, "not a heap", "the heap is null, or of another device");
  refused(heap.Get(), 0, nullptr, "not a buffer", "only buffers of at least 1 byte can be created");
  refused(heap.Get(), 256, &desc, "not a buffer", "HeapOffset is no multiple of 65536");
  refused(heap.Get(), 2 * kTile, &desc, "not a buffer", "the buffer ends after the heap");
  refused(heap.Get(), UINT64_MAX - 65535, &desc, "not a buffer", "the buffer ends after the heap");
  desc.Width = 2 * kTile + 1;
  refused(heap.Get(), 0, &desc, "not a buffer", "the buffer ends after the heap");
  desc = CD3DX12_RESOURCE_DESC::Buffer(16, D3D12_RESOURCE_FLAG_NONE, 4096);
  refused(heap.Get(), 0, &desc, "not a buffer", "the Alignment of a buffer is 0 or 65536");

  const D3D12_HEAP_DESC textures{kTile, CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT), 0,
                                 D3D12_HEAP_FLAG_ALLOW_ONLY_NON_RT_DS_TEXTURES};
  ComPtr<ID3D12Heap> no_buffers;
  COMPAT_CHECK(machine.d3d12->CreateHeap(&textures, IID_PPV_ARGS(&no_buffers)));
  desc = CD3DX12_RESOURCE_DESC::Buffer(16);
  refused(no_buffers.Get(), 0, &desc, "not a buffer",
          "the heap was made with D3D12_HEAP_FLAG_DENY_BUFFERS");
}

TEST(Heaps, ReservedAsAnnounced) {
  Machine machine;
  Messages messages;
  D3D12_FEATURE_DATA_D3D12_OPTIONS options{};
  COMPAT_CHECK(
      machine.d3d12->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof options));
  EXPECT_EQ(options.TiledResourcesTier, D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED);
  const auto desc = CD3DX12_RESOURCE_DESC::Buffer(kTile);
  void* made = &machine;
  EXPECT_EQ(machine.d3d12->CreateReservedResource(&desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                  __uuidof(ID3D12Resource), &made),
            DXGI_ERROR_UNSUPPORTED);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(messages.take(),
            "ID3D12Device::CreateReservedResource: no tiles\n"
            "  TiledResourcesTier is D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED\n"
            "  nothing was created\n"
            "  try: CreateHeap and CreatePlacedResource");
}

TEST(Heaps, BuffersShareTheirMemory) {
  Machine machine;
  const auto heap = make_heap(machine, 3 * kTile);
  EXPECT_EQ(heap->GetDesc().SizeInBytes, 3 * kTile);
  const auto all = place(machine, heap.Get(), 0, 3 * kTile);
  const auto middle = place(machine, heap.Get(), kTile, 16);
  const auto again = place(machine, heap.Get(), kTile, kTile);
  EXPECT_EQ(middle->GetGPUVirtualAddress(), all->GetGPUVirtualAddress() + kTile);
  D3D12_HEAP_PROPERTIES properties{};
  D3D12_HEAP_FLAGS flags{};
  COMPAT_CHECK(middle->GetHeapProperties(&properties, &flags));
  EXPECT_EQ(properties.Type, D3D12_HEAP_TYPE_DEFAULT);
  EXPECT_EQ(flags, D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS);
  void* mapped = nullptr;
  EXPECT_EQ(middle->Map(0, nullptr, &mapped), E_INVALIDARG);

  const auto source = machine.upload(bytes_of<float>({1, 2, 3, 4}));
  machine.list->CopyResource(middle.Get(), source.Get());
  const auto barrier = CD3DX12_RESOURCE_BARRIER::Aliasing(middle.Get(), again.Get());
  machine.list->ResourceBarrier(1, &barrier);
  const Bytes seen = machine.download(all.Get());
  EXPECT_EQ(values_of<float>(Bytes(seen.begin() + kTile, seen.end()), 4),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values_of<float>(machine.download(again.Get()), 5),
            (std::vector<float>{1, 2, 3, 4, 0}));
  // Within one memory, onto itself.
  machine.list->CopyBufferRegion(all.Get(), kTile + 4, middle.Get(), 0, 12);
  EXPECT_EQ(values_of<float>(machine.download(middle.Get()), 4), (std::vector<float>{1, 1, 2, 3}));
}

TEST(Heaps, OutliveTheirHandle) {
  Machine machine;
  auto heap = make_heap(machine, kTile);
  const auto buffer = place(machine, heap.Get(), 0, 16);
  heap.Reset();
  const auto source = machine.upload(bytes_of<float>({1, 2, 3, 4}));
  machine.list->CopyResource(buffer.Get(), source.Get());
  EXPECT_EQ(values_of<float>(machine.download(buffer.Get()), 4), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Heaps, UploadReadbackAndCustom) {
  Machine machine;
  const auto up = make_heap(machine, 2 * kTile, D3D12_HEAP_TYPE_UPLOAD);
  const auto from = place(machine, up.Get(), kTile, 8);
  float* mapped = nullptr;
  COMPAT_CHECK(from->Map(0, nullptr, reinterpret_cast<void**>(&mapped)));
  mapped[0] = 3, mapped[1] = 4;
  D3D12_HEAP_DESC desc{kTile, machine.d3d12->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_READBACK),
                       0, D3D12_HEAP_FLAG_NONE};
  ComPtr<ID3D12Heap> custom;
  COMPAT_CHECK(machine.d3d12->CreateHeap(&desc, IID_PPV_ARGS(&custom)));
  const auto to = place(machine, custom.Get(), 0, 8);
  machine.list->CopyResource(to.Get(), from.Get());
  machine.execute();
  const float* read = nullptr;
  COMPAT_CHECK(to->Map(0, nullptr, const_cast<void**>(reinterpret_cast<const void**>(&read))));
  EXPECT_EQ(read[1], 4);
  desc.Properties = machine.d3d12->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_DEFAULT);
  COMPAT_CHECK(machine.d3d12->CreateHeap(&desc, IID_PPV_ARGS(&custom)));
  EXPECT_EQ(place(machine, custom.Get(), 0, 8)->Map(0, nullptr, nullptr), E_INVALIDARG);

  Messages messages;  // commands do not write to upload heaps
  machine.list->CopyResource(from.Get(), to.Get());
  EXPECT_EQ(machine.list->Close(), E_INVALIDARG);
}

TEST(Heaps, SizesOfResources) {
  Machine machine;
  const auto device = as<ID3D12Device8>(machine.d3d12);
  const D3D12_RESOURCE_DESC descs[] = {CD3DX12_RESOURCE_DESC::Buffer(1),
                                       CD3DX12_RESOURCE_DESC::Buffer(kTile + 1)};
  D3D12_RESOURCE_ALLOCATION_INFO1 each[2]{};
  const auto sum = device->GetResourceAllocationInfo1(0, 2, descs, each);
  EXPECT_EQ(sum.SizeInBytes, 3 * kTile);
  EXPECT_EQ(each[1].Offset, kTile);
  EXPECT_EQ(each[1].SizeInBytes, 2 * kTile);
  D3D12_RESOURCE_DESC1 newer{};
  newer.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  newer.Width = 10;
  EXPECT_EQ(device->GetResourceAllocationInfo2(0, 1, &newer, nullptr).SizeInBytes, kTile);
  EXPECT_EQ(device->GetResourceAllocationInfo2(0, 1, nullptr, nullptr).SizeInBytes, UINT64_MAX);
  UINT64 total = 0;
  device->GetCopyableFootprints1(&newer, 0, 1, 0, nullptr, nullptr, nullptr, &total);
  EXPECT_EQ(total, 10u);
  device->GetCopyableFootprints1(nullptr, 0, 1, 0, nullptr, nullptr, nullptr, &total);
  EXPECT_EQ(total, UINT64_MAX);
}

}  // namespace
