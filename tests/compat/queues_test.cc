// SPDX-License-Identifier: MIT
//
// Queues that wait for fences: the work waits, the caller does not. Runs under ThreadSanitizer.
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "compat/machine.h"

using namespace compat;

namespace {

// Released when the program ends, after all that was first used later.
ComPtr<ID3D12CommandQueue> held_until_exit;
ComPtr<ID3D12Fence> fence_until_exit;

class UntilExit : public testing::Environment {
  void SetUp() override {
    Machine machine;
    held_until_exit = machine.queue;
    COMPAT_CHECK(
        machine.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence_until_exit)));
    COMPAT_CHECK(held_until_exit->Wait(fence_until_exit.Get(), 1));
  }
};
const auto* const kUntilExit = testing::AddGlobalTestEnvironment(new UntilExit);

class Queues : public testing::Test {
 protected:
  void TearDown() override {
    machine_.reset();
    EXPECT_EQ(SheafLiveObjects(), before_) << "objects leaked";
  }
  Machine& machine() { return *machine_; }

  ComPtr<ID3D12CommandQueue> queue() {
    const D3D12_COMMAND_QUEUE_DESC desc{};
    ComPtr<ID3D12CommandQueue> made;
    COMPAT_CHECK(machine().d3d12->CreateCommandQueue(&desc, IID_PPV_ARGS(&made)));
    return made;
  }
  ComPtr<ID3D12Fence> fence(UINT64 value = 0) {
    ComPtr<ID3D12Fence> made;
    COMPAT_CHECK(machine().d3d12->CreateFence(value, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&made)));
    return made;
  }

  // A buffer that the CPU writes and one that it reads, with the list that copies between them.
  struct Copy {
    ComPtr<ID3D12Resource> from, to;
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;

    void write(int value) const { *mapped(from) = value; }
    int read() const { return *mapped(to); }
    static int* mapped(const ComPtr<ID3D12Resource>& buffer) {
      void* data = nullptr;
      COMPAT_CHECK(buffer->Map(0, nullptr, &data));
      return static_cast<int*>(data);
    }
    void submit(ID3D12CommandQueue* queue) const {
      ID3D12CommandList* lists[] = {list.Get()};
      queue->ExecuteCommandLists(1, lists);
    }
  };
  Copy copy(const ComPtr<ID3D12Resource>& from = nullptr) {
    auto& m = machine();
    Copy made;
    made.from = from ? from : m.buffer(4, D3D12_HEAP_TYPE_UPLOAD);
    made.to = m.buffer(4, D3D12_HEAP_TYPE_READBACK);
    COMPAT_CHECK(m.d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_COPY,
                                                 IID_PPV_ARGS(&made.allocator)));
    COMPAT_CHECK(m.d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_COPY, made.allocator.Get(),
                                            nullptr, IID_PPV_ARGS(&made.list)));
    made.list->CopyBufferRegion(made.to.Get(), 0, made.from.Get(), 0, 4);
    COMPAT_CHECK(made.list->Close());
    return made;
  }

 private:
  const long before_ = SheafLiveObjects();
  std::unique_ptr<Machine> machine_ = std::make_unique<Machine>();
};

TEST_F(Queues, AWaitReturnsAtOnce) {
  const auto a = queue(), b = queue();
  const auto f = fence(), done = fence();
  const Copy work = copy();
  work.write(1);
  ASSERT_EQ(b->Wait(f.Get(), 1), S_OK);
  work.submit(b.Get());
  ASSERT_EQ(b->Signal(done.Get(), 5), S_OK);
  EXPECT_EQ(work.read(), 0);
  EXPECT_EQ(done->GetCompletedValue(), 0u);
  work.write(2);
  ASSERT_EQ(a->Signal(f.Get(), 1), S_OK);
  EXPECT_EQ(done->GetCompletedValue(), 5u);
  EXPECT_EQ(work.read(), 2);
}

TEST_F(Queues, AFenceThatWasReachedIsNotWaitedFor) {
  const auto a = queue();
  const auto f = fence(7);
  const Copy work = copy();
  work.write(1);
  ASSERT_EQ(a->Wait(f.Get(), 7), S_OK);
  work.submit(a.Get());
  EXPECT_EQ(work.read(), 1);
}

TEST_F(Queues, TheCpuSignals) {
  const auto a = queue();
  const auto f = fence();
  const Copy work = copy();
  work.write(3);
  ASSERT_EQ(a->Wait(f.Get(), 2), S_OK);
  work.submit(a.Get());
  ASSERT_EQ(f->Signal(1), S_OK);
  EXPECT_EQ(work.read(), 0);
  ASSERT_EQ(f->Signal(2), S_OK);
  EXPECT_EQ(work.read(), 3);
}

