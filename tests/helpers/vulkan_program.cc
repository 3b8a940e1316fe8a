// SPDX-License-Identifier: MIT
#include "helpers/vulkan_program.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

void require(VkResult result) {
  if (result != VK_SUCCESS) {
    throw std::runtime_error("VkResult " + std::to_string(result));
  }
}

template <class Info>
Info info_of(VkStructureType type) {
  Info info{};
  info.sType = type;
  return info;
}

}  // namespace

// vkName, as a program without prototypes finds it.
#define FIND(name) find<PFN_vk##name>("vk" #name)

template <class Function>
Function VulkanProgram::find(const char* name) const {
  return reinterpret_cast<Function>(handles_.get_instance_proc_addr(instance_, name));
}

VulkanProgram::VulkanProgram(Features features) {
  const sheaf::vulkan::DeviceHandles own = sheaf::vulkan::Device::own().handles();
  handles_.get_instance_proc_addr = own.get_instance_proc_addr;
  auto application = info_of<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.apiVersion = VK_API_VERSION_1_2;
  auto info = info_of<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  require(FIND(CreateInstance)(&info, nullptr, &instance_));
  open_device(features);
}

// The device with the name of the library's own.
void VulkanProgram::open_device(Features features) {
  const sheaf::vulkan::Device own = sheaf::vulkan::Device::own();
  uint32_t count = 0;
  require(FIND(EnumeratePhysicalDevices)(instance_, &count, nullptr));
  std::vector<VkPhysicalDevice> all(count);
  require(FIND(EnumeratePhysicalDevices)(instance_, &count, all.data()));
  for (VkPhysicalDevice const device : all) {
    VkPhysicalDeviceProperties properties;
    FIND(GetPhysicalDeviceProperties)(device, &properties);
    if (own.description().find(static_cast<const char*>(properties.deviceName)) == 0) {
      handles_.physical_device = device;
    }
  }
  handles_.queue_family = own.handles().queue_family;
  const float priority = 1;
  auto queue = info_of<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = handles_.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  features_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features_.bufferDeviceAddress = features.addresses ? VK_TRUE : VK_FALSE;
  features_.timelineSemaphore = features.timelines ? VK_TRUE : VK_FALSE;
  made_.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  made_.pNext = &features_;
  made_.queueCreateInfoCount = 1;
  made_.pQueueCreateInfos = &queue;
  require(FIND(CreateDevice)(handles_.physical_device, &made_, nullptr, &handles_.device));
  made_.pQueueCreateInfos = nullptr;
  handles_.instance = instance_;
  handles_.create_info = &made_;
  FIND(GetDeviceQueue)(handles_.device, handles_.queue_family, 0, &handles_.queue);
  auto pool = info_of<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = handles_.queue_family;
  require(FIND(CreateCommandPool)(handles_.device, &pool, nullptr, &pool_));
}

VulkanProgram::~VulkanProgram() {
  FIND(DeviceWaitIdle)(handles_.device);
  for (const Buffer& buffer : buffers_) {
    FIND(DestroyBuffer)(handles_.device, buffer.buffer, nullptr);
    FIND(FreeMemory)(handles_.device, buffer.memory, nullptr);
  }
  for (VkSemaphore const semaphore : semaphores_) {
    FIND(DestroySemaphore)(handles_.device, semaphore, nullptr);
  }
  FIND(DestroyCommandPool)(handles_.device, pool_, nullptr);
  FIND(DestroyDevice)(handles_.device, nullptr);
  FIND(DestroyInstance)(instance_, nullptr);
}

uint32_t VulkanProgram::host_memory_type() const {
  VkPhysicalDeviceMemoryProperties memory;
  FIND(GetPhysicalDeviceMemoryProperties)(handles_.physical_device, &memory);
  const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while ((memory.memoryTypes[type].propertyFlags & wanted) != wanted) {
    ++type;
  }
  return type;
}

VulkanProgram::Buffer VulkanProgram::make_buffer(VkDeviceSize bytes) {
  Buffer made;
  auto info = info_of<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  require(FIND(CreateBuffer)(handles_.device, &info, nullptr, &made.buffer));
  VkMemoryRequirements needs;
  FIND(GetBufferMemoryRequirements)(handles_.device, made.buffer, &needs);
  auto flags = info_of<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocation = info_of<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = host_memory_type();
  require(FIND(AllocateMemory)(handles_.device, &allocation, nullptr, &made.memory));
  require(FIND(BindBufferMemory)(handles_.device, made.buffer, made.memory, 0));
  void* mapped = nullptr;
  require(FIND(MapMemory)(handles_.device, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
  made.mapped = static_cast<std::byte*>(mapped);
  buffers_.push_back(made);
  return made;
}

VkCommandBuffer VulkanProgram::begin() {
  auto info = info_of<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  require(FIND(AllocateCommandBuffers)(handles_.device, &info, &commands));
  const auto start = info_of<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  require(FIND(BeginCommandBuffer)(commands, &start));
  return commands;
}

void VulkanProgram::end(VkCommandBuffer commands) { require(FIND(EndCommandBuffer)(commands)); }

void VulkanProgram::run(VkCommandBuffer commands) {
  const auto fence_info = info_of<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  VkFence fence = VK_NULL_HANDLE;
  require(FIND(CreateFence)(handles_.device, &fence_info, nullptr, &fence));
  auto submit = info_of<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  require(FIND(QueueSubmit)(handles_.queue, 1, &submit, fence));
  require(FIND(WaitForFences)(handles_.device, 1, &fence, VK_TRUE, UINT64_MAX));
  FIND(DestroyFence)(handles_.device, fence, nullptr);
}

VkSemaphore VulkanProgram::make_timeline() {
  auto type = info_of<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto info = info_of<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  require(FIND(CreateSemaphore)(handles_.device, &info, nullptr, &semaphore));
  semaphores_.push_back(semaphore);
  return semaphore;
}

void VulkanProgram::signal(VkSemaphore semaphore, uint64_t value) {
  auto info = info_of<VkSemaphoreSignalInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO);
  info.semaphore = semaphore;
  info.value = value;
  require(FIND(SignalSemaphore)(handles_.device, &info));
}

bool VulkanProgram::reaches(VkSemaphore semaphore, uint64_t value, uint64_t nanoseconds) {
  auto info = info_of<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &value;
  return FIND(WaitSemaphores)(handles_.device, &info, nanoseconds) == VK_SUCCESS;
}
