// SPDX-License-Identifier: MIT
//
// Fences and queues in time. A queue has no thread: what is submitted runs at once in the caller's
// thread, unless it comes after a Wait for a fence that was not reached. Then it runs later, in the
// thread that reaches the fence.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "d3d12.h"

namespace sheaf::d3d12 {

// Sets an event: E_HANDLE if it is none.
HRESULT set_event(HANDLE event);

// Why a device is gone. Shared by the device and all that it created.
class Removal {
 public:
  HRESULT reason() const { return reason_; }  // S_OK: it is not gone
  bool removed() const { return reason_ != S_OK; }
  HRESULT check() const { return removed() ? DXGI_ERROR_DEVICE_REMOVED : S_OK; }

 private:
  friend class Timeline;
  std::atomic<HRESULT> reason_{S_OK};
};

// What is behind a fence. It outlives the fence in queues that wait for it or will signal it.
class FenceState {
 public:
  FenceState(std::shared_ptr<const Removal> removal, UINT64 value)
      : removal_(std::move(removal)), value_(value) {}

 private:
  friend class Timeline;
  // All values are reached when the device is gone, so that nobody waits for it.
  UINT64 completed() const { return removal_->removed() ? UINT64_MAX : value_; }

  const std::shared_ptr<const Removal> removal_;
  UINT64 value_;
  bool released_ = false;  // only a queue can signal it now
};

// One thing that a queue does: work, or a wait or signal of a fence.
struct Submission {
  enum Kind { kWork, kWait, kSignal } kind;
  std::function<void()> work;
  std::shared_ptr<FenceState> fence;
  UINT64 value = 0;
};

class QueueState {
 public:
  explicit QueueState(std::shared_ptr<Removal> removal) : removal_(std::move(removal)) {}

 private:
  friend class Timeline;
  const std::shared_ptr<Removal> removal_;
  std::deque<Submission> pending_;
  bool running_ = false;   // a thread does the work that came before pending_
  bool released_ = false;  // nothing more will be submitted
  bool stuck_ = false;     // of remove_stuck()
};

// All fences and queues of the process, under one lock. No callback and no destructor of an object
// runs under it.
class Timeline {
 public:
  static Timeline& get();

  std::shared_ptr<QueueState> add_queue(std::shared_ptr<Removal> removal);
  void release_queue(QueueState& queue) noexcept;  // what was submitted is still done
  void submit(QueueState& queue, Submission submission);

  // What waits for a fence that nothing will signal is dropped, and its device removed.
  void release_fence(FenceState& fence) noexcept;
  UINT64 completed(const FenceState& fence);
  // The results: E_HANDLE if an event is none, DXGI_ERROR_DEVICE_REMOVED if the device is gone.
  HRESULT signal(FenceState& fence, UINT64 value);
  HRESULT wait(const FenceState& fence, UINT64 value);
  HRESULT set_event(const std::shared_ptr<FenceState>& fence, UINT64 value, int event);

  // Keeps the first reason. Ends all waits for the device's fences.
  void remove(Removal& removal, HRESULT reason) noexcept;

 private:
  struct Event {
    std::shared_ptr<FenceState> fence;
    UINT64 value;
    int descriptor;  // an eventfd
  };

  void run_ready() noexcept;
  void run_next(QueueState& queue, std::unique_lock<std::mutex>& lock);
  QueueState* next_ready() const;
  bool will_be_signaled(const FenceState& fence) const;
  size_t remove_stuck();
  HRESULT wake();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<QueueState>> queues_;
  std::vector<Event> events_;
};

}  // namespace sheaf::d3d12
