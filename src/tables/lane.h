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
#include "execution/key_order.h"
#include "sheaf/table.h"
#include "tables/distinct_rows.h"
#include "tables/kept_memory.h"
#include "tables/kept_rows.h"

namespace sheaf::tables {

// Of one thread that fills pieces.
struct PieceScratch {
  std::vector<int64_t> resolved;  // of each point of a piece: where its row is, or kOutside
  std::vector<int64_t> offsets;   // of the rows of a piece
  std::vector<int32_t> numbers;   // of each point: which of the rows
  DistinctRows seen;
};

// Rows of a call on a file, in the order of the file.
struct FileOrder {
  std::vector<int64_t> offsets;
  std::vector<int32_t> points;
  std::vector<KeyedEntry> entries, spare;
};

// Steps go into the caller's stream, or beside it.
enum class Road : uint8_t { kStream, kSide };

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
  // The same memory, cut into pieces for threads that fill them at the same time: each has
  // ring_pieces() / threads of its own. Fewer threads than `most_threads` where their pieces would
  // be too small; for one thread it is reserve(). Returns the threads.
  int reserve_for_threads(int most_threads, int64_t least_bytes, const TableOptions& options);
  int64_t piece_bytes() const { return piece_bytes_; }

  // The next piece of the ring, when the device no longer copies from it.
  std::byte* begin_piece();
  // Enqueued: from that piece to the device.
  void copy(void* to, const std::byte* from, int64_t bytes, Road road = Road::kStream);
  // Enqueued: rows inside the device, of elements of `type`.
  void move_rows(const NumberedRows& rows, DType type);
  // Behind the last step that reads the piece.
  void end_piece();

  // The same for a thread that has pieces of its own. What it enqueues it does under `enqueueing`,
  // on the lane's device.
  std::byte* begin_piece_at(size_t piece);
  void end_piece_at(size_t piece, Road road = Road::kStream);
  std::mutex enqueueing;
  class OnDevice;

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
  // The same way as copy(), from memory of the lane that is not used again before wait().
  void copy_kept(std::byte* to, KeptMemory& from, int64_t bytes);
  // Behind the last step that uses anything else of the lane.
  void mark();

  // Memory of the device, with at least as many bytes.
  std::byte* staging(int64_t bytes, Road road = Road::kStream);
  std::byte* numbers(int64_t bytes);
  WorkspaceView workspace(size_t bytes, Road road = Road::kStream);
  WorkspaceView workspace() const { return of_stream_.workspace; }

  // For a step that is about to be enqueued.
  Queue queue(Road road = Road::kStream);
  // What the side is given from here on runs behind what the stream was given; and the reverse.
  void begin_side();
  void end_side();
  // After a failure: what is on the side must not outlive the call.
  void wait_for_side();
  const Backend& backend() const { return backend_; }
  // Whether the device finds cached rows by itself.
  bool looks_up_rows() const {
    return staging_steps_ != nullptr && staging_steps_->cache != nullptr;
  }
  void wait();             // for all that was enqueued here
  void wait_for_stream();  // and for all that the caller enqueued

  // Of the ring; both may be asked for during a call.
  int64_t host_bytes() const { return host_bytes_; }
  bool pinned() const { return pinned_; }

  // Scratch of the calls, kept so that none has to allocate.
  std::vector<int64_t> offsets;                        // of the rows of a piece
  std::vector<std::unique_ptr<PieceScratch>> scratch;  // of each thread that fills pieces
  FileOrder file_order;
  KeptMemory indices, packed_indices, updates;             // of the call, on the host
  KeptMemory resolved, found, missed_rows, missed_points;  // of the cache, on the host

  std::unique_ptr<KeptRows> cache;    // null: none was asked for yet
  bool verdict_in_workspace = false;  // the last call left its verdict there

 private:
  struct HostPiece {
    std::byte* memory = nullptr;
    void* event = nullptr;  // of a pinned piece: behind the last step that read it
    bool used = false;      // since the event was waited for
  };
  bool allocate_ring(int64_t bytes, int count, bool pinned);
  bool allocate_ring(int64_t least_bytes, const TableOptions& options);
  void cut_ring(int64_t bytes, int count);
  void free_ring();
  void grow(DeviceMemory& memory, size_t bytes, Road road);

  const Backend& backend_;
  const DeviceSteps& steps_;
  const StagingSteps* staging_steps_;
  void* stream_;
  void* last_ = nullptr;  // event behind the last step of all; null: none was marked
  bool idle_ = false;     // the stream was waited for, and no step was enqueued by this lane since
  const int number_;      // of the device, among those of its kind
  std::byte* ring_memory_ = nullptr;
  int64_t ring_bytes_ = 0;
  std::vector<HostPiece> ring_;
  std::vector<void*> events_;  // of the pieces, and of those of an earlier cut
  size_t next_ = 0;
  int64_t piece_bytes_ = 0;
  int threads_ = 1;  // that the ring is cut for
  std::atomic<int64_t> host_bytes_ = 0;
  std::atomic<bool> pinned_ = true;
  struct RoadMemory {
    DeviceMemory staging, workspace;
  };
  RoadMemory& memory_of(Road road) { return road == Road::kSide ? of_side_ : of_stream_; }
  RoadMemory of_stream_, of_side_;
  DeviceMemory numbers_;
  void *side_ = nullptr, *fork_ = nullptr, *join_ = nullptr;  // a stream, and its events
};

// While it lives, the calling thread works on the lane's device.
class Lane::OnDevice {
 public:
  explicit OnDevice(const Lane& lane);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const StagingSteps* steps_;
  int before_ = 0;
};

}  // namespace sheaf::tables
