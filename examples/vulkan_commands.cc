// SPDX-License-Identifier: MIT
//
// A program that uses Vulkan itself has a gather recorded into its own command buffer: the example
// of docs/vulkan.md.
#include <sheaf/sheaf.h>
#include <sheaf/vulkan.h>
#include <vulkan/vulkan.h>

#include <cstdlib>
#include <iostream>
#include <vector>

namespace {

void require(VkResult result, const char* what) {
  if (result != VK_SUCCESS) {
    std::cerr << what << ": VkResult " << result << "\n";
    std::exit(1);
  }
}

template <class Struct>
Struct typed(VkStructureType type) {
  Struct made{};
  made.sType = type;
  return made;
}

// What such a program has anyway. This one takes instance and physical device of the library, which
// knows SHEAF_VULKAN_DEVICE, to stay short.
struct Program {
  VkPhysicalDevice gpu = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;

  explicit Program(const sheaf::vulkan::DeviceHandles& found)
      : gpu(found.physical_device), family(found.queue_family) {
    const float priority = 1;
    auto queues = typed<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queues.queueFamilyIndex = family;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    auto features = typed<VkPhysicalDeviceVulkan12Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    features.bufferDeviceAddress = VK_TRUE;  // Sheaf needs these two
    features.timelineSemaphore = VK_TRUE;
    auto info = typed<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &features;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    require(vkCreateDevice(gpu, &info, nullptr, &device), "vkCreateDevice");
    vkGetDeviceQueue(device, family, 0, &queue);
    auto commands = typed<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    commands.queueFamilyIndex = family;
    require(vkCreateCommandPool(device, &commands, nullptr, &pool), "vkCreateCommandPool");
    auto unsignaled = typed<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
    require(vkCreateFence(device, &unsignaled, nullptr, &fence), "vkCreateFence");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    vkDestroyFence(device, fence, nullptr);
    vkDestroyCommandPool(device, pool, nullptr);
    vkDestroyDevice(device, nullptr);
  }

  VkCommandBuffer begin() const {
    auto info = typed<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    require(vkAllocateCommandBuffers(device, &info, &commands), "vkAllocateCommandBuffers");
    auto start = typed<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    require(vkBeginCommandBuffer(commands, &start), "vkBeginCommandBuffer");
    return commands;
  }

  void submit_and_wait(VkCommandBuffer commands) const {
    auto info = typed<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    require(vkQueueSubmit(queue, 1, &info, fence), "vkQueueSubmit");
    require(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    require(vkResetFences(device, 1, &fence), "vkResetFences");
  }
};

template <class T>
sheaf::vulkan::Memory to_device(const sheaf::vulkan::Device& device, const std::vector<T>& values) {
  sheaf::vulkan::Memory memory(device, values.size() * sizeof(T));
  memory.upload(values.data(), memory.bytes());
  return memory;
}

void run_in(const Program& program, VkInstance instance) {
  // [example vulkan-commands]
  // Once. The VkDevice was made with bufferDeviceAddress and timelineSemaphore.
  const sheaf::vulkan::Device device({.instance = instance,
                                      .physical_device = program.gpu,
                                      .device = program.device,
                                      .queue_family = program.family,
                                      .queue = program.queue});
  const auto table = to_device<float>(device, {0, 1, 10, 11, 20, 21, 30, 31});  // 4 rows of 2
  const auto rows = to_device<int64_t>(device, {3, 0, -1});
  const auto picked = to_device<float>(device, std::vector<float>(6));
  const sheaf::Plan plan = sheaf::plan_gather({sheaf::f32, {4, 2}}, {sheaf::i64, {3}});
  const sheaf::vulkan::Memory workspace(device, plan);

  VkCommandBuffer commands = program.begin();
  const sheaf::vulkan::Commands recorded(device, commands);  // lives as long as `commands` may run
  sheaf::run(plan, device.address(table.buffer()), rows.data(), picked.data(),
             recorded.queue(workspace));
  vkEndCommandBuffer(commands);

  program.submit_and_wait(commands);               // any number of times
  sheaf::finish(plan, recorded.queue(workspace));  // throws IndexError; waits for nothing
  // [/example]

  std::vector<float> values(6);
  picked.download(values.data(), picked.bytes());
  for (const float value : values) std::cout << value << ' ';  // 30 31 0 1 30 31
  std::cout << "\n";
}

}  // namespace

int main() {
  if (!sheaf::device_available("vulkan")) {
    std::cout << sheaf::device_description("vulkan") << "\n";
    return 0;
  }
  const sheaf::vulkan::DeviceHandles found = sheaf::vulkan::Device::own().handles();
  const Program program(found);
  run_in(program, found.instance);
}
