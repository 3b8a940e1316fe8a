// SPDX-License-Identifier: MIT
//
// The device that kernels are launched on, and what CUDA says about it.
#pragma once

#include <cstdint>
#include <string>

struct CUstream_st;

namespace sheaf {
struct DeviceSteps;
}

namespace sheaf::cuda {

using Stream = CUstream_st*;  // cudaStream_t

struct Device {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 1;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t shared_bytes = 0;  // the most that one block may ask for
  int64_t multiprocessor_shared_bytes = 0;
  int multiprocessor_threads = 0;
};

// The current device of the calling thread; read once, then kept. Throws kUnsupported if there is
// none that this build has code for.
const Device& current_device();

bool available();
std::string describe();

// The steps on device memory that Backend::device names, except those on indices.
void* allocate(size_t bytes);
void release(void* memory);
void upload(void* to, const void* from, size_t bytes);
void download(void* to, const void* from, size_t bytes);
void fill_bytes(void* memory, std::byte value, size_t bytes);
size_t free_bytes();
void zero(void* memory, size_t bytes, void* stream);
void prepare(void* stream);
int current_number();  // of the current device, as CUDA counts them

// Blocks needed to cover `items`, and whether one launch can have as many: tensors that repeat
// their elements (strides of 0) can ask for any number. A kernel refuses what does not fit, so that
// nothing fails once a run has begun.
bool fits_launch(int64_t items, int64_t items_per_block);
unsigned blocks_of(int64_t items, int64_t items_per_block);

// For grid-stride kernels: at most as many as a launch can have.
unsigned blocks_at_most(int64_t items, int64_t items_per_block);

// Throws kDevice with CUDA's message if a call failed since the last check.
void check_launches(const char* what);
void check_result(int cuda_error, const char* what);

}  // namespace sheaf::cuda
