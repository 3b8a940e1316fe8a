// SPDX-License-Identifier: MIT
//
// The elements of an encoded tensor, by the description of its format: coordinates and strides, one
// block at a time, nothing of the library's own decoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sheaf/encoding.h"

namespace oracle {

// All elements of the decoded tensor, row-major. A NaN is the one.
std::vector<float> decoded_table(const sheaf::EncodedSpec& spec, const std::byte* stored,
                                 const std::byte* scales, const std::byte* zeros);

// Elements of a block of a GGUF encoding; 0 for the others.
int64_t block_elements(sheaf::Encoding encoding);
// Bits of a code; 0 for blocks of GGUF.
int bits_of_code(sheaf::Encoding encoding);
// Whether scales are in a tensor of their own.
bool has_own_scales(sheaf::Encoding encoding);
// All but kPlain.
std::vector<sheaf::Encoding> all_encodings();

}  // namespace oracle
