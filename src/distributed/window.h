// SPDX-License-Identifier: MIT
//
// Memory of every rank that all ranks of one node can read. It starts as zeros, and is ordinary
// memory: atomics order what goes through it.
#pragma once

#include <memory>
#include <vector>

#include "distributed/communicator.h"

namespace sheaf::distributed {

class Window {
 public:
  // Collective. `bytes` may differ between ranks. Null if the ranks are on several nodes, or if one
  // of them finds no room: then all go without.
  static std::unique_ptr<Window> open(const Communicator& comm, int64_t bytes);

  Window(const Communicator& comm, MPI_Win window);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();  // collective

  std::byte* mine() const { return parts_[size(comm_.rank())]; }
  const std::byte* of(int rank) const { return parts_[size(rank)]; }

 private:
  const Communicator& comm_;
  MPI_Win window_;
  std::vector<std::byte*> parts_;  // by rank
};

}  // namespace sheaf::distributed
