// SPDX-License-Identifier: MIT
//
// What is said about a bad index: the first in row-major order, where it stands, its value, the
// limits, how many more there are.
#include "plan/index_error.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

template <class Index>
std::string gather_text(const TensorSpec& data, const std::vector<Index>& indices,
                        const IndexRule& rule = {}) {
  const Plan plan = plan_gather(data, view(indices).spec, {.rule = rule});
  return index_error([&] { throw_first_bad_index(plan, indices.data()); }).what();
}

TEST(FirstBadIndex, NothingIsThrownWithoutOne) {
  const std::vector<int64_t> good = {0, 2, -3};
  EXPECT_NO_THROW(throw_first_bad_index(plan_gather({f32, {3}}, {i64, {3}}), good.data()));
  EXPECT_NO_THROW(throw_first_bad_index(plan_gather({f32, {3}}, {i64, {0}}), nullptr));
  EXPECT_NO_THROW(throw_first_bad_index(plan_gather_nd({f32, {3}}, {i64, {4, 0}}), nullptr));
}

TEST(FirstBadIndex, HasAllFourLines) {
  EXPECT_EQ(gather_text<int64_t>({f32, {3, 5}}, {0, 3, -4, 2}),
            "gather: index out of range\n"
            "  indices[1] = 3, but axis 0 of data has 3 entries (allowed -3..2); 2 of 4 indices "
            "are out of range\n"
            "  data f32[3, 5]   indices i64[4]   axis 0   output f32[4, 5]\n"
            "  try: out_of_range = clamp or fill;  picture: sheaf explain 'gather f32[3,5] "
            "i64[4]={0,3,0,0} axis=0'");
  EXPECT_EQ(gather_text<int8_t>({u8, {1}}, {-1}, {.negative = Negative::kOutOfRange}),
            "gather: index out of range\n"
            "  indices[0] = -1, but axis 0 of data has 1 entry (allowed 0..0); 1 of 1 index is out "
            "of range\n"
            "  data u8[1]   indices i8[1]   axis 0   output u8[1]\n"
            "  try: out_of_range = clamp or fill;  picture: sheaf explain 'gather u8[1] i8[1]={-1} "
            "axis=0 negative=out_of_range'");
}

// A picture of thousands of indices would not show the bad one.
TEST(FirstBadIndex, IsDrawnAloneWhereThereAreMany) {
  const auto picture = [](const Plan& plan) {
    std::vector<int64_t> indices(64, 0);
    indices[63] = 9;
    const IndexError error = index_error([&] { throw_first_bad_index(plan, indices.data()); });
    return error.refusal().picture;
  };
  EXPECT_EQ(picture(plan_gather({f32, {3, 5}}, {i64, {8, 8}}, {.axis = 1})),
            "sheaf explain 'gather f32[3,5] i64[1]={9} axis=1'");
  EXPECT_EQ(picture(plan_gather_elements({f32, {64, 5}}, {i64, {64, 1}}, {.axis = 1})),
            "sheaf explain 'gather_elements f32[64,5] i64[1,1]={9} axis=1'");
  EXPECT_EQ(picture(plan_gather_nd({f32, {3, 5}}, {i64, {32, 2}})),
            "sheaf explain 'gather_nd f32[3,5] i64[1,2]={0,9}'");
  EXPECT_EQ(picture(plan_gather_nd({f32, {8, 5}}, {i64, {8, 8, 1}}, {.batch_dims = 1})),
            "sheaf explain 'gather_nd f32[8,5] i64[8,8,1] batch_dims=1'");
  EXPECT_EQ(picture(plan_scatter({f32, {3}}, {i64, {64}}, {f32, {64}})),
            "sheaf explain 'scatter f32[3] i64[1]={9} axis=0'");
}

TEST(FirstBadIndex, IsShownInItsOwnType) {
  const auto value = [](const std::string& text) {
    return text.substr(text.find(" = ") + 3, text.find(", but") - text.find(" = ") - 3);
  };
  const TensorSpec data(u8, {100});
  EXPECT_EQ(value(gather_text<int8_t>(data, {-128})), "-128");
  EXPECT_EQ(value(gather_text<uint8_t>(data, {200})), "200");
  EXPECT_EQ(value(gather_text<int16_t>(data, {-32768})), "-32768");
  EXPECT_EQ(value(gather_text<uint16_t>(data, {65535})), "65535");
  EXPECT_EQ(value(gather_text<int32_t>(data, {INT32_MIN})), "-2147483648");
  EXPECT_EQ(value(gather_text<uint32_t>(data, {UINT32_MAX})), "4294967295");
  EXPECT_EQ(value(gather_text<int64_t>(data, {INT64_MIN})), "-9223372036854775808");
  EXPECT_EQ(value(gather_text<uint64_t>(data, {UINT64_MAX})), "18446744073709551615");
  EXPECT_EQ(value(gather_text<uint64_t>(data, {uint64_t{1} << 63})), "9223372036854775808");
}

