// SPDX-License-Identifier: MIT
//
// The code of docs/bnns.md, in C11. examples_test.cc runs it.
#include "examples.h"

// [example bnns-gather-nd]
#include <sheaf/bnns.h>
#include <stdio.h>

int gather_one_row(float row[2]) {
  float values[12] = {10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  int32_t lookup[2] = {1, 0};  // row 0 of slice 1

  BNNSNDArrayDescriptor input = {.layout = BNNSDataLayout3DFirstMajor,
                                 .size = {3, 2, 2},
                                 .data = values,
                                 .data_type = BNNSDataTypeFloat32};
  BNNSNDArrayDescriptor indices = {.layout = BNNSDataLayout2DFirstMajor,
                                   .size = {1, 2},
                                   .data = lookup,
                                   .data_type = BNNSDataTypeInt32};
  BNNSNDArrayDescriptor output = {.layout = BNNSDataLayout2DFirstMajor,
                                  .size = {1, 2},
                                  .data = row,
                                  .data_type = BNNSDataTypeFloat32};

  int error = BNNSGatherND(&input, &indices, &output, NULL);
  if (error != 0) {
    fprintf(stderr, "%s\n", sheaf_last_error());
  }
  return error;  // row is 20, 21
}
// [/example]

static BNNSNDArrayDescriptor values_3_2_2(float values[12]) {
  BNNSNDArrayDescriptor input = {.layout = BNNSDataLayout3DFirstMajor,
                                 .size = {3, 2, 2},
                                 .data = values,
                                 .data_type = BNNSDataTypeFloat32};
  return input;
}

int gather_one_slice(float slice[4]) {
  float values[12] = {10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  int32_t lookup[1] = {1};
  BNNSNDArrayDescriptor input = values_3_2_2(values);
  BNNSNDArrayDescriptor indices = {
      .layout = BNNSDataLayoutVector, .size = {1}, .data = lookup, .data_type = BNNSDataTypeInt32};
  BNNSNDArrayDescriptor output = {.layout = BNNSDataLayout2DFirstMajor,
                                  .size = {2, 2},
                                  .data = slice,
                                  .data_type = BNNSDataTypeFloat32};
  return BNNSGatherND(&input, &indices, &output, NULL);
}

int gather_one_element(float element[1]) {
  float values[12] = {10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  int32_t lookup[3] = {1, 1, 1};
  BNNSNDArrayDescriptor input = values_3_2_2(values);
  BNNSNDArrayDescriptor indices = {.layout = BNNSDataLayout3DFirstMajor,
                                   .size = {1, 1, 3},
                                   .data = lookup,
                                   .data_type = BNNSDataTypeInt32};
  BNNSNDArrayDescriptor output = {.layout = BNNSDataLayout2DFirstMajor,
                                  .size = {1, 1},
                                  .data = element,
                                  .data_type = BNNSDataTypeFloat32};
  return BNNSGatherND(&input, &indices, &output, NULL);
}

// [example bnns-gather]
int gather_columns(float columns[6]) {
  float values[9] = {10, 20, 30, 40, 50, 60, 70, 80, 90};  // three rows of three
  int32_t picks[2] = {2, 0};

  BNNSNDArrayDescriptor input = {.layout = BNNSDataLayoutRowMajorMatrix,
                                 .size = {3, 3},  // columns, rows
                                 .data = values,
                                 .data_type = BNNSDataTypeFloat32};
  BNNSNDArrayDescriptor indices = {
      .layout = BNNSDataLayoutVector, .size = {2}, .data = picks, .data_type = BNNSDataTypeInt32};
  BNNSNDArrayDescriptor output = {.layout = BNNSDataLayoutRowMajorMatrix,
                                  .size = {2, 3},
                                  .data = columns,
                                  .data_type = BNNSDataTypeFloat32};

  return BNNSGather(1, &input, &indices, &output, NULL);  // 30 10, 60 40, 90 70
}
// [/example]

// [example bnns-scatter]
int add_rows(float sums[9]) {  // three rows of three, which keep what they hold
  float values[6] = {1, 2, 3, 10, 20, 30};
  int32_t rows[2] = {2, 2};

  BNNSNDArrayDescriptor input = {.layout = BNNSDataLayoutRowMajorMatrix,
                                 .size = {3, 2},  // columns, rows
                                 .data = values,
                                 .data_type = BNNSDataTypeFloat32};
  BNNSNDArrayDescriptor indices = {
      .layout = BNNSDataLayoutVector, .size = {2}, .data = rows, .data_type = BNNSDataTypeInt32};
  BNNSNDArrayDescriptor output = {.layout = BNNSDataLayoutRowMajorMatrix,
                                  .size = {3, 3},
                                  .data = sums,
                                  .data_type = BNNSDataTypeFloat32};

  return BNNSScatter(0, BNNSReduceFunctionSum, &input, &indices, &output, NULL);
}  // from 0 0 0, 5 5 5, 100 100 100 to 0 0 0, 5 5 5, 111 122 133
// [/example]
