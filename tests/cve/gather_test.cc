// SPDX-License-Identifier: MIT
//
// The published holes of this family of operators in other libraries, tried on this one. Each test
// has the name of its hole. docs/reliability.md lists them all.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "helpers/guarded.h"
#include "helpers/limits.h"
#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "helpers/rng.h"
#include "plan/request.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr OutOfRange kCheckedRules[] = {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                        OutOfRange::kWrap};
constexpr Negative kBothNegatives[] = {Negative::kFromEnd, Negative::kOutOfRange};

// Bytes that end right before memory that may not be touched.
std::span<std::byte> at_the_edge(const GuardedMemory& memory, size_t bytes) {
  return memory.part(bytes, Flush::kBack);
}

// Runs a plan over all-zero data on every kernel, on guarded memory; true if the index is refused,
// which is so on every kernel or on none.
bool refused_index(const Plan& plan, const std::vector<int64_t>& indices) {
  const auto bytes = [](const TensorSpec& spec) {
    return static_cast<size_t>(element_count(spec.sizes) * spec.dtype.bytes());
  };
  static const GuardedMemory data(1), index(1), output(1);
  const auto index_memory = at_the_edge(index, bytes(plan.indices()));
  const auto output_memory = at_the_edge(output, bytes(plan.output()));
  for (size_t i = 0; i < indices.size(); ++i) {
    write_index(plan.indices().dtype, indices[i],
                index_memory.data() + i * static_cast<size_t>(plan.indices().dtype.bytes()));
  }
  std::vector<std::string> refused, accepted;  // kernels
  for (const std::string& kernel : accepting_kernels(plan)) {
    std::memset(output_memory.data(), 0xEE, output_memory.size());
    try {
      plan.run(at_the_edge(data, bytes(plan.data())).data(), index_memory.data(),
               output_memory.data(), {.kernel = kernel});
      accepted.push_back(kernel);
    } catch (const IndexError&) {
      refused.push_back(kernel);
      for (const std::byte byte : output_memory) {
        EXPECT_EQ(byte, std::byte{0xEE}) << kernel << " wrote before it refused";
      }
    }
  }
  EXPECT_TRUE(refused.empty() || accepted.empty())
      << "refused by " << refused.size() << " kernels, accepted by " << accepted[0];
  EXPECT_FALSE(refused.empty() && accepted.empty()) << "no kernel took the plan";
  return !refused.empty();
}

TEST(CVE_2021_37687, NegativeIndexIsChecked) {
  for (const Negative negative : kBothNegatives) {
    for (const OutOfRange out_of_range : kCheckedRules) {
      const IndexRule rule{negative, out_of_range, 1};
      const bool refuse = out_of_range == OutOfRange::kFail;
      for (const DType type : {i8, i16, i32, i64}) {
        EXPECT_EQ(refused_index(plan_gather({u8, {1}}, {type, {1}}, {.rule = rule}), {-10}),
                  refuse);
        EXPECT_EQ(
            refused_index(plan_gather_elements({u8, {1}}, {type, {1}}, {.rule = rule}), {-10}),
            refuse);
        EXPECT_EQ(
            refused_index(plan_gather_nd({u8, {1, 1}}, {type, {2}}, {.rule = rule}), {0, -10}),
            refuse);
        EXPECT_EQ(
            refused_index(
                plan_xla_gather(
                    {u8, {1}}, {type, {1}},
                    {.offset_dims = {0}, .start_index_map = {0}, .slice_sizes = {1}, .rule = rule}),
                {-10}),
            refuse);
      }
    }
  }
}

TEST(CVE_2022_35937, IndexPastTheEndIsCheckedInEachPlaceOfATuple) {
  const TensorSpec data(u8, {2, 3, 5});
  for (const OutOfRange out_of_range : kCheckedRules) {
    const Plan plan = plan_gather_nd(data, {i64, {1, 3}}, {.rule = {.out_of_range = out_of_range}});
    for (size_t place = 0; place < 3; ++place) {
      const int64_t size = data.sizes[static_cast<int>(place)];
      for (const int64_t bad : {size, size + 1, int64_t{INT32_MAX}, kMost, -size - 1, kLeast}) {
        std::vector<int64_t> tuple = {0, 0, 0};
        tuple[place] = bad;
        EXPECT_EQ(refused_index(plan, tuple), out_of_range == OutOfRange::kFail);
      }
    }
  }
}

TEST(CVE_2022_35938, IndexOfTheSizeItselfIsRefused) {
  EXPECT_FALSE(refused_index(plan_gather({u8, {7}}, {i32, {1}}), {6}));
  EXPECT_TRUE(refused_index(plan_gather({u8, {7}}, {i32, {1}}), {7}));
  EXPECT_FALSE(refused_index(plan_gather({u8, {7}}, {i32, {1}}), {-7}));
  EXPECT_TRUE(refused_index(plan_gather({u8, {7}}, {i32, {1}}), {-8}));
}

