// SPDX-License-Identifier: MIT
#include "tables/lane.h"

#include <algorithm>
#include <new>

#include "tables/piece_plan.h"

namespace sheaf::tables {
namespace {

// Below this, copies cost more to start than to run.
constexpr int64_t kLeastPinnedBytes = 64 << 10;
constexpr std::align_val_t kRingAlignment{4096};
// Pieces begin on lines of the host's caches.
constexpr int64_t kPieceAlignment = 64;
// Of a thread's piece: what starting a copy costs is little beside it.
constexpr int64_t kLeastThreadBytes = 256 << 10;
// While one of a thread's pieces is copied, it fills the other.
constexpr int kPiecesPerThread = 2;

int64_t aligned_piece(int64_t bytes) {
  return (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

}  // namespace

Lane::Lane(const Backend& backend, void* stream)
    : indices(backend.device->staging),
      packed_indices(nullptr),
      updates(backend.device->staging),
      resolved(nullptr),
      found(backend.device->staging),
      missed_rows(backend.device->staging),
      missed_points(backend.device->staging),
      backend_(backend),
      steps_(*backend.device),
      staging_steps_(backend.device->staging),
      stream_(stream),
      number_(backend.device->current()),
      of_stream_{DeviceMemory(backend.name, 0), DeviceMemory(backend.name, 0)},
      of_side_{DeviceMemory(backend.name, 0), DeviceMemory(backend.name, 0)},
      numbers_(backend.name, 0) {}

Lane::~Lane() {
  try {
    wait();
    wait_for_side();
  } catch (const Error&) {  // a device that failed has nothing in flight
  }
  free_ring();
  const auto free = [&](void* event) {
    if (event != nullptr) {
      staging_steps_->free_event(event);
    }
  };
  std::ranges::for_each(events_, free);
  std::ranges::for_each(std::initializer_list<void*>{last_, fork_, join_}, free);
  if (side_ != nullptr) {
    staging_steps_->free_stream(side_);
  }
}

Lane::OnDevice::OnDevice(const Lane& lane) : steps_(lane.staging_steps_) {
  if (steps_ != nullptr) {
    before_ = steps_->use(lane.number_);
  }
}

Lane::OnDevice::~OnDevice() {
  try {
    if (steps_ != nullptr) {
      steps_->use(before_);
    }
  } catch (const Error&) {  // of a step before, which the call itself reports
  }
}

// A stream may be gone before its lane: where there are events, they are what is waited for.
void Lane::wait() {
  if (staging_steps_ == nullptr) {
    steps_.wait(nullptr, stream_);
  } else if (last_ != nullptr) {
    staging_steps_->wait(last_);
  }
}

void Lane::mark() {
  // An event that is captured marks a place in the graph, and cannot be waited for.
  if (staging_steps_ == nullptr || staging_steps_->capturing(stream_)) {
    return;
  }
  if (last_ == nullptr) {
    last_ = staging_steps_->make_event();
  }
  staging_steps_->record(last_, stream_);
}

bool Lane::allocate_ring(int64_t bytes, int count, bool pinned) {
  free_ring();
  const auto size = static_cast<size_t>(aligned_piece(bytes) * count);
  void* const memory =
      pinned ? staging_steps_->allocate(size) : ::operator new(size, kRingAlignment, std::nothrow);
  if (memory == nullptr) {
    return false;
  }
  pinned_ = pinned;
  ring_memory_ = static_cast<std::byte*>(memory);
  ring_bytes_ = aligned_piece(bytes) * count;
  host_bytes_ = bytes * count;
  cut_ring(bytes, count);
  return true;
}

// No device is using it.
void Lane::cut_ring(int64_t bytes, int count) {
  piece_bytes_ = 0;  // until all are there
  ring_.clear();
  ring_.reserve(static_cast<size_t>(count));
  events_.reserve(static_cast<size_t>(count));  // or an event would be lost
  while (pinned_ && std::ssize(events_) < count) {
    events_.push_back(staging_steps_->make_event());
  }
  for (int i = 0; i < count; ++i) {
    ring_.push_back({ring_memory_ + i * aligned_piece(bytes),
                     pinned_ ? events_[static_cast<size_t>(i)] : nullptr, false});
  }
  piece_bytes_ = bytes;
  next_ = 0;
}

void Lane::free_ring() {
  if (ring_memory_ != nullptr) {
    pinned_ ? staging_steps_->release(ring_memory_)
            : ::operator delete(ring_memory_, kRingAlignment);
  }
  ring_.clear();
  ring_memory_ = nullptr;
  ring_bytes_ = piece_bytes_ = host_bytes_ = 0;
}

bool Lane::allocate_ring(int64_t least_bytes, const TableOptions& options) {
  const int64_t wanted = std::max(options.piece_bytes, least_bytes);
  const int64_t least = std::max(std::min(wanted, kLeastPinnedBytes), least_bytes);
  if (staging_steps_ != nullptr) {
    for (int64_t bytes = wanted; bytes >= least;
         bytes = bytes == least ? 0 : std::max(bytes / 2, least)) {
      if (allocate_ring(bytes, options.pieces, true)) {
        return true;
      }
    }
  }
  // Pageable pieces are copied before the call goes on: one is as good as many.
  return allocate_ring(wanted, 1, false) || allocate_ring(least, 1, false);
}

int64_t Lane::reserve(int64_t least_bytes, const TableOptions& options) {
  if (threads_ == 1 && !ring_.empty() && piece_bytes_ >= least_bytes) {
    return piece_bytes_;
  }
  wait();
  threads_ = 1;
  const int64_t uncut = ring_bytes_ / options.pieces / kPieceAlignment * kPieceAlignment;
  if (pinned_ && uncut > 0 && uncut >= least_bytes) {
    cut_ring(std::min(uncut, std::max(options.piece_bytes, least_bytes)), options.pieces);
  } else if (!allocate_ring(least_bytes, options)) {
    throw Error(Refusal{.code = ErrorCode::kOutOfMemory,
                        .cause = {Reason::kMemory},
                        .who = "table",
                        .what = "out of memory",
                        .detail = "a piece of rows does not fit into host memory",
                        .next = "smaller piece_bytes in TableOptions"});
  }
  return piece_bytes_;
}

int Lane::reserve_for_threads(int most_threads, int64_t least_bytes, const TableOptions& options) {
  if (ring_.empty()) {
    reserve(least_bytes, options);
  }
  const int64_t least = std::max(least_bytes, kLeastThreadBytes);
  const auto threads = static_cast<int>(
      std::min<int64_t>(most_threads, ring_bytes_ / (kPiecesPerThread * aligned_piece(least))));
  if (!pinned_ || threads <= 1) {
    reserve(least_bytes, options);
  } else if (threads != threads_ || piece_bytes_ < least_bytes) {
    wait();
    const int pieces = kPiecesPerThread * threads;
    cut_ring(ring_bytes_ / pieces / kPieceAlignment * kPieceAlignment, pieces);
    threads_ = threads;
  }
  return threads_;
}

std::byte* Lane::begin_piece() { return begin_piece_at(next_); }

std::byte* Lane::begin_piece_at(size_t piece) {
  wait_for(piece);
  return ring_[piece].memory;
}

void Lane::begin_call() {
  idle_ = false;  // the caller may have enqueued something meanwhile
  verdict_in_workspace = false;
  // A stream that was made in the place of another knows nothing of that one's last steps.
  if (last_ != nullptr && staging_steps_->follow != nullptr &&
      !staging_steps_->capturing(stream_)) {
    staging_steps_->follow(stream_, last_);
  }
}

Queue Lane::queue(Road road) {
  idle_ = false;
  return {.device = backend_.name, .stream = road == Road::kSide ? side_ : stream_};
}

void Lane::begin_side() {
  side_ = side_ == nullptr ? staging_steps_->make_stream() : side_;
  fork_ = fork_ == nullptr ? staging_steps_->make_event() : fork_;
  join_ = join_ == nullptr ? staging_steps_->make_event() : join_;
  staging_steps_->record(fork_, stream_);
  staging_steps_->follow(side_, fork_);
}

void Lane::end_side() {
  try {
    staging_steps_->record(join_, side_);
    staging_steps_->follow(stream_, join_);
  } catch (...) {
    wait_for_side();
    throw;
  }
  mark();
}

void Lane::wait_for_side() {
  if (side_ != nullptr) {
    steps_.wait(nullptr, side_);
  }
}

// Transfers that wait overtake what is enqueued.
void Lane::wait_for_stream() {
  if (!idle_) {
    steps_.wait(nullptr, stream_);
    idle_ = true;
  }
}

void Lane::copy(void* to, const std::byte* from, int64_t bytes, Road road) {
  const auto size = static_cast<size_t>(bytes);
  if (pinned_) {
    idle_ = false;
    staging_steps_->copy(to, from, size, road == Road::kSide ? side_ : stream_);
    return;
  }
  wait_for_stream();
  steps_.upload(to, from, size);
}

void Lane::upload(std::byte* to, const void* from, int64_t bytes, const TableOptions& options) {
  const int64_t most = reserve(1, options);
  for (int64_t at = 0; at < bytes; at += most) {
    const int64_t here = std::min(most, bytes - at);
    std::byte* const piece = begin_piece();
    std::copy_n(static_cast<const std::byte*>(from) + at, here, piece);
    copy(to + at, piece, here);
    end_piece();
  }
}

size_t Lane::fetch_piece(const std::byte* from, int64_t bytes) {
  const size_t piece = next_;
  std::byte* const to = begin_piece();
  if (pinned_) {
    idle_ = false;
    staging_steps_->copy(to, from, static_cast<size_t>(bytes), stream_);
  } else {
    wait_for_stream();
    steps_.download(to, from, static_cast<size_t>(bytes));
  }
  end_piece();
  return piece;
}

const std::byte* Lane::wait_for(size_t piece) {
  HostPiece& waited = ring_[piece];
  if (waited.used) {
    staging_steps_->wait(waited.event);
    waited.used = false;
  }
  return waited.memory;
}

std::byte* Lane::download(KeptMemory& to, const std::byte* from, int64_t bytes) {
  std::byte* const memory = to.get(bytes);
  const auto size = static_cast<size_t>(bytes);
  if (to.pinned()) {
    staging_steps_->copy(memory, from, size, stream_);
    steps_.wait(nullptr, stream_);
    idle_ = true;
  } else {
    wait_for_stream();
    steps_.download(memory, from, size);
  }
  return memory;
}

void Lane::copy_kept(std::byte* to, KeptMemory& from, int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  if (from.pinned()) {
    idle_ = false;
    staging_steps_->copy(to, from.get(bytes), size, stream_);
    mark();
  } else {
    wait_for_stream();
    steps_.upload(to, from.get(bytes), size);
  }
}

void Lane::end_piece() {
  end_piece_at(next_);
  next_ = (next_ + 1) % ring_.size();
}

void Lane::end_piece_at(size_t piece, Road road) {
  if (ring_[piece].event != nullptr) {
    staging_steps_->record(ring_[piece].event, road == Road::kSide ? side_ : stream_);
    ring_[piece].used = true;
  }
  if (road == Road::kStream) {
    mark();
  }
}

// Steps that were enqueued since the last mark may use it.
void Lane::grow(DeviceMemory& memory, size_t bytes, Road road) {
  if (memory.bytes() < bytes) {
    mark();
    wait();
    if (road == Road::kSide) {
      wait_for_side();
    }
    memory = DeviceMemory(backend_.name, 0);
    memory = DeviceMemory(backend_.name, bytes);
  }
}

std::byte* Lane::staging(int64_t bytes, Road road) {
  grow(memory_of(road).staging, static_cast<size_t>(bytes), road);
  return memory_of(road).staging.data();
}

std::byte* Lane::numbers(int64_t bytes) {
  grow(numbers_, static_cast<size_t>(bytes), Road::kStream);
  return numbers_.data();
}

WorkspaceView Lane::workspace(size_t bytes, Road road) {
  grow(memory_of(road).workspace, bytes, road);
  return memory_of(road).workspace;
}

// Without a step of its own for it, a device gathers the rows, then scatters them.
void Lane::move_rows(const NumberedRows& rows, DType type) {
  if (staging_steps_ != nullptr && staging_steps_->move_rows != nullptr) {
    staging_steps_->move_rows(rows, stream_);
    idle_ = false;
    return;
  }
  move_by_plans(*this, rows, type);
}

}  // namespace sheaf::tables
