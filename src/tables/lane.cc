// SPDX-License-Identifier: MIT
#include "tables/lane.h"

#include <algorithm>
#include <new>

namespace sheaf::tables {
namespace {

// Below this, copies cost more to start than to run.
constexpr int64_t kLeastPinnedBytes = 64 << 10;
constexpr std::align_val_t kPieceAlignment{4096};

}  // namespace

Lane::Lane(const Backend& backend, void* stream)
    : indices(backend.device->staging),
      packed_indices(nullptr),
      updates(backend.device->staging),
      backend_(backend),
      steps_(*backend.device),
      staging_steps_(backend.device->staging),
      stream_(stream),
      staging_(backend.name, 0),
      workspace_(backend.name, 0) {}

Lane::~Lane() {
  try {
    wait();
  } catch (const Error&) {  // a device that failed has nothing in flight
  }
  free_ring();
  if (last_ != nullptr) {
    staging_steps_->free_event(last_);
  }
}

// A stream may be gone before its lane: where there are events, they are what is waited for.
void Lane::wait() {
  if (staging_steps_ == nullptr) {
    steps_.wait(nullptr, stream_);
  } else if (last_ != nullptr) {
    staging_steps_->wait(last_);
  }
  for (HostPiece& piece : ring_) {
    piece.used = false;
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
  for (int i = 0; i < count; ++i) {
    const auto size = static_cast<size_t>(bytes);
    void* const memory = pinned ? staging_steps_->allocate(size)
                                : ::operator new(size, kPieceAlignment, std::nothrow);
    if (memory == nullptr) {
      free_ring();
      return false;
    }
    ring_.push_back({static_cast<std::byte*>(memory), nullptr, false});
    pinned_ = pinned;
    if (pinned) {
      ring_.back().event = staging_steps_->make_event();
    }
  }
  piece_bytes_ = bytes;
  host_bytes_ = bytes * std::ssize(ring_);
  return true;
}

void Lane::free_ring() {
  for (const HostPiece& piece : ring_) {
    if (piece.event != nullptr) {
      staging_steps_->free_event(piece.event);
    }
    pinned_ ? staging_steps_->release(piece.memory)
            : ::operator delete(piece.memory, kPieceAlignment);
  }
  ring_.clear();
  piece_bytes_ = host_bytes_ = 0;
  next_ = 0;
}

int64_t Lane::reserve(int64_t least_bytes, const TableOptions& options) {
  if (!ring_.empty() && piece_bytes_ >= least_bytes) {
    return piece_bytes_;
  }
  wait();
  const int64_t wanted = std::max(options.piece_bytes, least_bytes);
  const int64_t least = std::max(std::min(wanted, kLeastPinnedBytes), least_bytes);
  if (staging_steps_ != nullptr) {
    for (int64_t bytes = wanted; bytes >= least;
         bytes = bytes == least ? 0 : std::max(bytes / 2, least)) {
      if (allocate_ring(bytes, options.pieces, true)) {
        return piece_bytes_;
      }
    }
  }
  // Pageable pieces are copied before the call goes on: one is as good as many.
  if (!allocate_ring(wanted, 1, false) && !allocate_ring(least, 1, false)) {
    throw Error(Refusal{.code = ErrorCode::kOutOfMemory,
                        .cause = {Reason::kMemory},
                        .who = "table",
                        .what = "out of memory",
                        .detail = "a piece of rows does not fit into host memory",
                        .next = "smaller piece_bytes in TableOptions"});
  }
  return piece_bytes_;
}

std::byte* Lane::begin_piece() {
  wait_for(next_);
  return ring_[next_].memory;
}

void Lane::begin_call() {
  idle_ = false;  // the caller may have enqueued something meanwhile
  verdict_in_workspace = false;
}

Queue Lane::queue() {
  idle_ = false;
  return {.device = backend_.name, .stream = stream_};
}

// Transfers that wait overtake what is enqueued.
void Lane::wait_for_stream() {
  if (!idle_) {
    steps_.wait(nullptr, stream_);
    idle_ = true;
  }
}

void Lane::copy(void* to, const std::byte* from, int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  if (pinned_) {
    staging_steps_->copy(to, from, size, stream_);
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

void Lane::end_piece() {
  HostPiece& piece = ring_[next_];
  if (piece.event != nullptr) {
    staging_steps_->record(piece.event, stream_);
    piece.used = true;
  }
  mark();
  next_ = (next_ + 1) % ring_.size();
}

void Lane::grow(DeviceMemory& memory, size_t bytes) {
  if (memory.bytes() < bytes) {
    wait();
    memory = DeviceMemory(backend_.name, 0);
    memory = DeviceMemory(backend_.name, bytes);
  }
}

std::byte* Lane::staging(int64_t bytes) {
  grow(staging_, static_cast<size_t>(bytes));
  return staging_.data();
}

WorkspaceView Lane::workspace(size_t bytes) {
  grow(workspace_, bytes);
  return workspace_;
}

}  // namespace sheaf::tables
