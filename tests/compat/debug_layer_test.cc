// SPDX-License-Identifier: MIT
//
// The debug layer, its queue of messages, and the functions that programs look up by name.
#include <dlfcn.h>

#include "compat/machine.h"

using namespace compat;

namespace {

ComPtr<ID3D12Debug> debug_layer() {
  ComPtr<ID3D12Debug> debug;
  COMPAT_CHECK(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)));
  return debug;
}

ComPtr<ID3D12InfoQueue1> messages_of(Machine& machine) {
  return as<ID3D12InfoQueue1>(machine.d3d12);
}

std::string text_at(ID3D12InfoQueue& queue, UINT64 index) {
  SIZE_T bytes = 0;
  EXPECT_EQ(queue.GetMessage(index, nullptr, &bytes), S_FALSE);
  EXPECT_GT(bytes, sizeof(D3D12_MESSAGE));
  std::vector<D3D12_MESSAGE> room(bytes / sizeof(D3D12_MESSAGE) + 1);
  SIZE_T less = bytes - 1;
  EXPECT_EQ(queue.GetMessage(index, room.data(), &less), E_INVALIDARG);
  COMPAT_CHECK(queue.GetMessage(index, room.data(), &bytes));
  EXPECT_EQ(std::strlen(room[0].pDescription) + 1, room[0].DescriptionByteLength);
  return room[0].pDescription;
}

TEST(DebugLayer, FacesOfOneObject) {
  const long before = SheafLiveObjects();
  {
    const auto debug = debug_layer();
    const auto debug1 = as<ID3D12Debug1>(debug);
    const auto debug3 = as<ID3D12Debug3>(debug1);
    EXPECT_EQ(debug3.Get(), debug.Get());
    debug1->SetEnableGPUBasedValidation(TRUE);
    debug1->SetEnableSynchronizedCommandQueueValidation(TRUE);
    debug3->SetGPUBasedValidationFlags(D3D12_GPU_BASED_VALIDATION_FLAGS_NONE);
    void* none = nullptr;
    EXPECT_EQ(debug->QueryInterface(__uuidof(ID3D12Device), &none), E_NOINTERFACE);
    EXPECT_EQ(debug->QueryInterface(__uuidof(ID3D12Debug), nullptr), E_POINTER);
  }
  EXPECT_EQ(SheafLiveObjects(), before);
}

TEST(DebugLayer, Messages) {
  const Messages quiet;
  debug_layer()->EnableDebugLayer();
  Machine machine;
  const auto queue = messages_of(machine);
  EXPECT_EQ(as<ID3D12Device>(queue).Get(), machine.d3d12.Get()) << "one identity";
  EXPECT_EQ(queue->GetMessageCountLimit(), 1024u);
  queue->ClearStoredMessages();
  EXPECT_EQ(queue->GetNumStoredMessages(), 0u);
  void* heap = nullptr;
  EXPECT_EQ(machine.d3d12->CreateHeap(nullptr, __uuidof(ID3D12Heap), &heap), E_INVALIDARG);
  ASSERT_EQ(queue->GetNumStoredMessages(), 1u);
  EXPECT_EQ(text_at(*queue.Get(), 0).substr(0, 38), "ID3D12Device::CreateHeap: not a heap\n ");
  COMPAT_CHECK(queue->AddApplicationMessage(D3D12_MESSAGE_SEVERITY_INFO, "mine"));
  EXPECT_EQ(text_at(*queue.Get(), 1), "mine");
  COMPAT_CHECK(queue->SetMessageCountLimit(1));
  EXPECT_EQ(queue->GetNumMessagesDiscardedByMessageCountLimit(), 1u);
  EXPECT_EQ(queue->GetNumStoredMessagesAllowedByRetrievalFilter(), 1u);
  EXPECT_EQ(queue->GetNumMessagesAllowedByStorageFilter(), 2u);
  EXPECT_EQ(queue->GetNumMessagesDeniedByStorageFilter(), 0u);
  EXPECT_EQ(text_at(*queue.Get(), 0), "mine");

  SIZE_T bytes = 0;
  EXPECT_EQ(queue->GetMessage(1, nullptr, &bytes), E_INVALIDARG);
  EXPECT_EQ(queue->GetMessage(0, nullptr, nullptr), E_INVALIDARG);
  EXPECT_EQ(queue->AddApplicationMessage(D3D12_MESSAGE_SEVERITY_INFO, nullptr), E_INVALIDARG);
}

