// SPDX-License-Identifier: MIT
//
// Ctrl-C during a run that has released Python's lock: the run asks now and then, and ends early
// with whatever the signal handler raised.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>
#include <sheaf/cancel.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace sheaf::python {

// What a signal handler raised during a run. No python_error: those are errors of arrays and their
// libraries, and become refusals.
struct Interrupted {
  nanobind::python_error error;
};

class InterruptWatch {
 public:
  // `state`: of the calling thread, which has released the lock.
  explicit InterruptWatch(PyThreadState* state) : state_(state) {}

  Cancel cancel() { return {asked, this}; }
  // A handler has raised: its exception is the calling thread's current error.
  bool interrupted() const { return interrupted_; }

 private:
  using Clock = std::chrono::steady_clock;
  // Often enough for a person, seldom enough for the lock.
  static constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

  // Python runs signal handlers on its main thread alone; that is the process's, unless Python is
  // embedded in another program's thread.
  static bool on_main_thread() {
#ifdef __linux__
    return syscall(SYS_gettid) == getpid();
#else
    return false;
#endif
  }

  static bool asked(void* context) {
    auto& watch = *static_cast<InterruptWatch*>(context);
    if (std::this_thread::get_id() != watch.caller_ || Clock::now() < watch.next_look_) {
      return false;
    }
    watch.next_look_ = Clock::now() + kBetweenLooks;
    return on_main_thread() && watch.look();
  }

  bool look() {
    PyEval_RestoreThread(state_);
    interrupted_ = PyErr_CheckSignals() != 0;
    PyEval_SaveThread();
    return interrupted_;
  }

  PyThreadState* const state_;
  const std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_look_ = Clock::now() + kBetweenLooks;
  bool interrupted_ = false;
};

}  // namespace sheaf::python
