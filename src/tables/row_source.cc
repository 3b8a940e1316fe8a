// SPDX-License-Identifier: MIT
#include "tables/row_source.h"

#include "execution/host_steps.h"
#include "io/gather.h"
#include "io/source.h"
#include "tables/sharded_rows.h"
#include "tables/written_rows.h"

namespace sheaf::tables {
namespace {

class HostRows final : public RowSource {
 public:
  HostRows(const std::byte* data, std::shared_ptr<WrittenRows> writes, int threads)
      : data_(data), writes_(std::move(writes)), threads_(threads) {}

  void fetch(std::span<const int64_t> offsets, int64_t row_bytes, std::byte* to) override {
    const int64_t count = std::ssize(offsets);
    copy_rows({data_, offsets.data(), count, row_bytes, to, count * row_bytes}, threads_);
  }
  uint64_t version() const override { return writes_ == nullptr ? 0 : writes_->version(); }
  std::optional<std::vector<int64_t>> written_since(uint64_t version) const override {
    return writes_->since(version);  // nobody asks before the version has changed
  }

 private:
  const std::byte* data_;
  std::shared_ptr<WrittenRows> writes_;
  int threads_;
};

// Every byte of the table may begin a row: rows overlap, and are named by their first byte.
Plan plan_of_windows(int64_t table_bytes, int64_t row_bytes, int64_t rows) {
  const TensorSpec windows(u8, {table_bytes - row_bytes + 1, row_bytes}, {1, 1});
  return plan_gather(windows, TensorSpec(i64, {rows}),
                     {.rule = {.negative = Negative::kOutOfRange}});
}

class FileRows final : public RowSource {
 public:
  FileRows(const Table& table, const FileOptions& options)
      : table_(table), options_(options), space_(io::open_space(table, options)) {
    options_.progress = {};  // it counts bytes of one piece
  }

  void fetch(std::span<const int64_t> offsets, int64_t row_bytes, std::byte* to) override {
    io::MemorySink sink(to);
    io::gather_blocks(plan_of_windows(table_.info().bytes, row_bytes, std::ssize(offsets)), table_,
                      *space_, offsets.data(), sink, options_);
  }
  uint64_t version() const override { return space_->version_number(); }
  void check_unchanged() const override { space_->check_unchanged(); }

 private:
  const Table& table_;
  FileOptions options_;
  std::unique_ptr<io::ByteSpace> space_;
};

}  // namespace

std::unique_ptr<RowSource> open_rows(const Table& table, const TableOptions& options) {
  if (table.place() == TablePlace::kHost) {
    const TableSource& source = *table.source();
    return std::make_unique<HostRows>(
        source.host_bytes(), source.memory ? source.memory->writes : nullptr, options.threads);
  }
  if (table.place() == TablePlace::kSharded) {
    return open_sharded_rows(*table.source()->shards);
  }
  return std::make_unique<FileRows>(table, options.file);
}

std::shared_lock<std::shared_mutex> reading_rows(const Table& table) {
  const auto& memory = table.source()->memory;
  return memory && memory->writes != nullptr ? std::shared_lock(memory->writes->memory)
                                             : std::shared_lock<std::shared_mutex>();
}

int64_t bytes_of_rows(const TensorSpec& spec) {
  const bool packed = spec.rank() > 0 && spec == TensorSpec(spec.dtype, spec.sizes);
  return packed && spec.sizes[0] > 0
             ? element_count(spec.sizes) / spec.sizes[0] * spec.dtype.bytes()
             : 0;
}

}  // namespace sheaf::tables
