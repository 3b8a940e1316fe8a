// SPDX-License-Identifier: MIT
#include "tables/piece_plan.h"

#include "plan/request.h"
#include "sheaf/scatter.h"

namespace sheaf::tables {

Plan plan_of_piece(const Plan& plan, const Piece& piece, int64_t rows) {
  const Nest& nest = plan.nest();
  const int64_t elements = nest.row_bytes / nest.element_bytes;
  const DType type = plan.data().dtype;
  Dims sizes;
  TensorSpec output(type, {});
  for (const Loop& loop : piece.loops) {
    sizes.push_back(loop.extent);
    output.sizes.push_back(loop.extent);
    output.strides.push_back(loop.output / nest.element_bytes);
  }
  TensorSpec data(type, {rows});
  if (elements > 1) {
    data = TensorSpec(type, {rows, elements});
    output.sizes.push_back(elements);
    output.strides.push_back(1);
  }
  Request request =
      request_from(GatherOptions{.rule = {.negative = Negative::kOutOfRange,
                                          .out_of_range = OutOfRange::kFill,
                                          .fill_value = plan.request().rule.fill_value}});
  request.name = plan.request().name;
  request.data = data;
  request.indices = TensorSpec(i32, sizes);
  request.set_output(output);
  return make_plan(request);
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
