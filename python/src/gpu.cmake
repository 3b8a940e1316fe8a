# SPDX-License-Identifier: MIT
# What calls CUDA itself, or stands in for it where the build has no CUDA.
if(SHEAF_CUDA)
  find_package(CUDAToolkit REQUIRED)
  target_sources(_sheaf PRIVATE src/cuda/runtime.cc)
  target_link_libraries(_sheaf PRIVATE CUDA::cudart_static)
else()
  target_sources(_sheaf PRIVATE src/no_cuda/runtime.cc)
endif()
