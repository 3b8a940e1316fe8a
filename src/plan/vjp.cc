// SPDX-License-Identifier: MIT
//
// Gradients as plans: what a plan moves forward, its gradient moves back.
#include "plan/refuse.h"
#include "plan/request.h"
#include "sheaf/scatter.h"
#include "support/text.h"

namespace sheaf {
namespace {

TensorSpec packed(const TensorSpec& spec) { return {spec.dtype, spec.sizes}; }

Request of_gather(const Request& r) {
  if (r.broadcast && r.data.sizes != r.output.sizes) {
    for (int d = 0; d < r.data.rank(); ++d) {
      if (d != r.axis && r.output.sizes[d] != r.data.sizes[d]) {
        refuse(r, {Reason::kGradient}, "no gradient as one plan",
               cat("dimension ", d, " of data was stretched from ", r.data.sizes[d], " to ",
                   r.output.sizes[d]),
               "stretch data first, and sum its gradient");
      }
    }
  }
  Request back = r;
  back.op = static_cast<Op>(static_cast<int>(r.op) + static_cast<int>(Op::kScatter));
  back.name = "vjp";
  back.data = packed(r.data);
  back.updates = packed(r.output);
  back.output = back.data;
  back.broadcast = false;
  back.reduction = Reduction::kAdd;
  back.onto_zeros = true;
  back.skip_whole_window = true;
  if (r.broadcast) {  // indices that stretched have a stride of 0 along the dimension
    for (int d = 0; d < r.data.rank(); ++d) {
      back.indices.strides[d] = r.indices.sizes[d] == 1 ? 0 : r.indices.strides[d];
      back.indices.sizes[d] = r.output.sizes[d];
    }
  }
  if (r.rule.out_of_range == OutOfRange::kFill) {
    back.rule.out_of_range = OutOfRange::kSkip;
  }
  return back;
}

Request of_scatter(const Request& r) {
  if (r.reduction != Reduction::kNone && r.reduction != Reduction::kAdd) {
    refuse(r, {Reason::kGradient}, "no gradient as one plan",
           cat("reduction = ", to_string(r.reduction), ", but none and add have one"),
           "reduction = none or add");
  }
  const bool open_windows =
      r.op == Op::kXlaScatter && r.rule.out_of_range == OutOfRange::kSkip && !r.skip_whole_window;
  if (open_windows) {
    refuse(r, {Reason::kGradient}, "no gradient as one plan",
           "windows that are partly outside are cut element by element",
           "skip_whole_window = true");
  }
  Request back = r;
  back.op = inverse_of(r.op);
  back.name = "vjp";
  back.data = packed(r.output);
  back.output = packed(r.updates);
  back.updates = {};
  back.reduction = Reduction::kNone;
  back.include_self = true;
  back.onto_zeros = false;
  back.accumulate_f32 = false;
  if (r.rule.out_of_range == OutOfRange::kSkip) {
    back.rule.out_of_range = OutOfRange::kFill;
    back.rule.fill_value = {};
  }
  return back;
}

}  // namespace

Plan vjp(const Plan& plan) {
  const Request& r = plan.request();
  return make_plan(is_scatter(r.op) ? of_scatter(r) : of_gather(r));
}

}  // namespace sheaf
