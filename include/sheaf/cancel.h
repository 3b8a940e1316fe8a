// SPDX-License-Identifier: MIT
//
// Ending a long run early.
//
//   std::atomic<bool> stop = false;          // set by another thread, or by a signal handler
//   const sheaf::CancelScope scope(stop);
//   sheaf::gather(data, indices, output);    // throws kCancelled within milliseconds of stop =
//   true
//
// A run that is cancelled before its first write leaves the output untouched. After that, each row
// of a gather's output is old or new, a row that was being copied may be torn, and a scatter has
// come some part of its way (docs/semantics.md has the states). Nothing outside the output is
// written.
#pragma once

#include <atomic>

#pragma GCC visibility push(default)

namespace sheaf {

// Whether to end the work: asked between pieces of it, after each MiB or so, on every thread of a
// run. Must not throw, and may be called by several threads at once. Null: never.
struct Cancel {
  bool (*asked)(void* context) = nullptr;
  void* context = nullptr;
};

// While it lives, what this thread runs on the host can be cancelled: plans, calls and moves, and
// the threads that work on them. Runs on a device and sharded runs are not affected. Of several the
// last one counts.
class CancelScope {
 public:
  explicit CancelScope(Cancel cancel);
  explicit CancelScope(const std::atomic<bool>& flag);  // cancelled once it is true
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  // Asks. Once the answer was true it stays true.
  bool cancelled() const;
  // The last answer, without asking.
  bool was_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  Cancel cancel_;
  mutable std::atomic<bool> cancelled_{false};
  const CancelScope* outer_;
};

}  // namespace sheaf

#pragma GCC visibility pop
