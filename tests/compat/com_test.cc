// SPDX-License-Identifier: MIT
//
// The rules of COM and of DirectML's objects: identity, counting, private data, devices, bindings.
#include "compat/fluent.h"

using namespace compat;

namespace {

// Every test ends with no object left.
class Com : public testing::Test {
 protected:
  void TearDown() override {
    machine_.reset();
    EXPECT_EQ(SheafLiveObjects(), before_) << "objects leaked";
  }
  Machine& machine() { return *machine_; }

  // A gather of rows: {3, 2} by {1, 2} gives {2, 2}.
  ComPtr<IDMLCompiledOperator> gather_rows(DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE) {
    TensorDesc descs[] = {{DML_TENSOR_DATA_TYPE_FLOAT32, {3, 2}},
                          {DML_TENSOR_DATA_TYPE_UINT32, {1, 2}},
                          {DML_TENSOR_DATA_TYPE_FLOAT32, {2, 2}}};
    descs[0].flags = flags;
    DML_BUFFER_TENSOR_DESC buffers[] = {descs[0].buffer(), descs[1].buffer(), descs[2].buffer()};
    const DML_TENSOR_DESC tensors[] = {{DML_TENSOR_TYPE_BUFFER, &buffers[0]},
                                       {DML_TENSOR_TYPE_BUFFER, &buffers[1]},
                                       {DML_TENSOR_TYPE_BUFFER, &buffers[2]}};
    const DML_GATHER_OPERATOR_DESC gather{&tensors[0], &tensors[1], &tensors[2], 0, 1};
    const DML_OPERATOR_DESC desc{DML_OPERATOR_GATHER, &gather};
    ComPtr<IDMLOperator> op;
    COMPAT_CHECK(machine().dml->CreateOperator(&desc, IID_PPV_ARGS(&op)));
    ComPtr<IDMLCompiledOperator> compiled;
    COMPAT_CHECK(
        machine().dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
    return compiled;
  }

 private:
  const long before_ = SheafLiveObjects();
  std::unique_ptr<Machine> machine_ = std::make_unique<Machine>();
};

TEST_F(Com, EveryInterfaceOfADeviceIsTheSameObject) {
  ComPtr<IUnknown> unknown;
  ASSERT_EQ(machine().dml.As(&unknown), S_OK);
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(unknown.As(&device), S_OK);
  ComPtr<IUnknown> again;
  ASSERT_EQ(device.As(&again), S_OK);
  EXPECT_EQ(unknown.Get(), again.Get());
  ComPtr<IDMLOperator> op;
  EXPECT_EQ(device.As(&op), E_NOINTERFACE);
  EXPECT_EQ(op.Get(), nullptr);
  EXPECT_EQ(device->QueryInterface(__uuidof(IDMLDevice), nullptr), E_POINTER);
}

TEST_F(Com, CountsReferences) {
  const auto compiled = gather_rows();
  EXPECT_EQ(compiled->AddRef(), 2u);
  EXPECT_EQ(compiled->Release(), 1u);
  ComPtr<IDMLDispatchable> dispatchable;
  ComPtr<IDMLPageable> pageable;
  ComPtr<IDMLDeviceChild> child;
  EXPECT_EQ(compiled.As(&dispatchable), S_OK);
  EXPECT_EQ(compiled.As(&pageable), S_OK);
  EXPECT_EQ(compiled.As(&child), S_OK);
  EXPECT_EQ(compiled->AddRef(), 5u);
  compiled->Release();
}

TEST_F(Com, ChildrenKnowTheirDevice) {
  const auto compiled = gather_rows();
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(compiled->GetDevice(IID_PPV_ARGS(&device)), S_OK);
  EXPECT_EQ(device.Get(), machine().dml.Get());
  ComPtr<ID3D12Device> parent;
  ASSERT_EQ(device->GetParentDevice(IID_PPV_ARGS(&parent)), S_OK);
  EXPECT_EQ(parent.Get(), machine().d3d12.Get());
  ComPtr<ID3D12Device> of_queue;
  ASSERT_EQ(machine().queue->GetDevice(IID_PPV_ARGS(&of_queue)), S_OK);
  EXPECT_EQ(of_queue.Get(), parent.Get());
}

TEST_F(Com, KeepsPrivateData) {
  const GUID guid{1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
  IDMLDevice1* device = machine().dml.Get();
  UINT size = 0;
  EXPECT_EQ(device->GetPrivateData(guid, &size, nullptr), DXGI_ERROR_NOT_FOUND);
  const int value = 42;
  ASSERT_EQ(device->SetPrivateData(guid, sizeof value, &value), S_OK);
  int read = 0;
  size = 2;
  EXPECT_EQ(device->GetPrivateData(guid, &size, &read), DXGI_ERROR_MORE_DATA);
  EXPECT_EQ(size, sizeof value);
  EXPECT_EQ(device->GetPrivateData(guid, &size, &read), S_OK);
  EXPECT_EQ(read, 42);
  // An object is kept alive until it is replaced.
  const auto compiled = gather_rows();
  ASSERT_EQ(device->SetPrivateDataInterface(guid, compiled.Get()), S_OK);
  EXPECT_EQ(compiled->AddRef(), 3u);
  compiled->Release();
  ASSERT_EQ(device->SetPrivateData(guid, 0, nullptr), S_OK);
  EXPECT_EQ(compiled->AddRef(), 2u);
  compiled->Release();
}

TEST_F(Com, NamesArePrivateData) {
  const std::wstring name = L"a name";
  const auto named = [&](auto* object) {
    EXPECT_EQ(object->SetName(name.c_str()), S_OK);
    UINT size = 0;
    EXPECT_EQ(object->GetPrivateData(WKPDID_D3DDebugObjectNameW, &size, nullptr), S_OK);
    std::wstring read(size / sizeof(WCHAR), L'?');
    EXPECT_EQ(object->GetPrivateData(WKPDID_D3DDebugObjectNameW, &size, read.data()), S_OK);
    EXPECT_EQ(read, name);
    EXPECT_EQ(object->SetName(nullptr), S_OK);
    EXPECT_EQ(object->GetPrivateData(WKPDID_D3DDebugObjectNameW, &size, nullptr),
              DXGI_ERROR_NOT_FOUND);
  };
  named(machine().dml.Get());
  named(gather_rows().Get());
  named(machine().queue.Get());
  named(machine().buffer(16).Get());
}

TEST_F(Com, PointersConvertCopyAndCompare) {
  ComPtr<IDMLDevice> base = machine().dml;  // of a derived interface
  EXPECT_TRUE(base == machine().dml && base != nullptr && nullptr != base && base);
  base = nullptr;
  EXPECT_TRUE(base == nullptr && !base);
  base = machine().dml;
  IDMLDevice1* derived = nullptr;
  ASSERT_EQ(base.CopyTo(&derived), S_OK);
  EXPECT_EQ(derived, machine().dml.Get());
  IDMLDevice* same = nullptr;
  ASSERT_EQ(base.CopyTo(&same), S_OK);
  ComPtr<IDMLDevice> attached;
  attached.Attach(same);
  attached.Swap(ComPtr<IDMLDevice>());
  EXPECT_EQ(attached, nullptr);
  attached = ComPtr<IDMLDevice>(derived);
  EXPECT_EQ(attached.Detach()->Release(), derived->AddRef() - 1);
  derived->Release();
  EXPECT_NE(derived->Release(), 0u) << "the machine has it still";
}

TEST_F(Com, FeatureQueriesAnswerAsDocumented) {
  IDMLDevice1* device = machine().dml.Get();
  DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support{};
  const auto ask = [&](DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query, UINT size) {
    return device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, size, &query,
                                       sizeof support, &support);
  };
  ASSERT_EQ(ask({DML_TENSOR_DATA_TYPE_FLOAT16}, sizeof(DML_TENSOR_DATA_TYPE)), S_OK);
  EXPECT_TRUE(support.IsSupported);
  ASSERT_EQ(ask({DML_TENSOR_DATA_TYPE_UNKNOWN}, sizeof(DML_TENSOR_DATA_TYPE)), S_OK);
  EXPECT_FALSE(support.IsSupported);
  EXPECT_EQ(ask({DML_TENSOR_DATA_TYPE_FLOAT16}, 3), E_INVALIDARG);
  EXPECT_EQ(device->CheckFeatureSupport(static_cast<DML_FEATURE>(77), 0, nullptr, sizeof support,
                                        &support),
            DXGI_ERROR_UNSUPPORTED);
}

TEST_F(Com, DebugDevicesCanBeMuted) {
  ComPtr<IDMLDebugDevice> debug;
  EXPECT_EQ(machine().dml.As(&debug), E_NOINTERFACE);
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(
      DMLCreateDevice(machine().d3d12.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&device)),
      S_OK);
  ASSERT_EQ(device.As(&debug), S_OK);
  debug->SetMuteDebugOutput(TRUE);
  ComPtr<IDMLDevice> back;
  ASSERT_EQ(debug.As(&back), S_OK);
  EXPECT_EQ(back.Get(), device.Get());
}

TEST_F(Com, ReportsWhyThroughTheCallback) {
  std::string text;
  SheafSetMessageCallback(
      [](const char* message, void* context) { *static_cast<std::string*>(context) = message; },
      &text);
  const DML_OPERATOR_DESC desc{DML_OPERATOR_GEMM, &desc};
  EXPECT_EQ(machine().dml->CreateOperator(&desc, __uuidof(IDMLOperator), nullptr), E_INVALIDARG);
  SheafSetMessageCallback(nullptr, nullptr);
  EXPECT_NE(text.find("no such operator"), std::string::npos) << text;
  EXPECT_EQ(text, SheafDmlLastErrorText());
}

// A debug device writes its refusals to stderr if nobody else receives them.
TEST_F(Com, DebugDevicesAreLoud) {
  for (const bool muted : {false, true}) {
    ComPtr<IDMLDevice> device;
    ASSERT_EQ(
        DMLCreateDevice(machine().d3d12.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&device)),
        S_OK);
    ComPtr<IDMLDebugDevice> debug;
    ASSERT_EQ(device.As(&debug), S_OK);
    EXPECT_EQ(device->QueryInterface(__uuidof(IDMLDebugDevice), nullptr), E_POINTER);
    debug->SetMuteDebugOutput(muted ? TRUE : FALSE);
    testing::internal::CaptureStderr();
    EXPECT_EQ(device->CreateOperator(nullptr, __uuidof(IDMLOperator), nullptr), E_INVALIDARG);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text, muted ? "" : std::string(SheafDmlLastErrorText()) + "\n");
  }
}

