// SPDX-License-Identifier: MIT
//
// Sharded tensors as tables, and gathers of their rows.
#include <algorithm>
#include <cstring>

#include "distributed/sharded_tensor.h"
#include "execution/cancel.h"
#include "execution/run.h"
#include "io/own_indices.h"
#include "io/points.h"
#include "io/source.h"
#include "plan/resolve.h"
#include "support/text.h"
#include "tables/host_indices.h"
#include "tables/runs.h"
#include "tables/sharded_rows.h"
#include "tables/state.h"

namespace sheaf {
namespace tables {
namespace {

// Into host memory, a piece at a time.
class HostPieces {
 public:
  HostPieces(const Call& call, const Plan& plan, const void* indices)
      : plan_(plan),
        nest_(plan.nest()),
        output_(static_cast<std::byte*>(call.output)),
        points_(nest_, static_cast<const std::byte*>(indices)),
        rows_(open_rows(call.table, call.table.state().options)) {
    rows_->begin();
    const int64_t bytes = call.table.state().options.piece_bytes;
    most_rows_ = std::max<int64_t>(bytes / nest_.row_bytes, 1);
    memory_.resize(static_cast<size_t>(std::min(most_rows_, points_.count()) * nest_.row_bytes));
  }

  TableStats run() {
    for (auto block = points_.next(); !block.empty(); block = points_.next()) {
      ask_and_throw(cancel_, plan_.request());
      for (const io::Point& point : block) {
        point.data == kOutside ? fill(point.grid) : add(point);
      }
    }
    flush();
    return stats_;
  }

 private:
  void fill(int64_t grid) {
    for (int64_t at = 0; at < nest_.row_bytes; at += nest_.element_bytes) {
      std::copy_n(nest_.fill_value, nest_.element_bytes, output_ + grid + at);
    }
    ++stats_.rows;
  }

  void add(const io::Point& point) {
    offsets_.push_back(point.data);
    places_.push_back(point.grid);
    if (std::ssize(places_) == most_rows_) {
      flush();
    }
  }

  void flush() {
    if (places_.empty()) {
      return;
    }
    rows_->fetch(offsets_, nest_.row_bytes, memory_.data());
    const std::byte* from = memory_.data();
    for (const int64_t place : places_) {
      std::copy_n(from, nest_.row_bytes, output_ + place);
      from += nest_.row_bytes;
    }
    stats_.rows += std::ssize(places_);
    stats_.rows_fetched += std::ssize(places_);
    ++stats_.pieces;
    offsets_.clear();
    places_.clear();
  }

  const Plan& plan_;
  const Nest& nest_;
  std::byte* output_;
  io::Points points_;
  std::unique_ptr<RowSource> rows_;
  std::vector<std::byte> memory_;
  std::vector<int64_t> offsets_, places_;  // of the rows of a piece, in the table and in the output
  int64_t most_rows_ = 1;
  TableStats stats_;
  const CancelScope* const cancel_ = current_cancel_scope();
};

}  // namespace

TableStats run_sharded(const Call& call) {
  if (call.device != nullptr) {
    return run_ring(call);
  }
  check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output}, true);
  const io::OwnIndices own(call.plan, call.indices);
  const Nest& nest = own.plan().nest();
  TableStats stats;
  if (!nest.empty()) {
    if (nest.out_of_range == OutOfRange::kFail || nest.out_of_range == OutOfRange::kTrust) {
      check_on_host(own.plan(), static_cast<const std::byte*>(own.data()), call.queue.threads);
    }
    stats = HostPieces(call, own.plan(), own.data()).run();
  }
  stats.calls = 1;
  return stats;
}

}  // namespace tables

namespace sharded {

Table table_of(const ShardedTensor& data, const ShardedOptions& options) {
  const TensorSpec& spec = data.spec();
  if (data.axis() != 0) {  // the same on all ranks
    throw Error(Refusal{.cause = {Reason::kAxis, "data"},
                        .who = "table",
                        .what = "not split along its rows",
                        .detail = cat("axis ", data.axis(), " of ", spec.str(), " is split"),
                        .next = "a tensor that is split along axis 0"});
  }
  auto source = std::make_shared<TableSource>();
  source->shards = std::make_shared<tables::ShardedRows>(data, options);
  TableInfo info;
  info.spec = spec;
  info.bytes = element_count(spec.sizes) * spec.dtype.bytes();
  info.storage = "plain";
  return {std::move(info), std::move(source)};
}

}  // namespace sharded
}  // namespace sheaf
