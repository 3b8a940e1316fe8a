// SPDX-License-Identifier: MIT
//
// A new file in the place of one that a call reads from would lose everything that is not part of
// the result.
#pragma once

#include <string>

#include "sheaf/io.h"

namespace sheaf::io {

// Throws if `path` is a file that the File of `data` was opened from: its own, a shard, an index,
// or external data.
void refuse_own_input(const Table& data, const std::string& path);

// The same for inputs that were named by path.
void refuse_own_input(const std::string& input, const std::string& path);

}  // namespace sheaf::io
