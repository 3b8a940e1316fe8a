// SPDX-License-Identifier: MIT
//
// Plans in programs that use Vulkan themselves: on their VkDevice, in their buffers and in their
// order. A run is recorded into a command buffer of the caller, or sent to the caller's queue
// between timeline semaphores. This is sheaf/queue.h with Vulkan's words; programs without Vulkan
// code of their own need that header only.
//
//   sheaf::vulkan::Device device({.instance = instance, .physical_device = gpu, .device = opened,
//                                 .queue_family = family, .queue = queue});
//   sheaf::vulkan::Memory workspace(device, plan);  // once
//
//   sheaf::vulkan::Commands commands(device, command_buffer);  // which is being recorded
//   run(plan, device.address(table), device.address(rows), device.address(picked),
//       commands.queue(workspace));
//   ...                                         // vkEndCommandBuffer, vkQueueSubmit, your fence
//   finish(plan, commands.queue(workspace));    // throws IndexError; waits for nothing
//
//   sheaf::vulkan::Stream stream(device);
//   stream.wait_for(semaphore, 7);              // before what follows
//   run(plan, data, indices, output, stream.queue(workspace));
//   stream.signal(semaphore, 8);                // behind all of that
//
// This header needs none of Vulkan's, and may stand before or behind them; its handles are theirs
// in 64-bit programs. Where the build has no Vulkan, a Device throws kUnsupported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sheaf/queue.h"

// As vulkan_core.h declares them.
struct VkBuffer_T;
struct VkCommandBuffer_T;
struct VkDevice_T;
struct VkDeviceCreateInfo;
struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkQueue_T;
struct VkSemaphore_T;

#pragma GCC visibility push(default)

namespace sheaf::vulkan {

inline constexpr std::string_view kDevice = "vulkan";

using VoidFunction = void (*)();                                           // PFN_vkVoidFunction
using GetInstanceProcAddr = VoidFunction (*)(VkInstance_T*, const char*);  // PFN_vk…

// A device that the caller opened. It was made with the features bufferDeviceAddress and
// timelineSemaphore of Vulkan 1.2, by an instance for 1.2 or newer.
struct DeviceHandles {
  VkInstance_T* instance = nullptr;
  VkPhysicalDevice_T* physical_device = nullptr;
  VkDevice_T* device = nullptr;
  uint32_t queue_family = 0;   // one for compute
  VkQueue_T* queue = nullptr;  // of that family
  // How functions are found; null: by the loader, libvulkan.so.1.
  GetInstanceProcAddr get_instance_proc_addr = nullptr;
  // What the device was made with, if it is at hand: its features are looked for there, and a
  // device without them is refused; sums of f64 are the hardware's own if it has shaderFloat64.
  // Vulkan cannot be asked. Read by the constructor only.
  const VkDeviceCreateInfo* create_info = nullptr;
};

// One kernel for one size of its words.
struct CompiledKernel {
  std::string name;
  size_t spirv_bytes = 0;  // what the driver compiles it from
  double seconds = 0;      // that it took; small if the cache had it
};

struct OpenDevice;
class BatchRecorder;
class CommandRecorder;

// What Sheaf keeps for a device: compiled kernels, and a buffer for transfers. May be copied, and
// used by several threads. The VkDevice has to outlive the last copy, and all that is made of it
// below.
class Device {
 public:
  // Throws kUnsupported if plans cannot run there, and says what is missing.
  explicit Device(const DeviceHandles& handles);
  // The device that sheaf/queue.h uses. Programs may make buffers of their own on it.
  static Device own();

  DeviceHandles handles() const;
  std::string description() const;
  // The file in which compiled kernels are kept for other programs, or why there is none. The
  // environment variable SHEAF_VULKAN_CACHE names a folder for it, or is "off".
  std::string kernel_cache() const;
  // Compiles all kernels that this device uses, which otherwise happens when each is first needed.
  std::vector<CompiledKernel> compile_kernels() const;

  // What stands for byte `offset` of a buffer in sheaf::run. The buffer is bound, was made with
  // VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, and its size is a multiple of 4. It may have any
  // number of bytes; VkMemoryDedicatedAllocateInfo lets short rows be read at full speed.
  void* address(VkBuffer_T* buffer, uint64_t offset = 0) const;

 private:
  friend class Commands;
  friend class Memory;
  friend class Stream;
  explicit Device(std::shared_ptr<OpenDevice> opened) : opened_(std::move(opened)) {}
  std::shared_ptr<OpenDevice> opened_;
};

// Memory of a device in an allocation of its own: a workspace, or a tensor. Transfers return when
// they are done, and do not wait for what uses this memory.
class Memory {
 public:
  Memory(const Device& device, size_t bytes);
  Memory(const Device& device, const Plan& plan);  // a workspace
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::byte* data() const;  // its address; null if there are no bytes
  size_t bytes() const;
  VkBuffer_T* buffer() const;
  operator WorkspaceView() const { return {data(), bytes()}; }

  // Bytes [at, at + bytes) of it. Refused if they lie outside.
  void upload(const void* from, size_t bytes, size_t at = 0);
  void download(void* to, size_t bytes, size_t at = 0) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Runs that the caller's command buffer holds. It is being recorded, outside of render passes, and
// can run compute shaders. Keep this object as long as the command buffer may run: it holds the
// kernels' arguments. One thread at a time.
//
// A run waits for compute shaders and transfers that were recorded before it, and those recorded
// behind it wait for the run; other stages need barriers of the caller. It binds a compute pipeline
// and pushes constants. If run() throws kDevice or kOutOfMemory, a part may be recorded.
class Commands {
 public:
  Commands(const Device& device, VkCommandBuffer_T* commands);
  Commands(Commands&& other) noexcept;
  Commands& operator=(Commands&& other) noexcept;
  ~Commands();

  // For run(), and for finish() each time when the command buffer has run to its end.
  Queue queue(WorkspaceView workspace = {}) const;

 private:
  Device device_;
  std::unique_ptr<CommandRecorder> recorder_;
};

// Runs in order, each sent to the device's queue when run() returns. As for vkQueueSubmit, no other
// thread may use that queue while run(), finish() or signal() are called; streams of one Device see
// to that among themselves. Runs of several streams may overlap.
class Stream {
 public:
  explicit Stream(const Device& device);
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();  // waits

  // What is started from now on waits until the semaphore has this value. For a binary semaphore
  // the value is ignored.
  void wait_for(VkSemaphore_T* semaphore, uint64_t value = 0);
  // Gives the semaphore this value when all that was started so far is done.
  void signal(VkSemaphore_T* semaphore, uint64_t value = 0);

  Queue queue(WorkspaceView workspace = {}) const;

 private:
  Device device_;
  std::unique_ptr<BatchRecorder> recorder_;
};

}  // namespace sheaf::vulkan

#pragma GCC visibility pop
