// SPDX-License-Identifier: MIT
#include "helpers/bag_device.h"

#include "helpers/device.h"
#include "helpers/guarded_tensor.h"
#include "sheaf/error.h"
#include "sheaf/queue.h"

using namespace sheaf;

namespace {

constexpr size_t kGuard = 256;

// Memory of a tensor on the device, or null.
std::optional<DeviceMemory> sent(const BagBytes& tensor) {
  if (tensor.bytes.empty()) {
    return std::nullopt;
  }
  DeviceMemory memory(test_device(), tensor.bytes.size());
  memory.upload(tensor.bytes.data(), tensor.bytes.size());
  return memory;
}
const void* start_of(const std::optional<DeviceMemory>& memory, const BagBytes& tensor) {
  return memory ? memory->data() + tensor.first : nullptr;
}

}  // namespace

BagResult on_device(const BagProblem& problem, std::string_view kernel, bool fresh) {
  const BagPlan bag = problem.plan();
  const BagBytes to(bag.output());
  const auto tensors = std::vector{&problem.stored,  &problem.scales,   &problem.zeros,
                                   &problem.indices, &problem.segments, &problem.weights};
  std::vector<std::optional<DeviceMemory>> memory;
  for (const BagBytes* tensor : tensors) {
    memory.push_back(sent(*tensor));
  }
  DeviceMemory output_memory(test_device(), to.bytes.size() + 2 * kGuard);
  output_memory.fill(kUntouchedBag, output_memory.bytes());
  const RunOptions run_options{.kernel = kernel, .output_is_fresh = fresh};
  const size_t needed = workspace_bytes(bag, {.device = test_device()}, run_options);
  DeviceMemory workspace(test_device(), needed);
  if (needed > 0) {
    workspace.fill(std::byte{0xEE}, needed);  // what a run finds there means nothing
  }
  const Queue queue{.device = test_device(), .workspace = workspace};
  BagResult result;
  try {
    run(bag,
        {.stored = start_of(memory[0], problem.stored),
         .scales = start_of(memory[1], problem.scales),
         .zeros = start_of(memory[2], problem.zeros),
         .indices = start_of(memory[3], problem.indices),
         .segments = start_of(memory[4], problem.segments),
         .weights = start_of(memory[5], problem.weights),
         .output = output_memory.data() + kGuard + to.first},
        queue, run_options);
    finish(bag, queue);
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.output.resize(output_memory.bytes());
  output_memory.download(result.output.data(), result.output.size());
  for (size_t i = 0; i < kGuard; ++i) {
    if (result.output[i] != kUntouchedBag ||
        result.output[result.output.size() - 1 - i] != kUntouchedBag) {
      result.error += "bytes around the output changed";
      break;
    }
  }
  result.output.erase(result.output.begin(), result.output.begin() + kGuard);
  result.output.resize(to.bytes.size());
  return result;
}

bool takes_next_problem() {
  static const uint64_t one_in = from_environment("SHEAF_TEST_BAGS_ONE_IN", 1);
  static uint64_t number = 0;
  return number++ % one_in == 0;
}
