// SPDX-License-Identifier: MIT
#include "plan/index_error.h"

#include <string>
#include <utility>

#include "plan/lower.h"
#include "plan/refuse.h"
#include "plan/resolve.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Steps `position` to the next in row-major order; false after the last.
bool step(Dims& position, const Dims& sizes) {
  for (int d = sizes.size() - 1; d >= 0; --d) {
    if (++position[d] < sizes[d]) {
      return true;
    }
    position[d] = 0;
  }
  return false;
}

template <class Index>
BadIndex find_bad(const Plan& plan, const std::byte* indices) {
  const TensorSpec& spec = plan.indices();
  const int tuple = tuple_dim(plan.request());
  BadIndex bad;
  if (element_count(spec.sizes) == 0) {
    return bad;
  }
  // An index that is repeated along a dimension with stride 0 is looked at once. Its first place is
  // the one at 0, so the first bad index is the same. The components of a tuple are different
  // questions even if they are one number.
  Dims visited = spec.sizes;
  int64_t repeats = 1;
  for (int d = 0; d < spec.rank(); ++d) {
    if (spec.strides[d] == 0 && d != tuple) {
      visited[d] = 1;
      repeats *= spec.sizes[d];
    }
  }
  Dims position(spec.rank(), 0);
  do {
    int64_t element = 0;
    for (int d = 0; d < spec.rank(); ++d) {
      element += position[d] * (spec.sizes[d] > 1 ? spec.strides[d] : 0);
    }
    const int component = tuple < 0 ? 0 : static_cast<int>(position[tuple]);
    const auto value = load_index<Index>(indices, element);
    const Nest& nest = plan.nest();
    if (in_range_or_outside(value, nest.coordinates[component].extent, nest.negative) == kOutside) {
      if (bad.count == 0) {
        bad.position = position;
        bad.value = std::to_string(value);
        bad.component = component;
      }
      bad.count += repeats;
    }
  } while (step(position, visited));
  return bad;
}

std::string allowed(int64_t extent, const Request& r) {
  const bool from_end =
      r.rule.negative == Negative::kFromEnd && r.indices.dtype.is_signed_integer();
  return cat(from_end ? -extent : 0, "..", extent - 1);
}

std::string bad_index_text(const Plan& plan, const BadIndex& bad) {
  const Request& r = plan.request();
  const int axis = coordinate_axis(r, bad.component);
  const int64_t window = coordinate_window(r, bad.component);
  const int64_t extent = plan.nest().coordinates[bad.component].extent;
  std::string text = cat("indices", bracketed(bad.position), " = ", bad.value, ", but ");
  text += window == 1 ? cat("axis ", axis, " of data has ", counted(extent, "entry", "entries"))
                      : cat("a window of ", window, " on axis ", axis, " of data (",
                            r.data.sizes[axis], " entries) has ", extent, " places to start");
  return cat(text, " (allowed ", allowed(extent, r), "); ", bad.count, " of ",
             counted(element_count(r.indices.sizes), "index is", "indices are"), " out of range");
}

// "={0,0,7}": `value` at place `at` of `count`, beside entries that exist.
std::string values_with(int64_t count, int64_t at, const std::string& value) {
  std::string text = "={";
  for (int64_t e = 0; e < count; ++e) {
    text += cat(e == 0 ? "" : ",", e == at ? value : "0");
  }
  return text + "}";
}

// The command that draws the call with the first bad index in it. The other indices are not known
// here (a device reports the first alone), and of many the picture shows a call with one tuple.
std::string bad_index_picture(const Request& r, const BadIndex& bad) {
  constexpr int64_t kMostValues = 16;
  const int64_t count = element_count(r.indices.sizes);
  if (count <= kMostValues) {
    int64_t at = 0;
    for (int d = 0; d < r.indices.rank(); ++d) {
      at = at * r.indices.sizes[d] + bad.position[d];
    }
    return explain_command(r, values_with(count, at, bad.value));
  }
  if (r.xla || r.batch_dims != 0) {
    return explain_command(r);  // indices have sizes of data
  }
  Request one = r;
  const int tuple = tuple_dim(r);
  const bool element_each = r.op == Op::kGatherElements || r.op == Op::kScatterElements;
  one.indices.sizes = element_each ? Dims(r.indices.rank(), 1) : Dims{1};
  if (tuple >= 0) {
    one.indices.sizes.push_back(r.indices.sizes[tuple]);
  }
  one.updates_given = false;
  return explain_command(
      one, values_with(tuple < 0 ? 1 : r.indices.sizes[tuple], bad.component, bad.value));
}

}  // namespace

void throw_bad_index(const Plan& plan, const BadIndex& bad) {
  const Request& r = plan.request();
  Refusal refusal = refusal_of(r, {Reason::kIndex, "indices", bad.component, bad.position},
                               "index out of range", bad_index_text(plan, bad),
                               std::string(is_scatter(r.op) ? kScatterAdvice : kGatherAdvice));
  refusal.code = ErrorCode::kIndexOutOfRange;
  refusal.picture = bad_index_picture(r, bad);
  throw IndexError(std::move(refusal), bad.position, bad.count);
}

void throw_first_bad_index(const Plan& plan, const void* indices) {
  const BadIndex bad = with_index_type(plan.indices().dtype, [&](auto zero) {
    return find_bad<decltype(zero)>(plan, static_cast<const std::byte*>(indices));
  });
  if (bad.count != 0) {
    throw_bad_index(plan, bad);
  }
}

void refuse_empty_axis(const Request& r, const Nest& nest) {
  const int64_t count = element_count(r.indices.sizes);
  if (count == 0) {
    return;
  }
  for (int c = 0; c < nest.coordinates.size(); ++c) {
    if (nest.coordinates[c].extent <= 0 && r.rule.out_of_range != OutOfRange::kSkip) {
      Refusal refusal =
          refusal_of(r, {Reason::kIndex, "data", coordinate_axis(r, c)}, "index into an empty axis",
                     cat("axis ", coordinate_axis(r, c), " of data has no entries, but there ",
                         counted(count, "index is", "indices are"), " given"),
                     "no indices, or data with entries on this axis");
      refusal.code = ErrorCode::kIndexOutOfRange;
      throw IndexError(std::move(refusal), Dims(r.indices.rank(), 0), count);
    }
  }
}

}  // namespace sheaf
