// SPDX-License-Identifier: MIT
//
// Many reads from one file at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "io/file_version.h"
#include "sheaf/io.h"

namespace sheaf::io {

struct ReadRequest {
  int64_t offset;  // in the file
  int64_t bytes;
  std::byte* to;
};

class Reader {
 public:
  virtual ~Reader() = default;
  virtual std::string_view name() const = 0;
  // Reads all of them, in any order. Short reads are continued; the end of the file and errors of
  // the disk throw FileError after every request in flight has come back.
  virtual void read(std::span<const ReadRequest> requests) = 0;
};

// Where requests go: the file's own descriptor, or its O_DIRECT one.
struct ReadTarget {
  const FileVersion& file;
  int descriptor;
  int depth;
  bool is_direct = false;

  // O_DIRECT reads whole blocks into aligned memory. The end of a file that is not a whole block,
  // and what is left of a read that came back short, goes through the page cache.
  int descriptor_for(const ReadRequest& r) const {
    constexpr int64_t kAlignment = 4096;
    const auto address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(r.to));
    const bool whole = (r.offset | r.bytes | address) % kAlignment == 0;
    return whole || !is_direct ? descriptor : file.descriptor();
  }
};

std::unique_ptr<Reader> make_pread_reader(const ReadTarget& target);

// Null where io_uring is not built in, or the kernel (or a container's policy) refuses it.
std::unique_ptr<Reader> make_uring_reader(const ReadTarget& target);

}  // namespace sheaf::io
