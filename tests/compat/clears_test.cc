// SPDX-License-Identifier: MIT
//
// Views of buffers, and clears through them.
#include "compat/machine.h"

using namespace compat;

namespace {

class Clears : public testing::Test {
 protected:
  static constexpr UINT kDescriptors = 4;

  Clears() {
    const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, kDescriptors,
                                          D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    COMPAT_CHECK(machine_.d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap_)));
  }

  D3D12_CPU_DESCRIPTOR_HANDLE at(UINT index) {
    return CD3DX12_CPU_DESCRIPTOR_HANDLE(
        heap_->GetCPUDescriptorHandleForHeapStart(), static_cast<INT>(index),
        machine_.d3d12->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV));
  }
  static D3D12_UNORDERED_ACCESS_VIEW_DESC typed(DXGI_FORMAT format, UINT64 first, UINT count) {
    D3D12_UNORDERED_ACCESS_VIEW_DESC desc{};
    desc.Format = format;
    desc.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
    desc.Buffer.FirstElement = first;
    desc.Buffer.NumElements = count;
    return desc;
  }
  static D3D12_UNORDERED_ACCESS_VIEW_DESC raw(UINT64 first, UINT count) {
    auto desc = typed(DXGI_FORMAT_R32_TYPELESS, first, count);
    desc.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
    return desc;
  }
  void view(const D3D12_UNORDERED_ACCESS_VIEW_DESC& desc, ID3D12Resource* of, UINT index = 0) {
    machine_.d3d12->CreateUnorderedAccessView(of, nullptr, &desc, at(index));
  }
  void clear(ID3D12Resource* buffer, std::vector<UINT> values, UINT index = 0,
             std::vector<D3D12_RECT> rects = {}) {
    values.resize(4);
    machine_.list->ClearUnorderedAccessViewUint(heap_->GetGPUDescriptorHandleForHeapStart(),
                                                at(index), buffer, values.data(),
                                                static_cast<UINT>(rects.size()), rects.data());
  }
  void clear_floats(ID3D12Resource* buffer, std::vector<FLOAT> values) {
    values.resize(4);
    machine_.list->ClearUnorderedAccessViewFloat(heap_->GetGPUDescriptorHandleForHeapStart(), at(0),
                                                 buffer, values.data(), 0, nullptr);
  }
  void expect_refused(Messages& messages, const char* method, const std::string& reason) {
    EXPECT_EQ(machine_.list->Close(), E_INVALIDARG) << reason;
    EXPECT_EQ(messages.take(), std::string("ID3D12GraphicsCommandList::") + method +
                                   ": cannot be recorded\n  " + reason +
                                   "\n  the list cannot be executed\n"
                                   "  try: docs/directml.md lists what is there");
    COMPAT_CHECK(machine_.list->Reset(machine_.allocator.Get(), nullptr));
  }

  Machine machine_;
  ComPtr<ID3D12DescriptorHeap> heap_;
};

TEST_F(Clears, RefusedViews) {
  const auto buffer = machine_.buffer(64);
  Messages messages;
  const auto refused = [&](const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc, ID3D12Resource* counter,
                           const std::string& reason) {
    machine_.d3d12->CreateUnorderedAccessView(buffer.Get(), counter, desc, at(0));
    EXPECT_EQ(messages.take(),
              "ID3D12Device::CreateUnorderedAccessView: not a view\n  " + reason +
                  "\n  nothing was created\n"
                  "  try: a view of elements inside a buffer, in a descriptor heap "
                  "of this device");
    clear(buffer.Get(), std::vector<UINT>{1});  // finds an empty descriptor
    expect_refused(messages, "ClearUnorderedAccessViewUint",
                   "the descriptor is no view of the resource, or a pointer is null");
  };
  auto desc = raw(0, 16);
  refused(&desc, buffer.Get(), "there are no counters: pCounterResource is null");
  refused(nullptr, nullptr, "a view of a buffer has a desc of D3D12_UAV_DIMENSION_BUFFER");
  desc.ViewDimension = D3D12_UAV_DIMENSION_TEXTURE1D;
  refused(&desc, nullptr, "a view of a buffer has a desc of D3D12_UAV_DIMENSION_BUFFER");
  desc = raw(0, 16);
  desc.Buffer.CounterOffsetInBytes = 4096;
  refused(&desc, nullptr, "there are no counters: CounterOffsetInBytes is 0");
  desc = raw(0, 16);
  desc.Format = DXGI_FORMAT_R32_UINT;
  refused(&desc, nullptr, "a raw view has the format R32_TYPELESS and StructureByteStride 0");
  const std::string structured =
      "a structured view has a StructureByteStride of 4 to 2048, in steps of 4";
  for (const UINT stride : {0u, 2u, 2052u}) {
    desc = typed(DXGI_FORMAT_UNKNOWN, 0, 1);
    desc.Buffer.StructureByteStride = stride;
    refused(&desc, nullptr, structured);
  }
  const std::string no_format =
      "a typed view of a buffer has a format of 8, 16 or 32 bits in 1, 2 or 4 channels, and "
      "StructureByteStride 0";
  desc = typed(DXGI_FORMAT_R32G32B32_FLOAT, 0, 1);
  refused(&desc, nullptr, no_format);
  desc = typed(DXGI_FORMAT_R32_FLOAT, 0, 1);
  desc.Buffer.StructureByteStride = 4;
  refused(&desc, nullptr, no_format);
  const std::string outside = "the elements of the view end after the buffer";
  for (const UINT64 first : {UINT64{1}, UINT64{17}, UINT64{1} << 62, UINT64_MAX}) {
    desc = raw(first, 16);
    refused(&desc, nullptr, outside);
  }
}

