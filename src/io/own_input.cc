// SPDX-License-Identifier: MIT
#include "io/own_input.h"

#include "io/file_error.h"
#include "io/source.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

[[noreturn]] void refuse_input(const std::string& input, const std::string& path) {
  refuse_file(
      path, "is its own input",
      cat("\"", input, "\", which is read, is the same file; the result would take its place"),
      "another path");
}

}  // namespace

void refuse_own_input(const Table& data, const std::string& path) {
  const std::optional<FileIdentity> there = identity_of(path);
  if (!there || !data.source()->family) {
    return;
  }
  for (const FilePointer& input : *data.source()->family) {
    if (*there == input->version()->identity()) {
      refuse_input(input->path(), path);
    }
  }
}

void refuse_own_input(const std::string& input, const std::string& path) {
  const std::optional<FileIdentity> there = identity_of(path);
  if (there && there == identity_of(input)) {
    refuse_input(input, path);
  }
}

}  // namespace sheaf::io
