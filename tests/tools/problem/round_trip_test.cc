// SPDX-License-Identifier: MIT
//
// Errors quote a command that repeats the call. What it quotes has to read back as that call.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "helpers/refusal.h"
#include "plan/refuse.h"
#include "problem/problem.h"

namespace sheaf {
namespace {

// The problem string in a command: sheaf explain '…'.
std::string quoted(const std::string& command) {
  const size_t begin = command.find('\'');
  const size_t end = command.rfind('\'');
  EXPECT_TRUE(command.starts_with("sheaf explain '")) << command;
  return command.substr(begin + 1, end - begin - 1);
}

void expect_round_trip(const Request& request) {
  const std::string text = quoted(explain_command(request));
  const Problem read = parse_problem(text);
  EXPECT_EQ(explain_command(read.request), explain_command(request));
  const Plan there = make_plan(request);
  const Plan back = make_plan(read.request);
  EXPECT_EQ(there, back) << text;
  EXPECT_EQ(back.data(), there.data()) << text;
  EXPECT_EQ(back.indices(), there.indices()) << text;
  EXPECT_EQ(back.output(), there.output()) << text;
  EXPECT_EQ(quoted(explain_command(there.request())), quoted(explain_command(back.request())));
}

Request request(Op op, const TensorSpec& data, const TensorSpec& indices) {
  Request r = request_from(op);
  r.rule = {};
  r.data = data;
  r.indices = indices;
  return r;
}

TEST(RoundTrip, OfGather) {
  Request r = request(Op::kGather, {f32, {2, 3, 5}}, {i64, {2, 4}});
  r.axis = -2;
  expect_round_trip(r);
  r.batch_dims = 1;
  expect_round_trip(r);
  EXPECT_EQ(explain_command(r), "sheaf explain 'gather f32[2,3,5] i64[2,4] axis=-2 batch_dims=1'");
}

TEST(RoundTrip, OfGatherElements) {
  Request r = request(Op::kGatherElements, {bf16, {3, 1}}, {u8, {2, 5}});
  r.broadcast = true;
  expect_round_trip(r);
}

TEST(RoundTrip, OfGatherNd) {
  Request r = request(Op::kGatherNd, {opaque(24), {2, 3, 4}}, {i32, {2, 1}});
  expect_round_trip(r);
  r.batch_dims = 1;
  expect_round_trip(r);
}

TEST(RoundTrip, OfScalarsAndEmptyTensors) {
  expect_round_trip(request(Op::kGather, {c128, {2, 0}}, {i8, {}}));
  expect_round_trip(request(Op::kGatherNd, {boolean, {}}, {i8, {0, 0}}));
}

TEST(RoundTrip, OfXlaGather) {
  Request r = request(Op::kXlaGather, {f64, {3, 4, 2}}, {i64, {2, 2}});
  XlaGatherOptions x;
  x.offset_dims = {1, 2};
  x.collapsed_slice_dims = {0};
  x.start_index_map = {1, 0};
  x.index_vector_dim = 1;
  x.slice_sizes = {1, 2, 2};
  r.xla = x;
  r.rule = x.rule;
  expect_round_trip(r);
  EXPECT_EQ(explain_command(r).find("out_of_range"), std::string::npos);
  r.rule = {};
  expect_round_trip(r);
  EXPECT_NE(explain_command(r).find(" negative=from_end out_of_range=fail'"), std::string::npos);
}

Request scatter_request(Op op, const TensorSpec& data, const TensorSpec& indices,
                        const TensorSpec& updates) {
  Request r = request(op, data, indices);
  r.updates = updates;
  r.rule = usual_rule(op);
  return r;
}

TEST(RoundTrip, OfScatters) {
  Request r = scatter_request(Op::kScatter, {f32, {4, 2}}, {i64, {3}}, {f32, {3, 2}});
  expect_round_trip(r);
  r.reduction = Reduction::kAdd;
  r.include_self = false;
  r.onto_zeros = true;
  expect_round_trip(r);
  EXPECT_EQ(explain_command(r),
            "sheaf explain 'scatter f32[4,2] i64[3] f32[3,2] axis=0 reduction=add include_self=0 "
            "onto_zeros=1'");
  r.batch_dims = 0;
  r.rule.out_of_range = OutOfRange::kSkip;
  expect_round_trip(r);
  EXPECT_NE(explain_command(r).find(" out_of_range=skip'"), std::string::npos);
  expect_round_trip(
      scatter_request(Op::kScatterElements, {bf16, {3, 5}}, {u8, {2, 5}}, {bf16, {2, 5}}));
  expect_round_trip(scatter_request(Op::kScatterNd, {i8, {3, 5}}, {i32, {2, 1}}, {i8, {2, 5}}));
  for (const Reduction reduction :
       {Reduction::kSub, Reduction::kMul, Reduction::kMin, Reduction::kMax, Reduction::kMean}) {
    r.reduction = reduction;
    expect_round_trip(r);
  }
}

TEST(RoundTrip, OfXlaScatter) {
  Request r =
      scatter_request(Op::kXlaScatter, {f64, {2, 4, 5}}, {i64, {2, 3, 2}}, {f64, {2, 3, 2}});
  XlaGatherOptions x;
  x.offset_dims = {2};
  x.collapsed_slice_dims = {1};
  x.operand_batching_dims = {0};
  x.start_indices_batching_dims = {0};
  x.start_index_map = {1, 2};
  x.index_vector_dim = 2;
  r.xla = x;
  expect_round_trip(r);
  EXPECT_EQ(explain_command(r),
            "sheaf explain 'xla_scatter f64[2,4,5] i64[2,3,2] f64[2,3,2] update_window_dims=[2] "
            "inserted_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[0] "
            "scatter_dims_to_operand_dims=[1, 2] index_vector_dim=2'");
  r.skip_whole_window = true;
  r.rule = {};
  expect_round_trip(r);
}

TEST(RoundTrip, UpdatesMayBeLeftOut) {
  const Plan plan = make_plan(parse_problem("scatter u8[2,3,5] i64[4] axis=1").request);
  EXPECT_EQ(plan.updates(), TensorSpec(u8, {2, 4, 5}));
  EXPECT_EQ(explain_command(parse_problem("scatter u8[2] i64[4] reduction=add").request),
            "sheaf explain 'scatter u8[2] i64[4] axis=0 reduction=add'");
  EXPECT_EQ(make_plan(parse_problem("scatter_elements f16[2] i64[4] axis=0").request).updates(),
            TensorSpec(f16, {4}));
  const Problem values = parse_problem("scatter_nd i8[2] i64[1,1] i8[1]={7}");
  EXPECT_EQ(values.updates, (Literal{std::byte{7}}));
  EXPECT_FALSE(parse_problem("scatter_nd i8[2] i64[1,1]").updates.has_value());
}

// What does not fit is for make_plan to say; it does not show updates that nobody gave.
TEST(RoundTrip, MissingUpdatesDoNotShowInErrors) {
  const auto text = [](const char* problem) {
    return refusal([&] { make_plan(parse_problem(problem).request); });
  };
  EXPECT_EQ(text("scatter f32[3] i64[4] axis=1"),
            "scatter: axis out of range\n"
            "  axis = 1, but data has 1 dimension (allowed -1..0)\n"
            "  data f32[3]   indices i64[4]   axis 1\n"
            "  try: an axis from -1 to 0");
  EXPECT_EQ(text("scatter u8[0,4294967296] i64[4294967296]"),
            "scatter: updates too large\n"
            "  the updates would be u8[4294967296, 4294967296]: more than 2^63 - 1 bytes\n"
            "  data u8[0, 4294967296]   indices i64[4294967296]   axis 0\n"
            "  try: fewer indices per call");
  EXPECT_EQ(text("scatter f32[3] i64[4] out_of_range=fill")
                .find("scatter: index rule of another operator\n"),
            0u);
}

TEST(RoundTrip, OfEveryRule) {
  Request r = request(Op::kGather, {f64, {3}}, {i64, {2}});
  for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
    for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                  OutOfRange::kWrap, OutOfRange::kTrust}) {
      r.rule = {negative, rule, {}};
      expect_round_trip(r);
    }
  }
}

TEST(RoundTrip, OfEveryFillValue) {
  Request r = request(Op::kGather, {c128, {3}}, {i64, {2}});
  r.rule.out_of_range = OutOfRange::kFill;
  const Scalar values[] = {0,
                           -1,
                           INT64_MIN,
                           UINT64_MAX,
                           0.1,
                           -0.0,
                           1e300,
                           std::numeric_limits<double>::denorm_min(),
                           std::nan(""),
                           INFINITY,
                           -INFINITY,
                           std::complex<double>(0.1, -2),
                           std::complex<double>(1, INFINITY)};
  for (const Scalar& value : values) {
    r.rule.fill_value = value;
    expect_round_trip(r);
  }
}

}  // namespace
}  // namespace sheaf