// An object that some other library made.
struct ForeignOperator final : IDMLOperator {
  using IUnknown::QueryInterface;
  HRESULT QueryInterface(REFIID, void**) override { return E_NOINTERFACE; }
  ULONG AddRef() override { return 1; }
  ULONG Release() override { return 1; }
  HRESULT GetPrivateData(REFGUID, UINT*, void*) override { return E_NOTIMPL; }
  HRESULT SetPrivateData(REFGUID, UINT, const void*) override { return E_NOTIMPL; }
  HRESULT SetPrivateDataInterface(REFGUID, IUnknown*) override { return E_NOTIMPL; }
  HRESULT SetName(PCWSTR) override { return E_NOTIMPL; }
  HRESULT GetDevice(REFIID, void**) override { return E_NOTIMPL; }
};

TEST_F(Com, ObjectsOfOthersAreRefused) {
  ForeignOperator foreign;
  ComPtr<IDMLCompiledOperator> compiled;
  EXPECT_EQ(
      machine().dml->CompileOperator(&foreign, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
      E_INVALIDARG);
  EXPECT_STREQ(SheafDmlLastErrorText(),
               "CompileOperator: wrong kind of object\n"
               "  an object is of another kind\n"
               "  no other arguments were looked at\n"
               "  try: an object that this device created");
}

TEST_F(Com, GuidsDifferInEveryPart) {
  const GUID guid{1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
  EXPECT_TRUE(guid == GUID(guid));
  EXPECT_FALSE(guid == (GUID{9, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}}));
  EXPECT_FALSE(guid == (GUID{1, 9, 3, {4, 5, 6, 7, 8, 9, 10, 11}}));
  EXPECT_FALSE(guid == (GUID{1, 2, 9, {4, 5, 6, 7, 8, 9, 10, 11}}));
  EXPECT_FALSE(guid == (GUID{1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 12}}));
}

