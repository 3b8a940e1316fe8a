// SPDX-License-Identifier: MIT
//
// Which element goes where, read off the nest before it is normalised.
#include <exception>

#include "plan/index_error.h"
#include "plan/lower.h"
#include "plan/refuse.h"
#include "plan/resolve.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf {
namespace {

// The request with every tensor packed and one byte an element: its nest counts elements.
Request packed(const Request& request) {
  Request flat = request;
  flat.data = TensorSpec(u8, request.data.sizes);
  flat.output = TensorSpec(u8, request.output.sizes);
  flat.updates = TensorSpec(u8, request.updates.sizes);
  flat.reduction = Reduction::kNone;
  flat.indices = TensorSpec(request.indices.dtype, request.indices.sizes);
  flat.rule.fill_value = {};
  return flat;
}

struct Walk {
  const Nest& real;  // strides of the index memory
  const Nest& flat;  // element numbers
  const std::byte* indices;
  std::vector<ElementSource>& map;
  Dims& windows;  // for each coordinate: how far the loop over its window has come
};

// The entry that coordinate `c` names, or kOutside.
template <class Index>
int64_t entry(const Walk& walk, int c, int64_t real_index) {
  const int64_t extent = walk.flat.coordinates[c].extent;
  const auto value = load_index<Index>(walk.indices, real_index + walk.real.coordinates[c].offset);
  if (walk.windows[c] != 0) {
    return in_range_or_outside(value, walk.windows[c], extent, walk.flat.negative);
  }
  return resolve(value, extent, walk.flat.negative, walk.flat.out_of_range);
}

template <class Index>
ElementSource source_at(const Walk& walk, int64_t real_index, int64_t flat_index, int64_t data) {
  for (int c = 0; c < walk.flat.coordinates.size(); ++c) {
    const int64_t at = entry<Index>(walk, c, real_index);
    if (at == kOutside) {
      return {kFilled, flat_index};
    }
    data += at * walk.flat.coordinates[c].stride;
  }
  return {data, walk.flat.coordinates.empty() ? kNoIndex : flat_index};
}

template <class Index>
void visit(const Walk& walk, int loop, int64_t real_index, int64_t flat_index, int64_t data) {
  if (loop == walk.flat.loops.size()) {
    walk.map.push_back(source_at<Index>(walk, real_index, flat_index, data));
    return;
  }
  const Loop& real = walk.real.loops[loop];
  const Loop& flat = walk.flat.loops[loop];
  for (int64_t p = 0; p < flat.extent; ++p) {
    if (flat.window != 0) {
      walk.windows[static_cast<int>(flat.window) - 1] = p;
    }
    visit<Index>(walk, loop + 1, real_index + p * real.index, flat_index + p * flat.index,
                 data + p * flat.data);
  }
}

std::vector<ElementSource> room_for_all(const Request& r) {
  const int64_t count = element_count(r.grid().sizes);
  std::vector<ElementSource> map;
  try {
    map.reserve(static_cast<size_t>(count));
  } catch (const std::exception&) {  // bad_alloc or length_error
    refuse_as(ErrorCode::kOutOfMemory, r, {Reason::kMemory}, "out of memory",
              cat("the map of ", count, is_scatter(r.op) ? " updates" : " output elements",
                  " does not fit into memory"),
              "a smaller problem of the same kind");
  }
  return map;
}

}  // namespace

std::vector<ElementSource> element_map(const Plan& plan, const ConstTensor& indices) {
  const Request& r = plan.request();
  if (indices.spec != r.indices) {
    refuse(r, {Reason::kPlan, "indices"}, "indices differ from the plan's",
           cat("got ", indices.spec.str(), ", planned for ", r.indices.str()),
           "the indices the plan was made for");
  }
  if (indices.data == nullptr && element_count(r.indices.sizes) > 0) {
    refuse(r, {Reason::kNull, "indices"}, "null pointer",
           "indices has elements, but its pointer is null", "pass the tensor's memory");
  }
  std::vector<ElementSource> map = room_for_all(r);
  if (r.rule.out_of_range == OutOfRange::kFail || r.rule.out_of_range == OutOfRange::kTrust) {
    throw_first_bad_index(plan, indices.data);
  }
  if (element_count(r.grid().sizes) == 0) {
    return map;  // an inner loop is empty, but the walk would still go round the outer ones
  }
  const Nest real = lower(r);
  const Nest flat = lower(packed(r));
  Dims windows(flat.coordinates.size(), 0);
  with_index_type(r.indices.dtype, [&](auto zero) {
    visit<decltype(zero)>({real, flat, static_cast<const std::byte*>(indices.data), map, windows},
                          0, 0, 0, 0);
  });
  return map;
}

}  // namespace sheaf
