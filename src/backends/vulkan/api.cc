// SPDX-License-Identifier: MIT
#include "backends/vulkan/api.h"

#include <dlfcn.h>

#include <string>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::vulkan {
namespace {

constexpr const char* kLoaders[] = {"libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib",
                                    "libMoltenVK.dylib"};

template <class Function>
void look_up(Function& function, PFN_vkVoidFunction found, const char* name) {
  if (found == nullptr) {
    throw_no_device(cat("the Vulkan driver has no function ", name).c_str(),
                    "a driver of Vulkan 1.2 or newer");
  }
  function = reinterpret_cast<Function>(found);
}

}  // namespace

void throw_no_device(const char* why, const char* next) {
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .cause = {Reason::kKernel},
                      .who = "vulkan",
                      .what = "no device",
                      .detail = why,
                      .next = next});
}

void check_result(VkResult result, const char* what) {
  if (result >= VK_SUCCESS) {
    return;
  }
  const bool memory =
      result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
  throw Error(Refusal{.code = memory ? ErrorCode::kOutOfMemory : ErrorCode::kDevice,
                      .cause = {Reason::kMemory},
                      .who = "vulkan",
                      .what = memory ? "out of device memory" : "error of the device",
                      .detail = cat(what, ": VkResult ", static_cast<int>(result)),
                      .next = memory ? "smaller tensors, or fewer of them"
                                     : "the Vulkan validation layers, which say more"});
}

void Api::load_library() {
  void* library = nullptr;
  for (const char* name : kLoaders) {
    library = library != nullptr ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    throw_no_device("there is no Vulkan loader (libvulkan.so.1)",
                    "the package libvulkan1 and the driver of a GPU, or run the plan on the CPU");
  }
  GetInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (GetInstanceProcAddr == nullptr) {
    throw_no_device("the Vulkan loader has no vkGetInstanceProcAddr", "another Vulkan loader");
  }
  look_up(CreateInstance, GetInstanceProcAddr(nullptr, "vkCreateInstance"), "vkCreateInstance");
  look_up(EnumerateInstanceVersion, GetInstanceProcAddr(nullptr, "vkEnumerateInstanceVersion"),
          "vkEnumerateInstanceVersion");
}

void Api::load_instance(VkInstance instance) {
#define SHEAF_LOOK_UP(name) look_up(name, GetInstanceProcAddr(instance, "vk" #name), "vk" #name);
  SHEAF_VULKAN_INSTANCE_FUNCTIONS(SHEAF_LOOK_UP)
#undef SHEAF_LOOK_UP
}

void Api::load_device(VkDevice device) {
#define SHEAF_LOOK_UP(name) look_up(name, GetDeviceProcAddr(device, "vk" #name), "vk" #name);
  SHEAF_VULKAN_DEVICE_FUNCTIONS(SHEAF_LOOK_UP)
#undef SHEAF_LOOK_UP
}

}  // namespace sheaf::vulkan