TEST_F(Com, DevicesReportWhyToo) {
  std::string text;
  SheafSetMessageCallback(
      [](const char* message, void* context) { *static_cast<std::string*>(context) = message; },
      &text);
  ComPtr<IDMLDevice> device;
  EXPECT_EQ(DMLCreateDevice(machine().d3d12.Get(), static_cast<DML_CREATE_DEVICE_FLAGS>(2),
                            IID_PPV_ARGS(&device)),
            E_INVALIDARG);
  SheafSetMessageCallback(nullptr, nullptr);
  EXPECT_NE(text, "");
  EXPECT_EQ(text, SheafDmlLastErrorText());
}

TEST_F(Com, MinimumFeatureLevels) {
  ComPtr<IDMLDevice> device;
  EXPECT_EQ(DMLCreateDevice1(machine().d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE,
                             DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(&device)),
            S_OK);
  EXPECT_EQ(DMLCreateDevice1(machine().d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE,
                             static_cast<DML_FEATURE_LEVEL>(0x7000), IID_PPV_ARGS(&device)),
            DXGI_ERROR_UNSUPPORTED);
  const DML_FEATURE_LEVEL asked[] = {DML_FEATURE_LEVEL_2_0, DML_FEATURE_LEVEL_6_0};
  const DML_FEATURE_QUERY_FEATURE_LEVELS query{2, asked};
  DML_FEATURE_DATA_FEATURE_LEVELS answer{};
  EXPECT_EQ(machine().dml->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query, &query,
                                               sizeof answer, &answer),
            S_OK);
  EXPECT_EQ(answer.MaxSupportedFeatureLevel, DML_FEATURE_LEVEL_6_0);
}

