// SPDX-License-Identifier: MIT
//
// Segments into offsets of the run's own.
#include <algorithm>

#include "backends/vulkan/bag/bag.h"
#include "backends/vulkan/tuning.h"

namespace sheaf::vulkan {
namespace {

// What a dispatch of shaders/segments.comp does.
enum class SegmentStep : uint8_t { kOffsets, kLengthSums, kLengths, kIds, kBegins, kJudge };

constexpr int64_t kStateBytes = 768;
constexpr int64_t kCarriedBytes = 32;  // of an element: a sum and a count

int64_t rounded_part(int64_t bytes) { return (bytes + 255) / 256 * 256; }

// One item or more; none are one dispatch too, which notes that nothing is wrong.
void dispatch_items(Recording& recording, Address call, int64_t items,
                    std::initializer_list<SegmentStep> steps) {
  Push push{};
  push.call = call;
  for (int64_t first = 0; first == 0 || first < items; first += tuning::most_segments) {
    const int64_t count = std::min(tuning::most_segments, items - first);
    push.first_row = first;
    push.count = static_cast<uint32_t>(count);
    push.shift = static_cast<uint32_t>(first / tuning::most_segments % 2);
    push.last = first + count == items ? 1 : 0;
    for (const SegmentStep step : steps) {
      push.columns = static_cast<uint32_t>(step);
      recording.dispatch(pipeline_of(recording.device(), Shader::segments), push, kSegmentParts);
    }
  }
}

}  // namespace

BagWorkspace::BagWorkspace(const BagNest& nest) {
  if (nest.per_bag < 0) {
    offsets = rounded_part(kStateBytes);
    bytes = offsets + rounded_part((nest.bags + 1) * int64_t{sizeof(int64_t)});
  }
  carried = bytes;
  const int64_t longest = nest.per_bag < 0 ? nest.entries : nest.per_bag;
  if (nest.has_output() &&
      longest > std::min(tuning::most_in_order, tuning::kEntriesOfShortLoops)) {
    bytes += rounded_part(nest.elements * 2 * kCarriedBytes);
  }
}

void dispatch_segments(Recording& recording, const BagNest& nest, Address call) {
  switch (nest.form) {
    case SegmentForm::kOffsets:
      dispatch_items(recording, call, nest.bags + 1, {SegmentStep::kOffsets});
      break;
    case SegmentForm::kLengths:
      dispatch_items(recording, call, nest.bags, {SegmentStep::kLengthSums, SegmentStep::kLengths});
      break;
    case SegmentForm::kIds:
      dispatch_items(recording, call, nest.segments, {SegmentStep::kIds});
      dispatch_items(recording, call, nest.bags + 1, {SegmentStep::kBegins});
      break;
  }
  Push push{};
  push.call = call;
  push.columns = static_cast<uint32_t>(SegmentStep::kJudge);
  recording.dispatch(pipeline_of(recording.device(), Shader::segments), push, 1);
}

SegmentFaults read_faults(const SegmentFaults* faults, void* stream) {
  const Verdict verdict =
      recorder_of(stream).read_verdict(reinterpret_cast<const Verdict*>(faults));
  SegmentFaults found{};
  found.not_first[0] = verdict.not_first;
  found.value[0] = static_cast<int64_t>(verdict.value);
  return found;
}

}  // namespace sheaf::vulkan
