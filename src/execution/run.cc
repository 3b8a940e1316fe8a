// SPDX-License-Identifier: MIT
//
// The public ways to run a plan: all of them end in one of the two drivers.
#include "execution/run.h"

#include "plan/refuse.h"

namespace sheaf {

void run(const Plan& plan, const void* data, const void* indices, void* output, const Queue& queue,
         const RunOptions& options) {
  start_gather(plan, {data, indices, nullptr, output}, queue, options);
}

void run(const Plan& plan, const void* data, const void* indices, const void* updates, void* output,
         const Queue& queue, const RunOptions& options) {
  start_scatter(plan, {data, indices, updates, output}, queue, options);
}

void Plan::run(const void* data, const void* indices, void* output,
               const RunOptions& options) const {
  start_gather(*this, {data, indices, nullptr, output}, {.threads = options.threads}, options);
}

void Plan::run(const void* data, const void* indices, const void* updates, void* output,
               const RunOptions& options) const {
  start_scatter(*this, {data, indices, updates, output}, {.threads = options.threads}, options);
}

void Plan::run(const ConstTensor& data_tensor, const ConstTensor& indices_tensor,
               const Tensor& output_tensor, const RunOptions& options) const {
  check_planned(*this, "data", data_tensor.spec, data());
  check_planned(*this, "indices", indices_tensor.spec, indices());
  check_planned(*this, "output", output_tensor.spec, output());
  run(data_tensor.data, indices_tensor.data, output_tensor.data, options);
}

void Plan::run(const ConstTensor& data_tensor, const ConstTensor& indices_tensor,
               const ConstTensor& updates_tensor, const Tensor& output_tensor,
               const RunOptions& options) const {
  check_planned(*this, "data", data_tensor.spec, data());
  check_planned(*this, "indices", indices_tensor.spec, indices());
  check_planned(*this, "updates", updates_tensor.spec, updates());
  check_planned(*this, "output", output_tensor.spec, output());
  run(data_tensor.data, indices_tensor.data, updates_tensor.data, output_tensor.data, options);
}

}  // namespace sheaf
