// SPDX-License-Identifier: MIT
//
// Every constraint of the general gather, broken one at a time.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// data [batch 3, collapsed 4, window 5], indices [batch 3, grid 2, tuple 2] -> [3, 2, window 2]
struct Call {
  Dims data = {3, 4, 5};
  Dims indices = {3, 2, 2};
  XlaGatherOptions options = {.offset_dims = {2},
                              .collapsed_slice_dims = {1},
                              .operand_batching_dims = {0},
                              .start_indices_batching_dims = {0},
                              .start_index_map = {1, 2},
                              .index_vector_dim = 2,
                              .slice_sizes = {1, 1, 2}};

  Plan plan() const { return plan_xla_gather({f32, data}, {i64, indices}, options); }
};

std::string list(const Dims& dims) {
  std::string text = "[";
  for (int d = 0; d < dims.size(); ++d) {
    text += d == 0 ? "" : ", ";
    text += std::to_string(dims[d]);
  }
  return text + "]";
}

// The four lines, of which the third shows the whole call.
std::string four_lines(const Call& call, const std::string& what, const std::string& detail,
                       const std::string& next) {
  const XlaGatherOptions& x = call.options;
  return "xla_gather: " + what + "\n  " + detail + "\n  data f32" + list(call.data) +
         "   indices i64" + list(call.indices) + "   offset_dims " + list(x.offset_dims) +
         "   collapsed_slice_dims " + list(x.collapsed_slice_dims) + "   operand_batching_dims " +
         list(x.operand_batching_dims) + "   start_indices_batching_dims " +
         list(x.start_indices_batching_dims) + "   start_index_map " + list(x.start_index_map) +
         "   index_vector_dim " + std::to_string(x.index_vector_dim) + "   slice_sizes " +
         list(x.slice_sizes) + "\n  try: " + next;
}

// One way of breaking the call, and lines 1, 2 and 4 of the refusal.
struct Broken {
  const char* name;
  void (*change)(Call& call);
  const char *what, *detail, *next;
};

class XlaConstraint : public testing::TestWithParam<Broken> {};

TEST_P(XlaConstraint, IsHeld) {
  Call call;
  EXPECT_EQ(call.plan().output().sizes, (Dims{3, 2, 2}));
  GetParam().change(call);
  EXPECT_EQ(refusal([&] { call.plan(); }),
            four_lines(call, GetParam().what, GetParam().detail, GetParam().next));
}

