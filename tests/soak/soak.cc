// SPDX-License-Identifier: MIT
//
// usage: soak [--seconds N] [--threads N] [--seed N]
//
// Random calls from many threads at once, for as long as asked: gathers and scatters on every
// kernel of every host backend against the reference backend, calls of the C, BNNS and DirectML
// interfaces, graphs, moves of every kind against plain loops, bags and encoded tables, files that
// are gathered from and scattered into, tables that feed a stand-in for a device, plans that are
// only made, and runs that are cancelled.
// Fails if a result differs, or if the memory of the process grows after the first fifth of the
// time.
#include <malloc.h>
#include <sheaf/bnns.h>
#include <sheaf/c.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "calls.h"
#include "helpers/problem_plan.h"
#include "helpers/random_problem.h"

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::byte>;

// One call in four is large enough for threads.
const std::vector<int64_t> kMostElements = {600, 600, 600, 4000};
// Bytes. What oneTBB and the threads keep varies by a tenth of this.
constexpr int64_t kGrowthAllowed = int64_t{1} << 20;

int64_t resident_bytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

Bytes bytes_of(const sheaf::TensorSpec& spec) {
  return Bytes(static_cast<size_t>(sheaf::element_count(spec.sizes) * spec.dtype.bytes()) + 1);
}

Bytes random_bytes(Rng& rng, const sheaf::TensorSpec& spec) {
  Bytes bytes = bytes_of(spec);
  const auto step = static_cast<size_t>(spec.dtype.bytes());
  for (size_t at = 0; at + step <= bytes.size(); at += step) {
    write_random_element(rng, spec.dtype, true, bytes.data() + at);
  }
  return bytes;
}

