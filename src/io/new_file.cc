// SPDX-License-Identifier: MIT
#include "io/new_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "io/attributes.h"
#include "io/file_error.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Hidden files that have a name: what a signal handler has to unlink. Fixed, as a handler may
// neither lock nor allocate; a file that finds no room here is only removed by its destructor.
constexpr size_t kMaxUnfinished = 32;
std::atomic<const char*> unfinished[kMaxUnfinished];

void note_unfinished(const char* name) {
  for (auto& slot : unfinished) {
    const char* none = nullptr;
    if (slot.compare_exchange_strong(none, name)) {
      return;
    }
  }
}

void forget_unfinished(const char* name) {
  for (auto& slot : unfinished) {
    const char* expected = name;
    if (slot.compare_exchange_strong(expected, nullptr)) {
      return;
    }
  }
}

// Before it is complete, a file is its writer's alone: it may be the copy of a secret.
constexpr mode_t kPrivate = 0600;

// Writing beyond the limit on file sizes would end the process by SIGXFSZ.
void check_size_limit(const std::string& path, int64_t bytes) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(bytes) > limit.rlim_cur) {
    io::fail_file(path, cat("make room for ", bytes, " bytes"), EFBIG);
  }
}

std::string folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) {
    folder = ".";
  }
  return folder;
}

}  // namespace

void remove_unfinished_files() noexcept {
  for (auto& slot : unfinished) {
    if (const char* name = slot.load()) {
      unlink(name);
    }
  }
}

namespace io {

NewFile::NewFile(const std::string& path) : path_(path), target_(path) {
  check_path(path);
  if (const std::optional<struct stat> status = status_of(path)) {
    if (!S_ISREG(status->st_mode)) {
      refuse_file(path, "not a regular file", "a FIFO, a device or a folder cannot be replaced",
                  "another path; -o - writes to standard output");
    }
    // Replacing a link would leave the file that it stands for as it is.
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    if (!error) {
      target_ = real;
    }
  }
  const std::string folder = folder_of(target_);
  open_unnamed(folder);
  if (descriptor_.get() < 0) {
    give_name(folder);
  }
}

void NewFile::open_unnamed(const std::string& folder) {
  descriptor_ = Descriptor(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kPrivate));
}

// Gives a file without a name one; false, with errno, if that cannot be.
bool NewFile::link_as(const std::string& name) const {
  const std::string self = cat("/proc/self/fd/", descriptor_.get());
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

void NewFile::give_name(const std::string& folder) {
  static std::atomic<int> number{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = cat(folder, "/.sheaf-", int64_t{getpid()}, "-", ++number, ".part");
    if (descriptor_.get() >= 0) {
      if (link_as(temporary_)) {
        note_unfinished(temporary_.c_str());
        return;
      }
    } else {
      descriptor_ =
          Descriptor(open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kPrivate));
      if (descriptor_.get() >= 0) {
        note_unfinished(temporary_.c_str());
        return;
      }
    }
    if (errno != EEXIST) {
      break;
    }
  }
  const int error = errno;
  temporary_.clear();
  fail_file(path_, "create", error);
}

NewFile::~NewFile() {
  if (!temporary_.empty()) {
    if (!committed_) {
      unlink(temporary_.c_str());
    }
    forget_unfinished(temporary_.c_str());
  }
}

void NewFile::resize(int64_t bytes) {
  check_size_limit(path_, bytes);
  if (ftruncate(descriptor(), bytes) != 0) {
    fail_file(path_, cat("make room for ", bytes, " bytes"), errno);
  }
  if (bytes == 0) {
    return;
  }
  int error = fallocate(descriptor(), 0, 0, bytes) == 0 ? 0 : errno;
  if (error != 0 && error != EOPNOTSUPP && error != EINTR && error != ENOSYS) {
    fail_file(path_, cat("make room for ", bytes, " bytes"), error);
  }
}

