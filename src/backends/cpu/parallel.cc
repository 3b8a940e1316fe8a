// SPDX-License-Identifier: MIT
#include "backends/cpu/parallel.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "backends/cpu/tuning.h"
#include "execution/cancel.h"
#include "execution/workers.h"

namespace sheaf::cpu {
namespace {

// oneTBB allocates, and after an allocation that failed while it set itself up, its next call never
// returns. So the pool is given up for good if that happens before it has once completed a call.
std::atomic<bool> pool_works{false};
std::atomic<bool> pool_is_lost{false};

// As many as the machine has, or as the caller's own threads are.
int default_threads() {
  const Workers* const workers = current_workers();
  if (workers != nullptr) {
    static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return workers->most > 0 ? workers->most : cores;
  }
  static const int threads = [] {
    try {
      return oneapi::tbb::info::default_concurrency();
    } catch (...) {
      return 1;
    }
  }();
  return pool_is_lost.load(std::memory_order_relaxed) ? 1 : threads;
}

// Calls run() in an arena of at most `threads`. They are called together for it and stay there for
// a while, so it is kept for the next call, and belongs to one call at a time.
template <class Run>
void run_in_arena(int threads, const Run& run) {
  using Arena = oneapi::tbb::task_arena;
  static std::atomic<Arena*> kept{nullptr};
  std::unique_ptr<Arena> arena(kept.exchange(nullptr));
  if (arena == nullptr || arena->max_concurrency() != threads) {
    arena = std::make_unique<Arena>(threads);
  }
  arena->execute(run);
  arena.reset(kept.exchange(arena.release()));
}

// Calls body(i) for i in [0, count) on threads of the caller's. False: calls may have been left
// out.
template <class Body>
bool run_on_workers(const Workers& workers, int64_t count, const Body& body) {
  const auto call = [](void* argument, int64_t i) { (*static_cast<const Body*>(argument))(i); };
  return workers.run(workers.context, count, call, const_cast<Body*>(&body));
}

// Calls body(i) for i in [0, count) on the pool, each i on the same thread as in calls before if
// that is free. False if oneTBB failed: then it may have left calls out.
template <class Body>
bool run_on_pool(int64_t count, Threads threads, const Body& body) {
  // In a new context: if the caller were a task that is cancelled, calls would be left out in
  // silence. Isolated: while it waits, the caller must not run an unrelated task, which might want
  // a lock that the caller holds.
  const auto run_all = [&] {
    using Context = oneapi::tbb::task_group_context;
    // The caller's rounding and treatment of subnormals hold on every thread.
    Context context(Context::isolated, Context::default_traits | Context::fp_settings);
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(int64_t{0}, count, body, oneapi::tbb::static_partitioner(),
                                context);
    });
  };
  try {
    threads.limit > 0 ? run_in_arena(threads.limit, run_all) : run_all();
  } catch (...) {
    if (!pool_works.load(std::memory_order_relaxed)) {
      pool_is_lost.store(true, std::memory_order_relaxed);
    }
    return false;
  }
  pool_works.store(true, std::memory_order_relaxed);
  return true;
}

// Waits while other threads finish the pieces that they have claimed, and looks at the
// cancellation now and then: some of it is for the calling thread alone, as Python's signals are,
// and oneTBB would wait without it. A piece may last seconds.
void wait_until_done(const CancelScope& scope, const std::atomic<int64_t>& done, int64_t pieces) {
  for (int round = 0; done.load(std::memory_order_relaxed) < pieces; ++round) {
    if (round < kThreads.yields) {
      std::this_thread::yield();
    } else {
      scope.cancelled();
      std::this_thread::sleep_for(std::chrono::microseconds(kThreads.sleep_us));
    }
  }
}

// The pieces of a range, and who has claimed them.
class Pieces {
 public:
  Pieces(int64_t count, int threads, const std::function<void(int64_t, int64_t)>& work)
      : work_(work),
        count_(count),
        pieces_(std::min({count, kThreads.pieces * threads, kThreads.most_pieces})),
        threads_(threads) {}

  // Runs those of thread `number`, then what the others have not come to.
  void run(int64_t number) {
    const int64_t first = number * pieces_ / threads_;
    for (int64_t piece = first; piece < pieces_; ++piece) {
      run_if_free(piece);
    }
    for (int64_t piece = 0; piece < first; ++piece) {
      run_if_free(piece);
    }
  }

  int64_t count() const { return pieces_; }
  const std::atomic<int64_t>& done() const { return done_; }

 private:
  void run_if_free(int64_t piece) {
    auto& claimed = claimed_[static_cast<size_t>(piece)];
    if (claimed.load(std::memory_order_relaxed) ||
        claimed.exchange(true, std::memory_order_relaxed)) {
      return;
    }
    // count / pieces each, the rest spread over the first ones: no product that could overflow.
    const int64_t each = count_ / pieces_;
    const int64_t rest = count_ % pieces_;
    const int64_t begin = piece * each + std::min(piece, rest);
    work_(begin, begin + each + (piece < rest ? 1 : 0));
    done_.fetch_add(1, std::memory_order_relaxed);
  }

  const std::function<void(int64_t, int64_t)>& work_;
  const int64_t count_, pieces_, threads_;
  std::atomic<int64_t> done_{0};
  std::atomic<bool> claimed_[kThreads.most_pieces] = {};
};

}  // namespace

Threads worthwhile_threads(int64_t bytes, int limit) {
  if (limit == 1 || bytes < 2 * kThreads.least_bytes) {
    return {1, 1};
  }
  const bool limited = limit > 0 && limit < default_threads();
  const int most = limited ? limit : default_threads();
  return {static_cast<int>(std::min<int64_t>(most, bytes / kThreads.least_bytes)),
          limited ? limit : 0};
}

void run_on_threads(int64_t count, Threads threads,
                    const std::function<void(int64_t, int64_t)>& work) {
  Pieces pieces(count, threads.count, work);
  const CancelScope* const scope = current_cancel_scope();
  const auto caller = std::this_thread::get_id();
  const auto run_task = [&](int64_t number) {
    pieces.run(number);
    if (scope != nullptr && std::this_thread::get_id() == caller) {
      wait_until_done(*scope, pieces.done(), pieces.count());
    }
  };
  const Workers* const workers = current_workers();
  const bool complete = workers != nullptr ? run_on_workers(*workers, threads.count, run_task)
                                           : run_on_pool(threads.count, threads, run_task);
  if (!complete) {
    pieces.run(0);
  }
}

}  // namespace sheaf::cpu
