// SPDX-License-Identifier: MIT
//
// Direct3D 12 in small: what it answers, and how it refuses.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "../../compat/d3d12/bridge.h"
#include "compat/fluent.h"

using namespace compat;

namespace {

// Every test ends with no object left, and sees what was reported.
class Direct3D : public testing::Test {
 protected:
  void SetUp() override {
    SheafSetMessageCallback(
        [](const char* text, void* context) { *static_cast<std::string*>(context) = text; },
        &text_);
  }
  void TearDown() override {
    SheafSetMessageCallback(nullptr, nullptr);
    machine_.reset();
    EXPECT_EQ(SheafLiveObjects(), before_) << "objects leaked";
  }
  Machine& machine() { return *machine_; }
  ID3D12GraphicsCommandList* list() { return machine().list.Get(); }
  void submit(ID3D12CommandList* submitted) { machine().queue->ExecuteCommandLists(1, &submitted); }

  std::string text_;

 private:
  const long before_ = SheafLiveObjects();
  std::unique_ptr<Machine> machine_ = std::make_unique<Machine>();
};

TEST_F(Direct3D, FeatureLevels) {
  ID3D12Device* device = machine().d3d12.Get();
  const D3D_FEATURE_LEVEL asked[] = {D3D_FEATURE_LEVEL_12_0, D3D_FEATURE_LEVEL_11_0,
                                     static_cast<D3D_FEATURE_LEVEL>(0xF000)};
  D3D12_FEATURE_DATA_FEATURE_LEVELS levels{3, asked, {}};
  const auto ask = [&](void* data, UINT size) {
    return device->CheckFeatureSupport(D3D12_FEATURE_FEATURE_LEVELS, data, size);
  };
  EXPECT_EQ(ask(&levels, sizeof levels), S_OK);
  EXPECT_EQ(levels.MaxSupportedFeatureLevel, D3D_FEATURE_LEVEL_12_0);
  EXPECT_EQ(ask(nullptr, sizeof levels), E_INVALIDARG);
  EXPECT_EQ(ask(&levels, sizeof levels - 1), E_INVALIDARG);
  levels.pFeatureLevelsRequested = nullptr;
  EXPECT_EQ(ask(&levels, sizeof levels), E_INVALIDARG);
  levels = {1, &asked[2], {}};
  EXPECT_EQ(ask(&levels, sizeof levels), DXGI_ERROR_UNSUPPORTED);
  ComPtr<ID3D12Device> other;
  EXPECT_EQ(D3D12CreateDevice(nullptr, asked[2], IID_PPV_ARGS(&other)), DXGI_ERROR_UNSUPPORTED);
  EXPECT_EQ(D3D12CreateDevice(nullptr, asked[2], __uuidof(ID3D12Device), nullptr),
            DXGI_ERROR_UNSUPPORTED);
  EXPECT_EQ(D3D12CreateDevice(nullptr, asked[0], __uuidof(ID3D12Device), nullptr), S_FALSE);
}

TEST_F(Direct3D, OnlyBuffersAreCreated) {
  const CD3DX12_HEAP_PROPERTIES heap(D3D12_HEAP_TYPE_DEFAULT);
  const auto buffer = CD3DX12_RESOURCE_DESC::Buffer(16), empty = CD3DX12_RESOURCE_DESC::Buffer(0);
  D3D12_RESOURCE_DESC texture = buffer;
  texture.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  const auto create = [&](const D3D12_HEAP_PROPERTIES* in, const D3D12_RESOURCE_DESC* desc) {
    text_.clear();
    void* made = this;
    const HRESULT result = machine().d3d12->CreateCommittedResource(
        in, D3D12_HEAP_FLAG_NONE, desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
        __uuidof(ID3D12Resource), &made);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(text_, std::string("ID3D12Device::CreateCommittedResource: not a buffer\n") +
                         (in == nullptr ? "  pHeapProperties is null\n"
                                        : "  only buffers of at least 1 byte can be created\n") +
                         "  nothing was created\n"
                         "  try: D3D12_RESOURCE_DIMENSION_BUFFER with Width in bytes");
    return result;
  };
  EXPECT_EQ(create(nullptr, &buffer), E_INVALIDARG);
  EXPECT_EQ(create(&heap, nullptr), E_INVALIDARG);
  EXPECT_EQ(create(&heap, &empty), E_INVALIDARG);
  EXPECT_EQ(create(&heap, &texture), E_INVALIDARG);
  EXPECT_EQ(machine().d3d12->CreateCommittedResource(nullptr, D3D12_HEAP_FLAG_NONE, &buffer,
                                                     D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                     __uuidof(ID3D12Resource), nullptr),
            E_INVALIDARG);
  EXPECT_EQ(machine().d3d12->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &buffer,
                                                     D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                     __uuidof(ID3D12Resource), nullptr),
            S_FALSE);
}

