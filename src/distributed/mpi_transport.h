// SPDX-License-Identifier: MIT
//
// A private duplicate of a communicator: what goes over it cannot meet the caller's messages.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>

#include "sheaf/sharded.h"

namespace sheaf::distributed {

class MpiTransport final : public sharded::Transport {
 public:
  explicit MpiTransport(MPI_Comm comm);  // collective
  ~MpiTransport() override;              // collective
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int64_t exchange(std::span<const Outgoing> to, std::span<const Incoming> from) override;
  void largest(std::span<int64_t> values) override;
  std::unique_ptr<Pending> start(std::span<const Outgoing> to, std::span<const Incoming> from,
                                 int64_t message_bytes) override;
  std::shared_ptr<Transport> duplicate() override;
  bool works_in_threads() const override;
  // Null if the ranks are on several nodes, or if one of them finds no room.
  std::unique_ptr<Window> share(int64_t bytes, int64_t run_bytes) override;

  MPI_Comm get() const { return comm_; }
  bool broken() const { return broken_; }

  // Throws on every code but MPI_SUCCESS. The communicator is then left as it is: a rank that was
  // lost would never take part in freeing it.
  void check(int code, const char* what) const;

  // Waits for all requests, and lets other processes run meanwhile.
  void wait(MPI_Request* requests, int64_t count) const;

  void poll(int64_t polls) const;  // see Window

 private:
  int64_t largest(int64_t value);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  bool crowded_;  // more ranks than cores on this node
  mutable bool broken_ = false;
};

}  // namespace sheaf::distributed