TEST(FirstBadIndex, LimitsOfTheLongestAxis) {
  const std::string text =
      gather_text<uint64_t>({u8, {std::numeric_limits<int64_t>::max()}}, {uint64_t{1} << 63});
  EXPECT_NE(text.find("has 9223372036854775807 entries (allowed 0..9223372036854775806)"),
            std::string::npos)
      << text;
  const std::string from_end = gather_text<int64_t>({u8, {std::numeric_limits<int64_t>::max()}},
                                                    {std::numeric_limits<int64_t>::min()});
  EXPECT_NE(from_end.find("(allowed -9223372036854775807..9223372036854775806)"), std::string::npos)
      << from_end;
}

TEST(FirstBadIndex, IsTheFirstInRowMajorOrderWhateverTheStrides) {
  // In memory the bad one of row 1 stands before that of row 0.
  const std::vector<int32_t> memory = {0, 9, 0, 0, 8, 0};
  const Plan plan = plan_gather({f32, {3}}, {i32, {2, 3}, {-3, 1}});
  const IndexError error = index_error([&] { throw_first_bad_index(plan, memory.data() + 3); });
  EXPECT_EQ(error.position(), (Dims{0, 1}));
  EXPECT_EQ(error.bad_count(), 2);
  EXPECT_NE(std::string(error.what()).find("indices[0, 1] = 8, but"), std::string::npos);
  // Column-major.
  const Plan columns = plan_gather({f32, {3}}, {i32, {2, 3}, {1, 2}});
  EXPECT_EQ(index_error([&] { throw_first_bad_index(columns, memory.data()); }).position(),
            (Dims{0, 2}));
}

TEST(FirstBadIndex, EachRepetitionCounts) {
  const std::vector<int32_t> memory = {0, 9};
  const Plan plan = plan_gather({f32, {3}}, {i32, {4, 2}, {0, 1}});
  const IndexError error = index_error([&] { throw_first_bad_index(plan, memory.data()); });
  EXPECT_EQ(error.position(), (Dims{0, 1}));
  EXPECT_EQ(error.bad_count(), 4);
  EXPECT_EQ(error.code(), ErrorCode::kIndexOutOfRange);
}

TEST(FirstBadIndex, EveryComponentHasItsOwnLimit) {
  const auto text = [](const std::vector<int64_t>& tuples) {
    const Plan plan = plan_gather_nd({f32, {2, 3, 5, 7}}, {i64, {2, 2, 2}}, {.batch_dims = 1});
    return std::string(index_error([&] { throw_first_bad_index(plan, tuples.data()); }).what());
  };
  EXPECT_EQ(text({0, 0, 0, 0, 2, 4, -3, 5}),
            "gather_nd: index out of range\n"
            "  indices[1, 1, 1] = 5, but axis 2 of data has 5 entries (allowed -5..4); 1 of 8 "
            "indices are out of range\n"
            "  data f32[2, 3, 5, 7]   indices i64[2, 2, 2]   batch_dims 1   output f32[2, 2, 7]\n"
            "  try: out_of_range = clamp or fill;  picture: sheaf explain 'gather_nd "
            "f32[2,3,5,7] i64[2,2,2]={0,0,0,0,0,0,0,5} batch_dims=1'");
  EXPECT_NE(text({3, 4, 0, 0, 0, 0, 0, 0}).find("indices[0, 0, 0] = 3, but axis 1 of data has 3"),
            std::string::npos);
}