void NewFile::write(int64_t offset, const void* from, int64_t bytes) {
  const auto* at = static_cast<const char*>(from);
  for (int64_t done = 0; done < bytes;) {
    const ssize_t put =
        pwrite(descriptor(), at + done, static_cast<size_t>(bytes - done), offset + done);
    if (put < 0 && errno != EINTR) {
      fail_file(path_, cat("write ", bytes, " bytes at ", offset), errno);
    }
    done += put > 0 ? put : 0;
  }
}

void NewFile::read(int64_t offset, void* to, int64_t bytes) const {
  read_fully(descriptor(), path_, offset, to, bytes);
}

void NewFile::copy_of(const FileVersion& from) {
  check_size_limit(path_, from.size());
  if (ioctl(descriptor(), FICLONE, from.descriptor()) != 0) {
    if (ftruncate(descriptor(), from.size()) != 0) {
      fail_file(path_, cat("make room for ", from.size(), " bytes"), errno);
    }
    copy_extents(from);
  }
  from.check_unchanged();
}

// Holes stay holes: a sparse file may be larger than the disk.
void NewFile::copy_extents(const FileVersion& from) {
  for (int64_t at = 0; at < from.size();) {
    off_t begin = lseek(from.descriptor(), at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) {
      return;  // a hole up to the end
    }
    off_t end = begin < 0 ? -1 : lseek(from.descriptor(), begin, SEEK_HOLE);
    if (begin < 0 || end <= begin) {  // no such thing here: all of it is data
      begin = at;
      end = from.size();
    }
    copy_range(from, begin, std::min<int64_t>(end, from.size()));
    at = end;
  }
}

void NewFile::copy_range(const FileVersion& from, int64_t begin, int64_t end) {
  while (begin < end) {
    off_t in = begin, out = begin;
    const ssize_t copied = copy_file_range(from.descriptor(), &in, descriptor(), &out,
                                           static_cast<size_t>(end - begin), 0);
    if (copied < 0 && errno == EINTR) {
      continue;
    }
    if (copied <= 0) {
      break;  // not between these file systems, or the file ends: the loop below finds out
    }
    begin += copied;
  }
  std::vector<char> buffer(begin < end ? 1 << 18 : 0);
  while (begin < end) {
    const int64_t bytes = std::min(std::ssize(buffer), end - begin);
    from.read(begin, buffer.data(), bytes);
    write(begin, buffer.data(), bytes);
    begin += bytes;
  }
}

void NewFile::give_permissions() const {
  const std::optional<struct stat> old = status_of(target_);
  if (fchmod(descriptor(), old ? old->st_mode & 07777 : default_permissions()) != 0) {
    fail_file(path_, "set the permissions of the new file", errno);
  }
}

void NewFile::sync() const {
  if (fsync(descriptor()) != 0) {
    fail_file(path_, "write to the disk", errno);
  }
}

void NewFile::take_name() {
  if (temporary_.empty() && link_as(target_)) {
    committed_ = true;
    return;
  }
  // There is a file of this name: only a rename can replace it, and that needs a name first.
  if (temporary_.empty()) {
    give_name(folder_of(target_));
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail_file(path_, "give the new file its name", errno);
  }
  committed_ = true;
}

void NewFile::sync_folder() const {
  const Descriptor folder(open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) {
    fail_file(path_, "reach its folder", errno);
  }
  if (fsync(folder.get()) != 0) {
    fail_file(path_, "write its folder to the disk", errno);
  }
}

void NewFile::commit() {
  give_permissions();
  sync();
  take_name();
  sync_folder();
}

VersionPointer NewFile::next_version() const {
  Descriptor same(fcntl(descriptor(), F_DUPFD_CLOEXEC, 0));  // FileVersion reports a failure
  return std::make_shared<const FileVersion>(path_, std::move(same));
}

void NewFile::publish(const FileVersion& old) {
  keep_attributes(old, descriptor());
  sync();
  old.check_current();
  take_name();
}

}  // namespace io
}  // namespace sheaf
