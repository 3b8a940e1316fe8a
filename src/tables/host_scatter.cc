// SPDX-License-Identifier: MIT
//
// Scatters that the host applies: into host memory, and into files. Updates that are on a device
// come piece by piece, the next while the last is applied; pieces are consecutive points of the
// nest, so that the order, and with it every bit, is that of the plan.
#include <algorithm>

#include "execution/cancel.h"
#include "execution/choice.h"
#include "execution/launch.h"
#include "execution/run.h"
#include "io/own_indices.h"
#include "io/points.h"
#include "io/source.h"
#include "plan/resolve.h"
#include "plan/scatter_steps.h"
#include "support/float_mode.h"
#include "tables/host_indices.h"
#include "tables/pieces.h"
#include "tables/row_source.h"
#include "tables/scatter_call.h"
#include "tables/state.h"
#include "tables/written_rows.h"

namespace sheaf::tables {
namespace {

// Rows of the table that the scatter may write to, for those who keep them elsewhere.
std::optional<std::vector<int64_t>> rows_named(const Plan& plan, const std::byte* indices) {
  const int64_t row_bytes = bytes_of_rows(plan.output());
  io::Points points(plan.nest(), indices);
  if (row_bytes == 0 || plan.request().onto_zeros || points.count() > WrittenRows::kMostRows) {
    return std::nullopt;
  }
  DistinctRows rows;
  const int64_t spans = plan.nest().row_bytes / row_bytes + 2;  // rows that one point may touch
  if (points.count() * spans > WrittenRows::kMostRows) {
    return std::nullopt;
  }
  rows.clear(std::max<int64_t>(points.count() * spans, 1));
  for (auto block = points.next(); !block.empty(); block = points.next()) {
    for (const io::Point& point : block) {
      const int64_t end = point.data + plan.nest().row_bytes;
      for (int64_t row = point.data / row_bytes; point.data != kOutside && row * row_bytes < end;
           ++row) {
        static_cast<void>(rows.number_of(row * row_bytes));
      }
    }
  }
  return std::vector<int64_t>(rows.offsets().begin(), rows.offsets().end());
}

// A scatter whose pieces can be applied one after another: nothing is done before or after them.
bool is_its_nest(const Plan& plan) {
  const ScatterSteps& steps = plan.scatter_steps();
  bool windows = false;
  for (const Loop& loop : plan.nest().loops) {
    windows = windows || loop.window != 0;
  }
  return !steps.start && !steps.mean && !steps.wide && !plan.request().onto_zeros && !windows &&
         !plan.nest().empty() && !steps.base.empty();
}

class PiecedScatter {
 public:
  PiecedScatter(const ScatterCall& call, const HostIndices& indices, Lane& lane)
      : call_(call),
        plan_(indices.plan()),
        nest_(plan_.nest()),
        options_(call.table.state().options),
        indices_(indices.data()),
        lane_(lane),
        launch_(host_launch({.threads = options_.threads})) {}

  // Whether pieces of the updates are hardly more than the updates.
  bool reserve() {
    const int64_t piece_bytes = lane_.reserve(nest_.row_bytes, options_);
    most_points_ = std::max<int64_t>(piece_bytes / nest_.row_bytes, 1);
    Piece first;
    Pieces(nest_, most_points_).next(first);
    const ByteRange range = covered(first, nest_.row_bytes);
    return range.hi - range.lo <= std::min(piece_bytes, 2 * first.points * nest_.row_bytes);
  }

  TableStats run() {
    const DefaultFloatMode mode;
    Pieces pieces(nest_, most_points_);
    std::vector<OnItsWay> coming;
    bool more = true;
    for (;;) {
      const size_t ahead = std::max<size_t>(lane_.ring_pieces() - 1, 1);
      while (more && coming.size() < ahead) {
        OnItsWay next;
        more = pieces.next(next.piece);
        if (more) {
          fetch(next);
          coming.push_back(next);
        }
      }
      if (coming.empty()) {
        return stats_;
      }
      apply(coming.front());
      coming.erase(coming.begin());
    }
  }

 private:
  struct OnItsWay {
    Piece piece;
    size_t slot = 0;
    int64_t lo = 0;  // of the bytes in the slot, from the first row of the piece
  };

  void fetch(OnItsWay& next) {
    const ByteRange range = covered(next.piece, nest_.row_bytes);
    next.lo = range.lo;
    const auto* const from = static_cast<const std::byte*>(call_.updates);
    next.slot = lane_.fetch_piece(from + next.piece.output + range.lo, range.hi - range.lo);
    stats_.bytes_to_host += range.hi - range.lo;
    ++stats_.pieces;
  }