const Broken kBroken[] = {
    {"OffsetDimsTooFew", [](Call& c) { c.options.offset_dims = {}; },
     "offset_dims has the wrong length",
     "offset_dims has 0 entries, but needs 1 (one for each dimension of data that is neither "
     "collapsed nor batching)",
     "a list of 1"},
    {"OffsetDimsTooMany",
     [](Call& c) {
       c.options.offset_dims = {1, 2};
     },
     "offset_dims has the wrong length",
     "offset_dims has 2 entries, but needs 1 (one for each dimension of data that is neither "
     "collapsed nor batching)",
     "a list of 1"},
    {"OffsetDimsOutside", [](Call& c) { c.options.offset_dims = {3}; }, "offset_dims out of range",
     "offset_dims[0] = 3, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"OffsetDimsNegative", [](Call& c) { c.options.offset_dims = {-1}; },
     "offset_dims out of range",
     "offset_dims[0] = -1, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"OffsetDimsTwice",
     [](Call& c) {
       c.options.collapsed_slice_dims = {};
       c.options.offset_dims = {2, 2};
     },
     "offset_dims repeats a dimension", "offset_dims names dimension 2 twice",
     "each dimension once"},
    {"OffsetDimsNotSorted",
     [](Call& c) {
       c.options.collapsed_slice_dims = {};
       c.options.offset_dims = {3, 2};
     },
     "offset_dims is not sorted", "offset_dims = [3, 2]", "ascending order"},
    {"IndexVectorDimNegative", [](Call& c) { c.options.index_vector_dim = -1; },
     "index_vector_dim out of range",
     "index_vector_dim = -1, but indices has 3 dimensions (allowed 0..3)",
     "the dimension that holds index tuples, or the rank of indices for single indices"},
    {"IndexVectorDimTooLarge", [](Call& c) { c.options.index_vector_dim = 4; },
     "index_vector_dim out of range",
     "index_vector_dim = 4, but indices has 3 dimensions (allowed 0..3)",
     "the dimension that holds index tuples, or the rank of indices for single indices"},
    {"StartIndexMapTooShort", [](Call& c) { c.options.start_index_map = {1}; },
     "start_index_map has the wrong length",
     "start_index_map has 1 entry, but needs 2 (one for each component of an index tuple)",
     "a list of 2"},
    {"StartIndexMapTooLongForSingleIndices", [](Call& c) { c.options.index_vector_dim = 3; },
     "start_index_map has the wrong length",
     "start_index_map has 2 entries, but needs 1 (one for each component of an index tuple)",
     "a list of 1"},
    {"StartIndexMapOutside",
     [](Call& c) {
       c.options.start_index_map = {1, 3};
     },
     "start_index_map out of range",
     "start_index_map[1] = 3, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"StartIndexMapNegative",
     [](Call& c) {
       c.options.start_index_map = {-1, 1};
     },
     "start_index_map out of range",
     "start_index_map[0] = -1, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"StartIndexMapTwice",
     [](Call& c) {
       c.options.start_index_map = {2, 2};
     },
     "start_index_map repeats a dimension", "start_index_map names dimension 2 twice",
     "each dimension once"},
    {"StartIndexMapHoldsBatching",
     [](Call& c) {
       c.options.start_index_map = {0, 1};
     },
     "start_index_map meets operand_batching_dims", "dimension 0 is in both",
     "each dimension in one of the two"},
    {"CollapsedOutside", [](Call& c) { c.options.collapsed_slice_dims = {3}; },
     "collapsed_slice_dims out of range",
     "collapsed_slice_dims[0] = 3, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"CollapsedTwice",
     [](Call& c) {
       c.options.collapsed_slice_dims = {1, 1};
     },
     "collapsed_slice_dims repeats a dimension", "collapsed_slice_dims names dimension 1 twice",
     "each dimension once"},
    {"CollapsedNotSorted",
     [](Call& c) {
       c.options.collapsed_slice_dims = {2, 1};
     },
     "collapsed_slice_dims is not sorted", "collapsed_slice_dims = [2, 1]", "ascending order"},
    {"CollapsedHoldsBatching", [](Call& c) { c.options.collapsed_slice_dims = {0}; },
     "collapsed_slice_dims meets operand_batching_dims", "dimension 0 is in both",
     "each dimension in one of the two"},
    {"BatchingOutside", [](Call& c) { c.options.operand_batching_dims = {-1}; },
     "operand_batching_dims out of range",
     "operand_batching_dims[0] = -1, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"BatchingTwice",
     [](Call& c) {
       c.options.operand_batching_dims = {0, 0};
     },
     "operand_batching_dims repeats a dimension", "operand_batching_dims names dimension 0 twice",
     "each dimension once"},
    {"BatchingNotSorted",
     [](Call& c) {
       c.options.operand_batching_dims = {2, 0};
     },
     "operand_batching_dims is not sorted", "operand_batching_dims = [2, 0]", "ascending order"},
    {"IndicesBatchingOutside", [](Call& c) { c.options.start_indices_batching_dims = {3}; },
     "start_indices_batching_dims out of range",
     "start_indices_batching_dims[0] = 3, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"IndicesBatchingTwice",
     [](Call& c) {
       c.options.start_indices_batching_dims = {0, 0};
     },
     "start_indices_batching_dims repeats a dimension",
     "start_indices_batching_dims names dimension 0 twice", "each dimension once"},
    {"IndicesBatchingHoldsTuples", [](Call& c) { c.options.start_indices_batching_dims = {2}; },
     "start_indices_batching_dims holds index_vector_dim", "dimension 2 holds the index tuples",
     "another dimension"},
    {"IndicesBatchingTooShort", [](Call& c) { c.options.start_indices_batching_dims = {}; },
     "start_indices_batching_dims has the wrong length",
     "start_indices_batching_dims has 0 entries, but needs 1 (one for each of "
     "operand_batching_dims)",
     "a list of 1"},
    {"BatchSizesDiffer", [](Call& c) { c.options.start_indices_batching_dims = {1}; },
     "batch dimensions differ", "batching dimension 0 has 3 entries in data and 2 in indices",
     "batching dimensions of equal size"},
    {"SliceSizesTooFew",
     [](Call& c) {
       c.options.slice_sizes = {1, 1};
     },
     "slice_sizes has the wrong length",
     "slice_sizes has 2 entries, but needs 3 (one for each dimension of data)", "a list of 3"},
    {"SliceLargerThanData",
     [](Call& c) {
       c.options.slice_sizes = {1, 1, 6};
     },
     "slice size out of range", "slice_sizes[2] = 6, but 0..5 is allowed there",
     "a slice that fits; 1 on collapsed and batching dimensions"},
    {"SliceNegative",
     [](Call& c) {
       c.options.slice_sizes = {1, 1, -1};
     },
     "slice size out of range", "slice_sizes[2] = -1, but 0..5 is allowed there",
     "a slice that fits; 1 on collapsed and batching dimensions"},
    {"CollapsedSliceOfTwo",
     [](Call& c) {
       c.options.slice_sizes = {1, 2, 2};
     },
     "slice size out of range", "slice_sizes[1] = 2, but 0..1 is allowed there",
     "a slice that fits; 1 on collapsed and batching dimensions"},
    {"BatchingSliceOfTwo",
     [](Call& c) {
       c.options.slice_sizes = {2, 1, 2};
     },
     "slice size out of range", "slice_sizes[0] = 2, but 0..1 is allowed there",
     "a slice that fits; 1 on collapsed and batching dimensions"},
    {"CollapsedSliceOfNothing",
     [](Call& c) {
       c.options.slice_sizes = {1, 0, 2};
     },
     "slice is empty", "slice_sizes = [1, 0, 2] holds no element, but the output [3, 2, 2] does",
     "slice sizes of 1 or more"},
    {"BatchingSliceOfNothing",
     [](Call& c) {
       c.options.slice_sizes = {0, 1, 2};
     },
     "slice is empty", "slice_sizes = [0, 1, 2] holds no element, but the output [3, 2, 2] does",
     "slice sizes of 1 or more"},
    {"SliceOfEmptyData",
     [](Call& c) {
       c.data = {3, 0, 5};
     },
     "slice size out of range", "slice_sizes[1] = 1, but 0..0 is allowed there",
     "a slice that fits; 1 on collapsed and batching dimensions"},
    {"AxesAtTheEndsOfInt64",
     [](Call& c) {
       c.options.start_index_map = {std::numeric_limits<int64_t>::min(), 1};
     },
     "start_index_map out of range",
     "start_index_map[0] = -9223372036854775808, but it names one of 3 dimensions (allowed 0..2)",
     "dimensions that exist"},
    {"ScalarData", [](Call& c) { c.data = {}; }, "slice_sizes has the wrong length",
     "slice_sizes has 3 entries, but needs 0 (one for each dimension of data)", "a list of 0"},
    {"ScalarIndices", [](Call& c) { c.indices = {}; }, "index_vector_dim out of range",
     "index_vector_dim = 2, but indices has 0 dimensions (allowed 0..0)",
     "the dimension that holds index tuples, or the rank of indices for single indices"},
};

