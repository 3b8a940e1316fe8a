// SPDX-License-Identifier: MIT
//
// A private duplicate of a communicator: what goes over it cannot meet the caller's messages.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>
#include <vector>

#include "sheaf/error.h"

namespace sheaf::distributed {

// The cores of this machine divided among its ranks.
int threads_per_rank();

class Communicator {
 public:
  explicit Communicator(MPI_Comm comm);               // collective
  ~Communicator();                                    // collective
  explicit Communicator(const Communicator& parent);  // collective; another duplicate
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  MPI_Comm get() const { return comm_; }
  bool broken() const { return broken_; }
  bool crowded() const { return crowded_; }  // more ranks than cores on this node

  // Throws on every code but MPI_SUCCESS. The communicator is then left as it is: a rank that was
  // lost would never take part in freeing it.
  void check(int code, const char* what) const;

  // Waits for all requests, and lets other processes run meanwhile.
  void wait(MPI_Request* requests, int64_t count) const;

  // Between two looks at memory that another rank will write, the first time with 0 `polls`: lets
  // messages move and, after a while, other processes run.
  void poll(int64_t polls) const;

  // Calls `work`. If it throws on any rank, throws on all of them what it threw on the lowest.
  void together(std::string_view who, const std::function<void()>& work) const;

  // Throws on every rank unless all pass the same text.
  void same_everywhere(std::string_view who, const std::string& what) const;

  // The largest of all ranks' values.
  int64_t largest(int64_t value) const;

  // One value to and from each rank.
  void exchange(const std::vector<int64_t>& to, std::vector<int64_t>& from) const;

 private:
  void duplicate(MPI_Comm comm);
  void throw_from(int rank, const std::exception_ptr& mine, std::string_view who) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 1;
  bool crowded_ = false;
  mutable bool broken_ = false;
};

enum Tag : int { kRequest = 1, kReply, kCells, kRows };

inline size_t size(int64_t count) { return static_cast<size_t>(count); }

// Messages under way. Lengths are in bytes and may exceed what an int holds. Between two ranks,
// messages of one tag arrive in the order of their sending.
class Messages {
 public:
  Messages(const Communicator& comm, int64_t piece_bytes)
      : comm_(comm), piece_bytes_(piece_bytes) {}
  void send(int to, const void* bytes, int64_t count, int tag);
  void receive(int from, void* bytes, int64_t count, int tag);
  void wait();

 private:
  const Communicator& comm_;
  int64_t piece_bytes_;
  std::vector<MPI_Request> requests_;
};

}  // namespace sheaf::distributed