TEST(FirstBadIndex, WindowsHaveFewerPlaces) {
  const Plan plan = plan_xla_gather({f32, {4, 5}}, {i64, {2, 3}},
                                    {.offset_dims = {1, 2},
                                     .start_index_map = {1, 0},
                                     .index_vector_dim = 0,
                                     .slice_sizes = {1, 2},
                                     .rule = {Negative::kOutOfRange, OutOfRange::kFail}});
  // Tuples stand in dimension 0: the first row moves along axis 1, the second along axis 0.
  const std::vector<int64_t> window = {0, 3, 4, 3, 4, 0};
  EXPECT_EQ(
      std::string(index_error([&] { throw_first_bad_index(plan, window.data()); }).what()),
      "xla_gather: index out of range\n"
      "  indices[0, 2] = 4, but a window of 2 on axis 1 of data (5 entries) has 4 places to "
      "start (allowed 0..3); 2 of 6 indices are out of range\n"
      "  data f32[4, 5]   indices i64[2, 3]   offset_dims [1, 2]   collapsed_slice_dims []  "
      " operand_batching_dims []   start_indices_batching_dims []   start_index_map [1, 0]  "
      " index_vector_dim 0   slice_sizes [1, 2]   output f32[3, 1, 2]\n"
      "  try: out_of_range = clamp or fill;  picture: sheaf explain 'xla_gather f32[4,5] "
      "i64[2,3]={0,0,4,0,0,0} offset_dims=[1, 2] collapsed_slice_dims=[] operand_batching_dims=[] "
      "start_indices_batching_dims=[] start_index_map=[1, 0] index_vector_dim=0 "
      "slice_sizes=[1, 2] out_of_range=fail'");
  const std::vector<int64_t> single = {0, 0, 0, 4, 0, 0};
  EXPECT_NE(std::string(index_error([&] { throw_first_bad_index(plan, single.data()); }).what())
                .find("indices[1, 0] = 4, but axis 0 of data has 4 entries (allowed 0..3)"),
            std::string::npos);
}

TEST(EmptyAxis, NoRuleGivesItsIndicesAValue) {
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                OutOfRange::kWrap, OutOfRange::kTrust}) {
    const IndexError error = index_error([&] {
      plan_gather({f32, {2, 0}}, {i64, {3, 4}}, {.axis = 1, .rule = {.out_of_range = rule}});
    });
    EXPECT_EQ(std::string(error.what()),
              "gather: index into an empty axis\n"
              "  axis 1 of data has no entries, but there 12 indices are given\n"
              "  data f32[2, 0]   indices i64[3, 4]   axis 1   output f32[2, 3, 4]\n"
              "  try: no indices, or data with entries on this axis");
    EXPECT_EQ(error.position(), (Dims{0, 0}));
    EXPECT_EQ(error.bad_count(), 12);
  }
  EXPECT_NE(std::string(index_error([] {
                          plan_gather_nd({f32, {3, 0}}, {i64, {1, 2}});
                        }).what())
                .find("axis 1 of data has no entries, but there 2 indices are given"),
            std::string::npos);
  EXPECT_NO_THROW(plan_gather({f32, {2, 0}}, {i64, {0}}, {.axis = 1}));
  EXPECT_NO_THROW(plan_gather_nd({f32, {3, 0}}, {i64, {0, 2}}));
  EXPECT_NO_THROW(plan_gather_nd({f32, {3, 0}}, {i64, {4, 1}}));
}

// An index that stands 2^40 times in a broadcast dimension is looked at once.
TEST(FirstBadIndex, RepeatsAreCountedNotVisited) {
  const int64_t repeats = int64_t{1} << 40;
  const std::vector<int64_t> rows = {0, 7, 1, 9};
  const Plan plan = plan_gather({u8, {5}}, {i64, {4, repeats}, {1, 0}});
  const IndexError error = index_error([&] { throw_first_bad_index(plan, rows.data()); });
  EXPECT_EQ(error.position(), (Dims{1, 0}));
  EXPECT_EQ(error.bad_count(), 2 * repeats);
  EXPECT_NE(std::string(error.what()).find("2199023255552 of 4398046511104 indices are out of"),
            std::string::npos);
  // One number for both components of a tuple: 3 is in range of the first axis only.
  const std::vector<int64_t> both = {3};
  const Plan nd = plan_gather_nd({u8, {5, 2}}, {i64, {repeats, 2}, {0, 0}});
  const IndexError component = index_error([&] { throw_first_bad_index(nd, both.data()); });
  EXPECT_EQ(component.position(), (Dims{0, 1}));
  EXPECT_EQ(component.bad_count(), repeats);
}

}  // namespace
}  // namespace sheaf
