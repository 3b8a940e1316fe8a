// SPDX-License-Identifier: MIT
//
// BNNS's scatter on Linux, with the descriptors of an Apple program. */
#include <sheaf/bnns.h>
#include <stdio.h>

int main(void) {
  float cells[4] = {100, 200, 300, 400};
  float updates[3] = {1, 2, 3};
  int32_t where[3] = {3, 0, 3};
  BNNSNDArrayDescriptor input = {.layout = BNNSDataLayoutVector,
                                 .size = {3},
                                 .data = updates,
                                 .data_type = BNNSDataTypeFloat32};
  BNNSNDArrayDescriptor indices = {
      .layout = BNNSDataLayoutVector, .size = {3}, .data = where, .data_type = BNNSDataTypeInt32};
  BNNSNDArrayDescriptor output = {
      .layout = BNNSDataLayoutVector, .size = {4}, .data = cells, .data_type = BNNSDataTypeFloat32};

  // output is read and written: each update is added to the cell that its index names.
  if (BNNSScatter(0, BNNSReduceFunctionSum, &input, &indices, &output, NULL) != 0) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    return 1;
  }
  printf("%g %g %g %g\n", cells[0], cells[1], cells[2], cells[3]);  // 102 200 300 404

  where[1] = 4;  // there is no cell 4: the call is refused, and cells stay as they are
  if (BNNSScatter(0, BNNSReduceFunctionSum, &input, &indices, &output, NULL) == 0) {
    return 1;
  }
  printf("%s\n", sheaf_last_error());
  return cells[3] == 404 ? 0 : 1;
}
