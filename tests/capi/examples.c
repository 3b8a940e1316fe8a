// SPDX-License-Identifier: MIT
//
// Code of docs/c_api.md, in C11. scatter_test.cc runs it.
#include <sheaf/c.h>

sheaf_status add_to_rows(DLTensor* table, DLTensor* rows, DLTensor* gradients);

// [example c-api-scatter]
// table[rows[i]] += gradients[i], in place; rows outside are left out.
sheaf_status add_to_rows(DLTensor* table, DLTensor* rows, DLTensor* gradients) {
  sheaf_scatter_options options = {0};
  options.reduction = SHEAF_REDUCE_ADD;
  options.rule.out_of_range = SHEAF_SKIP;
  return sheaf_scatter(table, rows, gradients, table, &options);
}
// [/example]
