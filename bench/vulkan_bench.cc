// SPDX-License-Identifier: MIT
//
// Rows out of a large table on a Vulkan device, against the same plan on CUDA in the same run,
// where both are, and against one invocation per element; and what the kernels cost before they
// run: the size of their SPIR-V, and the time until the driver has compiled them.
//
//   vulkan_bench [MiB of the table: 4096] [seconds per figure: 1]
#include <vulkan/vulkan.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "sheaf/queue.h"
#include "sheaf/sheaf.h"
#include "sheaf/vulkan.h"

namespace {

using namespace sheaf;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds of one run: `start` begins some, `wait` ends when they have ended.
template <class Start, class Wait>
double time_of(double budget, Start start, Wait wait) {
  start();
  wait();  // compiled, and the clocks of the device are up
  int runs = 1;
  for (;; runs *= 4) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < runs; ++i) {
      start();
    }
    wait();
    const double seconds = seconds_since(begin);
    if (seconds > budget) {
      return seconds / runs;
    }
  }
}

struct Problem {
  int64_t row_bytes, rows, picks;
  Plan plan;

  Problem(int64_t table_bytes, int64_t bytes)
      : row_bytes(bytes),
        rows(table_bytes / bytes),
        picks(table_bytes / 8 / bytes),
        plan(plan_gather({f32, {rows, bytes / 4}}, {i64, {picks}},
                         {.rule = {.out_of_range = OutOfRange::kClamp}})) {}
  double moved_bytes() const { return static_cast<double>(picks * (2 * row_bytes + 8)); }
};

// A problem in the memory of a device.
struct Tensors {
  DeviceMemory data, indices, output;

  Tensors(const char* device, const Problem& problem)
      : data(device, static_cast<size_t>(problem.rows * problem.row_bytes)),
        indices(device, static_cast<size_t>(problem.picks) * sizeof(int64_t)),
        output(device, static_cast<size_t>(problem.picks * problem.row_bytes)) {
    std::mt19937_64 random(3);
    std::vector<int64_t> rows(static_cast<size_t>(problem.picks));
    for (int64_t& row : rows) {
      row = static_cast<int64_t>(random() % static_cast<uint64_t>(problem.rows));
    }
    indices.upload(rows.data(), indices.bytes());
    data.fill(std::byte{1}, data.bytes());
  }
};

double time_on(const char* device, const Problem& problem, double budget) {
  if (!device_available(device)) {
    return 0;
  }
  const Tensors tensors(device, problem);
  const Queue queue{.device = device};
  return time_of(
      budget,
      [&] {
        run(problem.plan, tensors.data.data(), tensors.indices.data(), tensors.output.data(),
            queue);
      },
      [&] { wait(queue); });
}

void require(VkResult result, const char* what) {
  if (result != VK_SUCCESS) {
    std::fprintf(stderr, "%s: VkResult %d\n", what, static_cast<int>(result));
    std::exit(1);
  }
}

template <class Info>
Info info_of(VkStructureType type) {
  Info info{};
  info.sType = type;
  return info;
}

