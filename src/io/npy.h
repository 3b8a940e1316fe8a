// SPDX-License-Identifier: MIT
//
// The header of NumPy's .npy: a magic number, a version, and a Python dictionary as text.
#pragma once

#include <functional>
#include <string>

#include "sheaf/tensor.h"

namespace sheaf::io {

struct NpyHeader {
  TensorSpec spec;
  int64_t bytes = 0;        // of the data
  int64_t data_offset = 0;  // from the start of the magic number
};

// Reads `count` bytes at `offset` of the .npy, which has at least `limit` bytes or fails.
using ReadText = std::function<std::string(int64_t offset, int64_t count)>;

// `path` and `name` are for errors.
NpyHeader parse_npy(const std::string& path, const std::string& name, const ReadText& read);

// The header of a row-major array: version 1.0, a multiple of 64 bytes.
std::string npy_header(const TensorSpec& spec);

}  // namespace sheaf::io
