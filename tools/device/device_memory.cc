// SPDX-License-Identifier: MIT
#include "device/device_memory.h"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "sheaf/cuda.h"
#include "sheaf/error.h"

namespace sheaf {
namespace {

void check(cudaError_t status, const char* call, size_t bytes) {
  if (status == cudaSuccess) {
    return;
  }
  cudaGetLastError();  // or the next call reports this error once more
  const bool full = status == cudaErrorMemoryAllocation;
  throw Error(full ? ErrorCode::kOutOfMemory : ErrorCode::kDevice,
              std::string("cuda: ") + call + " failed\n  " + cudaGetErrorString(status) + ", for " +
                  std::to_string(bytes) + " bytes\n  " + cuda::description() +
                  "\n  try: " + (full ? "smaller tensors" : "compute-sanitizer on this program"));
}

void check_inside(size_t size, size_t bytes, size_t at) {
  if (at > size || bytes > size - at) {
    throw std::out_of_range("device memory is too small");
  }
}

// cudaMemcpy may return before the bytes have arrived.
void wait(const char* call, size_t bytes) { check(cudaStreamSynchronize(nullptr), call, bytes); }

}  // namespace

DeviceMemory::DeviceMemory(size_t bytes) : bytes_(bytes) {
  if (bytes > 0) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc", bytes);
    memory_ = static_cast<std::byte*>(memory);
  }
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() { cudaFree(memory_); }

void DeviceMemory::upload(const void* from, size_t bytes, size_t at) {
  check_inside(bytes_, bytes, at);
  if (bytes > 0) {
    check(cudaMemcpy(memory_ + at, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy", bytes);
    wait("cudaMemcpy", bytes);
  }
}

void DeviceMemory::download(void* to, size_t bytes, size_t at) const {
  check_inside(bytes_, bytes, at);
  if (bytes > 0) {
    check(cudaMemcpy(to, memory_ + at, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy", bytes);
  }
}

void DeviceMemory::fill(std::byte value, size_t bytes, size_t at) {
  check_inside(bytes_, bytes, at);
  if (bytes > 0) {
    check(cudaMemset(memory_ + at, static_cast<int>(value), bytes), "cudaMemset", bytes);
    wait("cudaMemset", bytes);
  }
}

size_t free_device_bytes() {
  size_t left = 0;
  size_t all = 0;
  check(cudaMemGetInfo(&left, &all), "cudaMemGetInfo", 0);
  return left;
}

}  // namespace sheaf
