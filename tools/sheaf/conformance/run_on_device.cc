// SPDX-License-Identifier: MIT
#include "conformance/run_on_device.h"

#include <algorithm>

#include "sheaf/error.h"

namespace sheaf::cli {
namespace {

class DeviceCopy {
 public:
  DeviceCopy(const std::string& device, Placed& tensor)
      : tensor_(tensor), memory_(device, tensor.memory().size()) {
    memory_.upload(tensor.memory().data(), memory_.bytes());
  }

  std::byte* data() const { return memory_.data() + (tensor_.data() - tensor_.memory().data()); }
  void fetch() const { memory_.download(tensor_.memory().data(), memory_.bytes()); }

 private:
  Placed& tensor_;
  DeviceMemory memory_;
};

}  // namespace

bool is_device(const std::string& name) {
  const std::vector<std::string> devices = device_names();
  return std::find(devices.begin(), devices.end(), name) != devices.end();
}

void run_on_device(const Plan& plan, const std::string& device, Placed& data, Placed& indices,
                   Placed& updates, Placed& output) {
  const DeviceCopy device_data(device, data);
  const DeviceCopy device_indices(device, indices);
  const DeviceCopy device_updates(device, updates);
  const DeviceCopy device_output(device, output);
  const DeviceMemory workspace(device, workspace_bytes(plan, {.device = device}));
  const Queue queue{.device = device, .workspace = workspace};
  if (plan.is_scatter()) {
    run(plan, device_data.data(), device_indices.data(), device_updates.data(),
        device_output.data(), queue);
  } else {
    run(plan, device_data.data(), device_indices.data(), device_output.data(), queue);
  }
  try {
    finish(plan, queue);
  } catch (const IndexError&) {
    device_output.fetch();  // to be seen untouched
    throw;
  }
  device_output.fetch();
}

}  // namespace sheaf::cli
