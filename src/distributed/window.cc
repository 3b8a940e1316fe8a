// SPDX-License-Identifier: MIT
#include "distributed/window.h"

#include <sys/mman.h>
#include <sys/statvfs.h>

#include <cstring>

#include "support/checked.h"

namespace sheaf::distributed {
namespace {

bool on_one_node(const Communicator& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  comm.check(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
             "MPI_Comm_split_type");
  int ranks = 0;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return ranks == comm.ranks();
}

// MPI may take memory that it finds no room for when it is written: that ends the process. So more
// than enough must be free where such memory comes from.
bool has_room(int64_t bytes) {
  struct statvfs system = {};
  if (statvfs("/dev/shm", &system) != 0) {
    return false;
  }
  const int64_t free =
      saturating_mul(static_cast<int64_t>(system.f_bavail), static_cast<int64_t>(system.f_frsize));
  return bytes <= free / 4;
}

// Whether this process may map as much: Open MPI 4.1 goes on with an address that leads nowhere
// where a limit (ulimit -v) is in the way.
bool has_addresses(int64_t bytes) {
  const size_t twice = size(saturating_mul(2, bytes));
  void* const memory = mmap(nullptr, twice, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  munmap(memory, twice);
  return true;
}

MPI_Win allocate(const Communicator& comm, int64_t bytes) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");  // each rank's part near its own core
  MPI_Win window = MPI_WIN_NULL;
  void* memory = nullptr;
  const int code = MPI_Win_allocate_shared(MPI_Aint{bytes}, 1, info, comm.get(), &memory, &window);
  MPI_Info_free(&info);
  if (code != MPI_SUCCESS) {
    return MPI_WIN_NULL;
  }
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  // Written at once: memory that was never written does not count as taken, and the next window
  // would be promised it, too.
  std::memset(memory, 0, size(bytes));
  return window;
}

}  // namespace

std::unique_ptr<Window> Window::open(const Communicator& comm, int64_t bytes) {
  const int64_t all = saturating_mul(comm.largest(bytes), comm.ranks());
  const bool room = has_room(all) && has_addresses(all);
  if (comm.largest(room ? 0 : 1) != 0 || !on_one_node(comm)) {
    return nullptr;
  }
  const MPI_Win window = allocate(comm, bytes);
  if (comm.largest(window != MPI_WIN_NULL ? 0 : 1) != 0) {
    return nullptr;  // where there is one it stays: freeing it would take all ranks
  }
  return std::make_unique<Window>(comm, window);
}

Window::Window(const Communicator& comm, MPI_Win window)
    : comm_(comm), window_(window), parts_(size(comm.ranks())) {
  for (int rank = 0; rank < comm.ranks(); ++rank) {
    MPI_Aint bytes = 0;
    int unit = 1;
    comm.check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &parts_[size(rank)]),
               "MPI_Win_shared_query");
  }
  comm.check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}

Window::~Window() {
  int over = 0;
  MPI_Finalized(&over);
  if (over == 0 && window_ != MPI_WIN_NULL && !comm_.broken()) {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
}

}  // namespace sheaf::distributed
