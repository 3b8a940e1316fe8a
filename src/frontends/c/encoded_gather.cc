// SPDX-License-Identifier: MIT
//
// The gathers of encoded tables of sheaf/c_bags.h.
#include "plan/encoded_gather.h"
#include "frontends/c/bag_call.h"
#include "frontends/c/options.h"
#include "frontends/c/plan.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

Request request_of(const sheaf_gather_options& options) {
  return request_from(GatherOptions{.axis = options.axis, .batch_dims = options.batch_dims});
}
Request request_of(const sheaf_gather_elements_options& options) {
  return request_from(
      GatherElementsOptions{.axis = options.axis, .broadcast = options.broadcast != 0});
}
Request request_of(const sheaf_gather_nd_options& options) {
  return request_from(GatherNdOptions{.batch_dims = options.batch_dims});
}

template <class Options>
sheaf_status gather_encoded_once(const sheaf_table* data, const DLTensor* indices,
                                 const DLTensor* output, const Options* given) {
  return at_c_boundary([&] {
    const Options options = or_defaults(given);
    Request r = request_of(options);
    Placement placement;
    const Encoded table = read_table(data, r.name, placement);
    const auto read = [&](const DLTensor* tensor, const char* name) {
      const DlpackArgument argument{r.name, name};
      return placement.place(required_tensor(tensor, argument), argument);
    };
    const Tensor places = read(indices, "indices");
    const Tensor to = read(output, "output");
    r.data = table.spec.stored;
    r.indices = places.spec;
    r.set_output(to.spec);
    r.rule = index_rule(r, options.rule);
    if (!placement.device().empty()) {
      refuse_as(ErrorCode::kUnsupported, r, {Reason::kKernel},
                "no gathers of encoded tables on this device",
                cat("the tensors are in memory of ", placement.device()), "memory of the host");
    }
    make_encoded_gather(table.spec, r, to.spec.dtype)
        .run({table.stored, table.scales, table.zeros, places.data, to.data});
  });
}

}  // namespace
}  // namespace sheaf

sheaf_status sheaf_gather_encoded(const sheaf_table* data, const DLTensor* indices,
                                  const DLTensor* output, const sheaf_gather_options* options) {
  return sheaf::gather_encoded_once(data, indices, output, options);
}

sheaf_status sheaf_gather_elements_encoded(const sheaf_table* data, const DLTensor* indices,
                                           const DLTensor* output,
                                           const sheaf_gather_elements_options* options) {
  return sheaf::gather_encoded_once(data, indices, output, options);
}

sheaf_status sheaf_gather_nd_encoded(const sheaf_table* data, const DLTensor* indices,
                                     const DLTensor* output,
                                     const sheaf_gather_nd_options* options) {
  return sheaf::gather_encoded_once(data, indices, output, options);
}
