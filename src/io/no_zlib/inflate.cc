// SPDX-License-Identifier: MIT
#include "io/inflate.h"

#include "io/file_error.h"

namespace sheaf::io {
namespace {
constexpr const char* kWhat = "built without zlib";
constexpr const char* kNext = "configure Sheaf where zlib is installed (zlib1g-dev)";
}  // namespace

struct InflateStream::State {};

InflateStream::InflateStream(VersionPointer file, int64_t, int64_t) {
  refuse_file(file->path(), kWhat, "deflated members of .npz files need it", kNext);
}
InflateStream::~InflateStream() = default;
void InflateStream::read(int64_t, void*, int64_t) {}

uint32_t crc32_of(uint32_t, const void*, size_t) {
  refuse_file("", kWhat, "writing .npz files needs it for their checksums", kNext);
}

}  // namespace sheaf::io