std::vector<uint32_t> element_shader() {
  std::ifstream file(VULKAN_ELEMENTS, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

// One invocation per element, on the library's device.
class Elements {
 public:
  Elements() : handles_(vulkan::Device::own().handles()) {
    const std::vector<uint32_t> words = element_shader();
    auto code = info_of<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    code.codeSize = words.size() * 4;
    code.pCode = words.data();
    auto pipeline =
        info_of<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    pipeline.stage = info_of<VkPipelineShaderStageCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline.stage.pName = "main";
    require(vkCreateShaderModule(handles_.device, &code, nullptr, &pipeline.stage.module),
            "vkCreateShaderModule");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
    auto layout =
        info_of<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(handles_.device, &layout, nullptr, &layout_),
            "vkCreatePipelineLayout");
    pipeline.layout = layout_;
    require(vkCreateComputePipelines(handles_.device, VK_NULL_HANDLE, 1, &pipeline, nullptr,
                                     &pipeline_),
            "vkCreateComputePipelines");
    auto pool = info_of<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.queueFamilyIndex = handles_.queue_family;
    require(vkCreateCommandPool(handles_.device, &pool, nullptr, &pool_), "vkCreateCommandPool");
  }

  double time(const Problem& problem, double budget) const {
    const Tensors tensors("vulkan", problem);
    VkCommandBuffer const commands = record(problem, tensors);
    auto submit = info_of<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    return time_of(
        budget,
        [&] {
          require(vkQueueSubmit(handles_.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
        },
        [&] { require(vkQueueWaitIdle(handles_.queue), "vkQueueWaitIdle"); });
  }

 private:
  struct Push {
    const void *data, *indices;
    void* output;
    uint32_t count, columns;
  };

  VkCommandBuffer record(const Problem& problem, const Tensors& tensors) const {
    constexpr uint32_t kMostGroups = 65535;  // in one dimension, on every device
    auto info =
        info_of<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool_;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    require(vkAllocateCommandBuffers(handles_.device, &info, &commands), "a command buffer");
    auto begin = info_of<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    require(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    const auto columns = static_cast<uint32_t>(problem.row_bytes / 4);
    const Push push{tensors.data.data(), tensors.indices.data(), tensors.output.data(),
                    static_cast<uint32_t>(problem.picks) * columns, columns};
    const uint32_t groups = (push.count - 1) / 128 + 1;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    const uint32_t rows = (groups - 1) / kMostGroups + 1;
    vkCmdDispatch(commands, (groups - 1) / rows + 1, rows, 1);
    // As every run of the library: what follows waits.
    auto barrier = info_of<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0,
                         nullptr);
    require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    return commands;
  }

  vulkan::DeviceHandles handles_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
};

void print_kernels() {
  size_t bytes = 0;
  double seconds = 0;
  std::string before;
  std::printf("%-18s %9s %12s\n", "kernel", "SPIR-V", "compiled in");
  for (const vulkan::CompiledKernel& kernel : vulkan::Device::own().compile_kernels()) {
    const std::string shader = kernel.name.substr(0, kernel.name.find(' '));
    bytes += shader == before ? 0 : kernel.spirv_bytes;
    before = shader;
    seconds += kernel.seconds;
    std::printf("%-18s %5zu KiB %9.1f ms\n", kernel.name.c_str(), kernel.spirv_bytes / 1024,
                1e3 * kernel.seconds);
  }
  std::printf("%-18s %5zu KiB %9.1f ms\n\n", "all", bytes / 1024, 1e3 * seconds);
}

void print_share(double peer, double ours) {
  peer > 0 ? std::printf(" %15.2f", peer / ours) : std::printf(" %15s", "-");
}

}  // namespace

int main(int count, char** arguments) {
  setenv("SHEAF_VULKAN_CACHE", "off", 0);  // else the driver has compiled them before
  const int64_t table = (count > 1 ? std::atoll(arguments[1]) : 4096) << 20;
  const double budget = count > 2 ? std::atof(arguments[2]) : 1;
  std::printf("%s\n\n", device_description("vulkan").c_str());
  if (!device_available("vulkan")) {
    return 0;
  }
  print_kernels();
  const Elements elements;
  std::printf("rows out of %lld MiB, an eighth as much picked; bytes read and written\n",
              static_cast<long long>(table >> 20));
  std::printf("%8s %12s %15s %15s\n", "row", "vulkan", "of cuda", "of elements");
  for (const int64_t bytes : {16, 64, 256, 1024, 4096}) {
    const Problem problem(table, bytes);
    const double ours = time_on("vulkan", problem, budget);
    std::printf("%6lld B %7.2f GB/s", static_cast<long long>(bytes),
                problem.moved_bytes() / ours / 1e9);
    print_share(time_on("cuda", problem, budget), ours);
    print_share(elements.time(problem, budget), ours);
    std::printf("\n");
  }
}
