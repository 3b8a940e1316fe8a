// SPDX-License-Identifier: MIT
#include "files/whole_run.h"

#include "files/loaded.h"
#include "plan/request.h"
#include "sheaf/queue.h"

namespace sheaf::cli {
namespace {

DeviceMemory uploaded(const std::string& device, const ConstTensor& tensor) {
  const auto bytes =
      static_cast<size_t>(element_count(tensor.spec.sizes) * tensor.spec.dtype.bytes());
  DeviceMemory memory(device, bytes);
  memory.upload(tensor.data, bytes);
  return memory;
}

void run_uploaded(const Plan& plan, const ConstTensor& data, const ConstTensor& indices,
                  const ConstTensor& updates, const Tensor& output, const std::string& device) {
  const DeviceMemory on_device[] = {uploaded(device, data), uploaded(device, indices),
                                    uploaded(device, output)};
  const DeviceMemory workspace(device, workspace_bytes(plan, {.device = device}));
  const Queue queue{.device = device, .workspace = workspace};
  const DeviceMemory third =
      plan.is_scatter() ? uploaded(device, updates) : DeviceMemory(device, 0);
  if (plan.is_scatter()) {
    run(plan, on_device[0].data(), on_device[1].data(), third.data(), on_device[2].data(), queue);
  } else {
    run(plan, on_device[0].data(), on_device[1].data(), on_device[2].data(), queue);
  }
  finish(plan, queue);
  on_device[2].download(output.data, on_device[2].bytes());
}

}  // namespace

Array run_whole(const Plan& plan, const Table& table, const ConstTensor& indices,
                const ConstTensor& updates, const std::string& device, int threads) {
  const Array data = loaded(table, "reading");
  Request request = plan.request();
  request.data = data.spec();  // row-major, whatever the order in the file
  const Plan ready = make_plan(request);
  Array output(ready.output());
  const Tensor out = output.tensor();
  if (!device.empty()) {
    run_uploaded(ready, data.tensor(), indices, updates, out, device);
  } else if (plan.is_scatter()) {
    ready.run(data.tensor().data, indices.data, updates.data, out.data, {.threads = threads});
  } else {
    ready.run(data.tensor().data, indices.data, out.data, {.threads = threads});
  }
  return output;
}

}  // namespace sheaf::cli
