// SPDX-License-Identifier: MIT
//
// What a device has for mixtures of experts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/moe.h"

namespace sheaf {

struct Launch;

struct MoeBuffers {
  const std::byte* experts;
  const std::byte* tokens;  // null: rows are not asked for
  std::byte* rows;
  int64_t* sources;  // may be null
  int64_t* inverse;
  int64_t* offsets;
};

struct MoeSteps {
  // Why this device cannot permute; null if it can.
  const char* (*refusal)(const MoeNest& nest);
  size_t (*workspace_bytes)(const MoeNest& nest);
  // Enqueued. Writes nothing if launch.verdict says that an expert is bad. Experts that have
  // changed since that check, and are bad now, are dropped and noted in it.
  void (*run)(const MoeNest& nest, const MoeBuffers& buffers, const Launch& launch);
};

}  // namespace sheaf
