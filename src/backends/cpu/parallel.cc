// SPDX-License-Identifier: MIT
#include "backends/cpu/parallel.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "execution/cancel.h"

namespace sheaf::cpu {
namespace {

// oneTBB allocates, and after an allocation that failed while it set itself up, its next call never
// returns. So the pool is given up for good if that happens before it has once completed a call.
std::atomic<bool> pool_works{false};
std::atomic<bool> pool_is_lost{false};

int default_threads() {
  static const int threads = [] {
    try {
      return oneapi::tbb::info::default_concurrency();
    } catch (...) {
      return 1;
    }
  }();
  return pool_is_lost.load(std::memory_order_relaxed) ? 1 : threads;
}

// Calls body(i) for i in [0, count) on the pool. False if oneTBB failed: then it may have left
// calls out.
template <class Body>
bool run_on_pool(int64_t count, Threads threads, const Body& body) {
  // A context of its own: were the caller a task that is cancelled, calls would be left out in
  // silence. Isolated: while it waits, the caller must not take up a task of somebody else, which
  // might want a lock that the caller holds.
  const auto run_all = [&] {
    using Context = oneapi::tbb::task_group_context;
    // The caller's rounding and treatment of subnormals hold on every thread.
    Context context(Context::isolated, Context::default_traits | Context::fp_settings);
    oneapi::tbb::this_task_arena::isolate(
        [&] { oneapi::tbb::parallel_for(int64_t{0}, count, body, context); });
  };
  try {
    if (threads.limited) {
      oneapi::tbb::task_arena(threads.count).execute(run_all);
    } else {
      run_all();  // an arena of its own would have to be set up, and its threads called together
    }
  } catch (...) {
    if (!pool_works.load(std::memory_order_relaxed)) {
      pool_is_lost.store(true, std::memory_order_relaxed);
    }
    return false;
  }
  pool_works.store(true, std::memory_order_relaxed);
  return true;
}

// Waits while other threads finish the pieces that they have claimed, and asks now and then whether
// to end early: some questions are for the calling thread alone, as Python's for signals, and
// oneTBB would wait in silence. A piece may last seconds.
void ask_until_done(const CancelScope& scope, const std::atomic<int64_t>& done, int64_t pieces) {
  constexpr int kShort = 1000;  // yields: mostly the others need less time than a sleep takes
  constexpr auto kBetweenQuestions = std::chrono::microseconds(50);
  for (int round = 0; done.load(std::memory_order_relaxed) < pieces; ++round) {
    if (round < kShort) {
      std::this_thread::yield();
    } else {
      scope.cancelled();
      std::this_thread::sleep_for(kBetweenQuestions);
    }
  }
}

}  // namespace

Threads worthwhile_threads(int64_t bytes, int limit) {
  if (limit == 1 || bytes < 2 * kBytesWorthAThread) {
    return {1, true};
  }
  const bool limited = limit > 0 && limit < default_threads();
  const int most = limited ? limit : default_threads();
  return {static_cast<int>(std::min<int64_t>(most, bytes / kBytesWorthAThread)), limited};
}

void run_on_threads(int64_t count, Threads threads,
                    const std::function<void(int64_t, int64_t)>& work) {
  // A few pieces per thread even out cores of different speed without scattering the writes.
  const int64_t pieces = std::min<int64_t>(count, int64_t{threads.count} * 4);
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};
  // Runs the next piece that nobody has claimed; false if there is none.
  const auto run_a_piece = [&] {
    const int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces) {
      return false;
    }
    // count / pieces each, the rest spread over the first ones: no product that could overflow.
    const int64_t each = count / pieces;
    const int64_t rest = count % pieces;
    const int64_t begin = piece * each + std::min(piece, rest);
    work(begin, begin + each + (piece < rest ? 1 : 0));
    done.fetch_add(1, std::memory_order_relaxed);
    return true;
  };
  const CancelScope* const scope = current_cancel_scope();
  const auto caller = std::this_thread::get_id();
  const auto run_task = [&](int64_t) {
    if (scope == nullptr || std::this_thread::get_id() != caller) {
      run_a_piece();
      return;
    }
    while (run_a_piece()) {
    }
    ask_until_done(*scope, done, pieces);
  };
  if (!run_on_pool(pieces, threads, run_task)) {
    while (run_a_piece()) {
    }
  }
}

}  // namespace sheaf::cpu
