// SPDX-License-Identifier: MIT
//
// Errors quote a command that repeats the call. What it quotes has to read back as that call.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "frontends/problem/problem.h"
#include "plan/refuse.h"

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
  Request r;
  r.op = op;
  r.name = to_string(op);
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
  r.xla = std::make_shared<const XlaGatherOptions>(x);
  r.rule = x.rule;
  expect_round_trip(r);
  EXPECT_EQ(explain_command(r).find("out_of_range"), std::string::npos);
  r.rule = {};
  expect_round_trip(r);
  EXPECT_NE(explain_command(r).find(" negative=from_end out_of_range=fail'"), std::string::npos);
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
