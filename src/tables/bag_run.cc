// SPDX-License-Identifier: MIT
//
// Bags of a table's rows: by the plan itself where the rows are in reach, in pieces elsewhere.
#include <algorithm>
#include <cstring>

#include "execution/cancel.h"
#include "execution/check_tensors.h"
#include "execution/launch.h"
#include "execution/run.h"
#include "io/planned_table.h"
#include "io/source.h"
#include "plan/bag.h"
#include "support/checked.h"
#include "support/text.h"
#include "tables/bag_pieces.h"
#include "tables/row_source.h"
#include "tables/sharded_rows.h"
#include "tables/state.h"
#include "tables/ways.h"

namespace sheaf {
namespace tables {
namespace {

constexpr int64_t kPartAlignment = 16;

// Parts of a piece in staging memory, one behind the other.
struct BagLayout {
  int64_t numbers = 0, offsets = 0, weights = 0, bytes = 0;

  BagLayout(int64_t rows_bytes, const BagPiece& piece) {
    const auto aligned = [](int64_t at) {
      return (at + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    };
    numbers = aligned(rows_bytes);
    offsets = aligned(numbers + 8 * std::ssize(piece.numbers));
    weights = aligned(offsets + 8 * std::ssize(piece.offsets));
    bytes = aligned(weights + std::ssize(piece.weights));
  }
};

class BagRun {
 public:
  BagRun(const BagPlan& plan, const BagMemory& memory, const Table& table, const Queue& queue,
         const Backend* device)
      : plan_(plan),
        memory_(memory),
        options_(table.state().options),
        queue_(queue),
        device_(device),
        entry_bytes_(entry_bytes(plan)),
        inputs_(plan, memory, device, queue.stream),
        source_(open_rows(table, options_)) {
    source_->begin();
  }

  TableStats run(Lane* lane) {
    lane_ = lane;
    const int64_t per_entry = saturating_add(entry_bytes_, 24);
    BagPieces pieces(plan_, inputs_, std::max<int64_t>(options_.piece_bytes / per_entry, 1));
    for (BagPiece piece; plan_.nest().has_output() && pieces.next(piece);) {
      if (cancel_ != nullptr && cancel_->cancelled()) {
        throw_if_cancelled(cancel_, plan_.request().name);
      }
      run_piece(piece);
    }
    source_->check_unchanged();
    return stats_;
  }

 private:
  void run_piece(const BagPiece& piece) {
    const std::span<const int64_t> rows = piece.rows.offsets();
    offsets_.assign(rows.begin(), rows.end());
    for (int64_t& offset : offsets_) {
      offset *= entry_bytes_;
    }
    const auto count = std::max<int64_t>(std::ssize(rows), 1);  // a plan's data is never empty
    const BagLayout layout(count * entry_bytes_, piece);
    const BagPlan plan = plan_of_bags(plan_, piece, count);
    auto* const output =
        static_cast<std::byte*>(memory_.output) + piece.first_bag * plan_.nest().bag_stride;
    if (device_ == nullptr) {
      plan_run(plan, filled(piece, layout, memory_for(layout.bytes)), layout, output, queue_);
    } else if (device_->bag.empty()) {
      pool_on_host(plan, piece, layout, output);
    } else {
      pool_on_device(plan, piece, layout, output);
    }
    stats_.rows += std::ssize(piece.numbers);
    stats_.rows_fetched += std::ssize(rows);
    ++stats_.pieces;
  }

  std::byte* memory_for(int64_t bytes) {
    host_.resize(static_cast<size_t>(bytes + kPartAlignment));
    const auto address = reinterpret_cast<uintptr_t>(host_.data());
    return host_.data() + (kPartAlignment - static_cast<int64_t>(address % kPartAlignment));
  }

  std::byte* filled(const BagPiece& piece, const BagLayout& layout, std::byte* to) {
    if (!offsets_.empty()) {
      source_->fetch(offsets_, entry_bytes_, to);
    }
    const auto put = [&](int64_t at, const void* from, int64_t bytes) {
      if (bytes > 0) {
        std::memcpy(to + at, from, static_cast<size_t>(bytes));
      }
    };
    put(layout.numbers, piece.numbers.data(), 8 * std::ssize(piece.numbers));
    put(layout.offsets, piece.offsets.data(), 8 * std::ssize(piece.offsets));
    put(layout.weights, piece.weights.data(), std::ssize(piece.weights));
    return to;
  }

  static void plan_run(const BagPlan& plan, const std::byte* piece, const BagLayout& layout,
                       std::byte* output, const Queue& queue) {
    sheaf::run(plan,
               {.stored = piece,
                .indices = piece + layout.numbers,
                .segments = piece + layout.offsets,
                .weights = plan.request().specs.weights ? piece + layout.weights : nullptr,
                .output = output},
               queue);
  }

  void pool_on_device(const BagPlan& plan, const BagPiece& piece, const BagLayout& layout,
                      std::byte* output) {
    lane_->reserve(layout.bytes, options_);
    std::byte* const memory = filled(piece, layout, lane_->begin_piece());
    std::byte* const there = lane_->staging(layout.bytes);
    lane_->copy(there, memory, layout.bytes);
    stats_.bytes_to_device += layout.bytes;
    Queue queue = lane_->queue();
    queue.workspace = lane_->workspace(workspace_bytes(plan, queue));
    plan_run(plan, there, layout, output, queue);
    lane_->end_piece();
  }

