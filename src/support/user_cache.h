// SPDX-License-Identifier: MIT
//
// Small files that are kept for the user from one run to the next. Losing them costs time only.
#pragma once

#include <optional>
#include <string>

namespace sheaf {

// XDG_CACHE_HOME/sheaf or HOME/.cache/sheaf; empty if neither names a folder.
std::string user_cache_folder();

// All of a file of this user that has at most so many bytes; nothing if there is no such file.
std::optional<std::string> read_user_file(const std::string& path, int64_t most_bytes);

// Puts `content` in the place of the file, whole or not at all; makes the folder. False if it
// cannot.
bool replace_user_file(const std::string& path, const std::string& content);

}  // namespace sheaf
