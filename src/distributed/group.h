// SPDX-License-Identifier: MIT
//
// A transport, and what its ranks agree on: one error for all, the same call everywhere.
//
// Where a transport fails, or brings what cannot be true, this rank leaves the group: it lets go of
// the other ranks (Transport::abort), and every later call on the group throws.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sheaf/error.h"
#include "sheaf/sharded.h"

namespace sheaf::distributed {

inline size_t size(int64_t count) { return static_cast<size_t>(count); }

int cores();             // of this machine
int local_ranks();       // on this machine, as far as the launcher says
int threads_per_rank();  // the cores divided among these

// Throws unless `arrived` bytes are all that were `expected`.
void check_arrived(int64_t arrived, int64_t expected);

class Group {
 public:
  explicit Group(std::shared_ptr<sharded::Transport> transport);
  explicit Group(const Group& parent);  // collective; over a duplicate where the transport has one
  Group& operator=(const Group&) = delete;
  ~Group() = default;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  sharded::Transport& transport() const { return *transport_; }

  // Calls `work`. If it throws on any rank, throws on all of them what it threw on the lowest.
  void together(std::string_view who, const std::function<void()>& work) const;

  // Throws on every rank unless all pass the same text. Returns the largest of their values.
  int64_t same_everywhere(std::string_view who, const std::string& what, int64_t value = 0) const;

  // The largest of all ranks' values.
  int64_t largest(int64_t value) const;

  // One count to and from each rank, none larger than `most`. Returns the largest one that any rank
  // sent.
  int64_t exchange_counts(const std::vector<int64_t>& to, std::vector<int64_t>& from,
                          int64_t most) const;

  // Calls `use`, which uses the transport; leaves the group if it throws.
  template <class Use>
  auto with_transport(Use use) const {
    throw_if_left();
    try {
      return use(*transport_);
    } catch (...) {
      leave();
      throw;
    }
  }

  // Leaves the group because of what other ranks sent.
  [[noreturn]] void refuse_message(const std::string& detail) const;

 private:
  // Replaces each value by the largest one of all ranks.
  void agree(std::span<int64_t> values) const;
  void throw_if_left() const;
  void leave() const;
  [[noreturn]] void throw_from(int rank, const std::exception_ptr& mine,
                               std::string_view who) const;

  std::shared_ptr<sharded::Transport> transport_;
  std::shared_ptr<bool> left_ = std::make_shared<bool>(false);  // of all groups on one transport
  int rank_ = 0, ranks_ = 1;
  mutable int64_t agreed_ = 0;  // a hash of all that was agreed on: ranks that differ part ways
};

// An exchange, started and waited for again and again. Each rank is sent to and received from at
// most once per exchange.
class Messages {
 public:
  Messages(const Group& group, int64_t message_bytes);
  void send(int to, const void* data, int64_t bytes);
  void receive(int from, void* data, int64_t bytes);
  void start();
  void wait();  // until the memory of both sides is the caller's again

 private:
  const Group& group_;
  int64_t message_bytes_;
  int64_t expected_ = 0;
  std::vector<sharded::Transport::Outgoing> to_;
  std::vector<sharded::Transport::Incoming> from_;
  std::unique_ptr<sharded::Transport::Pending> pending_;
};

}  // namespace sheaf::distributed
