// SPDX-License-Identifier: MIT
#include "tables/host_indices.h"

#include <vector>

#include "plan/index_error.h"

namespace sheaf::tables {

HostIndices::HostIndices(const Call& call) {
  const ByteRange range = call.plan.ranges().indices;
  if (call.device == nullptr || call.index_place == IndexPlace::kHost || range.empty()) {
    own_.emplace(call.plan, call.indices);
  } else {
    const DeviceSteps& steps = *call.device->device;
    std::vector<std::byte> copy(static_cast<size_t>(range.hi - range.lo));
    steps.wait(nullptr, call.queue.stream);
    steps.download(copy.data(), static_cast<const std::byte*>(call.indices) + range.lo,
                   copy.size());
    own_.emplace(call.plan, copy.data() - range.lo);
  }
  const OutOfRange rule = plan().nest().out_of_range;
  if (rule == OutOfRange::kFail || rule == OutOfRange::kTrust) {
    throw_first_bad_index(plan(), data());
  }
}

}  // namespace sheaf::tables
