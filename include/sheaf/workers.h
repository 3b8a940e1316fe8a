// SPDX-License-Identifier: MIT
//
// Running on the caller's threads instead of the library's own: for programs that have a pool, so
// that two pools do not share the cores.
//
//   const sheaf::WorkersScope scope({.run = run_on_my_pool, .context = &pool});
//   sheaf::gather(data, indices, output);    // on the threads of `pool`
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace sheaf {

struct Workers {
  // Calls task(argument, i) once for every i of [0, tasks), from whichever threads, several at a
  // time or one after the other, and returns when all calls have returned. Must not throw. False:
  // it may have left calls out. The caller then does what is left.
  bool (*run)(void* context, int64_t tasks, void (*task)(void* argument, int64_t i),
              void* argument) = nullptr;
  void* context = nullptr;
  int most = 0;  // at most this many tasks; 0: as many as the machine has cores
};

// While it lives, runs that this thread starts on the host use these threads: plans, calls and
// moves. RunOptions::threads still limits how many. Of several scopes the last one counts; one with
// a null `run` gives the library its own threads back.
class WorkersScope {
 public:
  explicit WorkersScope(Workers workers);
  ~WorkersScope();
  WorkersScope(const WorkersScope&) = delete;
  WorkersScope& operator=(const WorkersScope&) = delete;

  const Workers& workers() const { return workers_; }

 private:
  Workers workers_;
  const WorkersScope* outer_;
};

}  // namespace sheaf

#pragma GCC visibility pop