  void apply(const OnItsWay& here) {
    ask_and_throw(launch_.cancel, plan_.request());  // small pieces end before kernels ask
    Nest nest = nest_;
    nest.loops = here.piece.loops;
    auto* const data = const_cast<std::byte*>(call_.table.source()->memory->data);
    const ScatterBuffers buffers{
        data + here.piece.data,
        indices_ == nullptr ? nullptr : indices_ + here.piece.index * nest.index_type.bytes(),
        lane_.wait_for(here.slot) - here.lo};
    const auto addresses =
        reinterpret_cast<uintptr_t>(buffers.data) | reinterpret_cast<uintptr_t>(buffers.updates);
    const Choice<ScatterBuffers> choice = choose_scatter(
        plan_, {.nest = nest, .addresses = addresses, .relaxed = plan_.request().relaxed}, nullptr,
        {});
    workspace_.resize(kernel_bytes(choice, nest, options_.threads));
    launch_.workspace = workspace_.empty() ? nullptr : workspace_.data();
    choice.kernel->run(nest, buffers, launch_);
    throw_if_cancelled(launch_.cancel, plan_.request());
  }

  const ScatterCall& call_;
  const Plan& plan_;
  const Nest& nest_;
  const TableOptions& options_;
  const std::byte* indices_;
  Lane& lane_;
  Launch launch_;
  std::vector<std::byte> workspace_;
  int64_t most_points_ = 1;
  TableStats stats_;
};

// Inputs of a call, all of them on the host.
struct HostInputs {
  HostInputs(const ScatterCall& call, Lane& lane)
      : indices(Call{.plan = call.plan,
                     .table = call.table,
                     .queue = call.queue,
                     .device = call.device,
                     .indices = call.indices,
                     .index_place = call.place},
                lane) {
    const ByteRange range = call.plan.ranges().indices;
    bytes_to_host = call.inputs_travel() ? range.hi - range.lo : 0;
  }

  void fetch_updates(const ScatterCall& call, Lane& lane) {
    const ByteRange range = call.plan.ranges().updates;
    const auto* const from = static_cast<const std::byte*>(call.updates);
    if (!call.inputs_travel() || range.empty()) {
      updates = from;
      return;
    }
    updates = lane.download(lane.updates, from + range.lo, range.hi - range.lo) - range.lo;
    bytes_to_host += range.hi - range.lo;
  }

  HostIndices indices;
  const std::byte* updates = nullptr;
  int64_t bytes_to_host = 0;
};

// Tells those who keep rows, once writing has begun: whatever ends it, some may have changed.
class Announced {
 public:
  Announced(const ScatterCall& call, const Plan& plan, const std::byte* indices)
      : writes_(*call.table.source()->memory->writes), lock_(writes_.memory) {
    if (writes_.watched()) {
      rows_ = rows_named(plan, indices);
    }
  }
  ~Announced() { writes_.add(std::move(rows_)); }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

 private:
  WrittenRows& writes_;
  std::unique_lock<std::shared_mutex> lock_;
  std::optional<std::vector<int64_t>> rows_;
};

TableStats apply_whole(const ScatterCall& call, const Plan& plan, const void* indices,
                       const void* updates, const Queue& queue) {
  auto* const data = const_cast<std::byte*>(call.table.source()->memory->data);
  const Announced announced(call, plan, static_cast<const std::byte*>(indices));
  start_scatter(plan, {data, indices, updates, data}, queue, {});
  return {};
}

}  // namespace

TableStats scatter_on_host(const ScatterCall& call) {
  if (call.device == nullptr) {
    auto* const data = const_cast<std::byte*>(call.table.source()->memory->data);
    check_scatter_memory(call.plan, {data, call.indices, call.updates, data});
    const Queue queue{.threads = call.queue.threads};
    if (!call.table.source()->memory->writes->watched()) {
      return apply_whole(call, call.plan, call.indices, call.updates, queue);
    }
    const io::OwnIndices own(call.plan, call.indices);  // the rows that are told are those written
    return apply_whole(call, own.plan(), own.data(), call.updates, queue);
  }
  TableState& state = call.table.state();
  Lane& lane = state.lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  call.device->device->wait(nullptr, call.queue.stream);  // kernels before may read the table
  HostInputs inputs(call, lane);
  TableStats stats;
  PiecedScatter pieces(call, inputs.indices, lane);
  if (call.inputs_travel() && is_its_nest(inputs.indices.plan()) && pieces.reserve()) {
    const Announced announced(call, inputs.indices.plan(), inputs.indices.data());
    stats = pieces.run();
  } else {
    inputs.fetch_updates(call, lane);
    stats = apply_whole(call, inputs.indices.plan(), inputs.indices.data(), inputs.updates,
                        {.threads = state.options.threads});
  }
  stats.bytes_to_host += inputs.bytes_to_host;
  return stats;
}

TableStats scatter_into_file(const ScatterCall& call) {
  const auto into = [&](const Plan& plan, const void* indices, const void* updates) {
    run_scatter_to_file(plan, call.table, {indices, plan.indices()}, {updates, plan.updates()},
                        call.table.info().path, call.table.state().options.file);
  };
  if (!call.inputs_travel()) {
    if (call.device != nullptr) {
      call.device->device->wait(nullptr, call.queue.stream);
    }
    into(call.plan, call.indices, call.updates);
    return {};
  }
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  HostInputs inputs(call, lane);
  inputs.fetch_updates(call, lane);
  into(inputs.indices.plan(), inputs.indices.data(), inputs.updates);
  TableStats stats;
  stats.bytes_to_host = inputs.bytes_to_host;
  return stats;
}

}  // namespace sheaf::tables
