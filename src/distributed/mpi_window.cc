// SPDX-License-Identifier: MIT

#include <sys/mman.h>
#include <sys/statvfs.h>

#include <cstring>
#include <vector>

#include "distributed/group.h"
#include "distributed/mpi_transport.h"
#include "distributed/window.h"
#include "support/checked.h"

namespace sheaf::distributed {
namespace {

bool on_one_node(const MpiTransport& comm) {
  MPI_Comm node = MPI_COMM_NULL;
  comm.check(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
             "MPI_Comm_split_type");
  int ranks = 0;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return ranks == comm.ranks();
}

// MPI may allocate shared memory that does not fit, and the first write then ends the process. So
// four times the size must be free.
bool has_room(int64_t bytes) {
  struct statvfs system = {};
  if (statvfs("/dev/shm", &system) != 0) {
    return false;
  }
  const int64_t free =
      saturating_mul(static_cast<int64_t>(system.f_bavail), static_cast<int64_t>(system.f_frsize));
  return bytes <= free / 4;
}

// Whether this process may map as much: under a limit (ulimit -v), Open MPI 4.1 returns an invalid
// address instead of an error.
bool has_addresses(int64_t bytes) {
  const size_t twice = size(saturating_mul(2, bytes));
  void* const memory = mmap(nullptr, twice, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  munmap(memory, twice);
  return true;
}

MPI_Win allocate(const MpiTransport& comm, int64_t bytes) {
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
  // Written at once: untouched memory does not count as used, and the next window could get it too.
  std::memset(memory, 0, size(bytes));
  return window;
}

class MpiWindow final : public Window {
 public:
  MpiWindow(const MpiTransport& comm, MPI_Win window)
      : comm_(comm), window_(window), parts_(size(comm.ranks())) {
    for (int rank = 0; rank < comm.ranks(); ++rank) {
      MPI_Aint bytes = 0;
      int unit = 1;
      comm.check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &parts_[size(rank)]),
                 "MPI_Win_shared_query");
    }
    comm.check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  }
  ~MpiWindow() override {
    int over = 0;
    MPI_Finalized(&over);
    if (over == 0 && !comm_.broken()) {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    }
  }

  std::byte* of(int rank) const override { return parts_[size(rank)]; }
  void poll(int64_t polls) const override { comm_.poll(polls); }

 private:
  const MpiTransport& comm_;
  MPI_Win window_;
  std::vector<std::byte*> parts_;  // by rank
};

}  // namespace

std::unique_ptr<Window> MpiTransport::share(int64_t bytes, int64_t run_bytes) {
  // Where ranks outnumber cores, MPICH takes 0.1 to 0.5 s to open a window: too much for less.
  constexpr int64_t kWorthCrowding = int64_t{8} << 20;
  const int64_t all = saturating_mul(largest(bytes), ranks_);
  const bool wanted = !crowded_ || run_bytes >= kWorthCrowding;
  if (largest(wanted && has_room(all) && has_addresses(all) ? 0 : 1) != 0 || !on_one_node(*this)) {
    return nullptr;
  }
  const MPI_Win window = allocate(*this, bytes);
  if (largest(window != MPI_WIN_NULL ? 0 : 1) != 0) {
    return nullptr;  // an allocated one is leaked: freeing it is collective
  }
  return std::make_unique<MpiWindow>(*this, window);
}

}  // namespace sheaf::distributed
