// SPDX-License-Identifier: MIT
//
// Sums of embedding rows, and their gradient, in C.
#include <sheaf/c.h>
#include <stdio.h>

// [example c-bag]
// Two bags out of a table of 4 rows: row 3; and rows 0, 3 and 2.
int main(void) {
  float rows[8] = {0, 1, 10, 11, 20, 21, 30, 31}, sums[4] = {0}, gradients[8] = {0};
  int64_t ids[4] = {3, 0, 3, 2}, begins[2] = {0, 1};
  int64_t rows_shape[2] = {4, 2}, ids_shape[1] = {4}, bags_shape[2] = {2, 2};
  const DLDevice host = {kDLCPU, 0};
  const DLDataType f32 = {kDLFloat, 32, 1}, i64 = {kDLInt, 64, 1};
  const DLTensor data = {
      .data = rows, .device = host, .ndim = 2, .dtype = f32, .shape = rows_shape};
  const DLTensor indices = {
      .data = ids, .device = host, .ndim = 1, .dtype = i64, .shape = ids_shape};
  const DLTensor offsets = {
      .data = begins, .device = host, .ndim = 1, .dtype = i64, .shape = bags_shape};
  const DLTensor output = {
      .data = sums, .device = host, .ndim = 2, .dtype = f32, .shape = bags_shape};
  const DLTensor of_data = {
      .data = gradients, .device = host, .ndim = 2, .dtype = f32, .shape = rows_shape};

  const sheaf_table table = {.stored = &data};
  const sheaf_bag_tensors tensors = {.data = &table, .indices = &indices, .segments = &offsets};
  const sheaf_bag_options options = {.pool = SHEAF_POOL_MEAN};
  if (sheaf_bag(&tensors, &output, &options) != SHEAF_OK ||
      sheaf_bag_gradient_data(&tensors, &output, &of_data, 0, &options) != SHEAF_OK) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    return 1;
  }
  printf("means %g %g, %g %g\n", sums[0], sums[1], sums[2], sums[3]);
  printf("gradient of row 3: %g %g\n", gradients[6], gradients[7]);
  return 0;
}
// [/example]
