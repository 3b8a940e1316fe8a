// SPDX-License-Identifier: MIT
//
// What every target does: bytes become a file, the file is opened, and every tensor in it is looked
// at. A FileError is the right answer to most inputs; anything else that is thrown is a bug.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

// `name` decides the format where the bytes do not: "x.onnx".
void open_bytes(const char* name, const uint8_t* bytes, size_t count);

}  // namespace fuzz
