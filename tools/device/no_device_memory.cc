// SPDX-License-Identifier: MIT
//
// Built instead of device_memory.cc where the library has no CUDA.
#include <string>

#include "device/device_memory.h"
#include "sheaf/cuda.h"
#include "sheaf/error.h"

namespace sheaf {
namespace {

[[noreturn]] void refuse(size_t bytes) {
  throw Error(ErrorCode::kUnsupported, "cuda: no device memory\n  " + std::to_string(bytes) +
                                           " bytes were asked for\n  " + cuda::description() +
                                           "\n  try: build with -DSHEAF_CUDA=ON, which needs "
                                           "nvcc 13");
}

}  // namespace

DeviceMemory::DeviceMemory(size_t bytes) { refuse(bytes); }
DeviceMemory::DeviceMemory(DeviceMemory&& /*other*/) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& /*other*/) noexcept = default;
DeviceMemory::~DeviceMemory() {}  // the header promises one, and is the same in every build

void DeviceMemory::upload(const void* /*from*/, size_t bytes, size_t /*at*/) { refuse(bytes); }
void DeviceMemory::download(void* /*to*/, size_t bytes, size_t /*at*/) const { refuse(bytes); }
void DeviceMemory::fill(std::byte /*value*/, size_t bytes, size_t /*at*/) { refuse(bytes); }

size_t free_device_bytes() { refuse(0); }

}  // namespace sheaf
