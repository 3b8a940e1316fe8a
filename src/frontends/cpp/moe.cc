// SPDX-License-Identifier: MIT
#include "sheaf/moe.h"

#include "plan/bag.h"
#include "plan/moe.h"
#include "sheaf/gather.h"

namespace sheaf {

MoePermuted moe_permute(const ConstTensor& tokens, const ConstTensor& experts,
                        const MoeOptions& options, const RunOptions& run) {
  check_tokens(tokens.spec, experts.spec);
  MoeRouting routing = moe_route(experts, options, run);
  const ConstTensor sources = std::as_const(routing.sources).tensor();
  const Plan plan = plan_gather(tokens.spec, sources.spec,
                                GatherOptions{.rule = {.out_of_range = OutOfRange::kTrust}});
  Array rows(plan.output());
  plan.run(tokens.data, sources.data, rows.tensor().data, run);
  return {std::move(rows), std::move(routing.inverse), std::move(routing.offsets)};
}

BagPlan plan_moe_unpermute(const TensorSpec& rows, const TensorSpec& inverse,
                           const std::optional<TensorSpec>& weights) {
  BagRequest request;
  request.name = "moe.unpermute";
  request.specs = {EncodedSpec(rows), inverse, std::nullopt, weights};
  request.options.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kSkip};
  return make_bag_plan(request);
}

Array moe_unpermute(const ConstTensor& rows, const ConstTensor& inverse,
                    const std::optional<ConstTensor>& weights, const RunOptions& run) {
  const BagPlan plan = plan_moe_unpermute(rows.spec, inverse.spec,
                                          weights ? std::optional(weights->spec) : std::nullopt);
  Array output(plan.output());
  RunOptions fresh = run;
  fresh.output_is_fresh = true;
  plan.run({.stored = rows.data,
            .indices = inverse.data,
            .weights = weights ? weights->data : nullptr,
            .output = output.tensor().data},
           fresh);
  return output;
}

}  // namespace sheaf
