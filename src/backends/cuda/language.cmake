# SPDX-License-Identifier: MIT

# CUDA as a language of the folder that includes this.

# sm_80, sm_90 and sm_100, and PTX that the driver compiles for what comes after.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100-real 100-virtual)
endif()
set(CMAKE_CUDA_STANDARD 17)  # while the compiler is tried
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 20)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know this of nvcc
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
