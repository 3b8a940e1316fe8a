// SPDX-License-Identifier: MIT
//
// The header of a .gguf file, read from front to back: little-endian numbers, texts with their
// length in front, and values of a type that stands before them.
#pragma once

#include <string>
#include <vector>

#include "io/open_file.h"

namespace sheaf::io {

[[noreturn]] void malformed_gguf(const OpenFile& file, const std::string& detail);

class GgufCursor {
 public:
  explicit GgufCursor(const OpenFile& file) : file_(file) {}

  int64_t position() const { return at_; }
  int64_t left() const { return file_.size() - at_; }
  uint64_t number(int bytes);  // 1 to 8 of them
  // A count of things of at least `least_bytes` each: refuses more than the file has room for.
  int64_t count(const char* what, int64_t least_bytes);
  std::string text(const char* what);  // of at most 65535 bytes, UTF-8
  // A value as text: numbers, truths and texts as they are; of a list its type and length.
  std::string value();
  std::string value_of(uint64_t type);

 private:
  void need(int64_t bytes, const char* what) const;
  void fetch(int64_t bytes);  // makes so many bytes lie in the window
  std::string long_text();
  std::string list(int depth);
  void skip_texts(int64_t count);

  const OpenFile& file_;
  int64_t at_ = 0;
  int64_t start_ = 0;  // of the window in the file
  std::vector<unsigned char> window_;
};

}  // namespace sheaf::io
