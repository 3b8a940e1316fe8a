// SPDX-License-Identifier: MIT
//
// Threads of this process as the ranks of a group, over a transport of callbacks that a test may
// meddle with.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sheaf/sharded.h"

using To = std::span<const sheaf::sharded::Transport::Outgoing>;
using From = std::span<const sheaf::sharded::Transport::Incoming>;

// What the threads exchange over. The n-th exchange of one meets the n-th of the others.
class Hub {
 public:
  explicit Hub(int ranks) : ranks_(ranks), calls_(static_cast<size_t>(ranks)) {}

  int64_t exchange(int rank, To to, From from) {
    std::unique_lock lock(mutex_);
    const int64_t call = calls_[static_cast<size_t>(rank)]++;
    for (int other = 0; other < ranks_; ++other) {
      const auto& message = to[static_cast<size_t>(other)];
      const auto* bytes = static_cast<const char*>(message.data);
      posted_[{call, rank, other}] =
          std::string(bytes, bytes + (message.bytes > 0 ? message.bytes : 0));
    }
    changed_.notify_all();
    int64_t arrived = 0;
    for (int other = 0; other < ranks_; ++other) {
      const auto key = std::tuple(call, other, rank);
      changed_.wait(lock, [&] { return stopped_ || posted_.contains(key); });
      if (stopped_) {
        throw std::runtime_error("stopped");
      }
      const std::string message = posted_.extract(key).mapped();
      const auto& in = from[static_cast<size_t>(other)];
      if (std::ssize(message) != in.bytes) {
        throw std::runtime_error("sizes differ");
      }
      std::copy(message.begin(), message.end(), static_cast<char*>(in.data));
      arrived += in.bytes;
    }
    return arrived;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::tuple<int64_t, int, int>, std::string> posted_;  // call, from, to
  std::vector<int64_t> calls_;
  bool stopped_ = false;
};

// One exchange of one rank, counted from 0, with the honest one to call.
using Meddle = std::function<int64_t(int rank, int64_t call, To to, From from,
                                     const std::function<int64_t()>& honest)>;

// Calls `work` on each rank; returns what each threw.
inline std::vector<std::string> run_ranks(
    int ranks, const std::function<void(const std::shared_ptr<sheaf::sharded::Transport>&)>& work,
    const Meddle& meddle = {}) {
  Hub hub(ranks);
  std::vector<std::string> thrown(static_cast<size_t>(ranks), "no error");
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      int64_t call = 0;
      const auto exchange = [&](To to, From from) {
        const auto honest = [&] { return hub.exchange(rank, to, from); };
        return meddle ? meddle(rank, call++, to, from, honest) : honest();
      };
      try {
        work(std::make_shared<sheaf::sharded::CallbackTransport>(rank, ranks, exchange,
                                                                 [&] { hub.stop(); }));
      } catch (const std::exception& error) {
        thrown[static_cast<size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return thrown;
}
