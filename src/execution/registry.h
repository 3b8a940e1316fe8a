// SPDX-License-Identifier: MIT
//
// The backends of this build.
#pragma once

#include <span>
#include <string_view>

#include "execution/backend.h"

namespace sheaf {

// Those that run on host memory, fastest first; "reference", which accepts everything, is the last.
std::span<const Backend* const> host_backends();

// Those that run on a device's memory.
std::span<const Backend* const> device_backends();

// The one of that name; "reference" is always there.
const Backend& host_backend(std::string_view name);

// Throws kUnsupported if this build has no device of that name.
const Backend& device_backend(std::string_view name);

// The one whose memory DLPack gives this number; null if this build has none.
const Backend* device_of_dlpack(int dlpack_type);

// Adds a backend of another library, in front of those that are there.
void add_backend(const Backend& backend);

}  // namespace sheaf
