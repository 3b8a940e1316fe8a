// SPDX-License-Identifier: MIT
#include "plan/refuse.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

TEST(Describe, ShowsWhatTheOperatorHas) {
  EXPECT_EQ(describe(plan_gather({f32, {3, 5}}, {i64, {4}}, {.axis = -1}).request()),
            "data f32[3, 5]   indices i64[4]   axis 1   output f32[3, 4]");
  EXPECT_EQ(
      describe(plan_gather({f32, {3, 5}}, {i64, {3, 4}}, {.axis = 1, .batch_dims = 1}).request()),
      "data f32[3, 5]   indices i64[3, 4]   axis 1   batch_dims 1   output f32[3, 4]");
  EXPECT_EQ(describe(plan_gather_elements({f32, {3}}, {i64, {4}}, {.broadcast = true}).request()),
            "data f32[3]   indices i64[4]   axis 0   broadcast 1   output f32[4]");
  EXPECT_EQ(describe(plan_gather_nd({f32, {3}, {-2}}, {i64, {4, 1}}).request()),
            "data f32[3] strides [-2]   indices i64[4, 1]   output f32[4]");
}

TEST(ExplainCommand, NamesTheRuleWhereItIsNotTheUsual) {
  EXPECT_EQ(explain_command(plan_gather({f32, {3, 5}}, {i64, {4}}).request()),
            "sheaf explain 'gather f32[3,5] i64[4] axis=0'");
  EXPECT_EQ(explain_command(plan_gather_nd({u8, {3}}, {i64, {4, 1}},
                                           {.rule = {Negative::kOutOfRange, OutOfRange::kFill, 7}})
                                .request()),
            "sheaf explain 'gather_nd u8[3] i64[4,1] negative=out_of_range out_of_range=fill "
            "fill_value=7'");
}

TEST(FourLines, BeginWithWhoAsks) {
  Request r;
  r.name = "DML_OPERATOR_GATHER";
  r.data = TensorSpec(f32, {3});
  r.indices = TensorSpec(u32, {2});
  EXPECT_EQ(refusal([&] { refuse(r, "what", "detail", "next"); }),
            "DML_OPERATOR_GATHER: what\n"
            "  detail\n"
            "  data f32[3]   indices u32[2]   axis 0\n"
            "  try: next");
  EXPECT_EQ(refusal([] { refuse_tensor({}, "what", "detail", "shape", "next"); }),
            "tensor: what\n"
            "  detail\n"
            "  shape\n"
            "  try: next");
}

// Programs and dialects read the cause, not the text.
TEST(Refusals, CarryTheirCause) {
  const auto cause = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.refusal().cause;
    }
    ADD_FAILURE() << "not refused";
    return Cause{};
  };
  const Cause shape = cause([] { plan_scatter({f32, {3, 2}}, {i64, {4}}, {f32, {4, 3}}); });
  EXPECT_EQ(shape.reason, Reason::kShape);
  EXPECT_EQ(shape.tensor, "updates");
  EXPECT_EQ(shape.got, (Dims{4, 3}));
  EXPECT_EQ(shape.wanted, (Dims{4, 2}));
  const Cause axis = cause([] { plan_gather({f32, {3, 2}}, {i64, {4}}, {.axis = 7}); });
  EXPECT_EQ(axis.reason, Reason::kAxis);
  EXPECT_EQ(axis.got, (Dims{7}));
  const std::vector<int64_t> rows = {0, 9};
  const Cause index = cause([&] { gather(view(rows), view(rows)); });
  EXPECT_EQ(index.reason, Reason::kIndex);
  EXPECT_EQ(index.tensor, "indices");
  EXPECT_EQ(index.got, (Dims{1}));
}

TEST(Refusals, CopyWithoutThrowing) {
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
  const Error plain(ErrorCode::kDevice, "text");
  EXPECT_EQ(plain.code(), ErrorCode::kDevice);
  EXPECT_EQ(plain.refusal().what, "text");
}

}  // namespace
}  // namespace sheaf
