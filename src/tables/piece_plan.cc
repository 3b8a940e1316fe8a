// SPDX-License-Identifier: MIT
#include "tables/piece_plan.h"

#include "execution/run.h"
#include "plan/request.h"
#include "sheaf/scatter.h"
#include "tables/lane.h"

namespace sheaf::tables {

namespace {

// Rows of `data`, by indices of `index_type`, to the places of a piece.
Plan plan_to_piece(const Plan& plan, const Piece& piece, const TensorSpec& data, DType index_type) {
  const Nest& nest = plan.nest();
  const int64_t elements = nest.row_bytes / nest.element_bytes;
  Dims sizes;
  TensorSpec output(data.dtype, {});
  for (const Loop& loop : piece.loops) {
    sizes.push_back(loop.extent);
    output.sizes.push_back(loop.extent);
    output.strides.push_back(loop.output / nest.element_bytes);
  }
  if (elements > 1) {
    output.sizes.push_back(elements);
    output.strides.push_back(1);
  }
  Request request =
      request_from(GatherOptions{.rule = {.negative = Negative::kOutOfRange,
                                          .out_of_range = OutOfRange::kFill,
                                          .fill_value = plan.request().rule.fill_value}});
  request.name = plan.request().name;
  request.data = data;
  request.indices = TensorSpec(index_type, sizes);
  request.set_output(output);
  return make_plan(request);
}

}  // namespace

Plan plan_of_piece(const Plan& plan, const Piece& piece, int64_t rows) {
  const int64_t elements = plan.nest().row_bytes / plan.nest().element_bytes;
  const Dims sizes = elements > 1 ? Dims{rows, elements} : Dims{rows};
  return plan_to_piece(plan, piece, TensorSpec(plan.data().dtype, sizes), i32);
}

// Every element of the table may begin a row.
Plan plan_of_windows_piece(const Plan& plan, const Piece& piece) {
  const int64_t elements = plan.nest().row_bytes / plan.nest().element_bytes;
  const int64_t all = plan.ranges().data.hi / plan.nest().element_bytes;
  const TensorSpec windows(plan.data().dtype, {all - elements + 1, elements}, {1, 1});
  return plan_to_piece(plan, piece, elements > 1 ? windows : TensorSpec(plan.data().dtype, {all}),
                       i64);
}

void move_by_plans(Lane& lane, const NumberedRows& rows, DType type) {
  const int64_t elements = rows.row_bytes / type.bytes();
  const TensorSpec some(type, {rows.count, elements});
  const TensorSpec numbers(i32, {rows.count});
  const auto queue_for = [&](const Plan& plan) {
    Queue queue = lane.queue();
    queue.workspace = lane.workspace(workspace_bytes(plan, queue));
    return queue;
  };
  const std::byte* picked = rows.from;
  if (rows.from_numbers != nullptr) {
    std::byte* const memory = lane.staging(rows.count * rows.row_bytes, Road::kSide);
    const Plan plan = plan_gather(
        TensorSpec(type, {rows.from_rows, elements}), numbers,
        {.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kFill}});
    start_gather(plan, {rows.from, rows.from_numbers, nullptr, memory}, queue_for(plan), {});
    picked = memory;
  }
  const Plan plan = plan_scatter(
      TensorSpec(type, {rows.to_rows, elements}), numbers, some,
      {.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kSkip}});
  start_scatter(plan, {rows.to, rows.to_numbers, picked, rows.to}, queue_for(plan), {});
}

const Plan& PiecePlans::get(const Plan& plan, const Piece& piece, int64_t rows) {
  if (!last_ || rows_ != rows || !(loops_ == piece.loops)) {
    last_.emplace(plan_of_piece(plan, piece, rows));
    loops_ = piece.loops;
    rows_ = rows;
  }
  return *last_;
}

}  // namespace sheaf::tables
