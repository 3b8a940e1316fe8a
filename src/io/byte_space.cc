// SPDX-License-Identifier: MIT
#include "io/byte_space.h"

#include <fcntl.h>

#include <cstring>

#include "io/file_error.h"
#include "io/inflate.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

class FileSpace final : public ByteSpace {
 public:
  FileSpace(const TableSource& source, const FileOptions& options)
      : version_(source.file->version()), offset_(source.offset) {
    const FileVersion& file = *version_;
    int descriptor = file.descriptor();
    if (options.direct) {
      direct_ = file.direct();
      descriptor = direct_.get();
      if (descriptor < 0) {
        refuse_file(file.path(), "no O_DIRECT", "its file system cannot read past the page cache",
                    "direct = false");
      }
    } else {
      // Readahead would read what nobody asked for.
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM);
    }
    const ReadTarget target{file, descriptor, options.depth, options.direct};
    pread_ = make_pread_reader(target);
    last_ = pread_.get();
    // A ring costs more to make than a few reads take: it is made when many are asked for.
    may_use_ring_ = options.reader != "pread";
    if (options.reader == "io_uring") {
      ring_ = make_uring_reader(target);
    }
    if (options.reader == "io_uring" && !ring_) {
      refuse_file(file.path(), "no io_uring",
                  "the kernel refuses it, or Sheaf was built without liburing",
                  "reader = \"pread\"");
    }
    descriptor_ = descriptor;
    depth_ = options.depth;
  }

  int64_t table_offset() const override { return offset_; }
  int64_t size() const override { return version_->size(); }
  std::string_view reader_name() const override { return last_->name(); }
  uint64_t version_number() const override { return version_->number(); }
  void read(std::span<const ReadRequest> requests) override {
    if (!ring_ && may_use_ring_ && requests.size() > kFewRequests) {
      ring_ = make_uring_reader({*version_, descriptor_, depth_, direct_.get() >= 0});
      may_use_ring_ = ring_ != nullptr;
    }
    last_ = ring_ ? ring_.get() : pread_.get();
    last_->read(requests);
  }
  void check_unchanged() const override { version_->check_unchanged(); }

 private:
  static constexpr size_t kFewRequests = 8;

  VersionPointer version_;
  int64_t offset_;
  Descriptor direct_;
  int descriptor_ = -1, depth_ = 1;
  bool may_use_ring_ = false;
  std::unique_ptr<Reader> pread_, ring_;
  Reader* last_ = nullptr;  // of the two, the one that read last
};

class InflatedSpace final : public ByteSpace {
 public:
  InflatedSpace(const TableSource& source, int64_t bytes)
      : version_(source.file->version()),
        start_(source.offset),
        skipped_(source.deflated->skipped),
        bytes_(bytes),
        stream_(version_, source.offset, source.deflated->stream_bytes) {}

  int64_t table_offset() const override { return 0; }
  int64_t size() const override { return bytes_; }
  std::string_view reader_name() const override { return "inflate"; }
  uint64_t version_number() const override { return version_->number(); }
  int64_t stream() const override { return start_; }
  void read(std::span<const ReadRequest> requests) override {
    for (const ReadRequest& r : requests) {
      stream_.read(skipped_ + r.offset, r.to, r.bytes);
    }
  }
  void check_unchanged() const override { version_->check_unchanged(); }

 private:
  VersionPointer version_;
  int64_t start_;
  int64_t skipped_;
  int64_t bytes_;
  InflateStream stream_;
};

// Elements of less than a byte, unpacked as they are read.
class UnpackedSpace final : public ByteSpace {
 public:
  UnpackedSpace(const TableSource& source, int64_t elements)
      : version_(source.file->version()),
        offset_(source.offset),
        elements_(elements),
        packed_(*source.packed) {}

  int64_t table_offset() const override { return 0; }
  int64_t size() const override { return elements_; }
  std::string_view reader_name() const override { return "unpack"; }
  uint64_t version_number() const override { return 0; }
  void read(std::span<const ReadRequest> requests) override {
    for (const ReadRequest& r : requests) {
      const int64_t first = r.offset / packed_.per_byte();
      const int64_t bytes = packed_.bytes(r.offset + r.bytes) - first;
      bytes_.resize(static_cast<size_t>(bytes));
      version_->read(offset_ + first, bytes_.data(), bytes);
      packed_.unpack(bytes_.data(), r.offset % packed_.per_byte(), r.to, r.bytes);
    }
  }
  void check_unchanged() const override { version_->check_unchanged(); }

 private:
  VersionPointer version_;
  int64_t offset_;
  int64_t elements_;
  PackedElements packed_;
  std::vector<std::byte> bytes_;
};

class MemorySpace final : public ByteSpace {
 public:
  MemorySpace(const TableSource& source, int64_t bytes) : source_(source), bytes_(bytes) {}
  int64_t table_offset() const override { return 0; }
  int64_t size() const override { return bytes_; }
  std::string_view reader_name() const override { return "memory"; }
  uint64_t version_number() const override { return 0; }
  void read(std::span<const ReadRequest> requests) override {
    for (const ReadRequest& r : requests) {
      std::memcpy(r.to, source_.host_bytes() + r.offset, static_cast<size_t>(r.bytes));
    }
  }
  void check_unchanged() const override {}

 private:
  const TableSource& source_;
  int64_t bytes_;
};

[[noreturn]] void refuse_elsewhere(const std::string& where) {
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .cause = {Reason::kMemory, "data"},
                      .who = "table",
                      .what = "not on the host",
                      .detail = cat("its rows are ", where),
                      .next = "run(plan, table, indices, output, queue) of sheaf/table.h"});
}

}  // namespace

void check_options(const std::string& path, const FileOptions& options) {
  const bool known =
      options.reader.empty() || options.reader == "io_uring" || options.reader == "pread";
  if (options.memory < (1 << 20) || options.depth < 1 || options.depth > 4096 || !known) {
    refuse_file(path, "impossible options",
                cat("memory ", options.memory, " (1 MiB or more), depth ", options.depth,
                    " (1 to 4096), reader \"", options.reader, "\" (io_uring or pread)"),
                "the defaults of FileOptions");
  }
}

std::unique_ptr<ByteSpace> open_space(const Table& table, const FileOptions& options) {
  check_options(table.info().path, options);
  const TableSource& source = *table.source();
  if (source.memory && !source.memory->device.empty()) {
    refuse_elsewhere(cat("in memory of device ", source.memory->device));
  }
  if (source.shards != nullptr) {
    refuse_elsewhere("on several ranks");
  }
  if (!source.file) {
    return std::make_unique<MemorySpace>(source, table.info().bytes);
  }
  if (source.deflated) {
    return std::make_unique<InflatedSpace>(source, table.info().bytes);
  }
  if (source.packed) {
    return std::make_unique<UnpackedSpace>(source, table.info().bytes);
  }
  return std::make_unique<FileSpace>(source, options);
}

}  // namespace sheaf::io
