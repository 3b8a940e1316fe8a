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
    : backend_(backend),
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
  HostPiece& piece = ring_[next_];
  if (piece.used) {
    staging_steps_->wait(piece.event);
    piece.used = false;
  }
  return piece.memory;
}

void Lane::copy(void* to, const std::byte* from, int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  if (pinned_) {
    staging_steps_->copy(to, from, size, stream_);
    return;
  }
  steps_.wait(nullptr, stream_);  // uploads overtake what is enqueued
  steps_.upload(to, from, size);
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
