// SPDX-License-Identifier: MIT
#include "jax/attributes.h"

#include <array>

#include "jax/reading.h"
#include "plan/vocabulary.h"

namespace sheaf::python {
namespace {

namespace ffi = xla::ffi;

Op op_of(const ffi::Dictionary& attributes, bool scatters) {
  return scatters
             ? named(attributes, "op",
                     std::array{Op::kScatter, Op::kScatterElements, Op::kScatterNd})
             : named(attributes, "op", std::array{Op::kGather, Op::kGatherElements, Op::kGatherNd});
}

IndexRule rule_of(const CustomCall& call, DType type) {
  const bool scatters = call.updates != nullptr;
  const OutOfRange gentle = scatters ? OutOfRange::kSkip : OutOfRange::kFill;
  IndexRule rule;
  rule.negative =
      named(call.attributes, "negative", std::array{Negative::kFromEnd, Negative::kOutOfRange});
  rule.out_of_range = named(call.attributes, "out_of_range",
                            std::array{OutOfRange::kFail, OutOfRange::kClamp, gentle,
                                       OutOfRange::kWrap, OutOfRange::kTrust});
  if (rule.out_of_range == OutOfRange::kFill) {
    rule.fill_value = number_of(call.attributes, "fill", type);
  }
  if (rule.out_of_range == OutOfRange::kFail && call.on_device) {
    rule.out_of_range = gentle;
  }
  return rule;
}

}  // namespace

Request request_of(const CustomCall& call) {
  const bool scatters = call.updates != nullptr;
  Request r = request_from(op_of(call.attributes, scatters));
  r.data = spec_of(call.data);
  r.indices = spec_of(call.indices);
  r.set_output(spec_of(call.output));
  r.axis = attribute<int64_t>(call.attributes, "axis");
  r.batch_dims = attribute<int64_t>(call.attributes, "batch_dims");
  r.rule = rule_of(call, r.data.dtype);
  if (scatters) {
    r.updates = spec_of(*call.updates);
    r.include_self = flag(call.attributes, "include_self");
    r.reduction = named(call.attributes, "reduction", kReductions).value;
  } else {
    r.broadcast = flag(call.attributes, "broadcast");
  }
  return r;
}

}  // namespace sheaf::python
