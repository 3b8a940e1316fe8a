// SPDX-License-Identifier: MIT
//
// What a backend has for gathers of encoded tables.
#pragma once

#include <string_view>

#include "execution/checks.h"
#include "plan/encoded_gather.h"

namespace sheaf {

struct Launch;

struct EncodedBuffers {
  EncodedMemory data;
  const std::byte* indices;
  std::byte* output;
};

struct EncodedKernel {
  std::string_view name;
  // Why this kernel cannot run the gather, or is not worth it; null if it can.
  const char* (*refusal)(const EncodedNest& nest);
  // Runs a nest that is not empty, as GatherKernel::run does.
  bool (*run)(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch);
  Checks checks = Checks::kNever;
};

}  // namespace sheaf
