// SPDX-License-Identifier: MIT
//
// A BNNS program as it would be written for a Mac. Also compiled as C++.
#include <Accelerate/Accelerate.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char* what) {
  if (!condition) {
    printf("failed: %s (%s)\n", what, sheaf_last_error());
    ++failures;
  }
}

static BNNSNDArrayDescriptor matrix(void* _Nonnull data, BNNSDataType type, size_t rows,
                                    size_t columns) {
  BNNSNDArrayDescriptor array;
  memset(&array, 0, sizeof array);
  array.layout = BNNSDataLayout2DFirstMajor;
  array.size[0] = rows;
  array.size[1] = columns;
  array.data = data;
  array.data_type = type;
  return array;
}

int main(void) {
  float table[6] = {1, 2, 3, 4, 5, 6};
  int32_t picks[2] = {2, 0};
  float rows[4] = {0, 0, 0, 0};
  BNNSNDArrayDescriptor input = matrix(table, BNNSDataTypeFloat32, 3, 2);
  BNNSNDArrayDescriptor output = matrix(rows, BNNSDataTypeFloat32, 2, 2);
  BNNSNDArrayDescriptor indices;
  memset(&indices, 0, sizeof indices);
  indices.layout = BNNSDataLayoutVector;
  indices.size[0] = 2;
  indices.data = picks;
  indices.data_type = BNNSDataTypeInt32;

  expect(BNNSGather(0, &input, &indices, &output, NULL) == 0, "gather");
  expect(rows[0] == 5 && rows[1] == 6 && rows[2] == 1 && rows[3] == 2, "gathered rows");
  expect(BNNSScatter(0, BNNSReduceFunctionSum, &output, &indices, &input, NULL) == 0, "scatter");
  expect(table[4] == 10 && table[0] == 2 && table[2] == 3, "summed rows");
  expect(BNNSDataLayoutGetRank(BNNSDataLayout3DFirstMajor) == 3, "rank");
  expect(BNNSNDArrayGetDataSize(&input) == 24, "data size");

  float turned[6];
  BNNSNDArrayDescriptor transposed = matrix(turned, BNNSDataTypeFloat32, 2, 3);
  expect(BNNSTranspose(&transposed, &input, 0, 1, NULL) == 0, "transpose");
  expect(turned[0] == 2 && turned[1] == 3 && turned[2] == 10 && turned[3] == 4, "transposed");

  // The same matrix, last-major: another layout, one shape.
  float columns[6];
  BNNSNDArrayDescriptor other = matrix(columns, BNNSDataTypeFloat32, 3, 2);
  other.layout = BNNSDataLayout2DLastMajor;
  expect(BNNSCopy(&other, &input, NULL) == 0, "copy");
  expect(memcmp(columns, turned, sizeof columns) == 0, "copied to another layout");

  int16_t whole[6];
  BNNSNDArrayDescriptor integers = matrix(whole, BNNSDataTypeInt16, 3, 2);
  expect(BNNSCopy(&integers, &input, NULL) == 0 && whole[4] == 10, "converted");

  float tiles[24];
  BNNSNDArrayDescriptor tiled = matrix(tiles, BNNSDataTypeFloat32, 6, 4);
  expect(BNNSTile(&input, &tiled, NULL) == 0, "tile");
  expect(tiles[0] == 2 && tiles[2] == 2 && tiles[12] == 2 && tiles[23] == 12, "tiled");

  // Refusals.
  expect(BNNSTile(&tiled, &input, NULL) != 0, "a tile that does not fit");
  expect(BNNSTranspose(&transposed, &input, 0, 2, NULL) != 0, "no such axis");
  expect(BNNSCopy(&transposed, &input, NULL) != 0, "another shape");
  expect(BNNSCopy(&input, &input, NULL) != 0, "in place");
  expect(BNNSCopy(NULL, &input, NULL) != 0, "null");
  expect(BNNSNDArrayGetDataSize(NULL) == SIZE_MAX, "size of null");
  picks[0] = 3;
  expect(BNNSGather(0, &input, &indices, &output, NULL) == -1005, "index out of range");
  if (failures == 0) {
    puts("ok");
  }
  return failures;
}
