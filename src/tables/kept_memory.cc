// SPDX-License-Identifier: MIT
#include "tables/kept_memory.h"

#include <algorithm>
#include <new>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::tables {
namespace {

constexpr std::align_val_t kKeptAlignment{4096};
constexpr int64_t kLeastKept = 4096;

}  // namespace

std::byte* KeptMemory::get(int64_t bytes) {
  if (bytes <= bytes_) {
    return memory_;
  }
  const int64_t wanted = std::max({bytes, bytes_ + bytes_ / 2, kLeastKept});
  release();
  const auto size = static_cast<size_t>(wanted);
  void* memory = steps_ == nullptr ? nullptr : steps_->allocate(size);
  pinned_ = memory != nullptr;
  if (!pinned_) {
    memory = ::operator new(size, kKeptAlignment, std::nothrow);
  }
  if (memory == nullptr) {
    throw Error(
        Refusal{.code = ErrorCode::kOutOfMemory,
                .cause = {Reason::kMemory},
                .who = "table",
                .what = "out of memory",
                .detail = cat(bytes, " bytes of indices or updates do not fit into host memory"),
                .next = "fewer of them in a call"});
  }
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = wanted;
  return memory_;
}

void KeptMemory::release() {
  if (memory_ != nullptr) {
    pinned_ ? steps_->release(memory_) : ::operator delete(memory_, kKeptAlignment);
  }
  memory_ = nullptr;
  bytes_ = 0;
}

}  // namespace sheaf::tables
