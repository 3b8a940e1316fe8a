// SPDX-License-Identifier: MIT
//
// The C++ calls: options into a Request, a Request into a plan.
#include "sheaf/scatter.h"

#include "plan/request.h"

namespace sheaf {
namespace {

struct Specs {
  const TensorSpec &data, &indices, &updates;
};

template <class Options>
Request request(const Specs& specs, const Options& options) {
  Request r = request_from(options);
  r.data = specs.data;
  r.indices = specs.indices;
  r.updates = specs.updates;
  return r;
}

template <class Options>
Plan plan_into(const Specs& specs, const TensorSpec& output, const Options& options) {
  Request r = request(specs, options);
  r.set_output(output);
  return make_plan(r);
}

template <class Options>
void run_into(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
              const Tensor& output, const Options& options) {
  plan_into({data.spec, indices.spec, updates.spec}, output.spec, options)
      .run(data.data, indices.data, updates.data, output.data);
}

template <class Options>
Array run_new(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
              const Options& options) {
  const Plan plan = make_plan(request({data.spec, indices.spec, updates.spec}, options));
  Array output(plan.output());
  plan.run(data.data, indices.data, updates.data, output.tensor().data, {.output_is_fresh = true});
  return output;
}

}  // namespace

Plan plan_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                  const ScatterOptions& options) {
  return make_plan(request({data, indices, updates}, options));
}
Plan plan_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                  const TensorSpec& output, const ScatterOptions& options) {
  return plan_into({data, indices, updates}, output, options);
}
Plan plan_scatter_elements(const TensorSpec& data, const TensorSpec& indices,
                           const TensorSpec& updates, const ScatterElementsOptions& options) {
  return make_plan(request({data, indices, updates}, options));
}
Plan plan_scatter_elements(const TensorSpec& data, const TensorSpec& indices,
                           const TensorSpec& updates, const TensorSpec& output,
                           const ScatterElementsOptions& options) {
  return plan_into({data, indices, updates}, output, options);
}
Plan plan_scatter_nd(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                     const ScatterNdOptions& options) {
  return make_plan(request({data, indices, updates}, options));
}
Plan plan_scatter_nd(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                     const TensorSpec& output, const ScatterNdOptions& options) {
  return plan_into({data, indices, updates}, output, options);
}
Plan plan_xla_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                      const XlaScatterOptions& options) {
  return make_plan(request({data, indices, updates}, options));
}
Plan plan_xla_scatter(const TensorSpec& data, const TensorSpec& indices, const TensorSpec& updates,
                      const TensorSpec& output, const XlaScatterOptions& options) {
  return plan_into({data, indices, updates}, output, options);
}

void scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
             const Tensor& output, const ScatterOptions& options) {
  run_into(data, indices, updates, output, options);
}
void scatter_elements(const ConstTensor& data, const ConstTensor& indices,
                      const ConstTensor& updates, const Tensor& output,
                      const ScatterElementsOptions& options) {
  run_into(data, indices, updates, output, options);
}
void scatter_nd(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                const Tensor& output, const ScatterNdOptions& options) {
  run_into(data, indices, updates, output, options);
}
void xla_scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                 const Tensor& output, const XlaScatterOptions& options) {
  run_into(data, indices, updates, output, options);
}

Array scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
              const ScatterOptions& options) {
  return run_new(data, indices, updates, options);
}
Array scatter_elements(const ConstTensor& data, const ConstTensor& indices,
                       const ConstTensor& updates, const ScatterElementsOptions& options) {
  return run_new(data, indices, updates, options);
}
Array scatter_nd(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                 const ScatterNdOptions& options) {
  return run_new(data, indices, updates, options);
}
Array xla_scatter(const ConstTensor& data, const ConstTensor& indices, const ConstTensor& updates,
                  const XlaScatterOptions& options) {
  return run_new(data, indices, updates, options);
}

}  // namespace sheaf
