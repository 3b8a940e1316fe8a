// SPDX-License-Identifier: MIT
//
// Host memory that is kept from one call to the next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execution/staging.h"

namespace sheaf::tables {

class KeptMemory {
 public:
  // `steps`: of the device that copies from and to it, if that has them.
  explicit KeptMemory(const StagingSteps* steps) : steps_(steps) {}
  ~KeptMemory() { release(); }
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  // At least as many bytes. What was there before is lost where they are more than ever before; no
  // device may be using it.
  std::byte* get(int64_t bytes);
  bool pinned() const { return pinned_; }

 private:
  void release();

  const StagingSteps* steps_;
  std::byte* memory_ = nullptr;
  int64_t bytes_ = 0;
  bool pinned_ = false;
};

}  // namespace sheaf::tables
