// SPDX-License-Identifier: MIT
//
// Device times of the cuda backend, case by case, without Python: medians of CUDA events with the
// L2 cache flushed before each run. Prints one line per case: milliseconds, bytes per second, and a
// checksum of the output, which two builds that agree bit for bit share.
//
//   cuda_bench [--only TEXT] [--runs N] [--kernel NAME]     cmake -DSHEAF_BENCH=ON builds it
//
// With --kernel, cases that this kernel refuses are left out.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sheaf/cuda.h"
#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Free {
  void operator()(std::byte* memory) const { cudaFree(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory allocate(int64_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 16))));
  return Memory(static_cast<std::byte*>(memory));
}

__device__ uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDULL;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53ULL;
  return x ^ (x >> 33);
}

// Floats of (-1, 1): also as whole bytes they serve as data.
__global__ void fill_floats(float* values, int64_t count, uint64_t seed) {
  for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    values[i] = static_cast<float>(static_cast<int32_t>(mixed(seed + i))) / 2147483648.0F;
  }
}

// One of `padding` is 0, if that is not 0.
__global__ void fill_indices(int64_t* values, int64_t count, uint64_t extent, uint64_t seed,
                             int64_t padding) {
  for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    const auto any = static_cast<int64_t>(__umul64hi(mixed(seed + i), extent));
    values[i] = padding != 0 && i % padding == 0 ? 0 : any;
  }
}

__global__ void add_up(const uint8_t* bytes, int64_t count, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    mine += mixed(static_cast<uint64_t>(i) * 257 + bytes[i]);
  }
  atomicAdd(sum, mine);
}

int64_t bytes_of(const TensorSpec& spec) { return element_count(spec.sizes) * spec.dtype.bytes(); }

enum class Spread { kUniform, kZipf, kDistinct, kPadded };

// Entries 0, 1, 2 … with probabilities 1, 1/2^s, 1/3^s …, in the order of a shuffled list.
std::vector<int64_t> zipf(int64_t count, int64_t extent, double s) {
  std::vector<double> sums(static_cast<size_t>(extent));
  double sum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = sum += std::pow(static_cast<double>(i + 1), -s);
  }
  std::vector<int64_t> values(static_cast<size_t>(count));
  uint64_t state = 1;
  for (int64_t& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const double at = static_cast<double>(state >> 11) / 9007199254740992.0 * sum;
    const auto rank = std::upper_bound(sums.begin(), sums.end(), at) - sums.begin();
    value = static_cast<int64_t>(static_cast<uint64_t>(std::min<int64_t>(rank, extent - 1)) *
                                 2654435761ULL % static_cast<uint64_t>(extent));
  }
  return values;
}

std::vector<int64_t> distinct(int64_t count, int64_t extent) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = i * 7919 % extent;  // extents are powers of 2
  }
  return values;
}

struct Case {
  std::string name;
  Plan plan;
  int64_t extent;  // of the indexed axis
  Spread spread = Spread::kUniform;
  bool fresh = false;
};

std::string forced_kernel;

bool is_asked_for(const Case& c) {
  const std::vector<KernelReport> reports = cuda::kernels_for(c.plan);
  return forced_kernel.empty() ||
         std::any_of(reports.begin(), reports.end(), [](const KernelReport& report) {
           return report.name == forced_kernel && report.refusal.empty();
         });
}

struct Tensors {
  Memory data, indices, updates, output, workspace;
  int64_t workspace_bytes;

