// SPDX-License-Identifier: MIT
//
// Rows of a table in the memory of a GPU: the example of docs/cuda.md.
// [example cuda-gather]
#include <cuda_runtime_api.h>
#include <sheaf/cuda.h>
#include <sheaf/sheaf.h>

#include <iostream>
#include <vector>

template <class T>
T* to_device(const std::vector<T>& values) {
  void* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}

int main() {
  if (!sheaf::cuda::available()) {
    std::cout << sheaf::cuda::description() << "\n";
    return 0;
  }
  float* table = to_device<float>({0, 1, 10, 11, 20, 21, 30, 31});  // 4 rows of 2
  int64_t* rows = to_device<int64_t>({3, 0, -1});                   // -1 is the last row
  float* picked = to_device<float>(std::vector<float>(6));

  const sheaf::Plan plan = sheaf::plan_gather({sheaf::f32, {4, 2}}, {sheaf::i64, {3}});
  const sheaf::cuda::Workspace workspace(plan);            // once
  sheaf::cuda::run(plan, table, rows, picked, workspace);  // returns at once
  sheaf::cuda::check(plan, workspace);                     // waits; throws IndexError

  std::vector<float> values(6);
  cudaMemcpy(values.data(), picked, values.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (float value : values) std::cout << value << ' ';  // 30 31 0 1 30 31
  std::cout << "\n";
  cudaFree(table);
  cudaFree(rows);
  cudaFree(picked);
}
// [/example]
