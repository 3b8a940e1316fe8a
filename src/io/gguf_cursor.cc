// SPDX-License-Identifier: MIT
#include "io/gguf_cursor.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/file_error.h"
#include "support/bit_cast.h"
#include "support/number_text.h"
#include "support/text.h"
#include "support/utf8.h"

namespace sheaf::io {
namespace {

constexpr int64_t kWindowBytes = 1 << 16;
constexpr int64_t kMaxName = 65535;         // the format's limit of a key
constexpr int64_t kMaxShownText = 1 << 20;  // longer texts are told by their length
constexpr int kMaxListDepth = 8;            // of lists in lists

enum GgufValue : uint64_t {
  kGgufU8,
  kGgufI8,
  kGgufU16,
  kGgufI16,
  kGgufU32,
  kGgufI32,
  kGgufF32,
  kGgufBool,
  kGgufText,
  kGgufList,
  kGgufU64,
  kGgufI64,
  kGgufF64,
};
struct GgufValueRow {
  std::string_view name;
  int bytes;  // 0: texts and lists
};
constexpr std::array<GgufValueRow, 13> kGgufValues = {{{"u8", 1},
                                                       {"i8", 1},
                                                       {"u16", 2},
                                                       {"i16", 2},
                                                       {"u32", 4},
                                                       {"i32", 4},
                                                       {"f32", 4},
                                                       {"bool", 1},
                                                       {"text", 0},
                                                       {"list", 0},
                                                       {"u64", 8},
                                                       {"i64", 8},
                                                       {"f64", 8}}};

}  // namespace

void malformed_gguf(const OpenFile& file, const std::string& detail) {
  refuse_file(file.path(), "malformed .gguf", detail, "a file that the gguf package can read");
}

void GgufCursor::need(int64_t bytes, const char* what) const {
  if (bytes > left()) {
    malformed_gguf(
        file_, cat(what, " has ", bytes, " bytes at ", at_, ", but the file has ", file_.size()));
  }
}

void GgufCursor::fetch(int64_t bytes) {
  const int64_t end = start_ + std::ssize(window_);
  if (at_ < start_ || at_ + bytes > end) {
    window_.resize(static_cast<size_t>(std::min(std::max(bytes, kWindowBytes), left())));
    file_.read(at_, window_.data(), std::ssize(window_));
    start_ = at_;
  }
}

uint64_t GgufCursor::number(int bytes) {
  need(bytes, "a number");
  fetch(bytes);
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    value = value << 8 | window_[static_cast<size_t>(at_ - start_ + i)];
  }
  at_ += bytes;
  return value;
}

int64_t GgufCursor::count(const char* what, int64_t least_bytes) {
  const uint64_t count = number(8);
  if (count > static_cast<uint64_t>(left() / least_bytes)) {
    malformed_gguf(file_, cat("it claims ", count, " ", what, " in ", left(), " bytes"));
  }
  return static_cast<int64_t>(count);
}

std::string GgufCursor::text(const char* what) {
  const int64_t bytes = count("bytes of a name", 1);
  if (bytes > kMaxName) {
    malformed_gguf(file_, cat(what, " has ", bytes, " bytes, at most ", kMaxName, " are possible"));
  }
  std::string text = file_.text(at_, bytes);
  at_ += bytes;
  if (!is_utf8(text)) {
    malformed_gguf(file_, cat(what, " is not UTF-8: \"", text, "\""));
  }
  return text;
}

std::string GgufCursor::long_text() {
  const int64_t bytes = count("bytes of a text", 1);
  std::string text = bytes > kMaxShownText ? "" : file_.text(at_, bytes);
  at_ += bytes;
  return bytes > kMaxShownText || !is_utf8(text) ? cat("text of ", bytes, " bytes") : text;
}

void GgufCursor::skip_texts(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    at_ += this->count("bytes of a text", 1);
  }
}

// What is in a list is only checked: vocabularies have a hundred thousand texts.
std::string GgufCursor::list(int depth) {
  const uint64_t type = number(4);
  if (type >= kGgufValues.size() || depth > kMaxListDepth) {
    malformed_gguf(file_, depth > kMaxListDepth
                              ? cat("lists in lists, more than ", kMaxListDepth, " deep, at ", at_)
                              : cat("a list of values of type ", type, " at ", at_));
  }
  const GgufValueRow& row = kGgufValues[type];
  // The least that an entry takes up: a text its length, a list its type and length.
  const int least = row.bytes != 0 ? row.bytes : type == kGgufText ? 8 : 12;
  const int64_t entries = count("entries of a list", least);
  if (type == kGgufList) {
    for (int64_t i = 0; i < entries; ++i) {
      list(depth + 1);
    }
  } else if (type == kGgufText) {
    skip_texts(entries);
  } else {
    at_ += entries * row.bytes;  // count() has found room for them
  }
  return cat(row.name, "[", entries, "]");
}

std::string GgufCursor::value() { return value_of(number(4)); }

std::string GgufCursor::value_of(uint64_t type) {
  if (type >= kGgufValues.size()) {
    malformed_gguf(file_, cat("a value of type ", type, " at ", at_));
  }
  if (type == kGgufText || type == kGgufList) {
    return type == kGgufText ? long_text() : list(0);
  }
  const uint64_t bits = number(kGgufValues[type].bytes);
  switch (type) {
    case kGgufI8: return std::to_string(static_cast<int8_t>(bits));
    case kGgufI16: return std::to_string(static_cast<int16_t>(bits));
    case kGgufI32: return std::to_string(static_cast<int32_t>(bits));
    case kGgufI64: return std::to_string(static_cast<int64_t>(bits));
    case kGgufF32: return shortest_text(bit_cast<float>(static_cast<uint32_t>(bits)));
    case kGgufF64: return shortest_text(bit_cast<double>(bits));
    case kGgufBool:
      if (bits > 1) {
        malformed_gguf(file_, cat("a truth is ", bits, " at ", at_ - 1));
      }
      return bits == 1 ? "true" : "false";
    default: return std::to_string(bits);
  }
}

}  // namespace sheaf::io