TEST(DebugLayer, Callbacks) {
  const Messages quiet;
  debug_layer()->EnableDebugLayer();
  Machine machine;
  const auto queue = messages_of(machine);
  std::vector<std::string> seen;
  const D3D12MessageFunc note = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY severity,
                                   D3D12_MESSAGE_ID, LPCSTR text, void* context) {
    EXPECT_EQ(severity, D3D12_MESSAGE_SEVERITY_ERROR);
    static_cast<std::vector<std::string>*>(context)->emplace_back(text);
  };
  DWORD cookie = 0;
  EXPECT_EQ(
      queue->RegisterMessageCallback(nullptr, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &seen, &cookie),
      E_INVALIDARG);
  EXPECT_EQ(queue->RegisterMessageCallback(note, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &seen, nullptr),
            E_INVALIDARG);
  COMPAT_CHECK(
      queue->RegisterMessageCallback(note, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &seen, &cookie));
  void* heap = nullptr;
  EXPECT_EQ(machine.d3d12->CreateHeap(nullptr, __uuidof(ID3D12Heap), &heap), E_INVALIDARG);
  EXPECT_EQ(seen.size(), 1u);
  COMPAT_CHECK(queue->UnregisterMessageCallback(cookie));
  EXPECT_EQ(queue->UnregisterMessageCallback(cookie), E_INVALIDARG);
  EXPECT_EQ(machine.d3d12->CreateHeap(nullptr, __uuidof(ID3D12Heap), &heap), E_INVALIDARG);
  EXPECT_EQ(seen.size(), 1u);
}

TEST(DebugLayer, Breaks) {
  debug_layer()->EnableDebugLayer();
  Machine machine;
  const auto queue = messages_of(machine);
  EXPECT_EQ(queue->GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR), FALSE);
  COMPAT_CHECK(queue->SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR, TRUE));
  EXPECT_EQ(queue->GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR), TRUE);
  EXPECT_EQ(queue->GetBreakOnCategory(D3D12_MESSAGE_CATEGORY_MISCELLANEOUS), FALSE)
      << "same number";
  COMPAT_CHECK(queue->SetBreakOnCategory(D3D12_MESSAGE_CATEGORY_EXECUTION, TRUE));
  COMPAT_CHECK(queue->SetBreakOnID(D3D12_MESSAGE_ID_UNKNOWN, TRUE));
  EXPECT_EQ(queue->GetBreakOnCategory(D3D12_MESSAGE_CATEGORY_EXECUTION), TRUE);
  EXPECT_EQ(queue->GetBreakOnID(D3D12_MESSAGE_ID_UNKNOWN), TRUE);
  COMPAT_CHECK(queue->SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR, FALSE));
  EXPECT_EQ(queue->GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR), FALSE);
  queue->SetMuteDebugOutput(TRUE);
  EXPECT_EQ(queue->GetMuteDebugOutput(), TRUE);
}

