// SPDX-License-Identifier: MIT
//
// Launches that are not plain ones. Early launches may begin while the one before them in the
// stream still runs (programmatic dependent launch, from compute capability 9.0 on; elsewhere they
// are plain). The blocks of a cooperative launch may wait for one another.
#pragma once

#include <cuda_runtime.h>

#include "backends/cuda/device.h"

namespace sheaf::cuda {

// In the later kernel: before this call it must not touch what the launch before it writes.
__device__ inline void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// In the earlier kernel: as soon as every block has come here, the next launch may begin.
__device__ inline void let_next_launch_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Whether the code that runs here waits: code for older devices does not.
template <class Kernel>
bool waits_for_launch_before(Kernel kernel) {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess && attributes.ptxVersion >= 90;
}

// `early`: may begin while the launch before it runs.
template <class Args>
void launch_early(void (*kernel)(Args), const Args& args, unsigned blocks, int threads, bool early,
                  Stream stream, size_t shared_bytes = 0) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, args);
}

// All blocks must be resident at once: fewer start where the stream has only part of the device.
template <class Args>
void launch_cooperative(void (*kernel)(Args), const Args& args, unsigned most_blocks, int threads,
                        size_t shared_bytes, Stream stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t result = cudaErrorCooperativeLaunchTooLarge;
  for (unsigned blocks = most_blocks; blocks > 0 && result == cudaErrorCooperativeLaunchTooLarge;
       blocks /= 2) {
    config.gridDim = blocks;
    result = cudaLaunchKernelEx(&config, kernel, args);
    if (result == cudaErrorCooperativeLaunchTooLarge) {
      cudaGetLastError();  // clears it
    }
  }
  check_result(result, "starting a cooperative kernel");
}

}  // namespace sheaf::cuda
