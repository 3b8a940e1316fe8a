// SPDX-License-Identifier: MIT
//
// Mixtures of experts on the GPU: what the host gives, and nothing written if an expert is bad.
#include <gtest/gtest.h>

#include <vector>

#include "helpers/device.h"
#include "helpers/refusal.h"
#include "helpers/rng.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::byte kUntouchedRow{0xA5};

struct Permuted {
  Bytes rows, sources, inverse, offsets;
  friend bool operator==(const Permuted&, const Permuted&) = default;

  Permuted(const MoePlan& plan, int64_t choices, int64_t experts) {
    const TensorSpec& tokens = plan.tokens();
    const auto count = static_cast<size_t>(tokens.sizes[0] * choices);
    const auto row = static_cast<size_t>(tokens.sizes[1] * tokens.dtype.bytes());
    rows = Bytes(count * row, kUntouchedRow);
    sources = inverse = Bytes(count * sizeof(int64_t), kUntouchedRow);
    offsets = Bytes(static_cast<size_t>(experts + 1) * sizeof(int64_t), kUntouchedRow);
  }
};

struct Experts {
  int64_t tokens, choices, number, capacity, width;
  DType type;
  Bytes table;
  std::vector<int32_t> chosen;

  MoePlan plan() const {
    return plan_moe_permute(TensorSpec(type, {tokens, width}), TensorSpec(i32, {tokens, choices}),
                            {number, capacity});
  }

  Permuted on_host() const {
    Permuted result(plan(), choices, number);
    run(plan(),
        {table.data(), chosen.data(), result.rows.data(), result.sources.data(),
         result.inverse.data(), result.offsets.data()},
        Queue{});
    return result;
  }

  // Throws as finish() does, after it has set `result`.
  void on_device(Permuted& result) const {
    const auto sent = [](const void* from, size_t bytes) {
      CudaMemory memory(bytes);
      memory.upload(from, bytes);
      return memory;
    };
    Bytes* const outputs[] = {&result.rows, &result.sources, &result.inverse, &result.offsets};
    std::vector<CudaMemory> memory;
    for (const Bytes* output : outputs) {
      memory.push_back(sent(output->data(), output->size()));
    }
    const CudaMemory tokens_there = sent(table.data(), table.size());
    const CudaMemory experts_there = sent(chosen.data(), chosen.size() * sizeof(int32_t));
    const Queue asked{.device = test_device()};
    DeviceMemory workspace(test_device(), workspace_bytes(plan(), asked));
    const Queue queue{.device = test_device(), .workspace = workspace};
    run(plan(),
        {tokens_there.data(), experts_there.data(), memory[0].data(), memory[1].data(),
         memory[2].data(), memory[3].data()},
        queue);
    wait(queue);
    for (size_t i = 0; i < memory.size(); ++i) {
      memory[i].download(outputs[i]->data(), outputs[i]->size());
    }
    finish(plan(), queue);
  }
};

Experts random_experts(Rng& rng) {
  Experts made{.tokens = rng.from(1, rng.one_in(4) ? 30000 : 300),
               .choices = rng.from(1, 8),
               .number = rng.one_in(4) ? rng.from(1, 4096) : rng.from(1, 64),
               .capacity = rng.one_in(2) ? -1 : rng.from(0, 40),
               .width = rng.from(1, 40),
               .type = rng.one_in(2) ? bf16 : u8,
               .table = {},
               .chosen = {}};
  made.table.resize(static_cast<size_t>(made.tokens * made.width * made.type.bytes()));
  for (std::byte& byte : made.table) {
    byte = static_cast<std::byte>(rng.from(0, 255));
  }
  for (int64_t i = 0; i < made.tokens * made.choices; ++i) {
    made.chosen.push_back(static_cast<int32_t>(rng.from(0, made.number - 1)));
  }
  return made;
}

class CudaMoe : public DeviceTest {};

TEST_F(CudaMoe, PermutesAsTheHostDoes) {
  Rng rng(31);
  for (int i = 0; i < 100 && !HasFatalFailure(); ++i) {
    const Experts experts = random_experts(rng);
    Permuted got(experts.plan(), experts.choices, experts.number);
    experts.on_device(got);
    ASSERT_TRUE(got == experts.on_host())
        << experts.tokens << " tokens, " << experts.choices << " choices, " << experts.number
        << " experts, capacity " << experts.capacity << ", rows of " << experts.width;
  }
}

TEST_F(CudaMoe, ABadExpertIsNamedAndNothingIsWritten) {
  Rng rng(32);
  Experts experts = random_experts(rng);
  experts.chosen[0] = -1;
  Permuted got(experts.plan(), experts.choices, experts.number);
  const Permuted before = got;
  const std::string text = refusal([&] { experts.on_device(got); }, ErrorCode::kIndexOutOfRange);
  EXPECT_NE(text.find("experts[0, 0] = -1"), std::string::npos);
  EXPECT_TRUE(got == before);
}

TEST_F(CudaMoe, RefusesMoreExpertsThanItCanCount) {
  const MoePlan plan =
      plan_moe_permute(TensorSpec(f32, {3, 2}), TensorSpec(i32, {3, 2}), {.experts = 5000});
  const std::string text =
      refusal([&] { workspace_bytes(plan, {.device = test_device()}); }, ErrorCode::kUnsupported);
  EXPECT_NE(text.find("more experts than shared memory can count"), std::string::npos);
}

}  // namespace
}  // namespace sheaf
