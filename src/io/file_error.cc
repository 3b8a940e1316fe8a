// SPDX-License-Identifier: MIT
#include "io/file_error.h"

#include <cerrno>
#include <system_error>

#include "support/text.h"
#include "support/utf8.h"

namespace sheaf::io {
namespace {

std::string advice(int system_error) {
  switch (system_error) {
    case ENOENT: return "another path, or create the file first";
    case EACCES:
    case EPERM: return "the permissions of the file and its folder";
    case ENOSPC:
    case EDQUOT: return "free space on this disk, or another folder";
    case EIO: return "the health of the disk (dmesg), or another copy of the file";
    case EFBIG: return "a higher limit on file sizes (ulimit -f), or another file system";
    case ELOOP: return "the file itself instead of the symbolic link";
    default: return "the file with another program";
  }
}

// Paths, and names from inside a file, may hold any byte.
[[noreturn]] void throw_file_error(const std::string& path, const std::string& what,
                                   const std::string& detail, const std::string& next,
                                   int system_error) {
  throw FileError(Refusal{.code = ErrorCode::kFile,
                          .who = "file",
                          .what = printable(what),
                          .detail = printable(detail),
                          .given = cat("file \"", printable(path), "\""),
                          .next = printable(next)},
                  path, system_error);
}

}  // namespace

void refuse_file(const std::string& path, const std::string& what, const std::string& detail,
                 const std::string& next) {
  throw_file_error(path, what, detail, next, 0);
}

void refuse_stale(const std::string& path, const std::string& what, const std::string& detail,
                  const std::string& next) {
  throw_file_error(path, what, detail, next, ESTALE);
}

void fail_file(const std::string& path, const std::string& action, int system_error) {
  throw_file_error(
      path, cat("cannot ", action),
      cat(std::generic_category().message(system_error), " (errno ", system_error, ")"),
      advice(system_error), system_error);
}

}  // namespace sheaf::io
