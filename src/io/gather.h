// SPDX-License-Identifier: MIT
//
// A gather whose data is larger than memory.
#pragma once

#include "io/byte_space.h"
#include "io/sink.h"

namespace sheaf::io {

// Moves the rows that `plan` asks for from `table` to `sink`: each block of the file is read once,
// in the order of the file. Throws IndexError before anything is read or written.
FileStats gather_blocks(const Plan& plan, const Table& table, const void* indices, Sink& sink,
                        const FileOptions& options);

// The same from a space that the caller opened: calls that share it read the same version.
FileStats gather_blocks(const Plan& plan, const Table& table, ByteSpace& space, const void* indices,
                        Sink& sink, const FileOptions& options);

}  // namespace sheaf::io
