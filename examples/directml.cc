// SPDX-License-Identifier: MIT
//
// DML_OPERATOR_GATHER on host memory: rows 2 and 0 of a table.
#include <sheaf/directml.h>

#include <cstdio>
#include <vector>

namespace {

DML_BUFFER_TENSOR_DESC packed(DML_TENSOR_DATA_TYPE type, const std::vector<UINT>& sizes) {
  const auto rank = static_cast<UINT>(sizes.size());
  const UINT64 bytes = DMLCalcBufferTensorSize(type, rank, sizes.data(), nullptr);
  return {type, DML_TENSOR_FLAG_NONE, rank, sizes.data(), nullptr, bytes, 0};
}

int fail(const char* call) {
  std::fprintf(stderr, "%s: %s\n", call, sheaf::dml::LastErrorText());
  return 1;
}

}  // namespace

int main() {
  std::vector<float> table = {1, 2, 3, 4, 5, 6};  // 3 rows of 2
  std::vector<UINT> picks = {2, 0};
  std::vector<float> rows(4);

  const std::vector<UINT> table_sizes = {3, 2}, pick_sizes = {1, 2}, row_sizes = {2, 2};
  const auto input_buffer = packed(DML_TENSOR_DATA_TYPE_FLOAT32, table_sizes);
  const auto indices_buffer = packed(DML_TENSOR_DATA_TYPE_UINT32, pick_sizes);
  const auto output_buffer = packed(DML_TENSOR_DATA_TYPE_FLOAT32, row_sizes);
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &input_buffer};
  const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &indices_buffer};
  const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &output_buffer};
  const DML_GATHER_OPERATOR_DESC gather = {&input, &indices, &output, 0, 1};
  const DML_OPERATOR_DESC desc = {DML_OPERATOR_GATHER, &gather};

  sheaf::dml::ComPtr<IDMLDevice> device;
  sheaf::dml::ComPtr<IDMLOperator> op;
  sheaf::dml::ComPtr<IDMLCompiledOperator> compiled;
  if (FAILED(DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device))) {
    return fail("DMLCreateDevice");
  }
  if (FAILED(device->CreateOperator(&desc, &op))) {
    return fail("CreateOperator");
  }
  if (FAILED(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled))) {
    return fail("CompileOperator");
  }

  const sheaf::dml::HostBuffer table_memory(table), pick_memory(picks), row_memory(rows);
  const DML_BUFFER_BINDING table_range = {&table_memory, 0, table.size() * sizeof(float)};
  const DML_BUFFER_BINDING pick_range = {&pick_memory, 0, picks.size() * sizeof(UINT)};
  const DML_BUFFER_BINDING row_range = {&row_memory, 0, rows.size() * sizeof(float)};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &table_range},
                                     {DML_BINDING_TYPE_BUFFER, &pick_range}};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &row_range}};
  if (FAILED(device->Dispatch(compiled.Get(), {2, inputs, 1, outputs}))) {
    return fail("Dispatch");
  }
  std::printf("%g %g / %g %g\n", rows[0], rows[1], rows[2], rows[3]);  // 5 6 / 1 2
  return rows == std::vector<float>{5, 6, 1, 2} ? 0 : 1;
}
