// SPDX-License-Identifier: MIT
//
// The gathers of sheaf/c.h: each is a line, and may be, because every exception ends here.
#include "frontends/c/plan.h"

sheaf_status sheaf_gather(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                          const sheaf_gather_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_gather_elements(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* output,
                                   const sheaf_gather_elements_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_gather_nd(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                             const sheaf_gather_nd_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_xla_gather(const DLTensor* data, const DLTensor* indices, const DLTensor* output,
                              const sheaf_xla_gather_options* options) {
  return sheaf::run_once({data, indices, output, true}, options);
}

sheaf_status sheaf_plan_gather(const DLTensor* data, const DLTensor* indices,
                               const DLTensor* output, const sheaf_gather_options* options,
                               sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
}

sheaf_status sheaf_plan_gather_elements(const DLTensor* data, const DLTensor* indices,
                                        const DLTensor* output,
                                        const sheaf_gather_elements_options* options,
                                        sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
}

sheaf_status sheaf_plan_gather_nd(const DLTensor* data, const DLTensor* indices,
                                  const DLTensor* output, const sheaf_gather_nd_options* options,
                                  sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
}

sheaf_status sheaf_plan_xla_gather(const DLTensor* data, const DLTensor* indices,
                                   const DLTensor* output, const sheaf_xla_gather_options* options,
                                   sheaf_plan** plan) {
  return sheaf::make_c_plan({data, indices, output, false}, options, plan);
}
