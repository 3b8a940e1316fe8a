// SPDX-License-Identifier: MIT
//
// A deflated part of a file, read from front to back. Going back starts again from the front.
#pragma once

#include <memory>

#include "io/file_version.h"

namespace sheaf::io {

class InflateStream {
 public:
  InflateStream(VersionPointer file, int64_t offset, int64_t stream_bytes);
  ~InflateStream();
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  // Reads [offset, offset + bytes) of the inflated stream; throws if it ends before.
  void read(int64_t offset, void* to, int64_t bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The checksum of zip files, continued from `crc`.
uint32_t crc32_of(uint32_t crc, const void* bytes, size_t count);

}  // namespace sheaf::io