  explicit Tensors(const Case& c)
      : workspace_bytes(int64_t(cuda::workspace_bytes(c.plan, {.kernel = forced_kernel}))) {
    data = random_floats(bytes_of(c.plan.data()), 1);
    output = allocate(bytes_of(c.plan.output()));
    if (c.plan.is_scatter()) updates = random_floats(bytes_of(c.plan.updates()), 2);
    workspace = allocate(workspace_bytes);
    const int64_t count = (c.plan.ranges().indices.hi - c.plan.ranges().indices.lo) / 8;
    indices = allocate(count * 8);
    auto* const device = reinterpret_cast<int64_t*>(indices.get());
    if (c.spread == Spread::kUniform || c.spread == Spread::kPadded) {
      fill_indices<<<2048, 256>>>(device, count, static_cast<uint64_t>(c.extent), 3,
                                  c.spread == Spread::kPadded ? 1000 : 0);
    } else {
      const std::vector<int64_t> values =
          c.spread == Spread::kZipf ? zipf(count, c.extent, 1.2) : distinct(count, c.extent);
      require(cudaMemcpy(device, values.data(), values.size() * 8, cudaMemcpyHostToDevice));
    }
    require(cudaDeviceSynchronize());
  }

  static Memory random_floats(int64_t bytes, uint64_t seed) {
    Memory memory = allocate(bytes);
    fill_floats<<<2048, 256>>>(reinterpret_cast<float*>(memory.get()), bytes / 4, seed << 40);
    return memory;
  }

  // A template, so that this also compiles for builds without the option.
  template <class Options>
  void run(const Case& c) const {
    Options options;
    options.kernel = forced_kernel;
    if constexpr (requires { options.output_is_fresh; }) {
      options.output_is_fresh = c.fresh;
    }
    const cuda::WorkspaceView view{workspace_bytes > 0 ? workspace.get() : nullptr,
                                   static_cast<size_t>(workspace_bytes)};
    if (c.plan.is_scatter()) {  // in place
      cuda::run(c.plan, output.get(), indices.get(), updates.get(), output.get(), view, nullptr,
                options);
    } else {
      cuda::run(c.plan, data.get(), indices.get(), output.get(), view, nullptr, options);
    }
  }

  void reset(const Case& c) const {
    if (c.plan.is_scatter()) {
      require(cudaMemcpy(output.get(), data.get(), static_cast<size_t>(bytes_of(c.plan.output())),
                         cudaMemcpyDeviceToDevice));
    }
  }

  unsigned long long checksum(const Case& c) const {
    const Memory sum = allocate(8);
    require(cudaMemset(sum.get(), 0, 8));
    add_up<<<2048, 256>>>(reinterpret_cast<const uint8_t*>(output.get()), bytes_of(c.plan.output()),
                          reinterpret_cast<unsigned long long*>(sum.get()));
    unsigned long long host = 0;
    require(cudaMemcpy(&host, sum.get(), 8, cudaMemcpyDeviceToHost));
    return host;
  }
};

class Timer {
 public:
  Timer() : flush_(allocate(kFlush)) {
    require(cudaEventCreate(&begin_));
    require(cudaEventCreate(&end_));
  }

  // Milliseconds, the median of `runs`; tiny cases in batches, without flushing.
  double median(int runs, bool tiny, const std::function<void()>& run) {
    std::vector<float> times;
    const int batch = tiny ? 20 : 1;
    for (int i = 0; i < runs; ++i) {
      if (!tiny) require(cudaMemsetAsync(flush_.get(), i, kFlush));
      require(cudaEventRecord(begin_));
      for (int b = 0; b < batch; ++b) run();
      require(cudaEventRecord(end_));
      require(cudaEventSynchronize(end_));
      float ms = 0;
      require(cudaEventElapsedTime(&ms, begin_, end_));
      times.push_back(ms / static_cast<float>(batch));
    }
    std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
    return times[static_cast<size_t>(runs / 2)];
  }

