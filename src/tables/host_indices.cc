// SPDX-License-Identifier: MIT
#include "tables/host_indices.h"

#include "execution/launch.h"
#include "execution/registry.h"
#include "io/own_indices.h"
#include "plan/index_error.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

int64_t bytes_of(const TensorSpec& spec) { return element_count(spec.sizes) * spec.dtype.bytes(); }

}  // namespace

// Who is to blame is looked for only if there is somebody.
void check_on_host(const Plan& plan, const std::byte* indices, int threads) {
  const Launch launch = host_launch({.threads = threads});
  for (const Backend* const backend : host_backends()) {
    if (backend->check != nullptr) {
      const bool good = backend->check(plan, indices, launch);
      throw_if_cancelled(launch.cancel, plan.request());
      if (good) {
        return;
      }
      break;
    }
  }
  throw_first_bad_index(plan, indices);
}

HostIndices::HostIndices(const Call& call, Lane& lane)
    : plan_(io::with_indices(call.plan, io::packed_like(call.plan.indices()))) {
  const ByteRange range = call.plan.ranges().indices;
  const bool travels = call.device != nullptr && call.index_place == IndexPlace::kQueue;
  const auto* from = static_cast<const std::byte*>(call.indices);
  if (range.empty()) {
    return;
  }
  if (travels) {
    from = lane.download(lane.indices, from + range.lo, range.hi - range.lo) - range.lo;
  }
  const TensorSpec distinct = io::distinct_elements(call.plan.indices());
  if (travels && distinct == TensorSpec(distinct.dtype, distinct.sizes)) {
    data_ = from;
  } else {
    std::byte* const copy = lane.packed_indices.get(bytes_of(distinct));
    io::copy_plan(distinct).run(from, nullptr, copy);
    data_ = copy;
  }
  const OutOfRange rule = plan_.nest().out_of_range;
  if (rule == OutOfRange::kFail || rule == OutOfRange::kTrust) {
    check_on_host(plan_, data_, call.table.state().options.threads);
  }
}

}  // namespace sheaf::tables
