// SPDX-License-Identifier: MIT
//
// One version of a file, open for reading. Everything is read by pread, never through a memory map:
// a map of a file that another process cuts short ends the program with SIGBUS.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

// Which file this is, whatever its name: device and inode.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// What `path` names, through links; nothing if there is no such file. Throws if that cannot be
// told.
std::optional<struct stat> status_of(const std::string& path);
std::optional<FileIdentity> identity_of(const std::string& path);

class FileVersion {
 public:
  // Refuses what is not a regular file (a FIFO, a device, a folder), without waiting for it.
  explicit FileVersion(const std::string& path);
  // The file behind `descriptor`, which has the name `path`.
  FileVersion(std::string path, Descriptor descriptor);

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  int descriptor() const { return descriptor_.get(); }
  const FileIdentity& identity() const { return identity_; }
  // Differs for every opening: cached rows never outlive the version that they were read from.
  uint64_t number() const { return number_; }

  // Reads [offset, offset + bytes). Throws if the file ends before.
  void read(int64_t offset, void* to, int64_t bytes) const;
  std::string text(int64_t offset, int64_t bytes) const;

  // Throws (ESTALE) if size or time of modification differ from those at opening. A change within
  // one tick of the file system's clock, or through another program's memory map, may go unnoticed.
  void check_unchanged() const;
  // The same, and that `path()` still names this file.
  void check_current() const;

  // The same file, opened with O_DIRECT; -1 where the file system has no such thing.
  Descriptor direct() const;

 private:
  void examine();

  std::string path_;
  Descriptor descriptor_;
  int64_t size_ = 0;
  int64_t modified_ns_ = 0;
  FileIdentity identity_;
  uint64_t number_ = 0;
};

// Reads [offset, offset + bytes) of a file that is open. Interrupted and short reads are continued;
// an error, or the end of the file, throws.
void read_fully(int descriptor, const std::string& path, int64_t offset, void* to, int64_t bytes);

using VersionPointer = std::shared_ptr<const FileVersion>;

// Throws the error of a file that ends at `end`, before the `wanted` bytes at `offset`.
[[noreturn]] void fail_short(const std::string& path, int64_t offset, int64_t wanted, int64_t end);

// Refuses a path that the system would cut at a NUL character.
void check_path(const std::string& path);

}  // namespace sheaf::io
