// SPDX-License-Identifier: MIT
#include "tables/row_decoding.h"

#include <algorithm>

#include "plan/nest_shape.h"
#include "plan/request.h"
#include "sheaf/encoded_gather.h"
#include "tables/pieces.h"

namespace sheaf::tables {

RowDecoding::RowDecoding(const Call& call)
    : encoding_(call.encoded->data().encoding),
      type_(call.encoded->output().dtype),
      fill_value_(call.plan.request().rule.fill_value),
      elements_(call.encoded->data().sizes.back()),
      rows_per_index_(call.plan.nest().row_bytes / (elements_ * type_.bytes())),
      stored_bytes_(rows_per_index_ * call.encoded->data().stored.sizes.back()) {}

std::optional<RowDecoding> RowDecoding::on_device(const Call& call) {
  const Nest& nest = call.plan.nest();
  if (call.encoded == nullptr || call.device == nullptr ||
      !is_contiguous({.loops = nest.loops, .points = point_count(nest)}, nest.row_bytes)) {
    return std::nullopt;
  }
  const RowDecoding decoding(call);
  const EncodedGatherPlan plan = decoding.plan_of(1, 1);
  const bool can = std::ranges::any_of(call.device->encoded, [&](const EncodedKernel& kernel) {
    return kernel.refusal(plan.nest()) == nullptr;
  });
  return can ? std::optional(decoding) : std::nullopt;
}

EncodedGatherPlan RowDecoding::plan_of(int64_t points, int64_t rows) const {
  return plan_gather_encoded(encoded_rows(encoding_, {rows, rows_per_index_, elements_}),
                             TensorSpec(i32, {points}),
                             GatherOptions{.rule = {.negative = Negative::kOutOfRange,
                                                    .out_of_range = OutOfRange::kFill,
                                                    .fill_value = fill_value_}},
                             type_);
}

}  // namespace sheaf::tables