TEST(DebugLayer, FiltersAreMissing) {
  const Messages quiet;
  debug_layer()->EnableDebugLayer();
  Machine machine;
  const auto queue = messages_of(machine);
  SIZE_T bytes = 0;
  EXPECT_EQ(queue->AddStorageFilterEntries(nullptr), E_NOTIMPL);
  EXPECT_EQ(queue->GetStorageFilter(nullptr, &bytes), E_NOTIMPL);
  EXPECT_EQ(queue->PushEmptyStorageFilter(), E_NOTIMPL);
  EXPECT_EQ(queue->PushCopyOfStorageFilter(), E_NOTIMPL);
  EXPECT_EQ(queue->PushStorageFilter(nullptr), E_NOTIMPL);
  EXPECT_EQ(queue->AddRetrievalFilterEntries(nullptr), E_NOTIMPL);
  EXPECT_EQ(queue->GetRetrievalFilter(nullptr, &bytes), E_NOTIMPL);
  EXPECT_EQ(queue->PushEmptyRetrievalFilter(), E_NOTIMPL);
  EXPECT_EQ(queue->PushCopyOfRetrievalFilter(), E_NOTIMPL);
  EXPECT_EQ(queue->PushRetrievalFilter(nullptr), E_NOTIMPL);
  queue->ClearStorageFilter();
  queue->PopStorageFilter();
  queue->ClearRetrievalFilter();
  queue->PopRetrievalFilter();
  EXPECT_EQ(queue->GetStorageFilterStackSize(), 0u);
  EXPECT_EQ(queue->GetRetrievalFilterStackSize(), 0u);
}

TEST(Exports, FoundByName) {
  for (const char* name :
       {"D3D12CreateDevice", "D3D12GetDebugInterface", "D3D12GetInterface",
        "D3D12SerializeRootSignature", "D3D12SerializeVersionedRootSignature",
        "D3D12CreateRootSignatureDeserializer", "D3D12CreateVersionedRootSignatureDeserializer",
        "D3D12EnableExperimentalFeatures", "DXCoreCreateAdapterFactory", "CreateDXGIFactory",
        "CreateDXGIFactory1", "CreateDXGIFactory2", "DMLCreateDevice", "DMLCreateDevice1"}) {
    EXPECT_NE(dlsym(RTLD_DEFAULT, name), nullptr) << name;
  }
}

TEST(Exports, WhatTheyAnswer) {
  const Messages quiet;
  constexpr GUID kDebugClass = {
      0xf2352aeb, 0xdd84, 0x49fe, {0xb9, 0x7b, 0xa9, 0xdc, 0xfd, 0xcc, 0x1b, 0x4f}};
  ComPtr<ID3D12Debug> debug;
  COMPAT_CHECK(D3D12GetInterface(kDebugClass, IID_PPV_ARGS(&debug)));
  int something = 0;
  void* none = &something;
  EXPECT_EQ(D3D12GetInterface(__uuidof(IUnknown), __uuidof(IUnknown), &none), E_NOINTERFACE);
  EXPECT_EQ(none, nullptr);
  ID3DBlob* blob = reinterpret_cast<ID3DBlob*>(&something);
  ID3DBlob* error = blob;
  EXPECT_EQ(D3D12SerializeVersionedRootSignature(nullptr, &blob, &error), E_NOTIMPL);
  EXPECT_EQ(blob, nullptr);
  EXPECT_EQ(error, nullptr);
  EXPECT_EQ(D3D12SerializeRootSignature(nullptr, D3D_ROOT_SIGNATURE_VERSION_1_0, nullptr, nullptr),
            E_NOTIMPL);
  EXPECT_EQ(D3D12CreateRootSignatureDeserializer(nullptr, 0, __uuidof(IUnknown), &none), E_NOTIMPL);
  EXPECT_EQ(D3D12CreateVersionedRootSignatureDeserializer(nullptr, 0, __uuidof(IUnknown), &none),
            E_NOTIMPL);
  EXPECT_EQ(D3D12EnableExperimentalFeatures(0, nullptr, nullptr, nullptr), S_OK);
  const IID feature = __uuidof(IUnknown);
  EXPECT_EQ(D3D12EnableExperimentalFeatures(1, &feature, nullptr, nullptr), E_NOINTERFACE);
}

}  // namespace
