// SPDX-License-Identifier: MIT
//
// Rows of a table by number, from C. Prints:
//
//   20 21   0 1   30 31
//   plan: output of 3 x 2
//   10 11   30 31   10 11
//   gather: index out of range
//   … and three more lines: which index, all shapes, what to try
// [example c-api]
#include <sheaf/c.h>
#include <stdio.h>

static void print_rows(const float rows[6]) {
  printf("%g %g   %g %g   %g %g\n", rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]);
}

int main(void) {
  float table[8] = {0, 1, 10, 11, 20, 21, 30, 31};
  int32_t rows[3] = {2, 0, -1};  // -1 is the last
  float picked[6] = {0};
  int64_t table_shape[2] = {4, 2}, rows_shape[1] = {3}, picked_shape[2] = {3, 2};

  DLTensor data = {.data = table,
                   .device = {kDLCPU, 0},
                   .ndim = 2,
                   .dtype = {kDLFloat, 32, 1},
                   .shape = table_shape};
  DLTensor indices = {.data = rows,
                      .device = {kDLCPU, 0},
                      .ndim = 1,
                      .dtype = {kDLInt, 32, 1},
                      .shape = rows_shape};
  DLTensor output = {.data = picked,
                     .device = {kDLCPU, 0},
                     .ndim = 2,
                     .dtype = {kDLFloat, 32, 1},
                     .shape = picked_shape};

  // One call.
  sheaf_gather_options options = {0};
  if (sheaf_gather(&data, &indices, &output, &options) != SHEAF_OK) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    return 1;
  }
  print_rows(picked);

  // A plan: checked once, run often. It knows what the output looks like.
  sheaf_plan* plan = NULL;
  if (sheaf_plan_gather(&data, &indices, NULL, &options, &plan) != SHEAF_OK) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    return 1;
  }
  DLTensor planned;
  sheaf_plan_output(plan, &planned);
  printf("plan: output of %d x %d\n", (int)planned.shape[0], (int)planned.shape[1]);

  rows[0] = 1, rows[1] = 3, rows[2] = 1;
  planned.data = picked;
  if (sheaf_plan_run(plan, &data, &indices, &planned, NULL) != SHEAF_OK) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    return 1;
  }
  print_rows(picked);

  // A bad index: nothing is written, and the text says which.
  rows[1] = 9;
  sheaf_status status = sheaf_plan_run(plan, &data, &indices, &planned, NULL);
  printf("%s\n", sheaf_last_error());
  sheaf_plan_destroy(plan);
  return status == SHEAF_INDEX_OUT_OF_RANGE ? 0 : 1;
}
// [/example]
