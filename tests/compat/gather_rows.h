// SPDX-License-Identifier: MIT
//
// One operator for the programs in the manner of frameworks: rows of a table of floats.
#pragma once

#include "compat/machine.h"

namespace compat {

struct GatherRows {
  UINT rows, columns, picks;

  UINT64 table_bytes() const { return UINT64{4} * rows * columns; }
  UINT64 picks_bytes() const { return UINT64{4} * picks; }
  UINT64 output_bytes() const { return UINT64{4} * picks * columns; }

  ComPtr<IDMLCompiledOperator> compile(IDMLDevice* device,
                                       DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE,
                                       DML_TENSOR_FLAGS table_flags = DML_TENSOR_FLAG_NONE) const {
    const UINT table_sizes[] = {rows, columns}, picks_sizes[] = {1, picks};
    const UINT output_sizes[] = {picks, columns};
    const DML_BUFFER_TENSOR_DESC buffers[] = {
        {DML_TENSOR_DATA_TYPE_FLOAT32, table_flags, 2, table_sizes, nullptr, table_bytes(), 0},
        {DML_TENSOR_DATA_TYPE_UINT32, DML_TENSOR_FLAG_NONE, 2, picks_sizes, nullptr, picks_bytes(),
         0},
        {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, output_sizes, nullptr,
         output_bytes(), 0}};
    const DML_TENSOR_DESC tensors[] = {{DML_TENSOR_TYPE_BUFFER, &buffers[0]},
                                       {DML_TENSOR_TYPE_BUFFER, &buffers[1]},
                                       {DML_TENSOR_TYPE_BUFFER, &buffers[2]}};
    const DML_GATHER_OPERATOR_DESC gather{&tensors[0], &tensors[1], &tensors[2], 0, 1};
    const DML_OPERATOR_DESC desc{DML_OPERATOR_GATHER, &gather};
    ComPtr<IDMLOperator> op;
    COMPAT_CHECK(device->CreateOperator(&desc, IID_PPV_ARGS(&op)));
    ComPtr<IDMLCompiledOperator> compiled;
    COMPAT_CHECK(device->CompileOperator(op.Get(), flags, IID_PPV_ARGS(&compiled)));
    return compiled;
  }

  // Element (r, c) of the table is 100 r + c.
  std::vector<float> table() const {
    std::vector<float> values;
    for (UINT r = 0; r < rows; ++r) {
      for (UINT c = 0; c < columns; ++c) {
        values.push_back(static_cast<float>(100 * r + c));
      }
    }
    return values;
  }
  std::vector<UINT> some_picks(UINT seed) const {
    std::vector<UINT> values;
    for (UINT i = 0; i < picks; ++i) {
      values.push_back((7 * i + seed) % rows);
    }
    return values;
  }
  std::vector<float> expected(const std::vector<UINT>& at) const {
    std::vector<float> values;
    for (const UINT r : at) {
      for (UINT c = 0; c < columns; ++c) {
        values.push_back(static_cast<float>(100 * r + c));
      }
    }
    return values;
  }
};

}  // namespace compat
