// SPDX-License-Identifier: MIT
//
// Ranges over threads. Each thread gets contiguous ranges, so that it writes contiguous memory.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

namespace sheaf::cpu {

struct Threads {
  int count;
  int limit;  // the caller allows no more; 0: a few more do no harm
};

// How many threads `bytes` of work are worth, at most `limit` (0: as many as the machine has).
Threads worthwhile_threads(int64_t bytes, int limit);

// Calls work(begin, end) over [0, count) from `threads`: the caller's own (sheaf/workers.h), or
// oneTBB's. Always completes: if oneTBB fails for lack of memory, the caller does what is left.
// `work` does not throw.
void run_on_threads(int64_t count, Threads threads,
                    const std::function<void(int64_t, int64_t)>& work);

// Becomes an int64_t and nothing else. Work that takes int would be given a part of the number.
struct Int64Only {
  operator int64_t() const;
  template <class Other>
  operator Other() const = delete;
};

// The same, from the caller alone if one thread is enough: small calls never touch the pool.
template <class Work>
void parallel_ranges(int64_t count, Threads threads, const Work& work) {
  static_assert(std::is_invocable_v<Work, Int64Only, Int64Only>, "a range takes two int64_t");
  if (threads.count <= 1 || count <= 1) {
    work(int64_t{0}, count);
  } else {
    run_on_threads(count, threads, std::cref(work));  // a copy might take memory
  }
}

}  // namespace sheaf::cpu
