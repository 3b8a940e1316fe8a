// SPDX-License-Identifier: MIT
//
// The device that kernels are launched on, and what CUDA says about it.
#pragma once

#include <cstdint>
#include <string>

namespace sheaf::cuda {

struct Device {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 1;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t shared_bytes = 0;  // that one block may ask for
  int64_t multiprocessor_shared_bytes = 0;
  int multiprocessor_threads = 0;
};

// The current device of the calling thread; read once, then kept. Throws kUnsupported if there is
// none that this build has code for.
const Device& current_device();

// How many blocks have so many items. Throws kUnsupported if that is more than a launch can have:
// tensors that repeat their elements (strides of 0) can ask for any number.
unsigned blocks_of(int64_t items, int64_t items_of_block);

// Throws kDevice with CUDA's own words if something went wrong since the last call.
void check_launches(const char* what);
void check_result(int cuda_error, const char* what);

}  // namespace sheaf::cuda