TEST(CVE_2021_37654, BatchDimsBeyondTheRankAreRefusedInReleaseBuildsToo) {
  for (const int64_t batch : {int64_t{10}, int64_t{3}, int64_t{-4}, kLeast, kLeast + 1, kMost}) {
    EXPECT_EQ(refusal([&] {
                plan_gather({f32, {2, 2, 2}}, {i64, {2, 2, 2}}, {.axis = 2, .batch_dims = batch});
              }).find("gather: batch_dims out of range"),
              0u);
    EXPECT_EQ(refusal([&] {
                plan_gather_nd({f32, {2, 2, 2}}, {i64, {2, 2, 1}}, {.batch_dims = batch});
              }).find("gather_nd: batch_dims out of range"),
              0u);
  }
  EXPECT_EQ(plan_gather({f32, {2, 2, 2}}, {i64, {2, 2, 2}}, {.axis = 2, .batch_dims = -1})
                .request()
                .batch_dims,
            2);
}

TEST(CVE_2021_37653, EmptyDimensionsDivideNothing) {
  for (int d = 0; d < 3; ++d) {
    Dims data = {2, 3, 4};
    data[d] = 0;
    const Dims indices = {data[0], data[2] == 0 ? 0 : int64_t{2}};
    const Plan plan = plan_gather({f32, data}, {i64, indices}, {.axis = 2, .batch_dims = 1});
    EXPECT_TRUE(plan.nest().empty());
    const std::vector<int64_t> zeros(4, 0);
    plan.run(nullptr, zeros.data(), nullptr);
    EXPECT_TRUE(plan_gather_nd({f32, data}, {i64, {data[0], data[1], data[2] == 0 ? 0 : 1, 1}},
                               {.batch_dims = 2})
                    .nest()
                    .empty());
  }
}

TEST(CVE_2021_37655, ShapesAreComparedNotElementCounts) {
  for (const Dims& output : {Dims{5, 2}, Dims{10}, Dims{1, 2, 5}, Dims{2, 5, 1}, Dims{1}, Dims{}}) {
    EXPECT_EQ(refusal([&] {
                plan_gather({f32, {3, 5}}, {i64, {2}}, {f32, output});
              }).find("gather: output has the wrong shape"),
              0u);
  }
}

TEST(CVE_2021_37641, ScalarsHaveNoDimensionToLookAt) {
  EXPECT_EQ(refusal([] {
              plan_gather({f32, {}}, {i64, {1}});
            }).find("gather: data is a scalar"),
            0u);
  EXPECT_EQ(refusal([] {
              plan_gather_elements({f32, {}}, {i64, {}});
            }).find("gather_elements: data is a scalar"),
            0u);
  EXPECT_EQ(refusal([] {
              plan_gather_nd({f32, {1}}, {i64, {}});
            }).find("gather_nd: indices is a scalar"),
            0u);
  EXPECT_EQ(refusal([] {
              plan_gather_nd({f32, {}}, {i64, {1}});
            }).find("gather_nd: index tuples too long"),
            0u);
  EXPECT_EQ(plan_gather({f32, {1}}, {i64, {}}).output().rank(), 0);
}

TEST(CVE_2021_41195, OutputSizesThatOverflowAreAnError) {
  // 1676240524292489355 rows of 8 elements.
  EXPECT_EQ(refusal([] {
              plan_gather({f32, {1, 8}}, {u8, {1676240524292489355}, {0}});
            }).find("gather: output too large"),
            0u);
  EXPECT_EQ(refusal(
                [] {
                  const uint8_t zero = 0;
                  const std::vector<float> data(8);
                  gather(view(data, {1, 8}), {&zero, {u8, {167624052429248935}, {0}}});
                },
                ErrorCode::kOutOfMemory)
                .find("tensor: out of memory"),
            0u);
}

TEST(CVE_2022_35934, RanksAndProductsAreLimited) {
  EXPECT_EQ(refusal([] { TensorSpec(f32, Dims(255, 1)); }).find("tensor: too many dimensions"), 0u);
  EXPECT_EQ(refusal([] { TensorSpec(f32, Dims(33, 1)); }).find("tensor: too many dimensions"), 0u);
  EXPECT_EQ(plan_gather({f32, Dims(32, 1)}, {i64, {1}}).output().rank(), 32);
  const int64_t half = int64_t{1} << 32;
  for (const Dims& sizes : {Dims{half, half}, Dims{0, kMost, 2}, Dims(32, 4), Dims{kMost, kMost}}) {
    EXPECT_EQ(refusal([&] { TensorSpec(u8, sizes); }).find("tensor: tensor too large"), 0u);
    EXPECT_EQ(refusal([&] {
                plan_gather({u8, sizes, Dims(sizes.size(), 0)}, {i64, {1}});
              }).find("gather: tensor too large"),
              0u);
  }
}