// Each of many queues waits for the one before it, in the wrong order of submission.
TEST_F(Queues, AChain) {
  constexpr size_t kCount = 40;
  std::vector<ComPtr<ID3D12CommandQueue>> queues;
  std::vector<ComPtr<ID3D12Fence>> fences{fence()};
  std::vector<Copy> copies;
  for (size_t i = 0; i < kCount; ++i) {
    queues.push_back(queue());
    fences.push_back(fence());
    copies.push_back(i == 0 ? copy() : copy(copies.back().to));
  }
  copies[0].write(9);
  for (size_t i = kCount; i-- > 0;) {
    COMPAT_CHECK(queues[i]->Wait(fences[i].Get(), 1));
    copies[i].submit(queues[i].Get());
    COMPAT_CHECK(queues[i]->Signal(fences[i + 1].Get(), 1));
  }
  EXPECT_EQ(fences.back()->GetCompletedValue(), 0u);
  COMPAT_CHECK(fences[0]->Signal(1));
  EXPECT_EQ(fences.back()->GetCompletedValue(), 1u);
  EXPECT_EQ(copies.back().read(), 9);
}

// Two queues that take turns on one fence.
TEST_F(Queues, ATimeline) {
  const auto a = queue(), b = queue();
  const auto f = fence();
  const Copy first = copy(), second = copy(first.to);
  for (UINT64 i = 0; i < 20; ++i) {
    COMPAT_CHECK(b->Wait(f.Get(), 2 * i + 1));
    second.submit(b.Get());
    COMPAT_CHECK(b->Signal(f.Get(), 2 * i + 2));
  }
  first.write(4);
  for (UINT64 i = 0; i < 20; ++i) {
    COMPAT_CHECK(a->Wait(f.Get(), 2 * i));
    first.submit(a.Get());
    COMPAT_CHECK(a->Signal(f.Get(), 2 * i + 1));
  }
  COMPAT_CHECK(f->SetEventOnCompletion(40, nullptr));
  EXPECT_EQ(second.read(), 4);
}

// A list may be reset as soon as it was submitted.
TEST_F(Queues, AListThatIsResetWhileItsWorkWaits) {
  const auto a = queue();
  const auto f = fence();
  const Copy work = copy();
  work.write(5);
  COMPAT_CHECK(a->Wait(f.Get(), 1));
  work.submit(a.Get());
  COMPAT_CHECK(work.list->Reset(work.allocator.Get(), nullptr));
  COMPAT_CHECK(work.list->Close());
  COMPAT_CHECK(f->Signal(1));
  EXPECT_EQ(work.read(), 5);
}

TEST_F(Queues, EventsAreSetByWorkThatWaited) {
  const auto a = queue();
  const auto f = fence(), done = fence();
  const int event = eventfd(0, EFD_NONBLOCK);
  uint64_t count = 0;
  COMPAT_CHECK(done->SetEventOnCompletion(1, reinterpret_cast<HANDLE>(intptr_t{event})));
  COMPAT_CHECK(a->Wait(f.Get(), 1));
  COMPAT_CHECK(a->Signal(done.Get(), 1));
  EXPECT_LT(read(event, &count, sizeof count), 0);
  COMPAT_CHECK(f->Signal(1));
  EXPECT_EQ(read(event, &count, sizeof count), 8);
  COMPAT_CHECK(done->SetEventOnCompletion(1, reinterpret_cast<HANDLE>(intptr_t{event})));
  EXPECT_EQ(read(event, &count, sizeof count), 8) << "reached already";
  close(event);
  EXPECT_EQ(done->SetEventOnCompletion(1, reinterpret_cast<HANDLE>(intptr_t{event})), E_HANDLE);
}

// A queue or a fence that is not there.
TEST_F(Queues, ForeignFencesAreRefused) {
  const auto a = queue();
  EXPECT_EQ(a->Wait(nullptr, 1), E_INVALIDARG);
  EXPECT_EQ(a->Signal(nullptr, 1), E_INVALIDARG);
}

// Nothing waits at release, and what was submitted is done when it can be.
TEST_F(Queues, AQueueThatIsReleasedWhileItWaits) {
  const auto f = fence(), done = fence();
  const Copy work = copy();
  work.write(6);
  {
    const auto a = queue();
    COMPAT_CHECK(a->Wait(f.Get(), 1));
    work.submit(a.Get());
    COMPAT_CHECK(a->Signal(done.Get(), 1));
  }
  EXPECT_EQ(work.read(), 0);
  COMPAT_CHECK(f->Signal(1));
  EXPECT_EQ(work.read(), 6);
  EXPECT_EQ(done->GetCompletedValue(), 1u);
}

// What can never run any more is dropped, and the device is removed, so that nobody waits for it.
class LostQueues : public Queues {
 protected:
  LostQueues() {
    SheafSetMessageCallback(
        [](const char* message, void* context) { *static_cast<std::string*>(context) = message; },
        &text_);
  }
  ~LostQueues() override { SheafSetMessageCallback(nullptr, nullptr); }
  static std::string expected(int dropped) {
    return "ID3D12CommandQueue: waits for ever\n  " + std::to_string(dropped) +
           " submissions are dropped, and the device is removed\n"
           "  a queue waits for a fence that was released, and that nothing will signal\n"
           "  try: release a fence after it was reached";
  }
  std::string text_;
};

