// SPDX-License-Identifier: MIT
#pragma once

#include "info.h"

namespace oneapi::tbb {
namespace stub {

inline thread_local int most_threads = 0;  // of the arena that the caller is in; 0: none

}  // namespace stub

class task_arena {
 public:
  explicit task_arena(int threads) : threads_(threads) {}
  int max_concurrency() const { return threads_; }

  template <class Call>
  void execute(const Call& call) {
    const int outer = stub::most_threads;
    stub::most_threads = threads_;
    call();
    stub::most_threads = outer;
  }

 private:
  int threads_;
};

namespace this_task_arena {

template <class Call>
void isolate(const Call& call) {
  call();  // no thread takes up another's work here
}

}  // namespace this_task_arena
}  // namespace oneapi::tbb
