// SPDX-License-Identifier: MIT
//
// A gather on device memory from C: tensors as another library hands them over by DLPack, a queue
// with that library's stream, and the report on bad indices.
#include <cuda_runtime_api.h>
#include <sheaf/c.h>
#include <stdio.h>

enum { kSkip = 77 };  // what ctest takes for "skipped"

static void* on_device(const void* host, size_t bytes) {
  void* memory = NULL;
  if (cudaMalloc(&memory, bytes) == cudaSuccess) {
    cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice);
  }
  return memory;
}

static DLTensor tensor(void* memory, DLDataType type, int32_t ndim, int64_t* shape) {
  DLTensor t = {
      .data = memory, .device = {kDLCUDA, 0}, .ndim = ndim, .dtype = type, .shape = shape};
  return t;
}

int main(void) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("skipped: no NVIDIA GPU on this machine\n");
    return kSkip;
  }
  float table[8] = {0, 1, 10, 11, 20, 21, 30, 31};
  int32_t rows[3] = {2, 0, -1};
  float picked[6] = {0};
  int64_t table_shape[2] = {4, 2}, rows_shape[1] = {3}, picked_shape[2] = {3, 2};
  const DLDataType f32 = {kDLFloat, 32, 1}, i32 = {kDLInt, 32, 1};
  DLTensor data = tensor(on_device(table, sizeof table), f32, 2, table_shape);
  DLTensor indices = tensor(on_device(rows, sizeof rows), i32, 1, rows_shape);
  DLTensor output = tensor(on_device(picked, sizeof picked), f32, 2, picked_shape);

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  sheaf_queue* queue = NULL;
  sheaf_plan* plan = NULL;
  if (sheaf_queue_device(data.device, stream, &queue) != SHEAF_OK ||
      sheaf_plan_gather(&data, &indices, &output, NULL, &plan) != SHEAF_OK) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    return 1;
  }

  // Returns before it is done; the copy waits in the same stream.
  sheaf_run_options options = {.struct_size = sizeof options, .queue = queue};
  sheaf_plan_run(plan, &data, &indices, &output, &options);
  cudaMemcpyAsync(picked, output.data, sizeof picked, cudaMemcpyDeviceToHost, stream);
  if (sheaf_queue_finish(queue) != SHEAF_OK) {
    fprintf(stderr, "%s\n", sheaf_last_error());
    return 1;
  }
  printf("%g %g   %g %g   %g %g\n", picked[0], picked[1], picked[2], picked[3], picked[4],
         picked[5]);

  // A bad index is reported when the queue is finished; the output is untouched.
  rows[1] = 9;
  cudaMemcpyAsync(indices.data, rows, sizeof rows, cudaMemcpyHostToDevice, stream);
  sheaf_plan_run(plan, &data, &indices, &output, &options);
  const sheaf_status status = sheaf_queue_finish(queue);
  printf("%s\n", sheaf_last_error());

  sheaf_plan_destroy(plan);
  sheaf_queue_destroy(queue);
  cudaStreamDestroy(stream);
  cudaFree(data.data);
  cudaFree(indices.data);
  cudaFree(output.data);
  return status == SHEAF_INDEX_OUT_OF_RANGE ? 0 : 1;
}
