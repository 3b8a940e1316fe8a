// SPDX-License-Identifier: MIT
//
// Launches that may begin while the one before them in the stream still runs (programmatic
// dependent launch, from compute capability 9.0 on). Elsewhere they are plain launches.
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
                  Stream stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = static_cast<unsigned>(threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, args);
}

}  // namespace sheaf::cuda