TEST_F(Com, OwnedTensorsAreBoundAtInitialisation) {
  const auto compiled = gather_rows(DML_TENSOR_FLAG_OWNED_BY_DML);
  const UINT64 size = compiled->GetBindingProperties().PersistentResourceSize;
  ASSERT_EQ(size, 256u);
  auto& m = machine();
  ComPtr<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* operators[] = {compiled.Get()};
  ASSERT_EQ(m.dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)), S_OK);
  const auto persistent = m.buffer(size);
  const auto rows = m.upload(bytes_of<float>({1, 2, 3, 4, 5, 6}));
  const auto picks = m.upload(bytes_of<UINT>({2, 0}));
  const auto output = m.buffer(16);
  const DML_BUFFER_BINDING arrays[] = {{rows.Get(), 0, 24}, {nullptr, 0, 0}};
  const DML_BUFFER_ARRAY_BINDING array{2, arrays};
  const DML_BINDING_DESC initial{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  const DML_BUFFER_BINDING persistent_range{persistent.Get(), 0, size};
  const DML_BINDING_DESC persistent_desc{DML_BINDING_TYPE_BUFFER, &persistent_range};
  const auto table = m.table(initializer.Get());
  table->BindInputs(1, &initial);
  table->BindOutputs(1, &persistent_desc);
  m.recorder->RecordDispatch(m.list.Get(), initializer.Get(), table.Get());
  m.execute();

  const auto run_table = m.table(compiled.Get());
  const DML_BUFFER_BINDING ranges[] = {{picks.Get(), 0, 8}, {output.Get(), 0, 16}};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_NONE, nullptr},
                                     {DML_BINDING_TYPE_BUFFER, &ranges[0]}};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &ranges[1]}};
  run_table->BindInputs(2, inputs);
  run_table->BindOutputs(1, outputs);
  run_table->BindPersistentResource(&persistent_desc);
  m.recorder->RecordDispatch(m.list.Get(), compiled.Get(), run_table.Get());
  EXPECT_EQ(values_of<float>(m.download(output.Get()), 4), (std::vector<float>{5, 6, 1, 2}));
  EXPECT_EQ(m.dml->GetDeviceRemovedReason(), S_OK);
}

