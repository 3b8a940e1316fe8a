// SPDX-License-Identifier: MIT
#include "tables/piece_plan.h"

#include "plan/request.h"
#include "sheaf/scatter.h"

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

Plan plan_of_admission(const Plan& plan, int64_t slots, int64_t rows) {
  const Nest& nest = plan.nest();
  const int64_t elements = nest.row_bytes / nest.element_bytes;
  const DType type = plan.data().dtype;
  return plan_scatter(
      TensorSpec(type, {slots, elements}), TensorSpec(i32, {rows}),
      TensorSpec(type, {rows, elements}),
      {.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kSkip}});
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