 private:
  static constexpr int64_t kFlush = int64_t{256} << 20;
  Memory flush_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// What has to be moved at least: indices once, and rows read and written.
int64_t moved_bytes(const Plan& plan) {
  const int64_t rows = bytes_of(plan.is_scatter() ? plan.updates() : plan.output());
  const int64_t indices = plan.ranges().indices.hi - plan.ranges().indices.lo;
  return indices + (plan.is_scatter() ? 3 : 2) * rows;
}

void measure(const Case& c, int runs, Timer& timer) {
  const Tensors tensors(c);
  tensors.reset(c);
  tensors.run<RunOptions>(c);
  require(cudaDeviceSynchronize());
  const unsigned long long sum = tensors.checksum(c);
  const bool tiny = moved_bytes(c.plan) < (1 << 22);
  const double ms = timer.median(runs, tiny, [&] { tensors.run<RunOptions>(c); });
  require(cudaDeviceSynchronize());
  std::printf("%-44s %10.4f ms %8.1f GB/s  %016llx\n", c.name.c_str(), ms,
              static_cast<double>(moved_bytes(c.plan)) / ms / 1e6, sum);
  std::fflush(stdout);
}

using Cases = std::vector<std::function<Case()>>;

void add_rules(Cases& cases, const std::string& name, int64_t extent,
               const std::function<Plan(IndexRule)>& plan) {
  cases.push_back([=] {
    return Case{name + " clamp", plan({.out_of_range = OutOfRange::kClamp}), extent};
  });
  cases.push_back([=] {
    return Case{name + " fail", plan({.out_of_range = OutOfRange::kFail}), extent};
  });
  cases.push_back([=] {
    return Case{name + " fail fresh", plan({.out_of_range = OutOfRange::kFail}), extent,
                Spread::kUniform, true};
  });
}

Cases gathers() {
  Cases cases;
  for (const int64_t bytes : {4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 7, 13, 33, 65, 1001}) {
    const int64_t rows = (int64_t{1} << 32) / bytes;
    const int64_t picked = (int64_t{1} << (bytes < 16 ? 28 : 29)) / bytes;
    const DType type = bytes % 4 == 0 ? f32 : u8;
    const int64_t columns = bytes / type.bytes();
    add_rules(cases, "rows " + std::to_string(bytes) + " B", rows, [=](IndexRule rule) {
      return plan_gather({type, {rows, columns}}, {i64, {picked}}, {.rule = rule});
    });
  }
  for (const int64_t picked : {1000, 10000, 100000}) {
    constexpr int64_t kRows = 1 << 26;
    add_rules(cases, std::to_string(picked) + " rows of 16 B of 1 GiB", kRows, [=](IndexRule rule) {
      return plan_gather({f32, {kRows, 4}}, {i64, {picked}}, {.rule = rule});
    });
  }
  for (const auto& [rows, columns] : {std::pair{16384, 16384}, std::pair{2048, 100000}}) {
    const std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
    add_rules(cases, "inner axis " + shape, columns, [=, r = rows, c = columns](IndexRule rule) {
      return plan_gather({f32, {r, c}}, {i64, {c}}, {.axis = 1, .rule = rule});
    });
    add_rules(
        cases, "elements axis -1 " + shape, columns, [=, r = rows, c = columns](IndexRule rule) {
          return plan_gather_elements({f32, {r, c}}, {i64, {r, c}}, {.axis = 1, .rule = rule});
        });
  }
  for (const auto& [rows, columns] : {std::pair{16384, 16384}, std::pair{8192, 32768},
                                      std::pair{4096, 65536}, std::pair{1024, 1024}}) {
    add_rules(cases, "elements axis 0 " + std::to_string(rows) + "x" + std::to_string(columns),
              rows, [=, r = rows, c = columns](IndexRule rule) {
                return plan_gather_elements({f32, {r, c}}, {i64, {r, c}}, {.rule = rule});
              });
  }
  add_rules(cases, "elements axis 1 65536x8x32", 8, [](IndexRule rule) {
    return plan_gather_elements({f32, {65536, 8, 32}}, {i64, {65536, 8, 32}},
                                {.axis = 1, .rule = rule});
  });
  for (const int64_t c : {1, 4, 32, 128}) {
    add_rules(cases, "pairs C " + std::to_string(c), 4096, [=](IndexRule rule) {
      return plan_gather_nd({f32, {4096, 4096, c}}, {i64, {(1 << 24) / c, 2}}, {.rule = rule});
    });
  }
  return cases;
}

Case scatter_case(const std::string& name, int64_t updates, int64_t cells, int64_t columns,
                  Spread spread, Reduction reduction, bool relaxed = false) {
  return {name,
          plan_scatter({f32, {cells, columns}}, {i64, {updates}}, {f32, {updates, columns}},
                       {.reduction = reduction,
                        .relaxed = relaxed,
                        .rule = {.out_of_range = OutOfRange::kClamp}}),
          cells, spread};
}

// Rows of 256 bytes by an index that is repeated for each of their elements, as graph libraries
// call scatter_reduce.
Case repeated_case(const std::string& name, int64_t updates, int64_t cells, Reduction reduction) {
  const TensorSpec indices(i64, {updates, 64}, {1, 0});
  return {name,
          plan_scatter_elements({f32, {cells, 64}}, indices, {f32, {updates, 64}},
                                {.axis = 0, .reduction = reduction}),
          cells};
}

Cases scatters() {
  constexpr int64_t kMi = 1 << 20;
  constexpr Reduction kAdd = Reduction::kAdd;
  Cases cases;
  const auto add = [&](auto... arguments) {
    cases.push_back([=] { return scatter_case(arguments...); });
  };
  for (const bool relaxed : {false, true}) {
    const std::string order = relaxed ? "relaxed " : "";
    add(order + "add 0.5 Mi rows of 64 B into 1", kMi / 2, 1, 16, Spread::kUniform, kAdd, relaxed);
    add(order + "add 0.5 Mi rows of 512 B into 1", kMi / 2, 1, 128, Spread::kUniform, kAdd,
        relaxed);
    add(order + "add 4 Mi rows of 64 B zipf into 1 Mi", 4 * kMi, kMi, 16, Spread::kZipf, kAdd,
        relaxed);
    add(order + "add 4 Mi rows of 512 B zipf into 1 Mi", 4 * kMi, kMi, 128, Spread::kZipf, kAdd,
        relaxed);
    add(order + "add 4 Mi rows of 64 B into 1000", 4 * kMi, 1000, 16, Spread::kUniform, kAdd,
        relaxed);
    add(order + "add 8 Mi rows of 64 B into 100", 8 * kMi, 100, 16, Spread::kUniform, kAdd,
        relaxed);
    add(order + "add 4 Mi rows of 4 B into 1 Mi", 4 * kMi, kMi, 1, Spread::kUniform, kAdd, relaxed);
    add(order + "add 4 Mi rows of 16 B into 1 Mi", 4 * kMi, kMi, 4, Spread::kUniform, kAdd,
        relaxed);
    add(order + "add 8 Mi rows of 64 B into 1 Mi", 8 * kMi, kMi, 16, Spread::kUniform, kAdd,
        relaxed);
    add(order + "add 8 Mi rows of 512 B into 1 Mi", 8 * kMi, kMi, 128, Spread::kUniform, kAdd,
        relaxed);
  }
  for (const int64_t columns : {1, 2, 8, 16}) {
    const std::string bytes = std::to_string(4 * columns);
    if (columns > 1) {
      add("add 4 Mi rows of " + bytes + " B into 1 Mi", 4 * kMi, kMi, columns, Spread::kUniform,
          kAdd);
    }
    add("add 128 Ki rows of " + bytes + " B into 64 Ki", kMi / 8, kMi / 16, columns,
        Spread::kUniform, kAdd);
  }
  add("add 4 Mi rows of 16 B zipf into 1 Mi", 4 * kMi, kMi, 4, Spread::kZipf, kAdd);
  add("add 4 Mi rows of 16 B into 1 Mi, 0.1 % to one", 4 * kMi, kMi, 4, Spread::kPadded, kAdd);
  add("add 4 Mi rows of 16 B into 4 Mi", 4 * kMi, 4 * kMi, 4, Spread::kUniform, kAdd);
  add("add 16 Mi rows of 4 B into 16 Mi", 16 * kMi, 16 * kMi, 1, Spread::kUniform, kAdd);
  add("add 32 Mi rows of 16 B into 8 Mi", 32 * kMi, 8 * kMi, 4, Spread::kUniform, kAdd);
  add("add 16 Ki rows of 16 B into 16 Ki", kMi / 64, kMi / 64, 4, Spread::kUniform, kAdd);
  add("max 4 Mi rows of 64 B zipf into 1 Mi", 4 * kMi, kMi, 16, Spread::kZipf, Reduction::kMax,
      false);
  add("put 8 Mi unique rows of 64 B", 8 * kMi, 8 * kMi, 16, Spread::kDistinct, Reduction::kNone,
      false);
  add("put 8 Mi rows of 64 B into 1 Mi", 8 * kMi, kMi, 16, Spread::kUniform, Reduction::kNone,
      false);
  for (const auto& [name, reduction] : {std::pair{"add", kAdd}, std::pair{"mean", Reduction::kMean},
                                        std::pair{"max", Reduction::kMax}}) {
    for (const auto& [updates, cells] :
         {std::pair{int64_t{200000}, int64_t{1000}}, std::pair{4 * kMi, kMi}}) {
      cases.push_back([=, n = std::string(name), r = reduction, u = updates, c = cells] {
        return repeated_case(
            "repeated " + n + " " + std::to_string(u) + " rows of 256 B into " + std::to_string(c),
            u, c, r);
      });
    }
  }
  for (const int64_t axis : {1, 0}) {
    cases.push_back([=] {
      return Case{
          "scatter_elements add 16384x16384 axis " + std::to_string(axis),
          plan_scatter_elements(
              {f32, {16384, 16384}}, {i64, {16384, 16384}}, {f32, {16384, 16384}},
              {.axis = axis, .reduction = kAdd, .rule = {.out_of_range = OutOfRange::kClamp}}),
          16384};
    });
  }
  for (const int64_t cells : {10, 100, 1000}) {
    for (const int64_t axis : {1, 0}) {
      const Dims sizes = axis == 1 ? Dims{16384, cells} : Dims{cells, 16384};
      cases.push_back([=] {
        return Case{
            "scatter_elements add 16384x16384 into " + std::to_string(cells) + " axis " +
                std::to_string(axis),
            plan_scatter_elements(
                {f32, sizes}, {i64, {16384, 16384}}, {f32, {16384, 16384}},
                {.axis = axis, .reduction = kAdd, .rule = {.out_of_range = OutOfRange::kClamp}}),
            cells};
      });
    }
  }
  return cases;
}

// Microseconds that one launch takes on the host. A batch is shorter than CUDA's queue: a launch
// into a full one would wait for the device.
void measure_launches() {
  constexpr int kBatch = 250, kBatches = 40;
  for (const auto& [name, rule] :
       {std::pair{"clamp", OutOfRange::kClamp}, std::pair{"fail", OutOfRange::kFail}}) {
    const Case c{
        name, plan_gather({f32, {1000, 64}}, {i64, {32}}, {.rule = {.out_of_range = rule}}), 1000};
    const Tensors tensors(c);
    std::vector<double> times;
    for (int i = 0; i < kBatches; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (int b = 0; b < kBatch; ++b) tensors.run<RunOptions>(c);
      const std::chrono::duration<double, std::micro> taken =
          std::chrono::steady_clock::now() - start;
      times.push_back(taken.count() / kBatch);
      require(cudaDeviceSynchronize());
    }
    std::nth_element(times.begin(), times.begin() + kBatches / 2, times.end());
    std::printf("host time of a gather of 32 rows of 256 B, %-6s %.2f us\n", name,
                times[kBatches / 2]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string only;
  int runs = 11;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--kernel") == 0) forced_kernel = argv[i + 1];
    if (std::strcmp(argv[i], "--runs") == 0) runs = std::max(1, std::atoi(argv[i + 1]));
  }
  std::printf("%s\n", cuda::description().c_str());
  if (!cuda::available()) return 0;
  Timer timer;
  for (const Cases& cases : {gathers(), scatters()}) {
    for (const auto& make : cases) {
      const Case c = make();
      if (c.name.find(only) != std::string::npos && is_asked_for(c)) measure(c, runs, timer);
    }
  }
  if (forced_kernel.empty()) measure_launches();
}
