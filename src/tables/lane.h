// SPDX-License-Identifier: MIT
//
// What calls of one table on one stream of a device share: a ring of host pieces that the device
// copies from, memory on the device that pieces arrive in, and a workspace. Everything grows when a
// call needs more than those before it, and is used in the order of the stream.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "execution/backend.h"
#include "sheaf/table.h"
#include "tables/device_cache.h"
#include "tables/distinct_rows.h"
#include "tables/kept_memory.h"

namespace sheaf::tables {

class Lane {
 public:
  Lane(const Backend& backend, void* stream);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Held during a call: calls on one stream take turns.
  std::mutex mutex;

  // First in every call, by who holds the mutex.
  void begin_call();

  // Makes the ring hold pieces of options.piece_bytes, or of `least_bytes` if that is more. Less if
  // locked memory is short, then pageable memory. Returns the bytes of a piece.
  int64_t reserve(int64_t least_bytes, const TableOptions& options);

  // The next piece of the ring, when the device no longer copies from it.
  std::byte* begin_piece();
  // Enqueued: from that piece to the device.
  void copy(void* to, const std::byte* from, int64_t bytes);
  // Behind the last step that reads the piece.
  void end_piece();

  // Enqueued, in as many pieces as it takes: from memory of the caller, which is read at once.
  void upload(std::byte* to, const void* from, int64_t bytes, const TableOptions& options);

  // The other direction. Enqueued: from the device into the next piece of the ring, of which
  // wait_for() returns the memory when the bytes are there. As many as the ring has pieces, less
  // the one that is looked at, may be on their way.
  size_t fetch_piece(const std::byte* from, int64_t bytes);
  const std::byte* wait_for(size_t piece);
  size_t ring_pieces() const { return ring_.size(); }
  // To host memory at once, behind all that was enqueued.
  std::byte* download(KeptMemory& to, const std::byte* from, int64_t bytes);
  // Behind the last step that uses anything else of the lane.
  void mark();

  // Memory of the device, with at least as many bytes.
  std::byte* staging(int64_t bytes);
  WorkspaceView workspace(size_t bytes);
  WorkspaceView workspace() const { return workspace_; }

  // For a step that is about to be enqueued.
  Queue queue();
  const Backend& backend() const { return backend_; }
  void wait();  // for all that was enqueued here

  // Of the ring; both may be asked for during a call.
  int64_t host_bytes() const { return host_bytes_; }
  bool pinned() const { return pinned_; }

  // Scratch of the calls, kept so that none has to allocate.
  std::vector<int64_t> resolved;  // of each point of a piece: where its row is, or kOutside
  std::vector<int64_t> offsets;   // of the rows of a piece
  std::vector<int32_t> numbers;   // of each point: which of the rows
  DistinctRows seen;
  KeptMemory indices, packed_indices, updates;  // of the call, on the host

  std::unique_ptr<DeviceCache> cache;  // null: none was asked for yet
  bool verdict_in_workspace = false;   // the last call left its verdict there

 private:
  struct HostPiece {
    std::byte* memory = nullptr;
    void* event = nullptr;  // of a pinned piece: behind the last step that read it
    bool used = false;      // since the event was waited for
  };
  bool allocate_ring(int64_t bytes, int count, bool pinned);
  void free_ring();
  void grow(DeviceMemory& memory, size_t bytes);
  void wait_for_stream();

  const Backend& backend_;
  const DeviceSteps& steps_;
  const StagingSteps* staging_steps_;
  void* stream_;
  void* last_ = nullptr;  // event behind the last step of all; null: none was marked
  bool idle_ = false;     // the stream was waited for, and no step was enqueued by this lane since
  std::vector<HostPiece> ring_;
  size_t next_ = 0;
  int64_t piece_bytes_ = 0;
  std::atomic<int64_t> host_bytes_ = 0;
  std::atomic<bool> pinned_ = true;
  DeviceMemory staging_, workspace_;
};

}  // namespace sheaf::tables
