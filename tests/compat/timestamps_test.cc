// SPDX-License-Identifier: MIT
//
// Timestamps of a queue, and events to wait for it.
#include <synchapi.h>

#include <thread>

#include "compat/machine.h"

using namespace compat;

namespace {

ComPtr<ID3D12QueryHeap> timestamps(Machine& machine, UINT count) {
  const D3D12_QUERY_HEAP_DESC desc{D3D12_QUERY_HEAP_TYPE_TIMESTAMP, count, 0};
  ComPtr<ID3D12QueryHeap> heap;
  COMPAT_CHECK(machine.d3d12->CreateQueryHeap(&desc, IID_PPV_ARGS(&heap)));
  return heap;
}

TEST(Timestamps, RefusedHeaps) {
  Machine machine;
  Messages messages;
  const auto ask = [&](const D3D12_QUERY_HEAP_DESC* desc) {
    void* heap = &machine;
    const HRESULT result = machine.d3d12->CreateQueryHeap(desc, __uuidof(ID3D12QueryHeap), &heap);
    EXPECT_EQ(heap, nullptr);
    return result;
  };
  const D3D12_QUERY_HEAP_DESC none{D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 0, 0};
  EXPECT_EQ(ask(nullptr), E_INVALIDARG);
  EXPECT_EQ(ask(&none), E_INVALIDARG);
  EXPECT_EQ(messages.take(),
            "ID3D12Device::CreateQueryHeap: no queries\n"
            "  pDesc is null, or Count is not 1 to 2^20\n"
            "  nothing was created\n"
            "  try: a Count of queries");
  const D3D12_QUERY_HEAP_DESC other{D3D12_QUERY_HEAP_TYPE_OCCLUSION, 1, 0};
  EXPECT_EQ(ask(&other), E_NOTIMPL);
}

TEST(Timestamps, RefusedQueries) {
  Machine machine;
  const auto heap = timestamps(machine, 2);
  const auto buffer = machine.buffer(16), upload = machine.buffer(16, D3D12_HEAP_TYPE_UPLOAD);
  Messages messages;
  const auto refused = [&](const char* method, const std::string& reason) {
    EXPECT_EQ(machine.list->Close(), E_INVALIDARG);
    EXPECT_EQ(messages.take(), std::string("ID3D12GraphicsCommandList::") + method +
                                   ": cannot be recorded\n  " + reason +
                                   "\n  the list cannot be executed\n"
                                   "  try: docs/directml.md lists what is there");
    COMPAT_CHECK(machine.list->Reset(machine.allocator.Get(), nullptr));
  };
  const auto time = D3D12_QUERY_TYPE_TIMESTAMP;
  machine.list->EndQuery(nullptr, time, 0);
  refused("EndQuery", "the query heap is null, or of another Direct3D");
  machine.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_OCCLUSION, 0);
  refused("EndQuery", "queries are of D3D12_QUERY_TYPE_TIMESTAMP");
  machine.list->EndQuery(heap.Get(), time, 2);
  refused("EndQuery", "the queries end after the heap");
  machine.list->ResolveQueryData(heap.Get(), time, 1, UINT32_MAX, buffer.Get(), 0);
  refused("ResolveQueryData", "the queries end after the heap");
  const std::string room =
      "8 bytes per query do not fit the buffer at an offset that is a multiple of 8, or it is an "
      "upload buffer";
  for (const UINT64 offset : {UINT64{4}, UINT64{8}, UINT64_MAX - 7}) {
    machine.list->ResolveQueryData(heap.Get(), time, 0, 2, buffer.Get(), offset);
    refused("ResolveQueryData", room);
  }
  machine.list->ResolveQueryData(heap.Get(), time, 0, 2, upload.Get(), 0);
  refused("ResolveQueryData", room);
  machine.list->ResolveQueryData(heap.Get(), time, 0, 2, nullptr, 0);
  refused("ResolveQueryData", room);
  UINT64 value = 0;
  EXPECT_EQ(machine.queue->GetTimestampFrequency(nullptr), E_INVALIDARG);
  EXPECT_EQ(machine.queue->GetClockCalibration(&value, nullptr), E_INVALIDARG);
  EXPECT_EQ(machine.queue->GetClockCalibration(nullptr, &value), E_INVALIDARG);
}

