// SPDX-License-Identifier: MIT
//
// The table of contents of a zip file, with zip64. Written by hand: zip libraries give the bytes of
// a member, but not the place in the file where a stored member lies, which out-of-core reads need.
#pragma once

#include <string>
#include <vector>

#include "io/open_file.h"

namespace sheaf::io {

struct ZipMember {
  std::string name;
  int method = 0;  // 0 stored, 8 deflated
  bool encrypted = false;
  int64_t stream_bytes = 0;  // in the file
  int64_t bytes = 0;         // inflated
  int64_t offset = 0;        // of the stream
};

// All members, in the order of the file. Refuses members that overlap or leave the file.
std::vector<ZipMember> read_zip(const OpenFile& file);

}  // namespace sheaf::io
