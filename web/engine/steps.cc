// SPDX-License-Identifier: MIT
//
// The plan's loop nest, one point at a time: the formula of sheaf/plan.h with the library's own
// index rule and reductions. The page compares the last state with what the run gave.
#include <cstring>

#include "answers.h"
#include "pictures/element_text.h"
#include "plan/nest_shape.h"
#include "plan/reduce.h"
#include "plan/resolve.h"

namespace sheaf::web {
namespace {

struct Walk {
  const Call& call;
  const Nest& nest;
  int64_t element_bytes;
  Literal cells;  // the output of a scatter as it grows
  ReduceRow reduce;
  Json steps = Json::array();
  Dims at;       // the loops' positions
  Dims windows;  // for each coordinate: how far the loop over its window has come

  explicit Walk(const Call& of)
      : call(of),
        nest(of.plan.nest()),
        element_bytes(of.plan.data().dtype.bytes()),
        reduce(nest.scatters ? reduce_row(nest.element_type, nest.reduction) : nullptr),
        at(nest.loops.size(), 0),
        windows(nest.coordinates.size(), 0) {}

  template <class Index>
  void loops(int loop, int64_t data, int64_t index, int64_t grid) {
    if (loop == nest.loops.size()) {
      step<Index>(data, index, grid);
      return;
    }
    const Loop& l = nest.loops[loop];
    for (int64_t p = 0; p < l.extent; ++p) {
      at[loop] = p;
      if (l.window != 0) {
        windows[static_cast<int>(l.window) - 1] = p;
      }
      loops<Index>(loop + 1, data + p * l.data, index + p * l.index, grid + p * l.output);
    }
  }

  template <class Index>
  void step(int64_t data, int64_t index, int64_t grid) {
    Json reads = Json::array();
    Json entries = Json::array();
    bool outside = false;
    for (int c = 0; c < nest.coordinates.size(); ++c) {
      const Coordinate& coordinate = nest.coordinates[c];
      const int64_t element = index + coordinate.offset;
      const int64_t entry = entry_of(load_index<Index>(call.indices.data(), element), c);
      reads.push_back(element);
      entries.push_back(entry == kOutside ? Json() : Json(entry));
      outside = outside || entry == kOutside;
      data += entry * coordinate.stride;
    }
    Json json = {{"p", std::vector<int64_t>(at.begin(), at.end())},
                 {"reads", std::move(reads)},
                 {"entries", std::move(entries)},
                 {"grid", grid / element_bytes},
                 {"count", nest.row_bytes / element_bytes},
                 {"data", outside ? Json() : Json(data / element_bytes)}};
    if (nest.scatters && !outside) {
      json["after"] = reduce_cells(data, grid);
    }
    steps.push_back(std::move(json));
  }

  template <class Index>
  int64_t entry_of(Index value, int c) const {
    const int64_t extent = nest.coordinates[c].extent;
    return windows[c] != 0 ? in_range_or_outside(value, windows[c], extent, nest.negative)
                           : resolve(value, extent, nest.negative, nest.out_of_range);
  }

  // Applies one row of updates; the cells' values afterwards.
  Json reduce_cells(int64_t data, int64_t grid) {
    reduce(cells.data() + data, call.updates.data() + grid, nest.row_bytes);
    Json texts = Json::array();
    for (int64_t byte = 0; byte < nest.row_bytes; byte += element_bytes) {
      texts.push_back(pictures::element_text(call.plan.data().dtype, cells.data() + data + byte));
    }
    return texts;
  }
};

// Where a scatter starts: data or zeros, and the neutral element in the cells that get an update if
// the old value does not count.
Literal start_of(const Call& call) {
  const Request& r = call.plan.request();
  Literal cells = call.data;
  if (r.onto_zeros) {
    std::memset(cells.data(), 0, cells.size());
  }
  if (!r.include_self && r.reduction != Reduction::kNone) {
    const auto bytes = static_cast<size_t>(r.data.dtype.bytes());
    for (const ElementSource& target : element_map(call.plan, {call.indices.data(), r.indices})) {
      if (target.data != kSkipped) {
        neutral_element(r.data.dtype, r.reduction,
                        cells.data() + static_cast<size_t>(target.data) * bytes);
      }
    }
  }
  return cells;
}

Json texts_of(const Literal& cells, DType type) {
  Json texts = Json::array();
  for (size_t at = 0; at < cells.size(); at += static_cast<size_t>(type.bytes())) {
    texts.push_back(pictures::element_text(type, cells.data() + at));
  }
  return texts;
}

}  // namespace

Json steps_json(const Call& call) {
  const Nest& nest = call.plan.nest();
  if (nest.empty() || point_count(nest) > kMostSteps) {
    return {{"points", nest.empty() ? 0 : point_count(nest)}, {"list", Json::array()}};
  }
  Walk walk(call);
  Json json = {{"points", point_count(nest)}};
  if (nest.scatters) {
    walk.cells = start_of(call);
    json["start"] = texts_of(walk.cells, call.plan.data().dtype);
  }
  with_index_type(nest.index_type, [&](auto zero) { walk.loops<decltype(zero)>(0, 0, 0, 0); });
  json["list"] = std::move(walk.steps);
  return json;
}

}  // namespace sheaf::web