// A dispatch that was recorded keeps what it needs.
TEST_F(Com, RecordedCommandsKeepTheirBuffers) {
  auto& m = machine();
  const auto output = m.buffer(16);
  {
    const auto compiled = gather_rows();
    const auto rows = m.upload(bytes_of<float>({1, 2, 3, 4, 5, 6}));
    const auto picks = m.upload(bytes_of<UINT>({1, 1}));
    const DML_BUFFER_BINDING ranges[] = {
        {rows.Get(), 0, 24}, {picks.Get(), 0, 8}, {output.Get(), 0, 16}};
    const DML_BINDING_DESC bindings[] = {{DML_BINDING_TYPE_BUFFER, &ranges[0]},
                                         {DML_BINDING_TYPE_BUFFER, &ranges[1]},
                                         {DML_BINDING_TYPE_BUFFER, &ranges[2]}};
    const auto table = m.table(compiled.Get());
    table->BindInputs(2, bindings);
    table->BindOutputs(1, bindings + 2);
    m.recorder->RecordDispatch(m.list.Get(), compiled.Get(), table.Get());
    table->BindInputs(0, nullptr);
  }
  EXPECT_EQ(values_of<float>(m.download(output.Get()), 4), (std::vector<float>{3, 4, 3, 4}));
}

// Direct3D.

TEST_F(Com, WhatIsMissingSaysSo) {
  auto& m = machine();
  std::vector<std::string> texts;
  SheafSetMessageCallback(
      [](const char* text, void* context) {
        static_cast<std::vector<std::string>*>(context)->emplace_back(text);
      },
      &texts);
  m.list->DrawInstanced(3, 1, 0, 0);
  m.list->DrawInstanced(3, 1, 0, 0);
  EXPECT_EQ(m.list->Close(), E_NOTIMPL);
  EXPECT_EQ(texts.size(), 1u);
  void* object = &texts;
  EXPECT_EQ(m.d3d12->CreateRootSignature(0, nullptr, 0, __uuidof(IUnknown), &object), E_NOTIMPL);
  EXPECT_EQ(object, nullptr);
  SheafSetMessageCallback(nullptr, nullptr);
  EXPECT_EQ(m.list->Reset(m.allocator.Get(), nullptr), S_OK);
}

TEST_F(Com, DebugLayersCanBeEnabled) {
  ComPtr<ID3D12Debug> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  ComPtr<ID3D12Device> device;
  EXPECT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&device)), E_NOINTERFACE);
  EXPECT_EQ(device, nullptr);
}

TEST_F(Com, CopiesStayInsideTheirBuffers) {
  auto& m = machine();
  const auto small = m.buffer(16), large = m.buffer(64);
  m.list->CopyBufferRegion(small.Get(), 8, large.Get(), 0, 16);
  EXPECT_EQ(m.list->Close(), E_INVALIDARG);
  EXPECT_EQ(m.list->Reset(m.allocator.Get(), nullptr), S_OK);
  m.list->CopyBufferRegion(small.Get(), UINT64_MAX, large.Get(), 0, 2);
  EXPECT_EQ(m.list->Close(), E_INVALIDARG);
  EXPECT_EQ(m.list->Reset(m.allocator.Get(), nullptr), S_OK);
  m.list->CopyResource(small.Get(), large.Get());
  EXPECT_EQ(m.list->Close(), E_INVALIDARG);
  EXPECT_EQ(m.list->Reset(m.allocator.Get(), nullptr), S_OK);
  void* mapped = nullptr;
  EXPECT_EQ(small->Map(0, nullptr, &mapped), E_INVALIDARG);
  EXPECT_EQ(m.list->Reset(m.allocator.Get(), nullptr), E_FAIL);  // it is open
}

TEST_F(Com, FencesCount) {
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(machine().d3d12->CreateFence(3, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  EXPECT_EQ(fence->GetCompletedValue(), 3u);
  EXPECT_EQ(machine().queue->Signal(fence.Get(), 7), S_OK);
  EXPECT_EQ(machine().queue->Wait(fence.Get(), 7), S_OK);
  EXPECT_EQ(fence->GetCompletedValue(), 7u);
}

}  // namespace
