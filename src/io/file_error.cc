// SPDX-License-Identifier: MIT
#include "io/file_error.h"

#include <cerrno>
#include <system_error>

#include "support/text.h"

namespace sheaf::io {
namespace {

// Names come from outside: control characters must not reach a terminal.
std::string quoted(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text + "\"";
}

std::string advice(int system_error) {
  switch (system_error) {
    case ENOENT: return "another path, or create the file first";
    case EACCES:
    case EPERM: return "the permissions of the file and its folder";
    case ENOSPC:
    case EDQUOT: return "free space on this disk, or another folder";
    case EIO: return "the health of the disk (dmesg), or another copy of the file";
    case ELOOP: return "the file itself instead of the symbolic link";
    default: return "the file with another program";
  }
}

}  // namespace

void refuse_file(const std::string& path, const std::string& what, const std::string& detail,
                 const std::string& next) {
  throw FileError(Refusal{.code = ErrorCode::kFile,
                          .who = "file",
                          .what = what,
                          .detail = detail,
                          .given = cat("file ", quoted(path)),
                          .next = next},
                  path, 0);
}

void fail_file(const std::string& path, const std::string& action, int system_error) {
  throw FileError(Refusal{.code = ErrorCode::kFile,
                          .who = "file",
                          .what = cat("cannot ", action),
                          .detail = cat(std::generic_category().message(system_error), " (errno ",
                                        system_error, ")"),
                          .given = cat("file ", quoted(path)),
                          .next = advice(system_error)},
                  path, system_error);
}

}  // namespace sheaf::io
