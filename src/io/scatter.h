// SPDX-License-Identifier: MIT
//
// A scatter into a file that is being written.
#pragma once

#include "io/new_file.h"
#include "sheaf/io.h"

namespace sheaf::io {

// Applies the updates, in order, to the table at `start` of `file`, which is laid out as
// plan.output() says and holds the base already. Indices have been checked.
FileStats scatter_blocks(const Plan& plan, NewFile& file, int64_t start, const void* indices,
                         const void* updates, const FileOptions& options);

}  // namespace sheaf::io
