// SPDX-License-Identifier: MIT
#include "helpers/oracle.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace oracle {
namespace {

using sheaf::Negative;
using sheaf::OutOfRange;

bool holds(const Shape& dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

// The rule by cases. Nothing: the value names no place.
std::optional<int64_t> place_of(Wide value, Wide count, const Problem& p) {
  if (0 <= value && value < count) {
    return static_cast<int64_t>(value);
  }
  if (p.negative == Negative::kFromEnd && -count <= value && value < 0) {
    return static_cast<int64_t>(count + value);
  }
  if (p.out_of_range == OutOfRange::kClamp) {
    return static_cast<int64_t>(value < 0 ? 0 : count - 1);
  }
  if (p.out_of_range == OutOfRange::kWrap) {
    const Wide rest = value % count;
    return static_cast<int64_t>(rest < 0 ? rest + count : rest);
  }
  return std::nullopt;
}

// XLA's scatter under kSkip: each element of a window is inside or outside by itself.
bool by_elements(const Problem& p) {
  return p.scatters && p.op == Op::kXlaGather && p.out_of_range == OutOfRange::kSkip &&
         !p.skip_whole_window;
}

// One coordinate of data that is not known until an index has been read.
struct Pick {
  size_t axis;
  Point index;  // where in indices it stands
};

struct Source {
  Point data;  // picked coordinates hold what is added to the index: 0, or a place in the window
  std::vector<Pick> picks;
};

Source gather_source(const Problem& p, const Point& out) {
  const auto axis = static_cast<size_t>(from_front(p.axis, p.data.size()));
  const auto batch = static_cast<size_t>(from_front(p.batch_dims, p.indices.size()));
  const size_t grid = p.indices.size() - batch;  // output dimensions that stand in for the axis
  Point index(out.begin(), out.begin() + static_cast<int64_t>(batch));
  Source source{Point(p.data.size(), 0), {}};
  for (size_t d = 0; d < out.size(); ++d) {
    if (d < axis) {
      source.data[d] = out[d];
    } else if (d < axis + grid) {
      index.push_back(out[d]);
    } else {
      source.data[d - grid + 1] = out[d];
    }
  }
  source.picks = {{axis, index}};
  return source;
}

Source gather_elements_source(const Problem& p, const Point& out) {
  const auto axis = static_cast<size_t>(from_front(p.axis, p.data.size()));
  Point data = out;
  Point index = out;
  for (size_t d = 0; d < out.size(); ++d) {
    data[d] = p.broadcast && p.data[d] == 1 ? 0 : out[d];
    index[d] = p.broadcast && d != axis && p.indices[d] == 1 ? 0 : out[d];
  }
  data[axis] = 0;
  return {data, {{axis, index}}};
}

Source gather_nd_source(const Problem& p, const Point& out) {
  const auto batch = static_cast<size_t>(from_front(p.batch_dims, p.indices.size()));
  const auto tuple = static_cast<size_t>(p.indices.back());
  const size_t grid = p.indices.size() - 1;  // output dimensions that come from indices
  Source source{Point(p.data.size(), 0), {}};
  for (size_t d = 0; d < batch; ++d) {
    source.data[d] = out[d];
  }
  for (size_t d = grid; d < out.size(); ++d) {
    source.data[batch + tuple + (d - grid)] = out[d];
  }
  for (size_t c = 0; c < tuple; ++c) {
    Point index(out.begin(), out.begin() + static_cast<int64_t>(grid));
    index.push_back(static_cast<int64_t>(c));
    source.picks.push_back({batch + c, index});
  }
  return source;
}

// The names are those of StableHLO's definition.
Source xla_source(const Problem& p, const Point& result_index) {
  Point batch_index, offset_index;
  for (size_t d = 0; d < result_index.size(); ++d) {
    (holds(p.offset_dims, static_cast<int64_t>(d)) ? offset_index : batch_index)
        .push_back(result_index[d]);
  }
  Source source{Point(p.data.size(), 0), {}};
  size_t offset = 0;
  for (size_t d = 0; d < p.data.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (!holds(p.collapsed_slice_dims, dim) && !holds(p.operand_batching_dims, dim)) {
      source.data[d] = offset_index[offset++];
    }
  }
  for (size_t b = 0; b < p.operand_batching_dims.size(); ++b) {
    const int64_t in_indices = p.start_indices_batching_dims[b];
    const int64_t in_batch = in_indices - (in_indices < p.index_vector_dim ? 0 : 1);
    source.data[static_cast<size_t>(p.operand_batching_dims[b])] =
        batch_index[static_cast<size_t>(in_batch)];
  }
  const bool tuples = p.index_vector_dim < static_cast<int64_t>(p.indices.size());
  for (size_t c = 0; c < p.start_index_map.size(); ++c) {
    Point index = batch_index;
    if (tuples) {
      index.insert(index.begin() + p.index_vector_dim, static_cast<int64_t>(c));
    }
    source.picks.push_back({static_cast<size_t>(p.start_index_map[c]), index});
  }
  return source;
}

Source source_of(const Problem& p, const Point& out) {
  switch (p.op) {
    case Op::kGather: return gather_source(p, out);
    case Op::kGatherElements: return gather_elements_source(p, out);
    case Op::kGatherNd: return gather_nd_source(p, out);
    case Op::kXlaGather: return xla_source(p, out);
  }
  return {};
}

// The axis of data that the index standing at `point` of indices moves along.
size_t axis_of_index(const Problem& p, const Point& point) {
  if (p.op == Op::kGatherNd) {
    return static_cast<size_t>(from_front(p.batch_dims, p.indices.size()) + point.back());
  }
  if (p.op == Op::kXlaGather) {
    const auto dim = static_cast<size_t>(p.index_vector_dim);
    return static_cast<size_t>(
        p.start_index_map[dim < point.size() ? static_cast<size_t>(point[dim]) : 0]);
  }
  return static_cast<size_t>(from_front(p.axis, p.data.size()));
}

// Counts the indices that name no place. All are looked at, whether or not an output element comes
// of them.
void check_indices(const Problem& p, Answer& answer) {
  Problem strict = p;
  strict.out_of_range = OutOfRange::kFail;
  bool empty_axis = false;
  for (int64_t i = 0; i < element_count(p.indices); ++i) {
    const Point point = point_of(i, p.indices);
    const Wide count = places(p, axis_of_index(p, point));
    empty_axis = empty_axis || (count == 0 && p.out_of_range != OutOfRange::kSkip);
    if (!place_of(p.values[static_cast<size_t>(i)], count, strict)) {
      if (answer.bad_count++ == 0) {
        answer.first_bad = point;
      }
    }
  }
  if (empty_axis || (answer.bad_count > 0 && p.out_of_range == OutOfRange::kFail)) {
    answer.verdict = Verdict::kBadIndex;
  }
  if (empty_axis) {  // then no index of the call counts as good
    answer.first_bad = Point(p.indices.size(), 0);
    answer.bad_count = element_count(p.indices);
  }
}

int64_t element_source(const Problem& p, const Point& out) {
  Source source = source_of(p, out);
  for (const Pick& pick : source.picks) {
    const Wide value = p.values[static_cast<size_t>(number_of(pick.index, p.indices))];
    if (by_elements(p)) {
      const Wide extent = p.data[pick.axis];
      const Wide start = p.negative == Negative::kFromEnd && value < 0 ? value + extent : value;
      const Wide at = start + source.data[pick.axis];
      if (at < 0 || at >= extent) {
        return kFilled;
      }
      source.data[pick.axis] = static_cast<int64_t>(at);
      continue;
    }
    const auto place = place_of(value, places(p, pick.axis), p);
    if (!place) {
      return kFilled;
    }
    source.data[pick.axis] += *place;
  }
  return number_of(source.data, p.data);
}

std::string text(const Shape& dims) {
  std::string text = "[";
  for (size_t d = 0; d < dims.size(); ++d) {
    text += d == 0 ? "" : ",";
    text += std::to_string(dims[d]);
  }
  return text + "]";
}

}  // namespace

Answer answer(const Problem& p) {
  Answer answer;
  if (!output_shape(p, answer.shape)) {
    return answer;
  }
  answer.verdict = Verdict::kAnswered;
  check_indices(p, answer);
  if (answer.verdict == Verdict::kAnswered) {
    for (int64_t i = 0; i < element_count(answer.shape); ++i) {
      answer.source.push_back(element_source(p, point_of(i, answer.shape)));
    }
  }
  return answer;
}

int64_t from_front(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

Wide places(const Problem& p, size_t axis) {
  return p.op == Op::kXlaGather && !by_elements(p) ? Wide{p.data[axis]} - p.slice_sizes[axis] + 1
                                                   : Wide{p.data[axis]};
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    count *= size;
  }
  return count;
}

int64_t number_of(const Point& point, const Shape& shape) {
  int64_t number = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    number = number * shape[d] + point[d];
  }
  return number;
}

