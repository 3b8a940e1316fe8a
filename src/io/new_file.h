// SPDX-License-Identifier: MIT
//
// A file that appears under its name when it is complete and on the disk, or not at all.
#pragma once

#include <string>

#include "io/file_version.h"

namespace sheaf::io {

class NewFile {
 public:
  // The file that will be `path` has no name yet where the file system can do that (O_TMPFILE), so
  // that `kill -9` leaves nothing behind. Else, and for the moment in which it takes the place of
  // another file, it is a hidden file beside `path`. Nobody else may read it before it is complete.
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }

  // Reserves the disk space, so that a full disk is found before the work and not after it.
  void resize(int64_t bytes);
  void write(int64_t offset, const void* from, int64_t bytes);
  void read(int64_t offset, void* to, int64_t bytes) const;

  // Makes this a copy of `from`: shared blocks where the file system can, else a copy inside the
  // kernel, else by hand.
  void copy_of(const FileVersion& from);

  // fsync, rename to the final name, fsync of the folder. A file that is replaced leaves its
  // permissions.
  void commit();

  // The same in steps, for the next version of `old`. After the last write, next_version() is this
  // file as it will be. publish() refuses if `old` is no longer the file of that name or has
  // changed, and keeps owner and extended attributes too. sync_folder() makes the new name last.
  VersionPointer next_version() const;
  void publish(const FileVersion& old);
  void sync_folder() const;

 private:
  void open_unnamed(const std::string& folder);
  bool link_as(const std::string& name) const;
  void give_name(const std::string& folder);
  void copy_extents(const FileVersion& from);
  void copy_range(const FileVersion& from, int64_t begin, int64_t end);
  void give_permissions() const;
  void sync() const;
  void take_name();

  std::string path_;       // as the caller named it
  std::string target_;     // what it stands for, when `path_` is a link
  std::string temporary_;  // the hidden name; empty: none yet
  Descriptor descriptor_;
  bool committed_ = false;
};

}  // namespace sheaf::io
