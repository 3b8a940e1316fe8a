// SPDX-License-Identifier: MIT
#include "execution/entries.h"

#include "plan/index_error.h"
#include "plan/lower.h"
#include "plan/request.h"
#include "plan/resolve.h"

namespace sheaf {
namespace {

// Walks the index tensor in row-major order.
template <class Index>
struct EntryWalk {
  const Plan& plan;
  const std::byte* indices;
  const int tuple;
  int64_t* entries;

  void dims(int d, int64_t element, int component) {
    const TensorSpec& spec = plan.indices();
    if (d == spec.rank()) {
      const Nest& nest = plan.nest();
      *entries++ = resolve(load_index<Index>(indices, element), nest.coordinates[component].extent,
                           nest.negative, nest.out_of_range);
      return;
    }
    for (int64_t p = 0; p < spec.sizes[d]; ++p) {
      dims(d + 1, element + p * used_index_stride(d), d == tuple ? static_cast<int>(p) : component);
    }
  }

  int64_t used_index_stride(int d) const {
    return plan.indices().sizes[d] > 1 ? plan.indices().strides[d] : 0;
  }
};

// Entries are in range, except those that stand for no place.
OutOfRange rule_of_entries(OutOfRange rule) {
  switch (rule) {
    case OutOfRange::kFill: return OutOfRange::kFill;
    case OutOfRange::kSkip: return OutOfRange::kSkip;
    case OutOfRange::kFail:
    case OutOfRange::kClamp:
    case OutOfRange::kWrap:
    case OutOfRange::kTrust: break;
  }
  return OutOfRange::kTrust;
}

}  // namespace

void resolve_entries(const Plan& plan, const void* indices, int64_t* entries) {
  if (element_count(plan.indices().sizes) == 0) {
    return;
  }
  if (plan.nest().out_of_range == OutOfRange::kFail) {
    throw_first_bad_index(plan, indices);
  }
  with_index_type(plan.indices().dtype, [&](auto zero) {
    EntryWalk<decltype(zero)>{plan, static_cast<const std::byte*>(indices),
                              tuple_dim(plan.request()), entries}
        .dims(0, 0, 0);
  });
}

Plan entry_plan(const Plan& plan, int64_t axis_entries) {
  Request request = plan.request();
  request.indices = TensorSpec(i64, request.indices.sizes);
  request.rule.negative = Negative::kOutOfRange;
  request.rule.out_of_range = rule_of_entries(request.rule.out_of_range);
  if (!plan.nest().coordinates.empty()) {
    const int axis = coordinate_axis(request, 0);
    request.data.sizes[axis] = axis_entries;
    if (is_scatter(request.op)) {
      request.output.sizes[axis] = axis_entries;
    }
  }
  return make_plan(request);
}

}  // namespace sheaf
