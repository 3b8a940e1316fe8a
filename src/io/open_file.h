// SPDX-License-Identifier: MIT
//
// A file that is open, as its tables see it: by name, in the version that is current. A scatter in
// place writes a new version, and every table of this opening follows. A call takes the version
// once, when it begins, and reads nothing else.
#pragma once

#include <mutex>

#include "io/file_version.h"

namespace sheaf::io {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : version_(std::make_shared<FileVersion>(path)) {}

  VersionPointer version() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }

  // For those who read headers, when nobody else has this opening yet.
  const std::string& path() const { return version_->path(); }
  int64_t size() const { return version_->size(); }
  void read(int64_t offset, void* to, int64_t bytes) const { version_->read(offset, to, bytes); }
  std::string text(int64_t offset, int64_t bytes) const { return version_->text(offset, bytes); }

 private:
  friend class Replacing;
  mutable std::mutex mutex_;  // of version_
  VersionPointer version_;
  std::mutex replacing_;  // held while a new version is being written
};

using FilePointer = std::shared_ptr<OpenFile>;

}  // namespace sheaf::io