INSTANTIATE_TEST_SUITE_P(Broken, XlaConstraint, testing::ValuesIn(kBroken),
                         [](const auto& broken) { return broken.param.name; });

TEST(XlaSizes, RanksAreLimited) {
  Dims offset_dims;
  for (int d = 0; d < 17; ++d) {
    offset_dims.push_back(d);
  }
  const auto plan = [&](int batch_rank) {
    return plan_xla_gather({u8, Dims(17, 1)}, {i64, Dims(batch_rank, 1)},
                           {.offset_dims = offset_dims,
                            .start_index_map = {0},
                            .index_vector_dim = batch_rank,
                            .slice_sizes = Dims(17, 1)});
  };
  EXPECT_EQ(refusal([&] { plan(16); })
                .find("xla_gather: too many dimensions\n  the output would have 33 dimensions, but "
                      "at most 32 are supported\n  data u8[1, 1,"),
            0u);
  EXPECT_EQ(plan(15).output().rank(), 32);
}

TEST(XlaSizes, OffsetAndBatchDimensionsInterleave) {
  Call call;
  call.options.offset_dims = {0};
  EXPECT_EQ(call.plan().output().sizes, (Dims{2, 3, 2}));
  call.options.offset_dims = {1};
  call.options.slice_sizes = {1, 1, 5};
  EXPECT_EQ(call.plan().output().sizes, (Dims{3, 5, 2}));
}

TEST(XlaSizes, EmptyWindowsAndScalars) {
  Call call;
  call.options.slice_sizes = {1, 1, 0};
  EXPECT_EQ(call.plan().output().sizes, (Dims{3, 2, 0}));
  // No index tuple at all: components 0.
  EXPECT_EQ(plan_xla_gather({f32, {}}, {i64, {0}}, {}).output().sizes, (Dims{}));
  // A window over the whole of the longest axis there can be, and one of nothing.
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto windowed = [&](int64_t window) {
    return plan_xla_gather({u8, {most}}, {i64, {1}},
                           {.offset_dims = {0}, .start_index_map = {0}, .slice_sizes = {window}});
  };
  EXPECT_EQ(windowed(most).nest().coordinates[0].extent, 1);
  EXPECT_EQ(windowed(1).nest().coordinates[0].extent, most);
  EXPECT_EQ(windowed(0).nest().coordinates[0].extent, most);
}

}  // namespace
}  // namespace sheaf
