// SPDX-License-Identifier: MIT
//
// What a launch costs on the host: sheaf::cuda::run of a planned tiny gather, many times. Needs
// nothing but a GPU: cmake -DSHEAF_BENCH=ON, then bin/cuda_launch [launches].
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sheaf/cuda.h"
#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;

constexpr int kBatch = 250;

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Free {
  void operator()(void* memory) const { cudaFree(memory); }
};
using Memory = std::unique_ptr<void, Free>;

// Zeros: as data they are as good as others, and as indices they are in range.
Memory make_zeros(const TensorSpec& tensor) {
  const auto bytes = static_cast<size_t>(element_count(tensor.sizes) * tensor.dtype.bytes());
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes));
  require(cudaMemset(memory, 0, bytes));
  return Memory(memory);
}

// Microseconds per launch, the median over batches. A batch is shorter than CUDA's queue, and the
// wait that empties the queue is not in: a launch into a full one would wait for the device.
double microseconds(const Plan& plan, int launches) {
  const Memory data = make_zeros(plan.data());
  const Memory indices = make_zeros(plan.indices());
  const Memory output = make_zeros(plan.output());
  const cuda::Workspace workspace(plan);
  std::vector<double> batches;
  for (int done = 0; done < launches; done += kBatch) {
    const auto start = std::chrono::steady_clock::now();
    for (int launch = 0; launch < kBatch; ++launch) {
      cuda::run(plan, data.get(), indices.get(), output.get(), workspace);
    }
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    batches.push_back(taken.count() / kBatch);
    require(cudaDeviceSynchronize());
  }
  cuda::check(plan, workspace);
  const auto middle = batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2);
  std::nth_element(batches.begin(), middle, batches.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10000;
  std::printf("%s\n", cuda::description().c_str());
  if (!cuda::available()) return 0;
  std::printf("gather of 32 rows of 256 B, %d launches, host time of one:\n", launches);
  for (const auto& [name, rule] :
       {std::pair{"clamp", OutOfRange::kClamp}, std::pair{"fail", OutOfRange::kFail}}) {
    const Plan plan = plan_gather({f32, {1000, 64}}, {i64, {32}}, {.rule = {.out_of_range = rule}});
    std::printf("  %-6s %.2f us\n", name, microseconds(plan, launches));
  }
}
