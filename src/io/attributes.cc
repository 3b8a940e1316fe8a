// SPDX-License-Identifier: MIT
#include "io/attributes.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "io/file_error.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

// A list longer than the system allows (XATTR_LIST_MAX) cannot be; values end at XATTR_SIZE_MAX.
constexpr size_t kMaxAttributeBytes = 65536;

void copy_extended(int from, int to) {
  std::vector<char> names(kMaxAttributeBytes), value(kMaxAttributeBytes);
  const ssize_t length = flistxattr(from, names.data(), names.size());
  for (ssize_t at = 0; at < length;) {
    const char* name = names.data() + at;
    const ssize_t bytes = fgetxattr(from, name, value.data(), value.size());
    if (bytes >= 0) {
      // Not all of them are for a program to set: those of security modules are the system's.
      static_cast<void>(fsetxattr(to, name, value.data(), static_cast<size_t>(bytes), 0));
    }
    at += static_cast<ssize_t>(std::strlen(name)) + 1;
  }
}

}  // namespace

unsigned default_permissions() {
  // umask() can only be read by setting it, for all threads. Linux tells it in this file.
  unsigned mask = 022;
  if (std::FILE* status = std::fopen("/proc/self/status", "re")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr &&
           std::sscanf(line, "Umask: %o", &mask) != 1) {
    }
    std::fclose(status);
  }
  return 0666U & ~mask;
}

void keep_attributes(const FileVersion& old, int descriptor) {
  struct stat was = {}, is = {};
  if (fstat(old.descriptor(), &was) != 0 || fstat(descriptor, &is) != 0) {
    fail_file(old.path(), "examine", errno);
  }
  const bool other_owner = was.st_uid != is.st_uid || was.st_gid != is.st_gid;
  if (other_owner && fchown(descriptor, was.st_uid, was.st_gid) != 0) {
    refuse_file(old.path(), "its owner cannot be kept",
                cat("it belongs to user ", uint64_t{was.st_uid}, " and group ",
                    uint64_t{was.st_gid}, "; a file of user ", uint64_t{is.st_uid}, " and group ",
                    uint64_t{is.st_gid}, " would take its place"),
                "another output file");
  }
  copy_extended(old.descriptor(), descriptor);
  if (fchmod(descriptor, was.st_mode & 07777) != 0) {  // last: the others may change it
    fail_file(old.path(), "set the permissions of the new file", errno);
  }
}

}  // namespace sheaf::io
