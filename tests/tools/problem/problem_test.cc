// SPDX-License-Identifier: MIT
#include "problem/problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <string>

namespace sheaf {
namespace {

template <class T>
std::vector<T> values(const std::optional<Literal>& literal) {
  EXPECT_TRUE(literal.has_value());
  std::vector<T> elements(literal ? literal->size() / sizeof(T) : 0);
  if (!elements.empty()) {
    std::memcpy(elements.data(), literal->data(), literal->size());
  }
  return elements;
}

TEST(Problem, HasOperatorShapesAndDefaults) {
  const Problem p = parse_problem("gather f32[1000000,64] i64[4096]");
  EXPECT_EQ(p.request.op, Op::kGather);
  EXPECT_EQ(p.request.name, "gather");
  EXPECT_EQ(p.request.data, TensorSpec(f32, {1000000, 64}));
  EXPECT_EQ(p.request.indices, TensorSpec(i64, {4096}));
  EXPECT_FALSE(p.request.output_given);
  EXPECT_EQ(p.request.axis, 0);
  EXPECT_EQ(p.request.batch_dims, 0);
  EXPECT_EQ(p.request.rule.negative, Negative::kFromEnd);
  EXPECT_EQ(p.request.rule.out_of_range, OutOfRange::kFail);
  EXPECT_FALSE(p.data.has_value());
  EXPECT_FALSE(p.indices.has_value());
}

TEST(Problem, HasAttributesInAnyOrder) {
  const Problem p = parse_problem(
      "gather_elements f32[3,5] i64[2,5] out_of_range=clamp negative=out_of_range axis=-2 "
      "broadcast=1");
  EXPECT_EQ(p.request.op, Op::kGatherElements);
  EXPECT_EQ(p.request.axis, -2);
  EXPECT_TRUE(p.request.broadcast);
  EXPECT_EQ(p.request.rule.negative, Negative::kOutOfRange);
  EXPECT_EQ(p.request.rule.out_of_range, OutOfRange::kClamp);
  EXPECT_EQ(parse_problem("gather_nd f32[2,2] i32[2,1] batch_dims=1").request.batch_dims, 1);
  EXPECT_EQ(parse_problem("gather f32[2,2] i32[2,1] batch_dims=-1 axis=1").request.batch_dims, -1);
  EXPECT_FALSE(parse_problem("gather_elements f32[1] i8[1] broadcast=false").request.broadcast);
}

TEST(Problem, HasXlaListsAndXlasOwnRule) {
  const Problem p = parse_problem(
      "xla_gather f32[3,4] i64[2] offset_dims=[1, 2] collapsed_slice_dims=[] "
      "operand_batching_dims=[] start_indices_batching_dims=[] start_index_map=[ 0 ] "
      "index_vector_dim=1 slice_sizes=[1,2]");
  EXPECT_EQ(p.request.op, Op::kXlaGather);
  ASSERT_TRUE(p.request.xla);
  EXPECT_EQ(p.request.xla->offset_dims, (Dims{1, 2}));
  EXPECT_EQ(p.request.xla->start_index_map, Dims{0});
  EXPECT_EQ(p.request.xla->index_vector_dim, 1);
  EXPECT_EQ(p.request.xla->slice_sizes, (Dims{1, 2}));
  EXPECT_EQ(p.request.rule.negative, Negative::kOutOfRange);
  EXPECT_EQ(p.request.rule.out_of_range, OutOfRange::kClamp);
  EXPECT_EQ(
      parse_problem("xla_gather f32[] i64[0] out_of_range=fail").request.xla->rule.out_of_range,
      OutOfRange::kFail);
}

TEST(Problem, HasFillValuesOfEveryKind) {
  const auto fill = [](const std::string& value) {
    return parse_problem("gather f32[2] i64[2] out_of_range=fill fill_value=" + value)
        .request.rule.fill_value.value();
  };
  EXPECT_EQ(std::get<int64_t>(fill("-1")), -1);
  EXPECT_EQ(std::get<uint64_t>(fill("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ(std::get<int64_t>(fill("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(std::get<double>(fill("0.1")), 0.1);
  EXPECT_EQ(std::get<double>(fill("-1e-3")), -1e-3);
  EXPECT_TRUE(std::isnan(std::get<double>(fill("nan"))));
  EXPECT_EQ(std::get<double>(fill("-inf")), -INFINITY);
  EXPECT_EQ(std::get<int64_t>(fill("true")), 1);
  EXPECT_EQ(std::get<std::complex<double>>(fill("(1.5, -2)")), std::complex<double>(1.5, -2));
}

TEST(Problem, HasValues) {
  const Problem p = parse_problem("gather_nd f32[2,2]={1,2.5,-3,1e2} i32[2,2]={0,1,1,0}");
  EXPECT_EQ(values<float>(p.data), (std::vector<float>{1, 2.5, -3, 100}));
  EXPECT_EQ(values<int32_t>(p.indices), (std::vector<int32_t>{0, 1, 1, 0}));
}

TEST(Problem, TakesNestedBraces) {
  const Problem p = parse_problem("gather f32[2] i16[2,1,2]={ {{1 , 2}} ,{{3,-4}}}");
  EXPECT_EQ(values<int16_t>(p.indices), (std::vector<int16_t>{1, 2, 3, -4}));
}

TEST(Problem, TakesValuesOfEveryType) {
  EXPECT_EQ(values<uint8_t>(parse_problem("gather bool[4]={0,1,true,false} i8[0]={}").data),
            (std::vector<uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ(values<uint64_t>(parse_problem("gather u64[1]={18446744073709551615} i8[0]").data),
            std::vector<uint64_t>{UINT64_MAX});
  EXPECT_EQ(values<uint16_t>(parse_problem("gather f16[3]={1,inf,0.1} i8[0]").data),
            (std::vector<uint16_t>{0x3C00, 0x7C00, 0x2E66}));
  EXPECT_EQ(values<uint16_t>(parse_problem("gather bf16[1]={-2} i8[0]").data),
            std::vector<uint16_t>{0xC000});
  EXPECT_EQ(values<uint8_t>(parse_problem("gather f8e4m3[1]={1} i8[0]").data),
            std::vector<uint8_t>{0x38});
  EXPECT_EQ(values<std::complex<float>>(parse_problem("gather c64[2]={(1,-2),3} i8[0]").data),
            (std::vector<std::complex<float>>{{1, -2}, {3, 0}}));
  EXPECT_EQ(values<uint32_t>(parse_problem("gather opaque4[2]={0,0} i8[0]").data),
            (std::vector<uint32_t>{0, 0}));
}

TEST(Problem, TakesEmptyAndScalarTensors) {
  const Problem p = parse_problem("gather f32[2,0] i64[]={1} axis=0");
  EXPECT_EQ(p.request.data.sizes, (Dims{2, 0}));
  EXPECT_EQ(p.request.indices.rank(), 0);
  EXPECT_EQ(values<int64_t>(p.indices), std::vector<int64_t>{1});
  EXPECT_EQ(values<float>(parse_problem("gather f32[2,0]={} i64[]").data), std::vector<float>{});
  EXPECT_EQ(values<float>(parse_problem("gather f32[2,0]={{},{}} i64[]").data),
            std::vector<float>{});
}

TEST(Problem, TakesLongNamesOfTypesAndAnySpace) {
  const Problem p = parse_problem("  gather\tfloat16[ 2 , 3 ]  int32[2]\n axis = 1 ");
  EXPECT_EQ(p.request.data, TensorSpec(f16, {2, 3}));
  EXPECT_EQ(p.request.indices.dtype, i32);
  EXPECT_EQ(p.request.axis, 1);
}

TEST(Problem, OfTheHighestRankIsTaken) {
  std::string sizes = "1";
  for (int d = 1; d < kMaxRank; ++d) {
    sizes += ",1";
  }
  EXPECT_EQ(parse_problem("gather f32[" + sizes + "] i64[]").request.data.rank(), kMaxRank);
}

}  // namespace
}  // namespace sheaf
