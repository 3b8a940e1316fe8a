// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "helpers/guarded.h"
#include "helpers/guarded_tensor.h"
#include "helpers/problem_plan.h"
#include "helpers/random_cases.h"
#include "helpers/random_problem.h"

namespace {

using oracle::Answer;
using oracle::Problem;
using oracle::Verdict;

constexpr size_t kGatherArenaBytes = size_t{8} << 20;

// The three pieces of memory are kept from case to case: mapping them is slow.
struct GatherArenas {
  GuardedMemory data{kGatherArenaBytes}, indices{kGatherArenaBytes}, output{kGatherArenaBytes};
  std::vector<std::byte> before_run, expected;

  GatherArenas() {
    Rng rng(1);
    for (std::byte& byte : data.all()) {
      byte = static_cast<std::byte>(rng.next());
    }
    data.set_writable(false);
    tell_on_crash();
  }
};

GatherArenas& gather_arenas() {
  static GatherArenas all;
  return all;
}

// The number 1 as an element of each type, by hand; opaque elements are filled with 0.
std::array<uint8_t, sheaf::kMaxElementBytes> one(sheaf::DType type) {
  std::array<uint8_t, sheaf::kMaxElementBytes> bytes = {};
  switch (type.kind()) {
    case sheaf::Kind::kOpaque: break;
    case sheaf::Kind::kFloat8E4M3: bytes[0] = 0x38; break;
    case sheaf::Kind::kFloat8E5M2: bytes[0] = 0x3C; break;
    case sheaf::Kind::kFloat16: bytes[1] = 0x3C; break;
    case sheaf::Kind::kBFloat16: bytes[0] = 0x80, bytes[1] = 0x3F; break;
    case sheaf::Kind::kFloat32:
    case sheaf::Kind::kComplex64: bytes[2] = 0x80, bytes[3] = 0x3F; break;
    case sheaf::Kind::kFloat64:
    case sheaf::Kind::kComplex128: bytes[6] = 0xF0, bytes[7] = 0x3F; break;
    default: bytes[0] = 1;
  }
  return bytes;
}

class GatherCase {
 public:
  GatherCase(const Machine& machine, uint64_t seed, int64_t most_elements)
      : machine_(machine), rng_(seed + 1), random_(random_problem(seed, most_elements)) {
    snprintf(running, sizeof running, "seed %llu: %s\n", static_cast<unsigned long long>(seed),
             random_.str().c_str());
  }

  // False if it does not fit into the arenas.
  bool run() {
    const Problem& p = random_.problem;
    answer_ = oracle::answer(p);
    const sheaf::TensorSpec data(random_.type, as_dims(p.data), random_.data_strides);
    const sheaf::TensorSpec indices(random_.index_type, as_dims(p.indices),
                                    random_.indices_strides);
    const sheaf::TensorSpec output(random_.type, as_dims(answer_.shape), random_.output_strides);
    GatherArenas& all = gather_arenas();
    if (!place(rng_, all.data, data, data_) || !place(rng_, all.indices, indices, indices_) ||
        !place(rng_, all.output, output, output_)) {
      return false;
    }
    write_indices();
    write_expectation();
    const sheaf::Scalar fill = random_.type.kind() == sheaf::Kind::kOpaque ? 0 : 1;
    try {
      run_all_kernels(plan_of(p, {data, indices, &output, fill}));
    } catch (const sheaf::IndexError& error) {
      EXPECT_EQ(answer_.verdict, Verdict::kBadIndex) << running << error.what();
    } catch (const sheaf::Error& error) {
      EXPECT_EQ(answer_.verdict, Verdict::kBadShape) << running << error.what();
    }
    return true;
  }

 private:
  void write_indices() {
    gather_arenas().indices.set_writable(true);
    const auto& values = random_.problem.values;
    for (size_t i = 0; i < values.size(); ++i) {
      write_index(random_.index_type, values[i], indices_.element(static_cast<int64_t>(i)));
    }
    gather_arenas().indices.set_writable(false);
  }

  void write_expectation() {
    const auto memory = output_.watched(gather_arenas().output);
    for (std::byte& byte : memory) {
      byte = static_cast<std::byte>(rng_.next());
    }
    gather_arenas().before_run.assign(memory.begin(), memory.end());
    const auto fill = one(random_.type);
    const auto bytes = static_cast<size_t>(random_.type.bytes());
    for (size_t i = 0; i < answer_.source.size(); ++i) {
      const int64_t source = answer_.source[i];
      std::memcpy(output_.element(static_cast<int64_t>(i)),
                  source == oracle::kFilled ? reinterpret_cast<const std::byte*>(fill.data())
                                            : data_.element(source),
                  bytes);
    }
    gather_arenas().expected.assign(memory.begin(), memory.end());
  }

  void run_all_kernels(const sheaf::Plan& plan) {
    EXPECT_NE(answer_.verdict, Verdict::kBadShape) << running;
    for (const std::string& kernel : machine_.kernels(plan)) {
      const auto memory = output_.watched(gather_arenas().output);
      std::copy(gather_arenas().before_run.begin(), gather_arenas().before_run.end(),
                memory.begin());
      Verdict verdict = Verdict::kAnswered;
      try {
        machine_.run(plan, {data_.read(), indices_.read(), {output_.first, memory}},
                     {.threads = rng_.pick(machine_.threads()), .kernel = kernel});
      } catch (const sheaf::IndexError& error) {
        verdict = Verdict::kBadIndex;
        EXPECT_EQ(error.bad_count(), answer_.bad_count) << running << error.what();
        EXPECT_EQ(as_vector(error.position()), answer_.first_bad) << running << error.what();
      }
      EXPECT_EQ(verdict, answer_.verdict) << kernel << "\n" << running;
      EXPECT_TRUE(std::equal(memory.begin(), memory.end(), gather_arenas().expected.begin()))
          << kernel << " wrote something else\n"
          << running;
    }
  }

  const Machine& machine_;
  Rng rng_;
  RandomProblem random_;
  Answer answer_;
  Placed data_, indices_, output_;
};

}  // namespace

bool run_random_gather(const Machine& machine, uint64_t seed, int64_t most_elements) {
  return GatherCase(machine, seed, most_elements).run();
}
