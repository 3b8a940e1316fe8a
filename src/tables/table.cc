// SPDX-License-Identifier: MIT
//
// Tables in memory, and what all tables share.
#include "io/source.h"
#include "plan/byte_ranges.h"
#include "plan/encoded_rows.h"
#include "support/text.h"
#include "tables/state.h"
#include "tables/written_rows.h"

namespace sheaf {
namespace {

[[noreturn]] void refuse_table(const char* what, std::string detail, std::string next) {
  throw Error(Refusal{.cause = {Reason::kMemory, "data"},
                      .who = "table",
                      .what = what,
                      .detail = std::move(detail),
                      .next = std::move(next)});
}

Table table_in_memory(const ConstTensor& data, TableSource::Memory memory) {
  const std::optional<ByteRange> range = byte_range(data.spec);
  if (!range) {
    refuse_table("too large", cat("the strides of ", data.spec.str(), " leave int64"),
                 "check the strides; they are in elements, not in bytes");
  }
  if (range->lo < 0) {
    refuse_table("negative strides", cat("rows before the pointer: ", data.spec.str()),
                 "a copy of the tensor in row-major order");
  }
  if (data.data == nullptr && !range->empty()) {
    refuse_table("null pointer", cat(data.spec.str(), " has elements, but its pointer is null"),
                 "pass the tensor's memory");
  }
  TableInfo info;
  info.spec = data.spec;
  info.bytes = range->hi;
  info.storage = "plain";
  auto source = std::make_shared<TableSource>();
  source->memory = std::move(memory);
  return {std::move(info), std::move(source)};
}

Table writable_in_memory(const Tensor& data, std::shared_ptr<const void> held,
                         std::string_view device) {
  if (!elements_disjoint(data.spec)) {
    refuse_table("elements that share memory",
                 cat("a scatter would write to ", data.spec.str(), " more than once"),
                 "a tensor whose strides lead to each element once");
  }
  return table_in_memory(data, {static_cast<const std::byte*>(data.data), std::move(held),
                                std::string(device), std::make_shared<tables::WrittenRows>()});
}

void check_device_name(std::string_view device) {
  if (device.empty()) {
    refuse_table("no device", "its name is empty", "Table::host for memory of the host");
  }
}

void check_table_options(const TableOptions& options) {
  if (options.piece_bytes < 1 || options.pieces < 1 || options.pieces > 64 || options.threads < 0) {
    refuse_table("impossible options",
                 cat("piece_bytes ", options.piece_bytes, " (1 or more), pieces ", options.pieces,
                     " (1 to 64), threads ", options.threads, " (0 or more)"),
                 "the defaults of TableOptions");
  }
  if (options.cache_bytes < 0 || (options.cache_bytes == 0 && !options.cached_rows.empty())) {
    refuse_table("impossible options",
                 cat("cache_bytes ", options.cache_bytes, " for ", options.cached_rows.size(),
                     " cached_rows"),
                 "room for the rows in cache_bytes");
  }
}

void check_cached_rows(const TableOptions& options, const TensorSpec& spec) {
  for (const int64_t row : options.cached_rows) {
    if (spec.rank() == 0 || row < 0 || row >= spec.sizes[0]) {
      refuse_table("no such row", cat("cached_rows has ", row, ", but the table is ", spec.str()),
                   "numbers of rows from 0 on");
    }
  }
}

}  // namespace

std::string_view to_string(TablePlace place) {
  switch (place) {
    case TablePlace::kFile: return "file";
    case TablePlace::kHost: return "host";
    case TablePlace::kDevice: return "device";
    case TablePlace::kSharded: return "sharded";
  }
  return "unknown";
}

Table::Table(TableInfo info, std::shared_ptr<const TableSource> source)
    : info_(std::move(info)), source_(std::move(source)), state_(std::make_shared<TableState>()) {}

Table Table::host(const ConstTensor& data, std::shared_ptr<const void> held) {
  return table_in_memory(data, {static_cast<const std::byte*>(data.data), std::move(held), {}});
}

Table Table::host(Array data) {
  auto held = std::make_shared<Array>(std::move(data));
  const Tensor tensor = held->tensor();
  return host_writable(tensor, std::move(held));
}

Table Table::host_writable(const Tensor& data, std::shared_ptr<const void> held) {
  return writable_in_memory(data, std::move(held), {});
}

Table Table::device_writable(std::string_view device, const Tensor& data,
                             std::shared_ptr<const void> held) {
  check_device_name(device);
  return writable_in_memory(data, std::move(held), device);
}

Table Table::host_encoded(const Encoded& data, std::shared_ptr<const void> held) {
  const EncodedSpec& spec = data.spec;
  if (spec.encoding == Encoding::kPlain || has_scales_beside(spec.encoding) || spec.scales ||
      spec.zeros) {
    refuse_table(
        "rows that are not complete", cat(spec.str(), " is plain, or has scales in another tensor"),
        "Table::host for plain rows; rows with their scales in them (row_u8_f32, q8_0, …)");
  }
  if (spec.stored != TensorSpec(u8, spec.stored.sizes) ||
      spec.stored.sizes != encoded_rows(spec.encoding, spec.sizes).stored.sizes) {
    refuse_table("gaps between rows", cat("the bytes of ", spec.str(), " are ", spec.stored.str()),
                 "encoded_rows(encoding, sizes)");
  }
  Table table = host({data.stored, spec.stored}, std::move(held));
  table.info_.encoded = spec;
  return table;
}

Table Table::device(std::string_view device, const ConstTensor& data,
                    std::shared_ptr<const void> held) {
  check_device_name(device);
  return table_in_memory(
      data, {static_cast<const std::byte*>(data.data), std::move(held), std::string(device)});
}

TablePlace Table::place() const {
  if (source_->memory && !source_->memory->device.empty()) {
    return TablePlace::kDevice;
  }
  if (source_->shards != nullptr) {
    return TablePlace::kSharded;
  }
  return source_->file ? TablePlace::kFile : TablePlace::kHost;
}

Table Table::with(const TableOptions& options) const {
  check_table_options(options);
  check_cached_rows(options, info_.spec);
  Table table(info_, source_);
  table.state_->options = options;
  if (options.cache_bytes > 0 && source_->memory && source_->memory->writes != nullptr) {
    source_->memory->writes->watch();
  }
  return table;
}

void forget_cached_rows(const Table& table) { ++table.state().forgotten; }

TableStats stats(const Table& table) {
  TableState& state = table.state();
  const std::lock_guard lock(state.mutex);
  TableStats result = state.totals;
  for (const auto& [key, lane] : state.lanes) {
    result.staging_bytes += lane->host_bytes();
    result.staging_pinned = result.staging_pinned && lane->pinned();
  }
  return result;
}

}  // namespace sheaf