// Where default heaps lie is decided once per process.
TEST(Direct3DDeathTest, ADeviceThatIsNotThere) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto try_it = [] {
    setenv("SHEAF_D3D12_DEVICE", "none", 1);
    Machine machine;
    std::exit(machine.upload(bytes_of<float>({1})) != nullptr ? 0 : 1);
  };
  EXPECT_EXIT(try_it(), testing::ExitedWithCode(0),
              "D3D12CreateDevice: no such device\n  SHEAF_D3D12_DEVICE = none\n");
}

TEST(Direct3DDeathTest, TheHostByName) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto try_it = [] {
    setenv("SHEAF_D3D12_DEVICE", "host", 1);
    Machine machine;
    std::exit(machine.upload(bytes_of<float>({1})) != nullptr ? 0 : 1);
  };
  EXPECT_EXIT(try_it(), testing::ExitedWithCode(0), "^$");
}

TEST_F(Direct3D, NamesOfFences) {
  ComPtr<ID3D12Fence> fence;
  COMPAT_CHECK(machine().d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  EXPECT_EQ(fence->SetName(L"gate"), S_OK);
  UINT size = 0;
  EXPECT_EQ(fence->GetPrivateData(WKPDID_D3DDebugObjectNameW, &size, nullptr), S_OK);
  EXPECT_EQ(size, 4 * sizeof(WCHAR));
}

TEST_F(Direct3D, NoMemory) {
  const CD3DX12_HEAP_PROPERTIES heap(D3D12_HEAP_TYPE_UPLOAD);
  const auto desc = CD3DX12_RESOURCE_DESC::Buffer(UINT64{1} << 62);
  ComPtr<ID3D12Resource> made;
  EXPECT_EQ(machine().d3d12->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                     D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                     IID_PPV_ARGS(&made)),
            E_OUTOFMEMORY);
}

TEST_F(Direct3D, NullDescriptors) {
  ID3D12Device* device = machine().d3d12.Get();
  void* made = this;
  EXPECT_EQ(device->CreateCommandQueue(nullptr, __uuidof(ID3D12CommandQueue), &made), E_INVALIDARG);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(device->CreateCommandQueue(nullptr, __uuidof(ID3D12CommandQueue), nullptr),
            E_INVALIDARG);
  EXPECT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, nullptr, nullptr,
                                      __uuidof(ID3D12CommandList), &made),
            E_INVALIDARG);
  EXPECT_EQ(device->CreateDescriptorHeap(nullptr, __uuidof(ID3D12DescriptorHeap), &made),
            E_INVALIDARG);
  EXPECT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), nullptr), S_FALSE);
}

