// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "info.h"
#include "partitioner.h"
#include "task_arena.h"

namespace oneapi::tbb {

class task_group_context {
 public:
  enum Kind { isolated };
  enum Traits : std::size_t { fp_settings = 1, default_traits = 2 };
  task_group_context(Kind /*kind*/, std::size_t /*traits*/) {}
};

template <class Body>
void parallel_for(int64_t first, int64_t last, const Body& body,
                  const static_partitioner& /*partitioner*/, task_group_context& /*context*/) {
  std::atomic<int64_t> next{first};
  const auto work = [&] {
    for (int64_t i = next++; i < last; i = next++) {
      body(i);
    }
  };
  const int limit = stub::most_threads > 0 ? stub::most_threads : info::default_concurrency();
  const int64_t threads = std::min<int64_t>(limit, last - first);
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) {
    others.emplace_back(work);
  }
  work();
  for (std::thread& other : others) {
    other.join();
  }
}

}  // namespace oneapi::tbb
