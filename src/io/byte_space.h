// SPDX-License-Identifier: MIT
//
// What a table's blocks are cut from: a file, counted from its start so that blocks are pages; an
// inflated stream; or bytes in memory.
#pragma once

#include <memory>
#include <span>

#include "io/reader.h"
#include "io/source.h"

namespace sheaf::io {

inline constexpr int64_t kBlockBytes = 4096;

// A version of the file is taken when the space is made: that one is read, and no other.
class ByteSpace {
 public:
  virtual ~ByteSpace() = default;
  virtual int64_t table_offset() const = 0;  // of the table's first byte
  virtual int64_t size() const = 0;          // where the last block is cut
  virtual std::string_view reader_name() const = 0;
  virtual uint64_t version_number() const = 0;  // of the file; 0: its rows are not cached
  // Of offsets that count from the start of a stream: where that begins in the file. 0: they count
  // from the start of the file.
  virtual int64_t stream() const { return 0; }
  virtual void read(std::span<const ReadRequest> requests) = 0;  // rising offsets
  virtual void check_unchanged() const = 0;
};

std::unique_ptr<ByteSpace> open_space(const Table& table, const FileOptions& options);

// Refuses options that make no sense.
void check_options(const std::string& path, const FileOptions& options);

}  // namespace sheaf::io
