// SPDX-License-Identifier: MIT
#include "timeline.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "com_object.h"

namespace sheaf::d3d12 {
namespace {

HRESULT set(int event) {
  const uint64_t one = 1;
  return write(event, &one, sizeof one) == sizeof one ? S_OK : E_HANDLE;
}

}  // namespace

HRESULT set_event(HANDLE event) { return set(static_cast<int>(reinterpret_cast<intptr_t>(event))); }

// Never destroyed: programs release queues from destructors of their own globals.
Timeline& Timeline::get() {
  static Timeline& all = *new Timeline;
  return all;
}

std::shared_ptr<QueueState> Timeline::add_queue(std::shared_ptr<Removal> removal) {
  auto queue = std::make_shared<QueueState>(std::move(removal));
  const std::lock_guard lock(mutex_);
  queues_.push_back(queue);
  return queue;
}

void Timeline::release_queue(QueueState& queue) noexcept {
  {
    const std::lock_guard lock(mutex_);
    queue.released_ = true;
  }
  run_ready();
}

void Timeline::submit(QueueState& queue, Submission submission) {
  {
    const std::lock_guard lock(mutex_);
    queue.pending_.push_back(std::move(submission));
  }
  run_ready();
}

void Timeline::release_fence(FenceState& fence) noexcept {
  {
    const std::lock_guard lock(mutex_);
    fence.released_ = true;
  }
  run_ready();
}

UINT64 Timeline::completed(const FenceState& fence) {
  const std::lock_guard lock(mutex_);
  return fence.completed();
}

HRESULT Timeline::signal(FenceState& fence, UINT64 value) {
  HRESULT result = fence.removal_->check();
  if (result == S_OK) {
    const std::lock_guard lock(mutex_);
    fence.value_ = value;
    result = wake();
  }
  run_ready();
  return result;
}

HRESULT Timeline::wait(const FenceState& fence, UINT64 value) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return fence.completed() >= value; });
  return fence.removal_->check();
}

HRESULT Timeline::set_event(const std::shared_ptr<FenceState>& fence, UINT64 value, int event) {
  const std::lock_guard lock(mutex_);
  if (fence->removal_->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  if (fence->completed() >= value) {
    return set(event);
  }
  events_.push_back({fence, value, event});
  return S_OK;
}

void Timeline::remove(Removal& removal, HRESULT reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    HRESULT none = S_OK;
    removal.reason_.compare_exchange_strong(none, reason);
    wake();
  }
  run_ready();
}

// Sets the events of fences that were reached, and wakes those who wait for one.
HRESULT Timeline::wake() {
  HRESULT result = S_OK;
  std::erase_if(events_, [&](const Event& event) {
    const bool reached = event.fence->completed() >= event.value;
    if (reached && set(event.descriptor) != S_OK) {
      result = E_HANDLE;
    }
    return reached;
  });
  changed_.notify_all();
  return result;
}

// A queue whose next submission can be done now.
QueueState* Timeline::next_ready() const {
  for (const auto& queue : queues_) {
    if (queue->running_ || queue->pending_.empty()) {
      continue;
    }
    const Submission& next = queue->pending_.front();
    if (next.kind != Submission::kWait || next.fence->completed() >= next.value ||
        queue->removal_->removed()) {
      return queue.get();
    }
  }
  return nullptr;
}

void Timeline::run_next(QueueState& queue, std::unique_lock<std::mutex>& lock) {
  Submission next = std::move(queue.pending_.front());
  queue.pending_.pop_front();
  if (next.kind == Submission::kSignal) {
    next.fence->value_ = next.value;
    wake();
  }
  if (next.kind == Submission::kWork) {
    queue.running_ = true;  // so it stays in the list
    lock.unlock();
    if (!queue.removal_->removed()) {
      next.work();
    }
    next.work = nullptr;  // may be the last that holds a fence or a device
    lock.lock();
    queue.running_ = false;
  }
}

// Does what can be done, in the order of each queue.
void Timeline::run_ready() noexcept {
  std::unique_lock lock(mutex_);
  for (size_t stuck = 1; stuck > 0;) {
    while (QueueState* queue = next_ready()) {
      run_next(*queue, lock);
    }
    stuck = remove_stuck();
    if (stuck > 0) {
      lock.unlock();
      com::guarded([&] {
        com::report(
            com::words({.who = "ID3D12CommandQueue",
                        .what = "waits for ever",
                        .detail = std::to_string(stuck) +
                                  " submissions are dropped, and the device is removed",
                        .given = "a queue waits for a fence that was released, and that nothing "
                                 "will signal",
                        .next = "release a fence after it was reached"}),
            true);
        return S_OK;
      });
      lock.lock();
    }
  }
  std::erase_if(queues_, [](const auto& queue) {
    return queue->released_ && !queue->running_ && queue->pending_.empty();
  });
}

// By its owner, or by a queue that is not stuck.
bool Timeline::will_be_signaled(const FenceState& fence) const {
  return !fence.released_ || std::any_of(queues_.begin(), queues_.end(), [&](const auto& queue) {
    return !queue->stuck_ &&
           (queue->running_ ||
            std::any_of(queue->pending_.begin(), queue->pending_.end(), [&](const Submission& s) {
              return s.kind == Submission::kSignal && s.fence.get() == &fence;
            }));
  });
}

// Removes the devices of queues that wait for what will never come, so that their work is dropped,
// and returns how many submissions that are. Called when no queue is ready.
size_t Timeline::remove_stuck() {
  for (const auto& queue : queues_) {
    queue->stuck_ = !queue->running_ && !queue->pending_.empty();
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& queue : queues_) {
      if (queue->stuck_ && will_be_signaled(*queue->pending_.front().fence)) {
        queue->stuck_ = false;
        changed = true;
      }
    }
  }
  size_t dropped = 0;
  for (const auto& queue : queues_) {
    if (queue->stuck_) {
      dropped += queue->pending_.size();
      HRESULT none = S_OK;
      queue->removal_->reason_.compare_exchange_strong(none, DXGI_ERROR_INVALID_CALL);
    }
  }
  if (dropped > 0) {
    wake();
  }
  return dropped;
}

}  // namespace sheaf::d3d12
