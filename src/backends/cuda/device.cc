// SPDX-License-Identifier: MIT
#include "backends/cuda/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "sheaf/cuda.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::cuda {
namespace {

constexpr int kOldestMajor = 8;  // the oldest that there is code for

[[noreturn]] void throw_no_device(const std::string& why) {
  throw Error(ErrorCode::kUnsupported,
              cat("cuda: no device\n  ", why,
                  "\n  try: nvidia-smi to see devices and driver, or run the plan on the CPU"));
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
    cudaGetLastError();  // not to be found again by the next check
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
  throw Error(memory ? ErrorCode::kOutOfMemory : ErrorCode::kDevice,
              cat("cuda: ", memory ? "out of device memory" : "error", "\n  ", what,
                  ": CUDA says: ", cudaGetErrorString(error), " (", cudaGetErrorName(error),
                  ")\n  try: compute-sanitizer on the program; an earlier kernel may have failed"));
}

unsigned blocks_of(int64_t items, int64_t items_of_block) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  const int64_t blocks = (items - 1) / items_of_block + 1;
  if (blocks > kMost) {
    throw Error(ErrorCode::kUnsupported,
                cat("cuda: too many steps for one launch\n  the call has ", items, " of them, ",
                    items_of_block, " a block, and a launch has at most ", kMost,
                    " blocks\n  try: fewer indices or updates a call"));
  }
  return static_cast<unsigned>(blocks);
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

std::string description() {
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