  // The pooled rows travel; a copy on the device puts them where there are gaps between them.
  void pool_on_host(const BagPlan& plan, const BagPiece& piece, const BagLayout& layout,
                    std::byte* output) {
    BagRequest packed = plan.request();
    packed.output = TensorSpec(plan.output().dtype, plan.output().sizes);
    const int64_t bytes = element_count(packed.output->sizes) * packed.output->dtype.bytes();
    lane_->reserve(bytes, options_);
    std::byte* const memory = lane_->begin_piece();
    plan_run(make_bag_plan(packed), filled(piece, layout, memory_for(layout.bytes)), layout, memory,
             {.threads = options_.threads});
    stats_.bytes_to_device += bytes;
    if (*packed.output == plan.output()) {
      lane_->copy(output, memory, bytes);
    } else {
      std::byte* const there = lane_->staging(bytes);
      lane_->copy(there, memory, bytes);
      start_gather(plan_gather_nd(*packed.output, TensorSpec(i64, {0}), plan.output()),
                   {there, nullptr, nullptr, output}, with_workspace(plan.output()), {});
    }
    lane_->end_piece();
  }

  Queue with_workspace(const TensorSpec& output) {
    Queue queue = lane_->queue();
    const TensorSpec packed(output.dtype, output.sizes);
    queue.workspace = lane_->workspace(
        workspace_bytes(plan_gather_nd(packed, TensorSpec(i64, {0}), output), queue));
    return queue;
  }

  const BagPlan& plan_;
  const BagMemory& memory_;
  const TableOptions& options_;
  const Queue& queue_;
  const Backend* device_;
  int64_t entry_bytes_;
  BagInputs inputs_;
  std::unique_ptr<RowSource> source_;
  Lane* lane_ = nullptr;
  std::vector<int64_t> offsets_;
  std::vector<std::byte> host_;
  TableStats stats_;
  const CancelScope* const cancel_ = current_cancel_scope();
};

TableStats run_bag_in_pieces(const BagPlan& plan, const BagMemory& memory, const Table& table,
                             const Call& call) {
  BagRun bags(plan, memory, table, call.queue, call.device);
  if (call.device == nullptr) {
    const auto reading = reading_rows(table);
    return bags.run(nullptr);
  }
  Lane& lane = table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  const auto reading = reading_rows(table);  // after the lane's, as gathers take it
  return bags.run(&lane);
}

// The plan itself, on rows that the queue reads.
TableStats run_bag_on(const void* stored, const BagPlan& plan, BagMemory memory, const Call& call) {
  memory.stored = stored;
  TableStats stats;
  stats.rows = plan.nest().entries;
  if (call.device == nullptr) {
    const auto reading = reading_rows(call.table);
    run(plan, memory, call.queue);
    return stats;
  }
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  Queue queue = lane.queue();
  queue.workspace = lane.workspace(workspace_bytes(plan, queue));
  run(plan, memory, queue);
  lane.verdict_in_workspace = true;
  lane.mark();
  return stats;
}

// Null pointers and overlaps of all but the rows.
void check_bag_call(const BagPlan& plan, const BagMemory& memory) {
  const BagSpecs& specs = plan.request().specs;
  const NamedTensor inputs[] = {{"indices", memory.indices, spec_or_null(specs.indices)},
                                {"segments", memory.segments, spec_or_null(specs.segments)},
                                {"weights", memory.weights, spec_or_null(specs.weights)}};
  check_tensors(plan.request(), inputs, {"output", memory.output, &plan.output()});
}

void check_bag_table(const BagPlan& plan, const Table& data) {
  std::string difference = io::difference_of(plan.request().specs.data, data);
  if (!difference.empty()) {
    refuse(plan.request(), {Reason::kShape, "data"}, "planned for another table",
           std::move(difference), "a plan for the table's spec(), or its info().encoded");
  }
}

void run_bag(const BagPlan& plan, const Table& data, const BagMemory& memory, const Queue& queue) {
  check_bag_table(plan, data);
  const Plan row = plan_gather(data.spec(), TensorSpec(i64, {0}));
  const Call call{
      .plan = row, .table = data, .queue = queue, .device = prepared_device(queue), .bag = &plan};
  const std::string_view way = choose_way(call).name;
  TableStats stats;
  if (way == "ring" || way == "file" || way == "sharded") {
    check_bag_call(plan, memory);
    stats = run_bag_in_pieces(plan, memory, data, call);
  } else {
    const void* const stored = way == "mapped"
                                   ? data.state().seen_by_device(data, *call.device).value()
                                   : data.source()->host_bytes();
    stats = run_bag_on(stored, plan, memory, call);
  }
  stats.calls = 1;
  stats.way = way;
  data.state().add(stats);
}

}  // namespace
}  // namespace tables

void run(const BagPlan& plan, const Table& data, const BagMemory& memory, const Queue& queue) {
  tables::on_all_ranks(data, plan.request().name,
                       [&] { tables::run_bag(plan, data, memory, queue); });
}

void finish(const BagPlan& plan, const Table& data, const Queue& queue) {
  const Backend* const device = prepared_device(queue);
  if (device == nullptr) {
    return;
  }
  Queue checked = queue;
  bool has_verdict = false;
  if (tables::Lane* const lane = data.state().known_lane(*device, queue)) {
    const std::lock_guard lock(lane->mutex);
    checked.workspace = lane->workspace();
    has_verdict = lane->verdict_in_workspace;
  }
  has_verdict ? finish(plan, checked) : wait(queue);
}

}  // namespace sheaf
