// SPDX-License-Identifier: MIT
//
// Gathers and scatters on a Vulkan device, against the same plans on CUDA in the same run, where
// both are, and rows against one invocation per element; and what the kernels cost before they run:
// the size of their SPIR-V, and the time until the driver has compiled them. Times are those
// between two timestamps around runs that were recorded into one command buffer; a last column has
// runs that were submitted one by one.
//
//   vulkan_bench [MiB of the table: 4096] [seconds per figure: 0.2]
#include <vulkan/vulkan.h>

#include <algorithm>
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
  const Clock::time_point before = Clock::now();
  do {  // until it is compiled, and the clocks of the device are up
    start();
    wait();
  } while (seconds_since(before) < 2 * budget);
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

// What a line of the table measures. A gather has no updates.
struct Problem {
  std::string name;
  Plan plan;
  TensorSpec data, indices, grid;  // grid: a gather's output, a scatter's updates
  int64_t extent;                  // indices are random in [0, extent)
  double moved_bytes;
  bool scatters = false;
};

size_t bytes_of(const TensorSpec& spec) {
  return static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
}

Problem rows_problem(int64_t table_bytes, int64_t row_bytes) {
  const int64_t rows = table_bytes / row_bytes, picks = rows / 8, columns = row_bytes / 4;
  const TensorSpec data(f32, {rows, columns}), indices(i64, {picks});
  return {"rows of " + std::to_string(row_bytes) + " B",
          plan_gather(data, indices, {.rule = {.out_of_range = OutOfRange::kClamp}}),
          data,
          indices,
          TensorSpec(f32, {picks, columns}),
          rows,
          static_cast<double>(picks * (2 * row_bytes + 8))};
}

// As many indices as elements: 16 bytes per element move.
Problem elements_problem(int64_t table_bytes, int axis) {
  const int64_t side = axis == 0 ? table_bytes / 16 / 4096 : 4096;
  const TensorSpec data(f32, {table_bytes / 16 / side, side});
  const TensorSpec indices(i64, data.sizes);
  return {"elements, axis " + std::to_string(axis),
          plan_gather_elements(data, indices,
                               {.axis = axis, .rule = {.out_of_range = OutOfRange::kClamp}}),
          data,
          indices,
          data,
          data.sizes[static_cast<size_t>(axis)],
          16.0 * static_cast<double>(element_count(data.sizes))};
}

Problem inner_axis_problem(int64_t table_bytes) {
  const int64_t rows = table_bytes / 4 / 16384, picks = 4096;
  const TensorSpec data(f32, {rows, 16384}), indices(i64, {picks});
  return {"inner axis",
          plan_gather(data, indices, {.axis = 1, .rule = {.out_of_range = OutOfRange::kClamp}}),
          data,
          indices,
          TensorSpec(f32, {rows, picks}),
          16384,
          static_cast<double>(rows * picks * 8)};
}

// Each update is read, each cell that one names is read and written.
Problem sum_problem(const char* name, int64_t updates, int64_t cells, int64_t columns) {
  const TensorSpec data(f32, {cells, columns}), indices(i64, {updates});
  const TensorSpec grid(f32, {updates, columns});
  return {name,
          plan_scatter(data, indices, grid,
                       {.reduction = Reduction::kAdd, .rule = {.out_of_range = OutOfRange::kSkip}}),
          data,
          indices,
          grid,
          cells,
          static_cast<double>(updates * (columns * 4 + 8) + std::min(cells, updates) * columns * 8),
          true};
}

// A problem in the memory of a device.
struct Tensors {
  DeviceMemory data, indices, grid, workspace;

  Tensors(const char* device, const Problem& problem)
      : data(device, bytes_of(problem.data)),
        indices(device, bytes_of(problem.indices)),
        grid(device, bytes_of(problem.grid)),
        workspace(device, workspace_bytes(problem.plan, {.device = device})) {
    std::mt19937_64 random(3);
    std::vector<int64_t> values(indices.bytes() / sizeof(int64_t));
    for (int64_t& value : values) {
      value = static_cast<int64_t>(random() % static_cast<uint64_t>(problem.extent));
    }
    indices.upload(values.data(), indices.bytes());
    data.fill(std::byte{1}, data.bytes());
    grid.fill(std::byte{1}, grid.bytes());
  }

  void start(const Problem& problem, Queue queue) const {
    queue.workspace = workspace;
    if (problem.scatters) {
      run(problem.plan, data.data(), indices.data(), grid.data(), data.data(), queue);
    } else {
      run(problem.plan, data.data(), indices.data(), grid.data(), queue);
    }
  }
};

