// SPDX-License-Identifier: MIT
#include "backends/cpu/parallel.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

namespace sheaf::cpu {
namespace {

int default_threads() {
  static const int threads = oneapi::tbb::info::default_concurrency();
  return threads;
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
  // A few pieces a thread even out cores of different speed without scattering the writes.
  const int64_t pieces = std::min<int64_t>(count, int64_t{threads.count} * 4);
  const auto run_piece = [&](int64_t piece) {
    // count / pieces each, the rest spread over the first ones: no product that could overflow.
    const int64_t each = count / pieces;
    const int64_t rest = count % pieces;
    const int64_t begin = piece * each + std::min(piece, rest);
    work(begin, begin + each + (piece < rest ? 1 : 0));
  };
  // A context of its own: were the caller a task that is cancelled, pieces would be left out in
  // silence. Isolated: while it waits, the caller must not take up a task of somebody else, which
  // might want a lock that the caller holds.
  const auto run_all = [&] {
    using Context = oneapi::tbb::task_group_context;
    // The caller's rounding and treatment of subnormals hold on every thread.
    Context context(Context::isolated, Context::default_traits | Context::fp_settings);
    oneapi::tbb::this_task_arena::isolate(
        [&] { oneapi::tbb::parallel_for(int64_t{0}, pieces, run_piece, context); });
  };
  if (threads.limited) {
    oneapi::tbb::task_arena(threads.count).execute(run_all);
  } else {
    run_all();  // an arena of its own would have to be set up, and its threads called together
  }
}

}  // namespace sheaf::cpu
