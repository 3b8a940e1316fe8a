// SPDX-License-Identifier: MIT
#include "io/file_version.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "io/file_error.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

int64_t modified_ns(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return "a folder";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    default: return "something else";
  }
}

}  // namespace

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    return status;
  }
  if (errno != ENOENT && errno != ENOTDIR) {
    fail_file(path, "examine", errno);
  }
  return std::nullopt;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  const std::optional<struct stat> status = status_of(path);
  return status ? std::optional(FileIdentity{status->st_dev, status->st_ino}) : std::nullopt;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    close(number_);
  }
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

FileVersion::FileVersion(const std::string& path) : path_(path) {
  check_path(path);
  // O_NONBLOCK: opening a FIFO would otherwise wait for a writer. Regular files ignore it.
  descriptor_ = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (descriptor_.get() < 0) {
    fail_file(path, "open", errno);
  }
  examine();
}

FileVersion::FileVersion(std::string path, Descriptor descriptor)
    : path_(std::move(path)), descriptor_(std::move(descriptor)) {
  examine();
}

void FileVersion::examine() {
  struct stat status = {};
  if (fstat(descriptor_.get(), &status) != 0) {
    fail_file(path_, "open", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    refuse_file(path_, "not a regular file", cat("this is ", kind_of(status.st_mode)),
                "copy its content into a file, and open that");
  }
  size_ = status.st_size;
  modified_ns_ = modified_ns(status);
  identity_ = {status.st_dev, status.st_ino};
  static std::atomic<uint64_t> openings{0};
  number_ = ++openings;
}

void read_fully(int descriptor, const std::string& path, int64_t offset, void* to, int64_t bytes) {
  auto* at = static_cast<char*>(to);
  for (int64_t done = 0; done < bytes;) {
    const ssize_t got =
        pread(descriptor, at + done, static_cast<size_t>(bytes - done), offset + done);
    if (got < 0 && errno != EINTR) {
      fail_file(path, cat("read ", bytes, " bytes at ", offset), errno);
    }
    if (got == 0) {
      fail_short(path, offset, bytes, offset + done);
    }
    done += got > 0 ? got : 0;
  }
}

void FileVersion::read(int64_t offset, void* to, int64_t bytes) const {
  read_fully(descriptor(), path_, offset, to, bytes);
}

std::string FileVersion::text(int64_t offset, int64_t bytes) const {
  std::string text(static_cast<size_t>(bytes), '\0');
  read(offset, text.data(), bytes);
  return text;
}

void FileVersion::check_unchanged() const {
  struct stat status = {};
  if (fstat(descriptor(), &status) != 0) {
    fail_file(path_, "examine", errno);
  }
  if (status.st_size != size_ || modified_ns(status) != modified_ns_) {
    refuse_stale(path_, "changed since it was opened",
                 cat("it had ", size_, " bytes and has ", int64_t{status.st_size}, " now",
                     status.st_size == size_ ? "; its time of modification differs" : ""),
                 "open it again; write a new file and rename it instead of writing in place");
  }
}

void FileVersion::check_current() const {
  check_unchanged();
  const std::optional<FileIdentity> named = identity_of(path_);
  if (named != identity_) {
    refuse_stale(path_, "replaced since it was opened",
                 named ? "another file has its name now" : "no file has its name now",
                 "open it again, so that what others wrote is not lost");
  }
}

Descriptor FileVersion::direct() const {
  // Through the open descriptor: by now another file may have the name.
  const std::string self = cat("/proc/self/fd/", descriptor());
  return Descriptor(open(self.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
}

void fail_short(const std::string& path, int64_t offset, int64_t wanted, int64_t end) {
  refuse_file(path, "shorter than expected",
              cat(wanted, " bytes are wanted at ", offset, ", but the file ends at ", end),
              "a complete copy; if another program writes to it, wait until it is done");
}

void check_path(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    refuse_file(path, "NUL in a path", "the system would cut the path there",
                "a path without NUL characters");
  }
}

}  // namespace sheaf::io
