// SPDX-License-Identifier: MIT
#include "io/zip.h"

#include <algorithm>

#include "io/file_error.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

constexpr int64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr int64_t kEntryBytes = 46, kLocalBytes = 30;
constexpr int64_t kMaxComment = 0xffff;
constexpr int64_t kMaxContentsBytes = int64_t{64} << 20;
// Deflate never does better: a member that claims more is lying, or a bomb.
constexpr int64_t kMaxRatio = 1032;

[[noreturn]] void malformed_zip(const OpenFile& file, const std::string& detail) {
  refuse_file(file.path(), "malformed .npz", detail, "a file written by numpy.savez");
}

uint64_t little(const std::string& bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// A field of 64 bits as a position inside the file.
int64_t position(const OpenFile& file, uint64_t value, const char* what) {
  if (value > static_cast<uint64_t>(file.size())) {
    malformed_zip(file, cat(what, " ", value, " lies outside the file's ", file.size(), " bytes"));
  }
  return static_cast<int64_t>(value);
}

struct Directory {
  int64_t offset, bytes;
};

Directory find_directory(const OpenFile& file) {
  const int64_t tail = std::min(file.size(), kEndBytes + kMaxComment + kLocatorBytes);
  const std::string text = file.text(file.size() - tail, tail);
  const size_t at = text.rfind("PK\x05\x06");
  if (at == std::string::npos || at + kEndBytes > text.size()) {
    malformed_zip(file, "its table of contents is missing: the file may be cut short");
  }
  uint64_t bytes = little(text, at + 12, 4), offset = little(text, at + 16, 4);
  const bool is64 =
      offset == 0xffffffff || bytes == 0xffffffff || little(text, at + 10, 2) == 0xffff;
  if (is64 && at >= kLocatorBytes && text.compare(at - kLocatorBytes, 4, "PK\x06\x07") == 0) {
    const int64_t end64 =
        position(file, little(text, at - kLocatorBytes + 8, 8), "the zip64 record at");
    const std::string record = file.text(end64, kEnd64Bytes);
    if (!record.starts_with("PK\x06\x06")) {
      malformed_zip(file, "its zip64 record is missing");
    }
    bytes = little(record, 40, 8);
    offset = little(record, 48, 8);
  }
  const Directory directory{position(file, offset, "the table of contents at"),
                            position(file, bytes, "the table of contents of")};
  if (directory.bytes > file.size() - directory.offset || directory.bytes > kMaxContentsBytes) {
    malformed_zip(file, cat("its table of contents of ", directory.bytes, " bytes at ",
                            directory.offset, " cannot be"));
  }
  return directory;
}

// Fields that do not fit into 32 bits stand in an extra field, in this order.
void widen_fields(const OpenFile& file, const std::string& extra, uint64_t* const (&fields)[3]) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const uint64_t id = little(extra, at, 2), length = little(extra, at + 2, 2);
    if (length > extra.size() - at - 4) {
      malformed_zip(file, "an extra field is cut short");
    }
    if (id == 1) {
      size_t value = at + 4;
      for (uint64_t* field : fields) {
        if (*field == 0xffffffff && value + 8 <= at + 4 + length) {
          *field = little(extra, value, 8);
          value += 8;
        }
      }
    }
    at += 4 + length;
  }
}

// The data follows the local header, whose variable parts may differ from the directory's.
int64_t data_offset(const OpenFile& file, int64_t local) {
  if (file.size() - local < kLocalBytes) {
    malformed_zip(file, "a member begins at the end of the file");
  }
  const std::string header = file.text(local, kLocalBytes);
  if (!header.starts_with("PK\x03\x04")) {
    malformed_zip(file, cat("no member begins at ", local));
  }
  return local + kLocalBytes + static_cast<int64_t>(little(header, 26, 2) + little(header, 28, 2));
}

ZipMember read_member(const OpenFile& file, const std::string& text, size_t at) {
  ZipMember member;
  uint64_t stream = little(text, at + 20, 4), bytes = little(text, at + 24, 4);
  uint64_t local = little(text, at + 42, 4);
  const size_t name = little(text, at + 28, 2), extra = little(text, at + 30, 2);
  member.name = text.substr(at + kEntryBytes, name);
  widen_fields(file, text.substr(at + kEntryBytes + name, extra), {&bytes, &stream, &local});
  member.method = static_cast<int>(little(text, at + 10, 2));
  member.encrypted = (little(text, at + 8, 2) & 1) != 0;
  member.stream_bytes = position(file, stream, "a member of");
  member.offset = data_offset(file, position(file, local, "a member at"));
  if (member.offset > file.size() || member.stream_bytes > file.size() - member.offset) {
    malformed_zip(file, cat("member \"", member.name, "\" is cut short"));
  }
  if (member.method == 0 && bytes != stream) {
    malformed_zip(file, cat("member \"", member.name, "\" claims ", bytes, " bytes, but ", stream,
                            " are stored"));
  }
  const int64_t most = checked_mul(member.stream_bytes + 1, kMaxRatio).value_or(INT64_MAX);
  if (bytes > static_cast<uint64_t>(most)) {
    malformed_zip(file, cat("member \"", member.name, "\" claims ", bytes, " bytes, more than its ",
                            member.stream_bytes, " can hold"));
  }
  member.bytes = static_cast<int64_t>(bytes);
  return member;
}

void refuse_overlap(const OpenFile& file, std::vector<ZipMember> members) {
  std::sort(members.begin(), members.end(), [](const ZipMember& a, const ZipMember& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.stream_bytes < b.stream_bytes;
  });
  for (size_t i = 1; i < members.size(); ++i) {
    if (members[i].offset - members[i - 1].offset < members[i - 1].stream_bytes) {
      malformed_zip(
          file, cat("members \"", members[i - 1].name, "\" and \"", members[i].name, "\" overlap"));
    }
  }
}

}  // namespace

std::vector<ZipMember> read_zip(const OpenFile& file) {
  const Directory directory = find_directory(file);
  const std::string text = file.text(directory.offset, directory.bytes);
  std::vector<ZipMember> members;
  for (size_t at = 0; at < text.size();) {
    const bool whole = text.size() - at >= kEntryBytes;
    const size_t length = whole ? kEntryBytes + little(text, at + 28, 2) +
                                      little(text, at + 30, 2) + little(text, at + 32, 2)
                                : 0;
    if (!whole || length > text.size() - at || text.compare(at, 4, "PK\x01\x02") != 0) {
      malformed_zip(file, "its table of contents is damaged");
    }
    members.push_back(read_member(file, text, at));
    at += length;
  }
  refuse_overlap(file, members);
  return members;
}

}  // namespace sheaf::io
