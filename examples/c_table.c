// SPDX-License-Identifier: MIT
//
// Rows of a table that lies in host memory or in a file, in C.
#include <sheaf/c.h>
#include <stdio.h>

// [example c-table]
// Rows 3 and 0. With an argument, out of the only tensor of that file.
int main(int argc, char** argv) {
  float rows[8] = {0, 1, 10, 11, 20, 21, 30, 31}, picked[4] = {0};
  int64_t ids[2] = {3, 0}, rows_shape[2] = {4, 2}, ids_shape[1] = {2}, picked_shape[2] = {2, 2};
  const DLDevice host = {kDLCPU, 0};
  const DLDataType f32 = {kDLFloat, 32, 1}, i64 = {kDLInt, 64, 1};
  const DLTensor data = {
      .data = rows, .device = host, .ndim = 2, .dtype = f32, .shape = rows_shape};
  const DLTensor indices = {
      .data = ids, .device = host, .ndim = 1, .dtype = i64, .shape = ids_shape};
  const DLTensor output = {
      .data = picked, .device = host, .ndim = 2, .dtype = f32, .shape = picked_shape};

  sheaf_table_handle* table = NULL;
  sheaf_status status = argc > 1 ? sheaf_table_open(argv[1], NULL, NULL, &table)
                                 : sheaf_table_memory(&data, NULL, NULL, NULL, &table);
  if (status == SHEAF_OK) {
    status = sheaf_table_gather(table, &indices, &output, NULL, NULL);
  }
  sheaf_table_counts counts = {0};
  if (status != SHEAF_OK || sheaf_table_stats(table, &counts) != SHEAF_OK) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    sheaf_table_destroy(table);
    return 1;
  }
  printf("%g %g   %g %g, by the way \"%s\"\n", picked[0], picked[1], picked[2], picked[3],
         counts.way);
  sheaf_table_destroy(table);
  return 0;
}
// [/example]
