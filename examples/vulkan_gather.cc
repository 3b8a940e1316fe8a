// SPDX-License-Identifier: MIT
//
// Rows of a table in the memory of any GPU: the example of docs/vulkan.md.
// [example vulkan-gather]
#include <sheaf/queue.h>
#include <sheaf/sheaf.h>

#include <iostream>
#include <vector>

template <class T>
sheaf::DeviceMemory to_device(const std::vector<T>& values) {
  sheaf::DeviceMemory memory("vulkan", values.size() * sizeof(T));
  memory.upload(values.data(), memory.bytes());
  return memory;
}

int main() {
  if (!sheaf::device_available("vulkan")) {
    std::cout << sheaf::device_description("vulkan") << "\n";
    return 0;
  }
  const auto table = to_device<float>({0, 1, 10, 11, 20, 21, 30, 31});  // 4 rows of 2
  const auto rows = to_device<int64_t>({3, 0, -1});                     // -1 is the last row
  const auto picked = to_device<float>(std::vector<float>(6));

  const sheaf::Plan plan = sheaf::plan_gather({sheaf::f32, {4, 2}}, {sheaf::i64, {3}});
  const sheaf::DeviceMemory workspace("vulkan", workspace_bytes(plan, {.device = "vulkan"}));
  const sheaf::Queue queue{.device = "vulkan", .workspace = workspace};
  sheaf::run(plan, table.data(), rows.data(), picked.data(), queue);  // returns at once
  sheaf::finish(plan, queue);                                         // waits; throws IndexError

  std::vector<float> values(6);
  picked.download(values.data(), picked.bytes());
  for (float value : values) std::cout << value << ' ';  // 30 31 0 1 30 31
  std::cout << "\n";
}
// [/example]
