// SPDX-License-Identifier: MIT
//
// The scatters of sheaf/c.h: each is a line, and may be, because every exception ends here.
#include "frontends/c/plan.h"

sheaf_status sheaf_scatter(const DLTensor* data, const DLTensor* indices, const DLTensor* updates,
                           const DLTensor* output, const sheaf_scatter_options* options) {
  return sheaf::run_once({data, indices, output, true, updates}, options);
}

sheaf_status sheaf_scatter_elements(const DLTensor* data, const DLTensor* indices,
                                    const DLTensor* updates, const DLTensor* output,
                                    const sheaf_scatter_elements_options* options) {
  return sheaf::run_once({data, indices, output, true, updates}, options);
}

sheaf_status sheaf_scatter_nd(const DLTensor* data, const DLTensor* indices,
                              const DLTensor* updates, const DLTensor* output,
                              const sheaf_scatter_nd_options* options) {
  return sheaf::run_once({data, indices, output, true, updates}, options);
}

sheaf_status sheaf_xla_scatter(const DLTensor* data, const DLTensor* indices,
                               const DLTensor* updates, const DLTensor* output,
                               const sheaf_xla_scatter_options* options) {
  return sheaf::run_once({data, indices, output, true, updates}, options);
}

sheaf_status sheaf_plan_scatter(const DLTensor* data, const DLTensor* indices,
                                const DLTensor* updates, const DLTensor* output,
                                const sheaf_scatter_options* options, sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false, updates}, options, plan);
}

sheaf_status sheaf_plan_scatter_elements(const DLTensor* data, const DLTensor* indices,
                                         const DLTensor* updates, const DLTensor* output,
                                         const sheaf_scatter_elements_options* options,
                                         sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false, updates}, options, plan);
}

sheaf_status sheaf_plan_scatter_nd(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* updates, const DLTensor* output,
                                   const sheaf_scatter_nd_options* options, sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false, updates}, options, plan);
}

sheaf_status sheaf_plan_xla_scatter(const DLTensor* data, const DLTensor* indices,
                                    const DLTensor* updates, const DLTensor* output,
                                    const sheaf_xla_scatter_options* options, sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false, updates}, options, plan);
}