TEST_F(Direct3D, WhatAHeapIs) {
  auto& m = machine();
  EXPECT_EQ(m.d3d12->GetNodeCount(), 1u);
  const auto pages = [&](D3D12_HEAP_TYPE type) {
    return m.d3d12->GetCustomHeapProperties(0, type).CPUPageProperty;
  };
  EXPECT_EQ(pages(D3D12_HEAP_TYPE_DEFAULT), D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
  EXPECT_EQ(pages(D3D12_HEAP_TYPE_UPLOAD), D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE);
  EXPECT_EQ(pages(D3D12_HEAP_TYPE_READBACK), D3D12_CPU_PAGE_PROPERTY_WRITE_BACK);
  const auto buffer = m.buffer(16, D3D12_HEAP_TYPE_READBACK);
  D3D12_HEAP_PROPERTIES properties{};
  D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE;
  EXPECT_EQ(buffer->GetHeapProperties(&properties, &flags), S_OK);
  EXPECT_EQ(properties.Type, D3D12_HEAP_TYPE_READBACK);
  EXPECT_EQ(buffer->GetHeapProperties(nullptr, nullptr), S_OK);
  void* data = nullptr;
  COMPAT_CHECK(buffer->Map(0, nullptr, &data));
  EXPECT_EQ(buffer->GetGPUVirtualAddress(), reinterpret_cast<uintptr_t>(data));
  EXPECT_NE(m.buffer(16)->GetGPUVirtualAddress(), 0u);
}

TEST_F(Direct3D, MapSaysWhy) {
  void* data = nullptr;
  EXPECT_EQ(machine().buffer(16)->Map(2, nullptr, &data), E_INVALIDARG);
  EXPECT_EQ(text_,
            "ID3D12Resource::Map: cannot be mapped\n"
            "  the buffer lies in a default heap, the subresource is not 0, or the range ends "
            "outside the buffer\n"
            "  heap type 1   subresource 2\n"
            "  try: copy it to a buffer of D3D12_HEAP_TYPE_READBACK");
}

// Lists.

TEST_F(Direct3D, ListsAreClosedOnceAndResetWithAnAllocator) {
  EXPECT_EQ(list()->Reset(machine().allocator.Get(), nullptr), E_FAIL) << "it is open";
  EXPECT_EQ(list()->Close(), S_OK);
  EXPECT_EQ(list()->Close(), E_FAIL);
  EXPECT_EQ(list()->Reset(nullptr, nullptr), E_INVALIDARG);
  EXPECT_EQ(list()->Reset(machine().allocator.Get(), nullptr), S_OK);
  EXPECT_EQ(list()->GetType(), D3D12_COMMAND_LIST_TYPE_DIRECT);
}

constexpr const char* kNotClosed =
    "ID3D12CommandQueue::ExecuteCommandLists: not a list that was closed\n"
    "  it was skipped\n"
    "  list 0\n"
    "  try: a list whose Close returned S_OK";

TEST_F(Direct3D, NothingIsRecordedAfterClose) {
  auto& m = machine();
  const auto from = m.buffer(4, D3D12_HEAP_TYPE_UPLOAD), to = m.buffer(4, D3D12_HEAP_TYPE_READBACK);
  void* data[2] = {};
  COMPAT_CHECK(from->Map(0, nullptr, &data[0]));
  COMPAT_CHECK(to->Map(0, nullptr, &data[1]));
  *static_cast<int*>(data[0]) = 5;
  COMPAT_CHECK(list()->Close());
  list()->CopyResource(to.Get(), from.Get());
  EXPECT_EQ(text_, "ID3D12GraphicsCommandList: recorded after Close");
  submit(list());
  EXPECT_EQ(text_, kNotClosed);
  EXPECT_EQ(*static_cast<int*>(data[1]), 0);
  COMPAT_CHECK(list()->Reset(m.allocator.Get(), nullptr));
  list()->CopyResource(to.Get(), from.Get());
  submit(list());
  EXPECT_EQ(text_, kNotClosed) << "it is open";
  EXPECT_EQ(*static_cast<int*>(data[1]), 0);
  COMPAT_CHECK(list()->Close());
  submit(list());
  EXPECT_EQ(*static_cast<int*>(data[1]), 5);
}

TEST_F(Direct3D, OnlyItsOwnListsAreExecuted) {
  submit(nullptr);
  EXPECT_EQ(text_,
            "ID3D12CommandQueue::ExecuteCommandLists: not a command list of this device\n"
            "  it was skipped\n"
            "  list 0\n"
            "  try: a list that this device created");
  text_.clear();
  machine().queue->ExecuteCommandLists(3, nullptr);
  EXPECT_EQ(text_, "");
}

TEST_F(Direct3D, CopiesSayWhy) {
  auto& m = machine();
  const auto upload = m.buffer(16, D3D12_HEAP_TYPE_UPLOAD), buffer = m.buffer(16);
  list()->CopyBufferRegion(upload.Get(), 0, buffer.Get(), 0, 16);
  EXPECT_EQ(text_,
            "ID3D12GraphicsCommandList::CopyBufferRegion: outside a buffer\n"
            "  the range does not lie in both buffers, or the target is an upload buffer\n"
            "  offsets and NumBytes are in bytes\n"
            "  try: ranges inside the two buffers");
  EXPECT_EQ(list()->Close(), E_INVALIDARG);
  COMPAT_CHECK(list()->Reset(m.allocator.Get(), nullptr));
  list()->CopyResource(nullptr, nullptr);
  EXPECT_EQ(text_,
            "ID3D12GraphicsCommandList::CopyResource: buffers differ\n"
            "  the two buffers have different sizes, or one is null\n"
            "  the whole buffer is copied\n"
            "  try: CopyBufferRegion");
  EXPECT_EQ(list()->Close(), E_INVALIDARG);
}

// No exception leaves a call, even one of the program's own callback.
TEST_F(Direct3D, NoMemoryForWords) {
  SheafSetMessageCallback([](const char*, void*) { throw std::bad_alloc(); }, nullptr);
  list()->CopyBufferRegion(nullptr, 0, nullptr, 0, 1);
  EXPECT_EQ(list()->Close(), E_OUTOFMEMORY);
  submit(nullptr);
  EXPECT_EQ(machine().d3d12->GetDeviceRemovedReason(), E_OUTOFMEMORY);
}

// A command that fails: the device is gone, and nothing after it runs.
TEST_F(Direct3D, CommandsThatFail) {
  struct Case {
    void (*command)();
    HRESULT reason;
    const char* text;
  };
  const Case cases[] = {
      {[] { throw std::runtime_error("a broken GPU"); }, DXGI_ERROR_DRIVER_INTERNAL_ERROR,
       "a broken GPU"},
      {[] { throw std::bad_alloc(); }, E_OUTOFMEMORY, ""},
      {[] { throw 7; }, E_FAIL, ""},
  };
  for (const Case& c : cases) {
    text_.clear();
    Machine broken;
    auto* recorder = sheaf::d3d12::private_view<sheaf::d3d12::Recorder*>(broken.list.Get(),
                                                                         sheaf::d3d12::kRecorder);
    bool reached = false;
    recorder->record(c.command);
    recorder->record([&] { reached = true; });
    COMPAT_CHECK(broken.list->Close());
    ID3D12CommandList* lists[] = {broken.list.Get()};
    broken.queue->ExecuteCommandLists(1, lists);
    EXPECT_FALSE(reached);
    EXPECT_EQ(broken.d3d12->GetDeviceRemovedReason(), c.reason);
    EXPECT_EQ(broken.dml->GetDeviceRemovedReason(), c.reason);
    EXPECT_EQ(text_, c.text);
  }
}

TEST_F(Direct3D, ViewsOfOthersAreEmpty) {
  UINT size = 3;
  void* view = nullptr;
  EXPECT_EQ(list()->GetPrivateData(sheaf::d3d12::kRecorder, nullptr, &view), E_INVALIDARG);
  EXPECT_EQ(list()->GetPrivateData(sheaf::d3d12::kRecorder, &size, &view), DXGI_ERROR_MORE_DATA);
  EXPECT_EQ(size, sizeof view);
  EXPECT_EQ(list()->GetPrivateData(sheaf::d3d12::kRecorder, &size, nullptr), S_OK);
  EXPECT_EQ(list()->GetPrivateData(sheaf::d3d12::kBufferMemory, &size, &view),
            DXGI_ERROR_NOT_FOUND);
  EXPECT_EQ(view, nullptr);
}

TEST_F(Direct3D, PrivateDataIsChecked) {
  const GUID guid{9, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
  ID3D12CommandQueue* object = machine().queue.Get();
  EXPECT_EQ(object->SetPrivateData(guid, 4, nullptr), E_INVALIDARG);
  EXPECT_EQ(object->GetPrivateData(guid, nullptr, nullptr), E_INVALIDARG);
  ASSERT_EQ(object->SetPrivateDataInterface(guid, machine().allocator.Get()), S_OK);
  IUnknown* kept = nullptr;
  UINT size = sizeof kept;
  ASSERT_EQ(object->GetPrivateData(guid, &size, &kept), S_OK);
  EXPECT_EQ(kept->Release(), 2u) << "one of the machine, one of the queue";
  ASSERT_EQ(object->SetPrivateDataInterface(guid, nullptr), S_OK);
  EXPECT_EQ(object->GetPrivateData(guid, &size, nullptr), DXGI_ERROR_NOT_FOUND);
}

// An event that is none is reported by the signal that should set it.
TEST_F(Direct3D, EventsThatAreNone) {
  ComPtr<ID3D12Fence> fence;
  COMPAT_CHECK(machine().d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  const int event = eventfd(0, EFD_NONBLOCK);
  close(event);
  EXPECT_EQ(fence->SetEventOnCompletion(1, reinterpret_cast<HANDLE>(intptr_t{event})), S_OK);
  EXPECT_EQ(fence->Signal(1), E_HANDLE);
  EXPECT_EQ(fence->Signal(2), S_OK);
}

}  // namespace
