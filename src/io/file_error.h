// SPDX-License-Identifier: MIT
//
// The text of every error about a file: what is wrong, the values, the file, a next step.
#pragma once

#include <string>

#include "sheaf/io.h"

namespace sheaf::io {

// The content is at fault.
[[noreturn]] void refuse_file(const std::string& path, const std::string& what,
                              const std::string& detail, const std::string& next);

// The file is no longer the one that was opened: the error has ESTALE as its number.
[[noreturn]] void refuse_stale(const std::string& path, const std::string& what,
                               const std::string& detail, const std::string& next);

// The system is at fault: `action` ("read", "open") failed with `system_error`.
[[noreturn]] void fail_file(const std::string& path, const std::string& action, int system_error);

}  // namespace sheaf::io
