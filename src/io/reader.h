// SPDX-License-Identifier: MIT
//
// Many reads from one file at a time.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "io/open_file.h"
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

// Where requests go: the file's descriptor, or its O_DIRECT one.
struct ReadTarget {
  const OpenFile& file;
  int descriptor;
  int depth;
};

std::unique_ptr<Reader> make_pread_reader(const ReadTarget& target);

// Null where io_uring is not built in, or the kernel (or a container's policy) refuses it.
std::unique_ptr<Reader> make_uring_reader(const ReadTarget& target);

}  // namespace sheaf::io