TEST(CVE_2021_37670, EveryRankOfEveryOperandIsAnsweredOrRefused) {
  int answered = 0;
  int refused = 0;
  for (int data = 0; data <= 3; ++data) {
    for (int indices = 0; indices <= 3; ++indices) {
      const TensorSpec data_spec(u8, Dims(data, 1));
      const TensorSpec index_spec(i64, Dims(indices, 1));
      const auto attempt = [&](auto plan) {
        try {
          EXPECT_FALSE(refused_index(plan(), {0}));
          ++answered;
        } catch (const Error&) {
          ++refused;
        }
      };
      attempt([&] { return plan_gather(data_spec, index_spec); });
      attempt([&] { return plan_gather_elements(data_spec, index_spec); });
      attempt([&] { return plan_gather_nd(data_spec, index_spec); });
      attempt([&] {
        return plan_xla_gather(data_spec, index_spec,
                               {.offset_dims = {0}, .start_index_map = {0}, .slice_sizes = {1}});
      });
    }
  }
  EXPECT_EQ(answered, 12 + 3 + 9 + 4);  // gather, gather_elements, gather_nd, xla_gather
  EXPECT_EQ(refused, 64 - answered);
}

TEST(CVE_2023_33976, NullIsFineWhereThereIsNothing) {
  EXPECT_NO_THROW(plan_gather({f32, {0, 3}}, {i64, {0}}).run(nullptr, nullptr, nullptr));
  EXPECT_NO_THROW(
      plan_gather_elements({f32, {0, 3}}, {i64, {0, 2}}).run(nullptr, nullptr, nullptr));
  EXPECT_NO_THROW(plan_gather_nd({f32, {0}}, {i64, {0, 1}}).run(nullptr, nullptr, nullptr));
}

TEST(CVE_2022_21728, AxisIsCheckedAtBothEnds) {
  for (const int64_t axis : {int64_t{-3}, int64_t{2}, kLeast, kLeast + 1, kMost}) {
    EXPECT_EQ(refusal([&] {
                plan_gather({f32, {2, 3}}, {i64, {1}}, {.axis = axis});
              }).find("gather: axis out of range"),
              0u);
    EXPECT_EQ(refusal([&] {
                plan_gather_elements({f32, {2, 3}}, {i64, {1, 1}}, {.axis = axis});
              }).find("gather_elements: axis out of range"),
              0u);
  }
}

TEST(CVE_2020_15207, NegativeAxisReachesTheFirstDimensionAndNoFurther) {
  EXPECT_EQ(plan_gather({f32, {2, 3}}, {i64, {1}}, {.axis = -2}).request().axis, 0);
  EXPECT_EQ(refusal([] {
              plan_gather({f32, {2, 3}}, {i64, {1}}, {.axis = -3});
            }).find("gather: axis out of range\n  axis = -3"),
            0u);
}

// Numbers as an attacker would choose them, in every place at once: each call is planned or refused
// with an Error. (What goes wrong here is mostly seen by UndefinedBehaviorSanitizer.)
TEST(HostileNumbers, ArePlannedOrRefused) {
  Rng rng(5);
  const auto number = [&] {
    return rng.pick<int64_t>({0, 1, 2, 3, -1, -2, int64_t{1} << 31, int64_t{1} << 32,
                              int64_t{1} << 62, kMost, kMost - 1, kMost / 2, kMost / 8, kLeast,
                              kLeast + 1, kLeast / 2, kLeast / 8});
  };
  const auto numbers = [&] {
    Dims dims;
    for (int64_t count = rng.from(0, 3); count > 0; --count) {
      dims.push_back(rng.one_in(6) ? number() : rng.from(0, 3));
    }
    return dims;
  };
  const auto tensor = [&](DType type) {
    const Dims sizes = numbers();
    Dims strides = numbers();
    while (strides.size() != sizes.size() && !rng.one_in(20)) {
      strides.size() < sizes.size() ? strides.push_back(number()) : strides.pop_back();
    }
    return TensorSpec(type, sizes, strides);
  };
  const auto small = [&] { return rng.one_in(6) ? number() : rng.from(-1, 1); };
  int planned = 0;
  for (int i = 0; i < 40000; ++i) {
    const TensorSpec data = tensor(rng.pick<DType>({u8, f32, opaque(64)}));
    const TensorSpec indices = tensor(rng.pick(kIndexTypes));
    try {
      switch (rng.from(0, 4)) {
        case 0: plan_gather(data, indices, {.axis = small(), .batch_dims = small()}); break;
        case 1: plan_gather_elements(data, indices, {.axis = small(), .broadcast = true}); break;
        case 2: plan_gather_nd(data, indices, {.batch_dims = small()}); break;
        case 3: plan_gather(data, indices, tensor(data.dtype), {.axis = small()}); break;
        default:
          plan_xla_gather(data, indices,
                          {.offset_dims = numbers(),
                           .collapsed_slice_dims = numbers(),
                           .start_index_map = numbers(),
                           .index_vector_dim = small(),
                           .slice_sizes = numbers()});
      }
      ++planned;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
  }
  EXPECT_GT(planned, 1000);
}

}  // namespace
}  // namespace sheaf
