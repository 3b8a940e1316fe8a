// SPDX-License-Identifier: MIT
#include "plan/scatter_steps.h"

#include <algorithm>

#include "plan/byte_ranges.h"
#include "plan/lower.h"
#include "plan/reduce.h"
#include "plan/refuse.h"

namespace sheaf {
namespace {

// The same places, each from the same row.
Nest from_one_row(Nest nest) {
  for (Loop& loop : nest.loops) {
    loop.output = 0;
  }
  return nest;
}

// Along a dimension that no index chooses from, all elements get equally many updates.
bool counts_alike(const Request& r, int d) {
  switch (r.op) {
    case Op::kScatter: return d != r.axis && d >= r.batch_dims;
    case Op::kScatterNd: return d >= r.batch_dims + r.indices.sizes.back();
    case Op::kScatterElements:  // indices that repeat along all of a dimension move whole slices
      return d != r.axis && r.indices.sizes[d] == r.data.sizes[d] && used_stride(r.indices, d) == 0;
    case Op::kXlaScatter:  // its windows need not cover a dimension
    case Op::kGather:
    case Op::kGatherElements:
    case Op::kGatherNd:
    case Op::kXlaGather: break;
  }
  return false;
}

// One count for the elements that have the same: a stride of 0 along those dimensions.
TensorSpec count_spec(const Request& r) {
  TensorSpec spec(i64, r.data.sizes);
  int64_t stride = 1;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    spec.strides[d] = counts_alike(r, d) ? 0 : stride;
    stride *= counts_alike(r, d) ? 1 : spec.sizes[d];
  }
  if (!byte_range(spec)) {
    refuse(r, {Reason::kTooLarge, "output"}, "tensor too large",
           "the counts of a mean, 8 bytes each, reach beyond 2^63 - 1 bytes",
           "fewer elements per call, or reduction = add");
  }
  return spec;
}

MeanSteps mean_steps(const Request& r) {
  Request counted = r;
  counted.output = count_spec(r);
  // All strides are 0: every update counts the same one.
  counted.updates = {i64, r.updates.sizes, Dims(r.updates.rank(), 0)};
  counted.reduction = Reduction::kAdd;
  Nest count = lower(counted);
  count.element_type = i64;
  count.element_bytes = count.row_bytes = i64.bytes();
  const Nest sums = lower(r);
  for (int l = 0; l < sums.loops.size(); ++l) {
    const bool alike = sums.loops[l].data != 0 && count.loops[l].data == 0;
    if (alike) {
      count.loops[l].extent = 1;  // one visit is enough
    }
  }
  normalize(count);
  int64_t elements = 1;
  for (int d = 0; d < r.data.rank(); ++d) {
    elements *= counts_alike(r, d) ? 1 : r.data.sizes[d];
  }
  return {elements, count, lower_copy(counted.output, r.output)};
}

// f32 in row-major order, with one element for those that share one in `spec`.
TensorSpec packed_f32(const TensorSpec& spec, int64_t& elements) {
  TensorSpec packed(f32, spec.sizes);
  elements = 1;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    const bool repeats = spec.sizes[d] > 1 && spec.strides[d] == 0;
    packed.strides[d] = repeats ? 0 : elements;
    elements *= repeats ? 1 : spec.sizes[d];
  }
  return packed;
}

// Copies one element for each that `to` has.
Nest convert_nest(const TensorSpec& from, const TensorSpec& to) {
  Nest nest = lower_copy(from, to);
  for (Loop& loop : nest.loops) {
    loop.extent =
        loop.data == 0 && loop.output == 0 ? std::min<int64_t>(loop.extent, 1) : loop.extent;
  }
  merge_loops(nest);
  return nest;
}

WideSteps wide_steps(const Request& r) {
  Request wide = r;
  int64_t data_elements = 0;
  int64_t update_elements = 0;
  wide.accumulate_f32 = false;
  wide.output = TensorSpec(f32, r.data.sizes);
  wide.data = wide.output;
  wide.output_given = true;
  wide.updates = packed_f32(r.updates, update_elements);
  data_elements = element_count(r.data.sizes);
  if (!byte_range(wide.output) || !byte_range(wide.updates)) {
    refuse(r, {Reason::kTooLarge, "output"}, "tensor too large",
           "its copy in f32 reaches beyond 2^63 - 1 bytes", "accumulate_f32 = false");
  }
  return {make_plan(wide),
          data_elements,
          update_elements,
          convert_nest(r.data, wide.data),
          convert_nest(r.updates, wide.updates),
          convert_nest(wide.output, r.output)};
}

}  // namespace

ScatterSteps scatter_steps(const Request& r, const Nest& nest) {
  ScatterSteps steps;
  steps.base = lower_copy(r.onto_zeros ? r.output : r.data, r.output);
  normalize(steps.base);
  if (r.accumulate_f32 && r.reduction != Reduction::kNone && r.data.dtype != f32) {
    steps.wide = wide_steps(r);
    return steps;
  }
  if (!r.include_self && r.reduction != Reduction::kNone) {
    steps.start = from_one_row(nest);
    steps.start->reduction = Reduction::kNone;
    neutral_element(r.data.dtype, r.reduction, steps.neutral);
  }
  if (r.reduction == Reduction::kMean) {
    steps.mean = mean_steps(r);
  }
  return steps;
}

}  // namespace sheaf
