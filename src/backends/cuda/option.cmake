# SPDX-License-Identifier: MIT

# SHEAF_CUDA: whether the cuda backend is built. By default where it can be both compiled and run:
# compiling it takes longer than all the rest, so a machine without a GPU has to ask for it.
set(cuda_missing "")
if(NOT DEFINED SHEAF_CUDA)
  execute_process(COMMAND nvidia-smi -L
    RESULT_VARIABLE no_gpu OUTPUT_VARIABLE gpus ERROR_QUIET)
  if(NOT no_gpu EQUAL 0 OR NOT gpus MATCHES "GPU 0")
    set(cuda_missing "no NVIDIA GPU on this machine")
  else()
    include(CheckLanguage)
    check_language(CUDA)
    set(nvcc_says "")
    if(CMAKE_CUDA_COMPILER)
      execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --version OUTPUT_VARIABLE nvcc_says)
    endif()
    if(NOT nvcc_says MATCHES "release ([0-9]+)" OR CMAKE_MATCH_1 LESS 13)
      set(cuda_missing "no nvcc 13 or newer")
    endif()
  endif()
endif()
if(cuda_missing)
  option(SHEAF_CUDA "Build the cuda backend (needs nvcc 13)" OFF)
  message(STATUS "cuda backend left out: ${cuda_missing} (SHEAF_CUDA=ON builds it all the same)")
else()
  option(SHEAF_CUDA "Build the cuda backend (needs nvcc 13)" ON)
endif()
