// SPDX-License-Identifier: MIT
//
// The functions of sheaf/vulkan.h where there is no Vulkan: no Device can be made, and all others
// need one.
#include <memory>

#include "sheaf/error.h"
#include "sheaf/vulkan.h"

namespace sheaf::vulkan {

struct OpenDevice {};
class BatchRecorder {};
class CommandRecorder {};
struct Memory::Parts {};

namespace {

[[noreturn]] void throw_not_built() {
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .cause = {Reason::kKernel},
                      .who = "vulkan",
                      .what = "not built",
                      .detail = "this build of Sheaf has no Vulkan",
                      .next = "a build with libvulkan-dev and glslc, or run the plan on the CPU"});
}

}  // namespace

Device::Device(const DeviceHandles& /*handles*/) { throw_not_built(); }
Device Device::own() { throw_not_built(); }
DeviceHandles Device::handles() const { throw_not_built(); }
std::string Device::description() const { throw_not_built(); }
std::string Device::kernel_cache() const { throw_not_built(); }
std::vector<CompiledKernel> Device::compile_kernels() const { throw_not_built(); }
void* Device::address(VkBuffer_T* /*buffer*/, uint64_t /*offset*/) const { throw_not_built(); }

Memory::Memory(const Device& /*device*/, size_t /*bytes*/) { throw_not_built(); }
Memory::Memory(const Device& /*device*/, const Plan& /*plan*/) { throw_not_built(); }
Memory::Memory(Memory&& other) noexcept = default;
Memory& Memory::operator=(Memory&& other) noexcept = default;
Memory::~Memory() = default;
std::byte* Memory::data() const { return nullptr; }
size_t Memory::bytes() const { return 0; }
VkBuffer_T* Memory::buffer() const { return nullptr; }
void Memory::upload(const void* /*from*/, size_t /*bytes*/, size_t /*at*/) { throw_not_built(); }
void Memory::download(void* /*to*/, size_t /*bytes*/, size_t /*at*/) const { throw_not_built(); }

Commands::Commands(const Device& device, VkCommandBuffer_T* /*commands*/) : device_(device) {
  throw_not_built();
}
Commands::Commands(Commands&& other) noexcept = default;
Commands& Commands::operator=(Commands&& other) noexcept = default;
Commands::~Commands() = default;
Queue Commands::queue(WorkspaceView /*workspace*/) const { throw_not_built(); }

Stream::Stream(const Device& device) : device_(device) { throw_not_built(); }
Stream::Stream(Stream&& other) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept = default;
Stream::~Stream() = default;
void Stream::wait_for(VkSemaphore_T* /*semaphore*/, uint64_t /*value*/) { throw_not_built(); }
void Stream::signal(VkSemaphore_T* /*semaphore*/, uint64_t /*value*/) { throw_not_built(); }
Queue Stream::queue(WorkspaceView /*workspace*/) const { throw_not_built(); }

}  // namespace sheaf::vulkan