Point point_of(int64_t number, const Shape& shape) {
  Point point(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    point[d] = number % shape[d];
    number /= shape[d];
  }
  return point;
}

std::string Problem::str() const {
  constexpr const char* kOps[] = {"gather", "gather_elements", "gather_nd", "xla_gather"};
  std::ostringstream out;
  out << (scatters ? "the scatter of " : "") << kOps[static_cast<int>(op)] << " data " << text(data)
      << " indices " << text(indices) << " axis " << axis << " batch_dims " << batch_dims
      << " broadcast " << broadcast << " negative " << to_string(negative) << " out_of_range "
      << to_string(out_of_range);
  if (op == Op::kXlaGather) {
    out << " offset_dims " << text(offset_dims) << " collapsed_slice_dims "
        << text(collapsed_slice_dims) << " operand_batching_dims " << text(operand_batching_dims)
        << " start_indices_batching_dims " << text(start_indices_batching_dims)
        << " start_index_map " << text(start_index_map) << " index_vector_dim " << index_vector_dim
        << " slice_sizes " << text(slice_sizes) << " skip_whole_window " << skip_whole_window;
  }
  out << " values";
  for (size_t i = 0; i < values.size() && i < 64; ++i) {
    const bool minus = values[i] < 0;  // the largest value is a uint64, the smallest an int64
    out << (minus ? " -" : " ") << static_cast<uint64_t>(minus ? -values[i] : values[i]);
  }
  return out.str();
}

}  // namespace oracle
