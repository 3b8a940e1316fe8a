// SPDX-License-Identifier: MIT
//
// A file that is open for reading. Everything is read by pread, never through a memory map: a map
// of a file that another process cuts short ends the program with SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sheaf::io {

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return number_; }

 private:
  int number_;
};

class OpenFile {
 public:
  // Refuses what is not a regular file (a FIFO, a device, a folder), without waiting for it.
  explicit OpenFile(const std::string& path);

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  int descriptor() const { return descriptor_.get(); }
  uint64_t identity() const { return identity_; }  // of this file in this state

  // Reads [offset, offset + bytes). Throws if the file ends before.
  void read(int64_t offset, void* to, int64_t bytes) const;
  std::string text(int64_t offset, int64_t bytes) const;

  // Throws if size or time of modification differ from those at opening.
  void check_unchanged() const;

  // The same file, opened with O_DIRECT; -1 where the file system has no such thing.
  Descriptor direct() const;

 private:
  std::string path_;
  Descriptor descriptor_;
  int64_t size_ = 0;
  int64_t modified_ns_ = 0;
  uint64_t identity_ = 0;
};

using FilePointer = std::shared_ptr<const OpenFile>;

// Throws the error of a file that ends at `end`, before the `wanted` bytes at `offset`.
[[noreturn]] void fail_short(const std::string& path, int64_t offset, int64_t wanted, int64_t end);

}  // namespace sheaf::io