// The output of a run, or the text of its error.
struct Outcome {
  Bytes output;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

template <class Run>
Outcome outcome_of(const Bytes& before, Run run) {
  Outcome outcome{before, {}};
  try {
    run(outcome.output.data());
  } catch (const sheaf::Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

// Every kernel gives what the reference backend gives. Returns the number of runs, or -1.
int run_kernels(const sheaf::Plan& plan, Rng& rng, const Bytes& indices) {
  const Bytes data = random_bytes(rng, plan.data());
  const Bytes updates = plan.is_scatter() ? random_bytes(rng, plan.updates()) : Bytes();
  const Bytes before = bytes_of(plan.output());
  const auto run = [&](void* output, const sheaf::RunOptions& options) {
    if (plan.is_scatter()) {
      plan.run(data.data(), indices.data(), updates.data(), output, options);
    } else {
      plan.run(data.data(), indices.data(), output, options);
    }
  };
  const Outcome expected =
      outcome_of(before, [&](void* output) { run(output, {.kernel = "reference"}); });
  int runs = 1;
  for (const std::string& kernel : accepting_kernels(plan)) {
    const int threads = static_cast<int>(rng.from(0, 3));
    const Outcome got = outcome_of(
        before, [&](void* output) { run(output, {.threads = threads, .kernel = kernel}); });
    if (!(got == expected)) {
      std::fprintf(stderr, "soak: %s differs on\n%s%s\n%s\n", kernel.c_str(), plan.str().c_str(),
                   got.error.c_str(), expected.error.c_str());
      return -1;
    }
    ++runs;
  }
  return runs;
}

Bytes index_bytes(const RandomProblem& random) {
  const auto step = static_cast<size_t>(random.index_type.bytes());
  Bytes indices(random.problem.values.size() * step + 1);
  for (size_t i = 0; i < random.problem.values.size(); ++i) {
    write_index(random.index_type, random.problem.values[i], indices.data() + i * step);
  }
  return indices;
}

int random_gather_call(Rng& rng) {
  const RandomProblem random = random_problem(rng.next(), rng.pick(kMostElements));
  const auto& p = random.problem;
  const sheaf::Scalar fill = random.type.kind() == sheaf::Kind::kOpaque ? 0 : 1;
  try {
    const sheaf::Plan plan = plan_of(
        p,
        {{random.type, as_dims(p.data)}, {random.index_type, as_dims(p.indices)}, nullptr, fill});
    return run_kernels(plan, rng, index_bytes(random));
  } catch (const sheaf::Error&) {
    return 1;  // one problem in eight is unsound
  }
}

int random_scatter_call(Rng& rng) {
  const RandomProblem random = random_scatter(rng.next(), rng.pick(kMostElements));
  const auto& p = random.problem;
  try {
    const oracle::Answer answer = oracle::answer(p);
    const sheaf::Plan plan = scatter_plan_of(p,
                                             {{random.type, as_dims(p.data)},
                                              {random.index_type, as_dims(p.indices)},
                                              {random.type, as_dims(answer.shape)},
                                              nullptr},
                                             random.joining);
    return run_kernels(plan, rng, index_bytes(random));
  } catch (const sheaf::Error&) {
    return 1;
  }
}

// Plans alone: nothing of them may stay behind.
int make_plans(Rng& rng) {
  for (int i = 0; i < 50; ++i) {
    const int64_t rows = rng.from(1, 1000);
    const sheaf::Plan plan = sheaf::plan_gather({sheaf::f32, {rows, 8}}, {sheaf::i64, {rows}});
    if (plan.str().empty() || !(plan == sheaf::Plan(plan))) {
      return -1;
    }
    try {
      sheaf::plan_gather({sheaf::f32, {rows}}, {sheaf::i64, {rows}}, {.axis = rows});
      return -1;
    } catch (const sheaf::Error&) {
    }
  }
  return 100;
}

struct Vectors {
  std::vector<float> data, output;
  std::vector<int64_t> indices;
  bool bad = false;  // an index is out of range
};

Vectors vectors(Rng& rng) {
  Vectors v;
  v.data.resize(static_cast<size_t>(rng.from(1, 300)));
  v.indices.resize(static_cast<size_t>(rng.from(1, 300)));
  for (size_t i = 0; i < v.data.size(); ++i) {
    v.data[i] = static_cast<float>(i);
  }
  const auto rows = static_cast<int64_t>(v.data.size());
  for (int64_t& index : v.indices) {
    index = rng.one_in(2000) ? rows : rng.from(0, rows - 1);
    v.bad |= index == rows;
  }
  v.output.assign(v.indices.size(), -1);
  return v;
}

// The output is the rows that were asked for; or untouched, if one of them is missing.
bool as_expected(const Vectors& v) {
  for (size_t i = 0; i < v.output.size(); ++i) {
    if (v.output[i] != (v.bad ? -1.0F : static_cast<float>(v.indices[i]))) {
      return false;
    }
  }
  return true;
}

int c_call(Rng& rng) {
  Vectors v = vectors(rng);
  auto rows = static_cast<int64_t>(v.data.size());
  auto count = static_cast<int64_t>(v.indices.size());
  const DLTensor data{v.data.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &rows, nullptr, 0};
  const DLTensor indices{v.indices.data(), {kDLCPU, 0}, 1, {kDLInt, 64, 1}, &count, nullptr, 0};
  const DLTensor output{v.output.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &count, nullptr, 0};
  const sheaf_status status = sheaf_gather(&data, &indices, &output, nullptr);
  return (status == SHEAF_OK) == !v.bad && as_expected(v) ? 1 : -1;
}

int bnns_call(Rng& rng) {
  Vectors v = vectors(rng);
  const auto vector_of = [](void* memory, size_t size, BNNSDataType type) {
    BNNSNDArrayDescriptor descriptor = {};
    descriptor.layout = BNNSDataLayoutVector;
    descriptor.size[0] = size;
    descriptor.data = memory;
    descriptor.data_type = type;
    return descriptor;
  };
  const auto input = vector_of(v.data.data(), v.data.size(), BNNSDataTypeFloat32);
  const auto indices = vector_of(v.indices.data(), v.indices.size(), BNNSDataTypeInt64);
  auto output = vector_of(v.output.data(), v.output.size(), BNNSDataTypeFloat32);
  const int status = BNNSGather(0, &input, &indices, &output, nullptr);
  return (status == SHEAF_BNNS_OK) == !v.bad && as_expected(v) ? 1 : -1;
}

// A run that is cancelled at a random question throws kCancelled or is complete.
int cancelled_call(Rng& rng) {
  const int64_t count = rng.from(1, 3) << 18;
  const std::vector<int32_t> data(256, 7);
  std::vector<int64_t> indices(static_cast<size_t>(count), rng.from(0, 255));
  std::vector<int32_t> output(indices.size());
  std::atomic<int64_t> questions = rng.from(0, 20);
  const auto asked = [](void* left) {
    return static_cast<std::atomic<int64_t>*>(left)->fetch_sub(1) <= 0;
  };
  const sheaf::CancelScope scope({asked, &questions});
  try {
    sheaf::gather(sheaf::view(data), sheaf::view(indices), sheaf::view(output));
  } catch (const sheaf::Error& error) {
    return error.code() == sheaf::ErrorCode::kCancelled ? 1 : -1;
  }
  return std::all_of(output.begin(), output.end(), [](int32_t value) { return value == 7; }) ? 1
                                                                                             : -1;
}

struct Kind {
  const char* name;
  int (*call)(Rng& rng);  // the number of calls made, or -1
};
constexpr std::array kKinds = {
    Kind{"gathers", random_gather_call},
    Kind{"scatters", random_scatter_call},
    Kind{"plans", make_plans},
    Kind{"C", c_call},
    Kind{"BNNS", bnns_call},
    Kind{"DirectML", directml_call},
    Kind{"graphs", graph_call},
    Kind{"moves", move_call},
    Kind{"files", file_call},
    Kind{"tables", table_call},
    Kind{"bags", bag_call},
    Kind{"cancelled", cancelled_call},
};

struct Totals {
  std::array<std::atomic<int64_t>, kKinds.size()> calls = {};
  std::atomic<bool> failed = false;
  std::atomic<bool> pause = false;
};

// `busy` is held during calls: memory is read while nobody holds one.
void work(Totals& totals, std::mutex& busy, uint64_t seed, Clock::time_point end) {
  Rng rng(seed);
  while (Clock::now() < end && !totals.failed) {
    while (totals.pause) {
      std::this_thread::yield();
    }
    const std::lock_guard lock(busy);
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      const int calls = kKinds[kind].call(rng);
      if (calls < 0) {
        std::fprintf(stderr, "soak: %s failed, seed %" PRIu64 "\n", kKinds[kind].name, seed);
        totals.failed = true;
      }
      totals.calls[kind] += calls;
    }
  }
}

// Between calls: what is allocated then is kept by somebody. What is resident is more, for pieces
// that were freed lie between others that were not; it is told, and not judged.
struct IdleMemory {
  int64_t allocated, resident;
};

IdleMemory idle_memory(Totals& totals, std::vector<std::mutex>& busy) {
  totals.pause = true;
  for (std::mutex& one : busy) {
    one.lock();
  }
  malloc_trim(0);
  const struct mallinfo2 memory = mallinfo2();  // of all threads
  const IdleMemory idle{static_cast<int64_t>(memory.uordblks + memory.hblkhd), resident_bytes()};
  for (std::mutex& one : busy) {
    one.unlock();
  }
  totals.pause = false;
  return idle;
}

double in_mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

int main(int argc, char** argv) {
  int64_t seconds = 3, threads = 4, seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    (option == "--seconds"   ? seconds
     : option == "--threads" ? threads
                             : seed) = std::atoll(argv[i + 1]);
  }
  Totals totals;
  const auto start = Clock::now();
  std::vector<std::mutex> busy(static_cast<size_t>(threads));
  std::vector<std::thread> workers;
  for (int64_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      work(totals, busy[static_cast<size_t>(t)], static_cast<uint64_t>(seed * 1000 + t),
           start + std::chrono::seconds(seconds));
    });
  }
  // Five readings; the first is the level that must not be left.
  std::array<IdleMemory, 5> memory = {};
  for (size_t reading = 0; reading < memory.size(); ++reading) {
    std::this_thread::sleep_until(start + std::chrono::milliseconds(seconds * 1000) *
                                              (static_cast<int>(reading) + 1) / 5);
    memory[reading] = idle_memory(totals, busy);
    std::printf("%4" PRId64 " s  %6.2f MiB allocated  %6.1f MiB resident\n",
                seconds * (static_cast<int64_t>(reading) + 1) / 5,
                in_mib(memory[reading].allocated), in_mib(memory[reading].resident));
    std::fflush(stdout);
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    std::printf("%12" PRId64 "  %s\n", totals.calls[kind].load(), kKinds[kind].name);
  }
  const bool grew = memory.back().allocated > memory.front().allocated + kGrowthAllowed;
  if (grew) {
    std::fprintf(stderr, "soak: memory grew\n");
  }
  return totals.failed || grew ? 1 : 0;
}
