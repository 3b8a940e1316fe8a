// SPDX-License-Identifier: MIT
//
// Gathers of encoded tables: those of the decoded table, bit for bit, on every kernel of the host.
#include "sheaf/encoded_gather.h"

#include <gtest/gtest.h>

#include "execution/registry.h"
#include "helpers/bag_problem.h"
#include "helpers/decode_oracle.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using Bytes = std::vector<std::byte>;

// A table from the generator of bags, and the same decoded.
struct Case {
  Case(Rng& rng, Encoding encoding) : problem(random_encoded_bag(rng, encoding)) {
    const EncodedSpec& spec = problem.specs.data;
    table = Encoded(spec, problem.stored.start(), problem.scales.start(), problem.zeros.start());
    decoded_table = oracle::decoded_table(spec, problem.stored.start(), problem.scales.start(),
                                          problem.zeros.start());
  }
  BagProblem problem;
  Encoded table;
  std::vector<float> decoded_table;
};

Bytes bytes_of(const Array& array) {
  const auto* const data = static_cast<const std::byte*>(array.tensor().data);
  return {data, data + element_count(array.sizes()) * array.spec().dtype.bytes()};
}

Bytes plain(const Array& floats, DType type) {
  Array rounded(TensorSpec(type, floats.sizes()));
  cast(floats.tensor(), rounded.tensor());
  return bytes_of(rounded);
}

Array plain_gather(const ConstTensor& data, const ConstTensor& indices, const GatherOptions& o) {
  return gather(data, indices, o);
}
Array plain_gather(const ConstTensor& data, const ConstTensor& indices,
                   const GatherElementsOptions& o) {
  return gather_elements(data, indices, o);
}
Array plain_gather(const ConstTensor& data, const ConstTensor& indices, const GatherNdOptions& o) {
  return gather_nd(data, indices, o);
}

template <class Options>
void expect_decoded(const Case& c, const ConstTensor& indices, const Options& options) {
  const Array expected = plain_gather(view(c.decoded_table, c.table.spec.sizes), indices, options);
  for (const DType type : {f32, f16, bf16}) {
    const EncodedGatherPlan plan = plan_gather_encoded(c.table.spec, indices.spec, options, type);
    for (const Backend* backend : host_backends()) {
      for (const EncodedKernel& kernel : backend->encoded) {
        Array got(plan.output());
        plan.run({c.table.stored, c.table.scales, c.table.zeros, indices.data, got.tensor().data},
                 {.threads = 2, .kernel = kernel.name});
        ASSERT_EQ(bytes_of(got), plain(expected, type)) << kernel.name << "\n" << plan.str();
      }
    }
  }
}

std::vector<int64_t> random_indices(Rng& rng, int64_t count, int64_t extent, bool outside) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) {
    indices.push_back(outside && rng.one_in(4) ? rng.from(extent, 3 * extent)
                                               : rng.from(-extent, extent - 1));
  }
  return indices;
}

class EncodedGather : public testing::TestWithParam<Encoding> {};

TEST_P(EncodedGather, AlongEveryAxis) {
  Rng rng(4);
  for (int i = 0; i < 6 && !HasFatalFailure(); ++i) {
    const Case c(rng, GetParam());
    const Dims& sizes = c.table.spec.sizes;
    for (int axis = 0; axis < sizes.size(); ++axis) {
      for (const OutOfRange rule :
           {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
        const auto indices = random_indices(rng, 7, sizes[axis], rule != OutOfRange::kFail);
        expect_decoded(
            c, view(indices),
            GatherOptions{.axis = axis, .rule = {.out_of_range = rule, .fill_value = 3}});
      }
    }
  }
}

TEST_P(EncodedGather, ElementsAndTuples) {
  Rng rng(5);
  for (int i = 0; i < 6 && !HasFatalFailure(); ++i) {
    const Case c(rng, GetParam());
    const Dims& sizes = c.table.spec.sizes;
    for (int axis = 0; axis < sizes.size(); ++axis) {
      Dims shape = sizes;
      shape[axis] = 3;
      const auto indices = random_indices(rng, element_count(shape), sizes[axis], false);
      expect_decoded(c, view(indices, shape), GatherElementsOptions{.axis = axis});
    }
    const auto rows = random_indices(rng, 5, sizes[0], false);
    expect_decoded(c, view(rows, {5, 1}), GatherNdOptions{});
    std::vector<int64_t> pairs;
    for (int p = 0; p < 9; ++p) {
      pairs.push_back(rng.from(0, sizes[0] - 1));
      pairs.push_back(rng.from(0, sizes[1] - 1));
    }
    expect_decoded(c, view(pairs, {3, 3, 2}), GatherNdOptions{});
  }
}

INSTANTIATE_TEST_SUITE_P(All, EncodedGather, testing::ValuesIn(oracle::all_encodings()),
                         [](const auto& one) { return std::string(to_string(one.param)); });

TEST(EncodedGather, Refusals) {
  const std::vector<int64_t> indices{0};
  EXPECT_EQ(refusal([&] {
              plan_gather_encoded(encoded_rows(Encoding::kQ4_0, {3, 64}), view(indices).spec,
                                  GatherOptions{}, f64);
            }),
            "gather: types differ\n"
            "  output is f64, but encoded elements become f32, f16 or bf16\n"
            "  data q4_0[3, 64]   indices i64[1]   axis 0\n"
            "  try: an output of f32, f16 or bf16");
  EXPECT_NE(refusal([] {
              encoded_rows(Encoding::kQ4K, {3, 100});
            }).find("q4_k has no rows of 100 elements"),
            std::string::npos);
  EncodedSpec short_rows = encoded_rows(Encoding::kRowU8F32, {3, 64});
  short_rows.stored = TensorSpec(u8, {3, 71});
  EXPECT_NE(refusal([&] {
              plan_gather_encoded(short_rows, view(indices).spec);
            }).find("dimension 1 of stored has 71 entries, but row_u8_f32[3, 64] takes 72"),
            std::string::npos);
}

}  // namespace
}  // namespace sheaf