TEST_F(LostQueues, AFenceThatIsReleasedWhileAQueueWaits) {
  const auto done = fence();
  const Copy work = copy();
  const auto a = queue();
  {
    const auto f = fence();
    COMPAT_CHECK(a->Wait(f.Get(), 1));
    work.submit(a.Get());
    COMPAT_CHECK(a->Signal(done.Get(), 1));
    EXPECT_EQ(text_, "");
  }
  EXPECT_EQ(text_, expected(3));
  EXPECT_EQ(machine().d3d12->GetDeviceRemovedReason(), DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(done->GetCompletedValue(), UINT64_MAX);
  EXPECT_EQ(done->SetEventOnCompletion(1, nullptr), DXGI_ERROR_DEVICE_REMOVED);
}

TEST_F(LostQueues, AQueueAndItsFence) {
  {
    const auto f = fence();
    const auto a = queue();
    COMPAT_CHECK(a->Wait(f.Get(), 1));
    copy().submit(a.Get());
  }
  EXPECT_EQ(text_, expected(2));
}

// A queue that can still run will signal the fence, though nobody else can.
TEST_F(LostQueues, AFenceThatAQueueWillSignal) {
  const auto gate = fence();
  const Copy work = copy();
  work.write(8);
  const auto a = queue(), b = queue();
  {
    const auto f = fence();
    COMPAT_CHECK(a->Wait(f.Get(), 1));
    work.submit(a.Get());
    COMPAT_CHECK(b->Wait(gate.Get(), 1));
    COMPAT_CHECK(b->Signal(f.Get(), 1));
  }
  EXPECT_EQ(text_, "");
  COMPAT_CHECK(gate->Signal(1));
  EXPECT_EQ(work.read(), 8);
}

// It signals too little.
TEST_F(LostQueues, AFenceThatIsNotReached) {
  const auto a = queue(), b = queue();
  const auto gate = fence();
  {
    const auto f = fence();
    COMPAT_CHECK(a->Wait(f.Get(), 2));
    COMPAT_CHECK(b->Wait(gate.Get(), 1));
    COMPAT_CHECK(b->Signal(f.Get(), 1));
  }
  EXPECT_EQ(text_, "");
  COMPAT_CHECK(gate->Signal(1));
  EXPECT_EQ(text_, expected(1));
}

TEST_F(LostQueues, TwoThatWaitForEachOther) {
  {
    const auto a = queue(), b = queue();
    const auto f = fence(), g = fence();
    COMPAT_CHECK(a->Wait(f.Get(), 1));
    COMPAT_CHECK(a->Signal(g.Get(), 1));
    COMPAT_CHECK(b->Wait(g.Get(), 1));
    COMPAT_CHECK(b->Signal(f.Get(), 1));
  }
  EXPECT_EQ(text_, expected(4));
}

TEST_F(LostQueues, ACpuWaitEnds) {
  const auto done = fence();
  auto f = fence();
  const auto a = queue();
  const int event = eventfd(0, EFD_NONBLOCK);
  COMPAT_CHECK(a->Wait(f.Get(), 1));
  COMPAT_CHECK(a->Signal(done.Get(), 1));
  COMPAT_CHECK(done->SetEventOnCompletion(1, reinterpret_cast<HANDLE>(intptr_t{event})));
  std::atomic<HRESULT> result{S_OK};
  std::thread waiter([&] { result = done->SetEventOnCompletion(1, nullptr); });
  f.Reset();
  waiter.join();
  EXPECT_EQ(result, DXGI_ERROR_DEVICE_REMOVED);
  uint64_t count = 0;
  EXPECT_EQ(read(event, &count, sizeof count), 8);
  close(event);
}

// Threads that submit, wait and signal at once.
TEST_F(Queues, ManyThreads) {
  constexpr int kThreads = 4, kRounds = 50;
  const auto shared = queue();
  std::vector<ComPtr<ID3D12Fence>> gates;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    gates.push_back(fence());
  }
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto own = queue();
      const auto done = fence();
      const Copy work = copy();
      for (int i = 1; i <= kRounds; ++i) {
        const auto value = static_cast<UINT64>(i);
        const auto& gate = gates[static_cast<size_t>(t)];
        const auto& next = gates[static_cast<size_t>(t + 1) % kThreads];
        work.write(i);
        COMPAT_CHECK(own->Wait(gate.Get(), value));
        work.submit(own.Get());
        COMPAT_CHECK(own->Signal(done.Get(), value));
        COMPAT_CHECK(shared->Signal(next.Get(), value));  // lets a neighbour go on
        COMPAT_CHECK(done->SetEventOnCompletion(value, nullptr));
        wrong += work.read() == i ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
