// SPDX-License-Identifier: MIT
//
// sheaf/c.h as C11.
#include "abi.h"

#include <sheaf/dlpack.h>  // twice is as good as once

// A struct set to zero, as the header promises it may be.
sheaf_status gather_with_zero_options(const DLTensor* data, const DLTensor* indices,
                                      const DLTensor* output) {
  sheaf_gather_options options = {0};
  return sheaf_gather(data, indices, output, &options);
}

sheaf_status scatter_with_zero_options(const DLTensor* data, const DLTensor* indices,
                                       const DLTensor* updates, const DLTensor* output) {
  sheaf_scatter_options options = {0};
  return sheaf_scatter(data, indices, updates, output, &options);
}
