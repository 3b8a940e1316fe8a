// SPDX-License-Identifier: MIT
//
// A new file in the place of one that a call reads from would lose everything that is not part of
// the result.
#pragma once

#include <optional>
#include <string>

#include "io/file_version.h"
#include "sheaf/io.h"

namespace sheaf::io {

// The file that `path` names, through links; nothing if there is none.
std::optional<FileIdentity> identity_of(const std::string& path);

// Throws if `path` is a file that the File of `data` was opened from: its own, a shard, an index,
// or external data.
void refuse_own_input(const Table& data, const std::string& path);

// The same for inputs that were named by path.
void refuse_own_input(const std::string& input, const std::string& path);

}  // namespace sheaf::io
