// SPDX-License-Identifier: MIT
//
// .npz: a zip file of .npy members, stored or deflated.
#include <set>

#include "io/file_error.h"
#include "io/inflate.h"
#include "io/npy.h"
#include "io/source.h"
#include "io/zip.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

constexpr std::string_view kSuffix = ".npy";

NpyHeader header_of(const FilePointer& file, const ZipMember& member, const std::string& name) {
  const auto inside = [&](int64_t offset, int64_t count) {
    if (count > member.bytes - offset) {
      fail_short(file->path(), offset, count, member.bytes);
    }
  };
  if (member.method == 0) {
    return parse_npy(file->path(), name, [&](int64_t offset, int64_t count) {
      inside(offset, count);
      return file->text(member.offset + offset, count);
    });
  }
  InflateStream stream(file->version(), member.offset, member.stream_bytes);
  return parse_npy(file->path(), name, [&](int64_t offset, int64_t count) {
    inside(offset, count);
    std::string text(static_cast<size_t>(count), '\0');
    stream.read(offset, text.data(), count);
    return text;
  });
}

void add_member(File::Contents& contents, const FilePointer& file, const ZipMember& member) {
  TableInfo info;
  info.name = member.name.substr(0, member.name.size() - kSuffix.size());
  info.path = file->path();
  info.offset = member.offset;
  if (member.encrypted || (member.method != 0 && member.method != 8)) {
    info.unsupported = member.encrypted ? "it is encrypted"
                                        : cat("compression method ", member.method, " is unknown");
    contents.add(std::move(info), {});
    return;
  }
  const NpyHeader header = header_of(file, member, info.name);
  if (header.bytes != member.bytes - header.data_offset) {
    refuse_file(file->path(), "malformed .npz",
                cat("member \"", info.name, "\" has ", member.bytes - header.data_offset,
                    " bytes of data, but ", header.spec.str(), " needs ", header.bytes),
                "a file written by numpy.savez");
  }
  info.spec = header.spec;
  info.bytes = header.bytes;
  if (member.method == 0) {
    info.offset = member.offset + header.data_offset;
    add_plain(contents, file, std::move(info), true);
    return;
  }
  info.storage = "deflate";
  TableSource source;
  source.file = file;
  source.offset = member.offset;
  source.deflated = TableSource::Deflated{member.stream_bytes, header.data_offset};
  contents.add(std::move(info), std::move(source));
}

}  // namespace

void read_npz(File::Contents& contents, const FilePointer& file) {
  std::set<std::string> names;
  for (const ZipMember& member : read_zip(*file)) {
    if (!member.name.ends_with(kSuffix)) {
      continue;  // not an array: numpy.load gives its bytes, and nothing here can use them
    }
    if (!names.insert(member.name).second) {
      refuse_file(file->path(), "malformed .npz",
                  cat("two members are named \"", member.name, "\""),
                  "a file written by numpy.savez");
    }
    add_member(contents, file, member);
  }
}

}  // namespace sheaf::io
