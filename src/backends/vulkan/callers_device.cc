// SPDX-License-Identifier: MIT
//
// A device that the caller opened: looked at, refused or taken.
#include "backends/vulkan/properties.h"
#include "sheaf/error.h"
#include "sheaf/vulkan.h"
#include "support/text.h"

namespace sheaf::vulkan {
namespace {

void refuse_null(const void* handle, const char* name) {
  if (handle == nullptr) {
    throw Error(Refusal{.code = ErrorCode::kInvalidArgument,
                        .cause = {Reason::kNull},
                        .who = "vulkan",
                        .what = "null handle",
                        .detail = cat("DeviceHandles::", name, " is null"),
                        .next = "all handles of the device that plans are to run on"});
  }
}

void refuse_features(const OpenDevice& device, const VkDeviceCreateInfo* made) {
  if (const std::string why = missing_on(device.api, device.physical); !why.empty()) {
    throw_no_device(why.c_str(), "another device, or a newer driver");
  }
  if (made == nullptr) {
    return;
  }
  if (const std::string feature = not_enabled(*made); !feature.empty()) {
    throw_no_device(cat("the device was made without ", feature).c_str(),
                    "VkPhysicalDeviceVulkan12Features with that feature in VkDeviceCreateInfo");
  }
}

}  // namespace

std::shared_ptr<OpenDevice> adopt_device(const DeviceHandles& handles) {
  refuse_null(handles.instance, "instance");
  refuse_null(handles.physical_device, "physical_device");
  refuse_null(handles.device, "device");
  refuse_null(handles.queue, "queue");
  auto device = std::make_shared<OpenDevice>();
  if (handles.get_instance_proc_addr != nullptr) {
    device->api.GetInstanceProcAddr = handles.get_instance_proc_addr;
  } else {
    device->api.load_library();
  }
  device->instance = handles.instance;
  device->physical = handles.physical_device;
  device->device = handles.device;
  device->queue = handles.queue;
  device->queue_family = handles.queue_family;
  device->api.load_instance(handles.instance);
  refuse_features(*device, handles.create_info);
  if (!computes(device->api, device->physical, handles.queue_family)) {
    throw_no_device(cat("queue family ", handles.queue_family, " cannot compute").c_str(),
                    "a queue of a family with VK_QUEUE_COMPUTE_BIT");
  }
  device->api.load_device(handles.device);
  read_properties(*device, handles.create_info != nullptr && enables_float64(*handles.create_info));
  return device;
}

}  // namespace sheaf::vulkan
