// SPDX-License-Identifier: MIT
#include "conformance/run_on_device.h"

#include "device/device_memory.h"
#include "sheaf/cuda.h"
#include "sheaf/error.h"

namespace sheaf::cli {
namespace {

class DeviceCopy {
 public:
  explicit DeviceCopy(Placed& tensor) : tensor_(tensor), memory_(tensor.memory().size()) {
    memory_.upload(tensor.memory().data(), memory_.bytes());
  }

  std::byte* data() const { return memory_.data() + (tensor_.data() - tensor_.memory().data()); }
  void fetch() const { memory_.download(tensor_.memory().data(), memory_.bytes()); }

 private:
  Placed& tensor_;
  DeviceMemory memory_;
};

}  // namespace

void run_on_device(const Plan& plan, Placed& data, Placed& indices, Placed& updates,
                   Placed& output) {
  const DeviceCopy device_data(data);
  const DeviceCopy device_indices(indices);
  const DeviceCopy device_updates(updates);
  const DeviceCopy device_output(output);
  const cuda::Workspace workspace(plan);
  if (plan.is_scatter()) {
    cuda::run(plan, device_data.data(), device_indices.data(), device_updates.data(),
              device_output.data(), workspace);
  } else {
    cuda::run(plan, device_data.data(), device_indices.data(), device_output.data(), workspace);
  }
  try {
    cuda::check(plan, workspace);
  } catch (const IndexError&) {
    device_output.fetch();  // to be seen untouched
    throw;
  }
  device_output.fetch();
}

}  // namespace sheaf::cli