TEST_F(Clears, HandlesThatLeadNowhere) {
  const auto buffer = machine_.buffer(64);
  Messages messages;
  const auto desc = raw(0, 16);
  const D3D12_CPU_DESCRIPTOR_HANDLE past = at(kDescriptors);
  const D3D12_CPU_DESCRIPTOR_HANDLE between{at(0).ptr + 1};
  for (const auto handle : {D3D12_CPU_DESCRIPTOR_HANDLE{0}, past, between}) {
    machine_.d3d12->CreateUnorderedAccessView(buffer.Get(), nullptr, &desc, handle);
    EXPECT_NE(messages.take().find("the handle leads to no descriptor of this device"),
              std::string::npos);
    machine_.d3d12->CopyDescriptorsSimple(1, handle, at(0), D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    EXPECT_NE(messages.take().find("a handle leads to no descriptors of this device"),
              std::string::npos);
    const UINT values[4]{};
    machine_.list->ClearUnorderedAccessViewUint({}, handle, buffer.Get(), values, 0, nullptr);
    expect_refused(messages, "ClearUnorderedAccessViewUint",
                   "the CPU handle leads to no descriptor of this device");
  }
  const auto start = at(0);
  heap_.Reset();  // its descriptors go with it
  const UINT values[4]{};
  machine_.list->ClearUnorderedAccessViewUint({}, start, buffer.Get(), values, 0, nullptr);
  expect_refused(messages, "ClearUnorderedAccessViewUint",
                 "the CPU handle leads to no descriptor of this device");
}

TEST_F(Clears, RefusedClears) {
  const auto buffer = machine_.buffer(64), other = machine_.buffer(64);
  Messages messages;
  view(raw(0, 16), buffer.Get());
  const std::string no_view = "the descriptor is no view of the resource, or a pointer is null";
  clear(other.Get(), std::vector<UINT>{1});
  expect_refused(messages, "ClearUnorderedAccessViewUint", no_view);
  clear(nullptr, std::vector<UINT>{1});
  expect_refused(messages, "ClearUnorderedAccessViewUint", no_view);
  machine_.list->ClearUnorderedAccessViewUint({}, at(0), buffer.Get(), nullptr, 0, nullptr);
  expect_refused(messages, "ClearUnorderedAccessViewUint", no_view);
  const std::string no_floats = "the view has no format of floats or normalized integers";
  clear_floats(buffer.Get(), {1});
  expect_refused(messages, "ClearUnorderedAccessViewFloat", no_floats);
  view(typed(DXGI_FORMAT_R32_UINT, 0, 16), buffer.Get());
  clear_floats(buffer.Get(), {1});
  expect_refused(messages, "ClearUnorderedAccessViewFloat", no_floats);
  machine_.list->ClearUnorderedAccessViewUint({}, at(0), buffer.Get(), std::vector<UINT>(4).data(),
                                              1, nullptr);
  expect_refused(messages, "ClearUnorderedAccessViewUint", "NumRects is not 0, but pRects is null");
  const D3D12_RECT wrong[] = {
      {-1, 0, 2, 1}, {3, 0, 2, 1}, {0, 0, 17, 1}, {0, 1, 2, 2}, {0, 0, 2, 2}};
  for (const D3D12_RECT& rect : wrong) {
    clear(buffer.Get(), {1}, 0, {rect});
    expect_refused(messages, "ClearUnorderedAccessViewUint",
                   "a rectangle of a buffer has one row of elements of the view");
  }
  const auto upload = machine_.buffer(64, D3D12_HEAP_TYPE_UPLOAD);
  view(raw(0, 16), upload.Get());
  clear(upload.Get(), std::vector<UINT>{1});
  expect_refused(messages, "ClearUnorderedAccessViewUint",
                 "the resource is an upload buffer, or smaller than the one the view was made for");
}

TEST_F(Clears, RawTypedAndStructured) {
  const auto buffer = machine_.buffer(32);
  view(raw(0, 8), buffer.Get());
  clear(buffer.Get(), {0x01020304, 9, 9, 9});
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 8), std::vector<UINT>(8, 0x01020304));
  view(typed(DXGI_FORMAT_R16_UINT, 2, 3), buffer.Get());
  clear(buffer.Get(), {0xABCD1234});
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 4),
            (std::vector<UINT>{0x01020304, 0x12341234, 0x01021234, 0x01020304}));
  view(typed(DXGI_FORMAT_R32G32B32A32_UINT, 1, 1), buffer.Get());
  clear(buffer.Get(), {1, 2, 3, 4});
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 8),
            (std::vector<UINT>{0x01020304, 0x12341234, 0x01021234, 0x01020304, 1, 2, 3, 4}));
  auto structured = typed(DXGI_FORMAT_UNKNOWN, 0, 2);
  structured.Buffer.StructureByteStride = 12;
  view(structured, buffer.Get());
  clear(buffer.Get(), {7, 8, 9, 10});
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 8),
            (std::vector<UINT>{7, 7, 7, 7, 7, 7, 3, 4}));
  view(typed(DXGI_FORMAT_R8_UINT, 0, 32), buffer.Get());
  clear(buffer.Get(), {0}, 0, {{0, 0, 4, 1}, {8, 0, 8, 1}, {28, 0, 32, 1}});
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 8),
            (std::vector<UINT>{0, 7, 7, 7, 7, 7, 3, 0}));
}

