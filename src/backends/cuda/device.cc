// SPDX-License-Identifier: MIT
#include "backends/cuda/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::cuda {
namespace {

constexpr int kOldestMajor = 8;  // the oldest that there is code for

[[noreturn]] void throw_no_device(const std::string& why) {
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .who = "cuda",
                      .what = "no device",
                      .detail = why,
                      .next = "nvidia-smi to see devices and driver, or run the plan on the CPU"});
}

Device read_device(int number) {
  cudaDeviceProp properties{};
  check_result(cudaGetDeviceProperties(&properties, number), "reading a device's properties");
  Device device;
  device.name = properties.name;
  device.major = properties.major;
  device.minor = properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  device.l2_bytes = properties.l2CacheSize;
  device.shared_bytes = static_cast<int64_t>(properties.sharedMemPerBlockOptin);
  device.multiprocessor_shared_bytes = static_cast<int64_t>(properties.sharedMemPerMultiprocessor);
  device.multiprocessor_threads = properties.maxThreadsPerMultiProcessor;
  return device;
}

// Devices do not change while a process lives.
const Device& known_device(int number) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<const Device>> known;
  thread_local int last_number = -1;
  thread_local const Device* last = nullptr;
  if (number != last_number) {
    const std::lock_guard lock(mutex);
    known.resize(std::max(known.size(), static_cast<size_t>(number) + 1));
    auto& slot = known[static_cast<size_t>(number)];
    if (slot == nullptr) {
      slot = std::make_unique<const Device>(read_device(number));
    }
    last = slot.get();
    last_number = number;
  }
  return *last;
}

}  // namespace

const Device& current_device() {
  int number = 0;
  if (const cudaError_t error = cudaGetDevice(&number); error != cudaSuccess) {
    cudaGetLastError();  // or the next check reports this error once more
    int driver = 0;
    cudaDriverGetVersion(&driver);
    throw_no_device(driver == 0 ? "there is no NVIDIA driver on this machine"
                                : cat("CUDA says: ", cudaGetErrorString(error)));
  }
  const Device& device = known_device(number);
  if (device.major < kOldestMajor) {
    throw_no_device(cat(device.name, " has compute capability ", device.major, ".", device.minor,
                        "; this build has code for ", kOldestMajor, ".0 and later"));
  }
  return device;
}

void check_result(int cuda_error, const char* what) {
  if (cuda_error == cudaSuccess) {
    return;
  }
  cudaGetLastError();
  const auto error = static_cast<cudaError_t>(cuda_error);
  const bool memory = error == cudaErrorMemoryAllocation;
  throw Error(Refusal{
      .code = memory ? ErrorCode::kOutOfMemory : ErrorCode::kDevice,
      .cause = {.reason = memory ? Reason::kMemory : Reason::kOther},
      .who = "cuda",
      .what = memory ? "out of device memory" : "error",
      .detail =
          cat(what, ": CUDA says: ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")"),
      .next = "compute-sanitizer on the program; an earlier kernel may have failed"});
}

namespace {

constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

int64_t blocks_for(int64_t items, int64_t items_per_block) {
  return (items - 1) / items_per_block + 1;
}

}  // namespace

bool fits_launch(int64_t items, int64_t items_per_block) {
  return blocks_for(items, items_per_block) <= kMostBlocks;
}

unsigned blocks_of(int64_t items, int64_t items_per_block) {
  return static_cast<unsigned>(blocks_for(items, items_per_block));
}

unsigned blocks_at_most(int64_t items, int64_t items_per_block) {
  return static_cast<unsigned>(std::min(blocks_for(items, items_per_block), kMostBlocks));
}

void* allocate(size_t bytes) {
  void* memory = nullptr;
  check_result(cudaMalloc(&memory, bytes), "allocating device memory");
  return memory;
}

void release(void* memory) { cudaFree(memory); }

// cudaMemcpy and cudaMemset may return before the bytes have arrived.
void upload(void* to, const void* from, size_t bytes) {
  check_result(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device");
  check_result(cudaStreamSynchronize(nullptr), "copying to the device");
}

void download(void* to, const void* from, size_t bytes) {
  check_result(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the device");
}

void fill_bytes(void* memory, std::byte value, size_t bytes) {
  check_result(cudaMemset(memory, static_cast<int>(value), bytes), "filling device memory");
  check_result(cudaStreamSynchronize(nullptr), "filling device memory");
}

size_t free_bytes() {
  size_t left = 0;
  size_t all = 0;
  check_result(cudaMemGetInfo(&left, &all), "asking for the free device memory");
  return left;
}

void zero(void* memory, size_t bytes, void* stream) {
  cudaMemsetAsync(memory, 0, bytes, static_cast<Stream>(stream));
}

void prepare(void* /*stream*/) { current_device(); }

int current_number() {
  int number = 0;
  check_result(cudaGetDevice(&number), "asking for the current device");
  return number;
}

void check_launches(const char* what) { check_result(cudaPeekAtLastError(), what); }

bool available() {
  try {
    current_device();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string describe() {
  try {
    const Device& device = current_device();
    return cat(device.name, ", compute capability ", device.major, ".", device.minor, ", ",
               device.multiprocessors, " multiprocessors, ", device.memory_bytes >> 30, " GiB");
  } catch (const Error& error) {
    const std::string text = error.what();
    const size_t begin = text.find("\n  ");
    return begin == std::string::npos
               ? text
               : text.substr(begin + 3, text.find('\n', begin + 1) - begin - 3);
  }
}

}  // namespace sheaf::cuda
