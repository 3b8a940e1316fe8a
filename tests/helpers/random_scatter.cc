// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "helpers/guarded_tensor.h"
#include "helpers/problem_plan.h"
#include "helpers/random_cases.h"
#include "helpers/random_problem.h"

namespace {

using oracle::Answer;
using oracle::Bytes;
using oracle::Problem;
using oracle::Verdict;

constexpr size_t kScatterArenaBytes = size_t{8} << 20;

struct ScatterArenas {
  GuardedMemory data{kScatterArenaBytes}, indices{kScatterArenaBytes}, updates{kScatterArenaBytes},
      output{kScatterArenaBytes};
  ScatterArenas() { tell_on_crash(); }
};

ScatterArenas& scatter_arenas() {
  static ScatterArenas all;
  return all;
}

Bytes packed(const Placed& placed) {
  const auto bytes = static_cast<size_t>(placed.spec.dtype.bytes());
  Bytes all(static_cast<size_t>(oracle::element_count(as_vector(placed.spec.sizes))) * bytes);
  for (size_t at = 0; at < all.size(); at += bytes) {
    std::memcpy(all.data() + at, placed.element(static_cast<int64_t>(at / bytes)), bytes);
  }
  return all;
}

void unpack(const Bytes& all, const Placed& placed) {
  const auto bytes = static_cast<size_t>(placed.spec.dtype.bytes());
  for (size_t at = 0; at < all.size(); at += bytes) {
    std::memcpy(placed.element(static_cast<int64_t>(at / bytes)), all.data() + at, bytes);
  }
}

class ScatterCase {
 public:
  ScatterCase(const Machine& machine, uint64_t seed, int64_t most_elements)
      : machine_(machine), rng_(seed + 1), random_(random_scatter(seed, most_elements)) {
    snprintf(running, sizeof running, "seed %llu: %s\n", static_cast<unsigned long long>(seed),
             random_.str().c_str());
  }

  // False if it does not fit into the arenas.
  bool run() {
    const Problem& p = random_.problem;
    answer_ = oracle::answer(p);
    const auto type = random_.type;
    const sheaf::TensorSpec data(type, as_dims(p.data), random_.data_strides);
    const sheaf::TensorSpec indices(random_.index_type, as_dims(p.indices),
                                    random_.indices_strides);
    const sheaf::TensorSpec updates(type, as_dims(answer_.shape), random_.updates_strides);
    const sheaf::TensorSpec output(type, as_dims(p.data), random_.output_strides);
    ScatterArenas& all = scatter_arenas();
    if (!place(rng_, all.data, data, data_) || !place(rng_, all.indices, indices, indices_) ||
        !place(rng_, all.updates, updates, updates_) || !place(rng_, all.output, output, output_)) {
      return false;
    }
    write_inputs();
    write_expectation();
    const bool refuses =
        answer_.verdict == Verdict::kBadShape || !oracle::joins(type, random_.joining.reduction);
    try {
      const auto plan = scatter_plan_of(p, {data, indices, updates, &output}, random_.joining);
      EXPECT_FALSE(refuses) << running;
      run_all_kernels(plan);
    } catch (const sheaf::IndexError& error) {
      EXPECT_EQ(answer_.verdict, Verdict::kBadIndex) << running << error.what();
    } catch (const sheaf::Error& error) {
      EXPECT_TRUE(refuses) << running << error.what();
    }
    return true;
  }

 private:
  void write_inputs() {
    ScatterArenas& all = scatter_arenas();
    const bool tame = rng_.one_in(2);
    for (const Placed* tensor : {&data_, &updates_}) {
      const GuardedMemory& arena = tensor == &data_ ? all.data : all.updates;
      arena.set_writable(true);
      const int64_t count = oracle::element_count(as_vector(tensor->spec.sizes));
      for (int64_t e = 0; e < count; ++e) {
        write_random_element(rng_, random_.type, tame, tensor->element(e));
      }
      arena.set_writable(false);
    }
    all.indices.set_writable(true);
    const auto& values = random_.problem.values;
    for (size_t i = 0; i < values.size(); ++i) {
      write_index(random_.index_type, values[i], indices_.element(static_cast<int64_t>(i)));
    }
    all.indices.set_writable(false);
  }

  // The memory around the output as it is before and as it has to be after a run.
  void write_expectation() {
    const auto memory = output_.watched(scatter_arenas().output);
    for (std::byte& byte : memory) {
      byte = static_cast<std::byte>(rng_.next());
    }
    const Bytes data = packed(data_);
    if (random_.in_place) {
      unpack(data, output_);
    }
    before_.assign(memory.begin(), memory.end());
    if (answer_.verdict == Verdict::kAnswered &&
        oracle::joins(random_.type, random_.joining.reduction)) {
      unpack(
          oracle::scattered(random_.type, random_.joining, data, packed(updates_), answer_.source),
          output_);
    }
    expected_.assign(memory.begin(), memory.end());
  }

  void run_all_kernels(const sheaf::Plan& plan) {
    const auto memory = output_.watched(scatter_arenas().output);
    const Memory output{output_.first, memory};
    // What is not read may be missing.
    const Memory data = random_.in_place             ? output
                        : random_.joining.onto_zeros ? Memory{}
                                                     : data_.read();
    for (const std::string& kernel : machine_.kernels(plan)) {
      for (const int threads : machine_.threads()) {
        std::copy(before_.begin(), before_.end(), memory.begin());
        Verdict verdict = Verdict::kAnswered;
        try {
          machine_.run(plan, {data, indices_.read(), output, updates_.read()},
                       {.threads = threads, .kernel = kernel});
        } catch (const sheaf::IndexError& error) {
          verdict = Verdict::kBadIndex;
          EXPECT_EQ(error.bad_count(), answer_.bad_count) << running << error.what();
          EXPECT_EQ(as_vector(error.position()), answer_.first_bad) << running << error.what();
        }
        EXPECT_EQ(verdict, answer_.verdict) << kernel << "\n" << running;
        EXPECT_TRUE(std::equal(memory.begin(), memory.end(), expected_.begin()))
            << kernel << " on " << threads << " threads wrote something else\n"
            << running;
      }
    }
  }

  const Machine& machine_;
  Rng rng_;
  RandomProblem random_;
  Answer answer_;
  Placed data_, indices_, updates_, output_;
  std::vector<std::byte> before_, expected_;
};

}  // namespace

bool run_random_scatter(const Machine& machine, uint64_t seed, int64_t most_elements) {
  return ScatterCase(machine, seed, most_elements).run();
}