TEST_F(Clears, FloatsAreConverted) {
  const auto buffer = machine_.buffer(16);
  view(typed(DXGI_FORMAT_R32G32_FLOAT, 0, 2), buffer.Get());
  clear_floats(buffer.Get(), {1.5f, -2.f});
  EXPECT_EQ(values_of<float>(machine_.download(buffer.Get()), 4),
            (std::vector<float>{1.5f, -2, 1.5f, -2}));
  view(typed(DXGI_FORMAT_R16G16B16A16_FLOAT, 0, 1), buffer.Get());
  clear_floats(buffer.Get(), {1, -2, 65536, 0.5f});
  EXPECT_EQ(values_of<uint16_t>(machine_.download(buffer.Get()), 4),
            (std::vector<uint16_t>{0x3C00, 0xC000, 0x7C00, 0x3800}));
  view(typed(DXGI_FORMAT_R8G8B8A8_UNORM, 0, 1), buffer.Get());
  clear_floats(buffer.Get(), {0, 1, 2, 0.5f});
  EXPECT_EQ(values_of<uint8_t>(machine_.download(buffer.Get()), 4),
            (std::vector<uint8_t>{0, 255, 255, 128}));
  view(typed(DXGI_FORMAT_R16G16_SNORM, 0, 1), buffer.Get());
  clear_floats(buffer.Get(), {-1, -2});
  EXPECT_EQ(values_of<int16_t>(machine_.download(buffer.Get()), 2),
            (std::vector<int16_t>{-32767, -32767}));
}

TEST_F(Clears, ThroughCopiedDescriptors) {
  const auto buffer = machine_.buffer(16);
  view(raw(0, 2), buffer.Get(), 0);
  view(raw(2, 2), buffer.Get(), 1);
  const auto type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  machine_.d3d12->CopyDescriptorsSimple(1, at(2), at(1), type);
  clear(buffer.Get(), {5}, 2);
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 4), (std::vector<UINT>{0, 0, 5, 5}));
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {at(3), at(2)}, from[] = {at(0)};
  const UINT two = 2;
  machine_.d3d12->CopyDescriptors(2, to, nullptr, 1, from, &two, type);  // 0 to 3, 1 to 2
  clear(buffer.Get(), {6}, 3);
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 4), (std::vector<UINT>{6, 6, 5, 5}));

  Messages messages;
  const UINT three = 3;
  machine_.d3d12->CopyDescriptors(2, to, nullptr, 1, from, &three, type);
  EXPECT_NE(messages.take().find("more descriptors are copied than there is room for"),
            std::string::npos);
  machine_.d3d12->CopyDescriptors(1, nullptr, nullptr, 1, from, nullptr, type);
  EXPECT_NE(messages.take().find("an array of handles is null"), std::string::npos);
  machine_.d3d12->CreateUnorderedAccessView(nullptr, nullptr, nullptr, at(3));  // a null view
  EXPECT_EQ(messages.take(), "");
}

// What a list recorded stays: neither the view nor the descriptor is looked at later.
TEST_F(Clears, ListsCanBeReused) {
  const auto buffer = machine_.buffer(16);
  view(raw(0, 4), buffer.Get());
  clear(buffer.Get(), {3});
  view(raw(0, 1), buffer.Get());
  COMPAT_CHECK(machine_.list->Close());
  ID3D12CommandList* lists[] = {machine_.list.Get()};
  machine_.queue->ExecuteCommandLists(1, lists);
  machine_.queue->ExecuteCommandLists(1, lists);
  COMPAT_CHECK(machine_.list->Reset(machine_.allocator.Get(), nullptr));
  EXPECT_EQ(values_of<UINT>(machine_.download(buffer.Get()), 4), std::vector<UINT>(4, 3));
}

}  // namespace
