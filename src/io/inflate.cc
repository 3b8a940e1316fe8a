// SPDX-License-Identifier: MIT
#include "io/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "io/file_error.h"
#include "support/text.h"

namespace sheaf::io {
namespace {
constexpr int64_t kInflateChunk = 1 << 16;
}

struct InflateStream::State {
  VersionPointer file;
  int64_t offset, stream_bytes;
  int64_t taken = 0;     // of the stream
  int64_t position = 0;  // of the inflated bytes
  z_stream zlib = {};
  std::vector<unsigned char> input = std::vector<unsigned char>(kInflateChunk);

  void start() {
    inflateEnd(&zlib);
    zlib = {};
    taken = position = 0;
    // Negative: a bare stream, as zip files have it, without zlib's own header.
    if (inflateInit2(&zlib, -MAX_WBITS) != Z_OK) {
      throw std::bad_alloc();
    }
  }

  [[noreturn]] void refuse(const std::string& detail) const {
    refuse_file(file->path(), "damaged compressed data", cat(detail, " after ", position, " bytes"),
                "another copy of the file");
  }

  // Inflates up to `bytes`, at least one.
  int64_t inflate_some(unsigned char* to, int64_t bytes) {
    zlib.next_out = to;
    zlib.avail_out = static_cast<unsigned>(std::min(bytes, kInflateChunk));
    const unsigned room = zlib.avail_out;
    while (zlib.avail_out == room) {
      if (zlib.avail_in == 0 && taken < stream_bytes) {
        const int64_t count = std::min(kInflateChunk, stream_bytes - taken);
        file->read(offset + taken, input.data(), count);
        taken += count;
        zlib.next_in = input.data();
        zlib.avail_in = static_cast<unsigned>(count);
      }
      const int status = inflate(&zlib, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      }
      if (status != Z_OK && status != Z_STREAM_END) {
        refuse(status == Z_BUF_ERROR ? "the stream is cut short" : "the stream is not valid");
      }
      if (status == Z_STREAM_END && zlib.avail_out == room) {
        refuse("the stream ends");
      }
    }
    const int64_t got = room - zlib.avail_out;
    position += got;
    return got;
  }
};

InflateStream::InflateStream(VersionPointer file, int64_t offset, int64_t stream_bytes)
    : state_(std::make_unique<State>()) {
  state_->file = std::move(file);
  state_->offset = offset;
  state_->stream_bytes = stream_bytes;
  state_->start();
}

InflateStream::~InflateStream() { inflateEnd(&state_->zlib); }

void InflateStream::read(int64_t offset, void* to, int64_t bytes) {
  if (offset < state_->position) {
    state_->start();
  }
  unsigned char skipped[4096];
  while (state_->position < offset) {
    state_->inflate_some(skipped, std::min<int64_t>(sizeof skipped, offset - state_->position));
  }
  auto* at = static_cast<unsigned char*>(to);
  for (int64_t done = 0; done < bytes;) {
    done += state_->inflate_some(at + done, bytes - done);
  }
}

uint32_t crc32_of(uint32_t crc, const void* bytes, size_t count) {
  return static_cast<uint32_t>(crc32_z(crc, static_cast<const unsigned char*>(bytes), count));
}

}  // namespace sheaf::io