double time_on(const char* device, const Problem& problem, double budget) {
  if (!device_available(device)) {
    return 0;
  }
  const Tensors tensors(device, problem);
  const Queue queue{.device = device};
  return time_of(
      budget, [&] { tensors.start(problem, queue); }, [&] { wait(queue); });
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

// Command buffers between timestamps, on the library's device.
class Stopwatch {
 public:
  Stopwatch() : handles_(vulkan::Device::own().handles()) {
    auto pool = info_of<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.queueFamilyIndex = handles_.queue_family;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    require(vkCreateCommandPool(handles_.device, &pool, nullptr, &pool_), "vkCreateCommandPool");
    auto info =
        info_of<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool_;
    info.commandBufferCount = 1;
    require(vkAllocateCommandBuffers(handles_.device, &info, &commands_), "a command buffer");
    auto queries = info_of<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2;
    require(vkCreateQueryPool(handles_.device, &queries, nullptr, &queries_), "vkCreateQueryPool");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(handles_.physical_device, &properties);
    tick_ = properties.limits.timestampPeriod * 1e-9;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    vkDestroyQueryPool(handles_.device, queries_, nullptr);
    vkDestroyCommandPool(handles_.device, pool_, nullptr);
  }

  // Seconds of one of the runs that `record` records, the median of nine command buffers. Clocks
  // fall while tensors are made, and rise again within a part of a second.
  template <class Record>
  double time(int runs, Record record) const {
    auto begin = info_of<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    require(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    vkCmdResetQueryPool(commands_, queries_, 0, 2);
    vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, queries_, 0);
    [[maybe_unused]] const auto arguments = record(commands_, runs);  // live until it has run
    vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, queries_, 1);
    require(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    auto submit = info_of<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands_;
    std::vector<uint64_t> ticks;
    const Clock::time_point start = Clock::now();
    while (ticks.size() < 9) {
      require(vkQueueSubmit(handles_.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
      require(vkQueueWaitIdle(handles_.queue), "vkQueueWaitIdle");
      uint64_t stamps[2];
      require(vkGetQueryPoolResults(handles_.device, queries_, 0, 2, sizeof stamps, stamps,
                                    sizeof stamps[0],
                                    VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
              "vkGetQueryPoolResults");
      if (seconds_since(start) > kWarmUp) {
        ticks.push_back(stamps[1] - stamps[0]);
      }
    }
    std::nth_element(ticks.begin(), ticks.begin() + 4, ticks.end());
    return static_cast<double>(ticks[4]) * tick_ / runs;
  }

  double time(const Problem& problem, int runs) const {
    const Tensors tensors("vulkan", problem);
    return time(runs, [&](VkCommandBuffer commands, int count) {
      vulkan::Commands recorded(vulkan::Device::own(), commands);
      for (int i = 0; i < count; ++i) {
        tensors.start(problem, recorded.queue());
      }
      return recorded;
    });
  }

 private:
  static constexpr double kWarmUp = 0.4;
  vulkan::DeviceHandles handles_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  double tick_ = 0;
};

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
  }

  double time(const Stopwatch& watch, const Problem& problem, int runs) const {
    const Tensors tensors("vulkan", problem);
    return watch.time(runs, [&](VkCommandBuffer commands, int count) {
      for (int i = 0; i < count; ++i) {
        record(commands, problem, tensors);
      }
      return count;
    });
  }

 private:
  struct Push {
    const void *data, *indices;
    void* output;
    uint32_t count, columns;
  };

  void record(VkCommandBuffer commands, const Problem& problem, const Tensors& tensors) const {
    constexpr uint32_t kMostGroups = 65535;  // in one dimension, on every device
    const Push push{tensors.data.data(), tensors.indices.data(), tensors.grid.data(),
                    static_cast<uint32_t>(element_count(problem.grid.sizes)),
                    static_cast<uint32_t>(problem.data.sizes[1])};
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
  }

  vulkan::DeviceHandles handles_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
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
  peer > 0 ? std::printf(" %12.2f", peer / ours) : std::printf(" %12s", "-");
}

void print_problem(const Stopwatch& watch, const Elements* elements, const Problem& problem,
                   double budget) {
  constexpr int kRuns = 8;  // of one command buffer
  const double ours = watch.time(problem, kRuns);
  std::printf("%-28s %9.4f %8.1f", problem.name.c_str(), 1e3 * ours,
              problem.moved_bytes / ours / 1e9);
  print_share(time_on("cuda", problem, budget), ours);
  print_share(elements != nullptr ? elements->time(watch, problem, kRuns) : 0, ours);
  std::printf(" %12.4f\n", 1e3 * time_on("vulkan", problem, budget));
}

}  // namespace

int main(int count, char** arguments) {
  setenv("SHEAF_VULKAN_CACHE", "off", 0);  // else the driver has compiled them before
  const int64_t table = (count > 1 ? std::atoll(arguments[1]) : 4096) << 20;
  const double budget = count > 2 ? std::atof(arguments[2]) : 0.2;
  std::printf("%s\n\n", device_description("vulkan").c_str());
  if (!device_available("vulkan")) {
    return 0;
  }
  print_kernels();
  const Stopwatch watch;
  const Elements elements;
  std::printf("a table of %lld MiB; bytes that have to move\n\n",
              static_cast<long long>(table >> 20));
  std::printf("%-28s %9s %8s %12s %12s %12s\n", "", "ms", "GB/s", "of cuda", "of elements",
              "submitted ms");
  for (const int64_t bytes : {16, 64, 256, 1024, 4096}) {
    print_problem(watch, &elements, rows_problem(table, bytes), budget);
  }
  const int64_t updates = table >> 12;  // a mebi of 256 B for 4 GiB
  for (const Problem& problem :
       {elements_problem(table, 1), elements_problem(table, 0), inner_axis_problem(table),
        sum_problem("sums, as many cells", updates, updates, 64),
        sum_problem("sums, 1000 cells", updates, 1000, 64),
        sum_problem("sums, 1 cell", updates / 64, 1, 64)}) {
    print_problem(watch, nullptr, problem, budget);
  }
}
