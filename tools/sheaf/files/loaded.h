// SPDX-License-Identifier: MIT
//
// Whole tensors of files, read with a bar.
#pragma once

#include <string>

#include "sheaf/io.h"

namespace sheaf::cli {

// All of `table` in memory. On a terminal a bar named `label` shows how far it is; `quiet`: none.
Array loaded(const Table& table, const std::string& label, bool quiet = false);

}  // namespace sheaf::cli
