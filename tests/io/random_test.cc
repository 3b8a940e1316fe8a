// SPDX-License-Identifier: MIT
//
// Gathers and scatters made at random, with data in a file, against the oracle bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "helpers/random_cases.h"
#include "io/scratch.h"
#include "plan/request.h"

namespace {

using namespace sheaf;

// Not a multiple of anything: elements lie across blocks.
constexpr int64_t kOffset = 1001;

Plan copy_plan(const TensorSpec& from, const TensorSpec& to) {
  return plan_gather_nd(from, TensorSpec(i64, {0}), to);
}

// "pread" and "io_uring" name the readers; where the kernel has no io_uring, only the first runs.
class FileMachine : public Machine {
 public:
  std::vector<std::string> kernels(const Plan& plan) const override {
    return plan.is_scatter() ? std::vector<std::string>{"pread"}
                             : std::vector<std::string>{"pread", "", "cached"};
  }
  std::vector<int> threads() const override { return {1}; }

  void run(const Plan& plan, const Memories& m, const RunOptions& options) const override {
    const TensorSpec packed(plan.data().dtype, plan.data().sizes);
    Array data(packed);
    auto* bytes = static_cast<char*>(data.tensor().data);
    const auto count = static_cast<size_t>(element_count(packed.sizes) * packed.dtype.bytes());
    std::memset(bytes, 0, count);
    if (count > 0 && m.data.first != nullptr) {
      const bool in_place = m.data.first == m.output.first;
      copy_plan(in_place ? plan.output() : plan.data(), packed)
          .run(m.data.first, nullptr, data.tensor().data);
    }
    const std::string path = scratch_.path("table.bin");
    std::ofstream(path, std::ios::binary)
        << std::string(kOffset, 'x') << std::string(bytes, count) << "tail";
    const Table table = open_raw(path, packed, kOffset);
    Request request = plan.request();
    request.data = packed;
    const ConstTensor indices{m.indices.first, plan.indices()};
    RowCache cache(1 << 16);
    const FileOptions file_options{.memory = 1 << 20,
                                   .reader = options.kernel == "pread" ? "pread" : "",
                                   .cache = options.kernel == "cached" ? &cache : nullptr};
    if (plan.is_scatter()) {
      request.output = packed;
      const ConstTensor updates{m.updates.first, plan.updates()};
      run_scatter_to_file(make_plan(request), table, indices, updates, path, file_options);
      const std::string result = read_all(path);
      ASSERT_EQ(result.size(), kOffset + count + 4);
      EXPECT_EQ(result.substr(0, kOffset), std::string(kOffset, 'x'));
      EXPECT_EQ(result.substr(kOffset + count), "tail");
      if (count > 0) {
        copy_plan(packed, plan.output()).run(result.data() + kOffset, nullptr, m.output.first);
      }
    } else {
      const Tensor output{m.output.first, plan.output()};
      const Plan ready = make_plan(request);
      sheaf::run(ready, table, indices, output, file_options);
      if (options.kernel == "cached") {
        sheaf::run(ready, table, indices, output, file_options);
      }
    }
  }

 private:
  Scratch scratch_;
};

const Machine& files() {
  static const FileMachine machine;
  return machine;
}

class RandomFiles : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomFiles, Gather) {
  RandomCases{run_random_gather, 1600, 600}.run_share(files(), GetParam());
}
TEST_P(RandomFiles, GatherLarge) {
  RandomCases{run_random_gather, 64, 60000}.run_share(files(), GetParam());
}
TEST_P(RandomFiles, Scatter) {
  RandomCases{run_random_scatter, 160, 600}.run_share(files(), GetParam());
}
TEST_P(RandomFiles, ScatterLarge) {
  RandomCases{run_random_scatter, 32, 60000}.run_share(files(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Share, RandomFiles, testing::Range(uint64_t{0}, kShares));

}  // namespace