TEST(Timestamps, AreTimesOfTheQueue) {
  Machine machine;
  const auto heap = timestamps(machine, 3);
  const auto times = machine.buffer(32), data = machine.buffer(1 << 20);
  UINT64 frequency = 0, before = 0, after = 0, cpu = 0;
  COMPAT_CHECK(machine.queue->GetTimestampFrequency(&frequency));
  EXPECT_EQ(frequency, 1000000000u);
  COMPAT_CHECK(machine.queue->GetClockCalibration(&before, &cpu));
  EXPECT_EQ(before, cpu);
  machine.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
  machine.list->CopyBufferRegion(data.Get(), 0, data.Get(), 4, (1 << 20) - 4);
  machine.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 2);
  machine.list->ResolveQueryData(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 3, times.Get(), 8);
  machine.list->ResolveQueryData(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 0, times.Get(), 32);
  const auto read = values_of<UINT64>(machine.download(times.Get()), 4);
  COMPAT_CHECK(machine.queue->GetClockCalibration(&after, &cpu));
  EXPECT_EQ(read[0], 0u);
  EXPECT_LE(before, read[1]);
  EXPECT_EQ(read[2], 0u) << "never asked for";
  EXPECT_LT(read[1], read[3]);
  EXPECT_LE(read[3], after);
}

TEST(Events, Alone) {
  EXPECT_EQ(WaitForSingleObject(nullptr, 0), WAIT_FAILED);
  EXPECT_FALSE(SetEvent(nullptr));
  EXPECT_FALSE(ResetEvent(nullptr));
  EXPECT_FALSE(CloseHandle(nullptr));
  const HANDLE automatic = CreateEvent(nullptr, FALSE, TRUE, nullptr);
  const HANDLE manual = CreateEventEx(
      nullptr, nullptr, CREATE_EVENT_MANUAL_RESET | CREATE_EVENT_INITIAL_SET, EVENT_ALL_ACCESS);
  EXPECT_EQ(WaitForSingleObject(automatic, 0), WAIT_OBJECT_0);
  EXPECT_EQ(WaitForSingleObject(automatic, 1), WAIT_TIMEOUT) << "the wait has reset it";
  EXPECT_EQ(WaitForSingleObject(manual, INFINITE), WAIT_OBJECT_0);
  EXPECT_EQ(WaitForSingleObjectEx(manual, INFINITE, FALSE), WAIT_OBJECT_0);
  EXPECT_TRUE(ResetEvent(manual));
  EXPECT_TRUE(ResetEvent(manual)) << "again";
  EXPECT_EQ(WaitForSingleObject(manual, 1), WAIT_TIMEOUT);
  EXPECT_TRUE(SetEvent(manual));
  EXPECT_EQ(WaitForSingleObject(manual, 0), WAIT_OBJECT_0);
  EXPECT_TRUE(CloseHandle(automatic));
  EXPECT_TRUE(CloseHandle(manual));
  EXPECT_EQ(WaitForSingleObject(manual, 0), WAIT_FAILED) << "it was closed";
}

TEST(Events, OfFences) {
  Machine machine;
  ComPtr<ID3D12Fence> fence;
  COMPAT_CHECK(machine.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  for (const BOOL manual : {FALSE, TRUE}) {
    const HANDLE event = CreateEventW(nullptr, manual, FALSE, nullptr);
    const UINT64 value = fence->GetCompletedValue() + 1;
    COMPAT_CHECK(fence->SetEventOnCompletion(value, event));
    EXPECT_EQ(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    std::thread signals([&] { COMPAT_CHECK(machine.queue->Signal(fence.Get(), value)); });
    EXPECT_EQ(WaitForSingleObject(event, INFINITE), WAIT_OBJECT_0);
    signals.join();
    EXPECT_TRUE(CloseHandle(event));
  }
}

}  // namespace
