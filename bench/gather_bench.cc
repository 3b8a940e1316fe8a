// SPDX-License-Identifier: MIT
//
// One benchmark per kernel family and regime, on one thread, for comparing two versions of Sheaf.
// For comparing Sheaf with other libraries see peers.py; for one problem, `sheaf bench`.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;

struct Named {
  const char* name;
  const char* problem;  // with i64 indices into one axis of `extent` entries
  int64_t extent;
};

constexpr Named kProblems[] = {
    {"rows/far/4B", "gather f32[16777216,1] i64[262144]", 16777216},
    {"rows/far/12B", "gather f32[8388608,3] i64[262144]", 8388608},
    {"rows/far/64B", "gather f32[2097152,16] i64[262144]", 2097152},
    {"rows/far/256B", "gather f32[524288,64] i64[131072]", 524288},
    {"rows/far/4096B", "gather f32[32768,1024] i64[8192]", 32768},
    {"rows/near/4B", "gather f32[65536,1] i64[262144]", 65536},
    {"rows/near/64B", "gather f32[4096,16] i64[65536]", 4096},
    {"lookup", "gather f32[2048,2048] i64[2048] axis=1", 2048},
    {"elements/last", "gather_elements f32[2048,2048] i64[2048,2048] axis=1", 2048},
    {"elements/first", "gather_elements f32[2048,2048] i64[2048,2048] axis=0", 2048},
    {"nd/pairs", "gather_nd f32[1024,1024,4] i64[262144,2]", 1024},
    {"tiny", "gather f32[1000,64] i64[32]", 1000},
};

std::vector<int64_t> random_indices(int64_t count, int64_t extent) {
  std::mt19937_64 random(1);
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t& index : indices) {
    index = static_cast<int64_t>(random() % static_cast<uint64_t>(extent));
  }
  return indices;
}

void run_problem(benchmark::State& state, const Named& named) {
  const Plan plan = make_plan(parse_problem(named.problem).request);
  Array data(plan.data());
  Array output(plan.output());
  const int64_t data_bytes = element_count(plan.data().sizes) * plan.data().dtype.bytes();
  std::memset(data.tensor().data, 1, static_cast<size_t>(data_bytes));
  const auto indices = random_indices(element_count(plan.indices().sizes), named.extent);
  for (auto _ : state) {
    plan.run(data.tensor().data, indices.data(), output.tensor().data, {.threads = 1});
    benchmark::ClobberMemory();
  }
  const int64_t output_bytes = element_count(plan.output().sizes) * plan.output().dtype.bytes();
  state.SetBytesProcessed(state.iterations() *
                          (2 * output_bytes + static_cast<int64_t>(indices.size()) * 8));
}

void make_a_plan(benchmark::State& state) {
  const TensorSpec data(f32, {1000, 64});
  const TensorSpec indices(i64, {32});
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan_gather(data, indices));
  }
}
BENCHMARK(make_a_plan);

const bool kRegistered = [] {
  for (const Named& named : kProblems) {
    benchmark::RegisterBenchmark(named.name, run_problem, named);
  }
  return true;
}();

}  // namespace
