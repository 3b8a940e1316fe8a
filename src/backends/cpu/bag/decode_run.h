// SPDX-License-Identifier: MIT
//
// Runs of decoded elements, compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/encoded_rows.h"

namespace sheaf::cpu {

// Elements [first, first + count) of the decoded tensor, which may lie in several rows.
using DecodeRun = void (*)(const EncodedRows& rows, const EncodedMemory& memory, int64_t first,
                           int64_t count, float* decoded);

// The routine for the best instruction set of this machine.
DecodeRun decoder_for(Encoding encoding);

}  // namespace sheaf::cpu
