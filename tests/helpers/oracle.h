// SPDX-License-Identifier: MIT
//
// What the gathers are, a second time: straight from the operators' definitions, output coordinate
// by output coordinate, with whole numbers that cannot overflow. It shares no code with src/, so
// that a mistake there cannot hide here. A scatter is the gather of the same kind with `scatters`
// set: its updates stand where the output does. What is done to them is in scatter_oracle.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sheaf/index_rule.h"

namespace oracle {

using Shape = std::vector<int64_t>;

inline int64_t rank(const Shape& shape) { return static_cast<int64_t>(shape.size()); }
using Point = std::vector<int64_t>;  // one coordinate for each dimension
using Wide = __int128;               // holds every value of every index type

enum class Op { kGather, kGatherElements, kGatherNd, kXlaGather };

// One call, without types, strides or memory.
struct Problem {
  Op op = Op::kGather;
  Shape data = {}, indices = {};
  std::vector<Wide> values = {};  // of indices, row-major
  int64_t axis = 0, batch_dims = 0;
  bool broadcast = false;
  Shape offset_dims = {}, collapsed_slice_dims = {}, operand_batching_dims = {};
  Shape start_indices_batching_dims = {}, start_index_map = {}, slice_sizes = {};
  int64_t index_vector_dim = 0;
  sheaf::Negative negative = sheaf::Negative::kFromEnd;
  sheaf::OutOfRange out_of_range = sheaf::OutOfRange::kFail;
  bool scatters = false;
  bool skip_whole_window = false;  // of XLA's scatter; its slice_sizes are those of the updates

  std::string str() const;
};

enum class Verdict {
  kAnswered,
  kBadShape,  // the call makes no sense, whatever the index values are
  kBadIndex,  // under the rule kFail, or any index into an axis without entries
};

inline constexpr int64_t kFilled = -1;

struct Answer {
  Verdict verdict = Verdict::kBadShape;
  Shape shape;                  // of the output, or of the updates
  std::vector<int64_t> source;  // for each element of that the element of data, or kFilled
  Point first_bad;              // kBadIndex: where in indices, and how many there are
  int64_t bad_count = 0;
};

Answer answer(const Problem& problem);

// The shape of the output, or of the updates; false if the call is refused. In oracle_shape.cc.
bool output_shape(const Problem& problem, Shape& shape);

// axis and batch_dims with negative values counted from the end. Only for calls not refused.
int64_t from_front(int64_t axis, size_t rank);

// In how many places along `axis` of data an index can put a slice: its entries, or fewer where the
// slice is a window of several. Where the entries of a window are looked at one by one, all of
// them.
Wide places(const Problem& problem, size_t axis);

int64_t element_count(const Shape& shape);

// The row-major number of the element of `shape` that stands at `point`, and back.
int64_t number_of(const Point& point, const Shape& shape);
Point point_of(int64_t number, const Shape& shape);

}  // namespace oracle
