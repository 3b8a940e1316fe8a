// SPDX-License-Identifier: MIT
//
// The check of all indices: counts the bad ones, finds the first in row-major order and keeps its
// value.
#include <algorithm>

#include "backends/vulkan/dispatch.h"
#include "backends/vulkan/gather/gather.h"
#include "backends/vulkan/steps/steps.h"
#include "plan/index_order.h"

namespace sheaf::vulkan {
namespace {

void dispatch_check(const Plan& plan, const std::byte* indices, const Launch& launch,
                    uint32_t flags) {
  const IndexOrder order = index_order(plan);
  if (order.count == 0) {
    return;
  }
  ShaderCall call{};
  call.verdict = address_of(launch.verdict);
  call.indices = address_of(indices);
  call.inner = order.inner;
  call.components = order.components;
  call.repeats = order.repeats;
  call.flags = flags;
  Recording recording(recorder_of(launch.stream));
  call.nest = recording.put(shader_nest(order.nest));
  Push push{};
  push.call = recording.put(call);
  for (int64_t first = 0; first < order.count; first += tuning::most_pieces) {
    const int64_t count = std::min(tuning::most_pieces, order.count - first);
    push.first_row = first;
    push.count = static_cast<uint32_t>(count);
    push.last = first + count == order.count ? 1 : 0;
    recording.dispatch(pipeline_of(recording.device(), Shader::check), push,
                       groups_of(count, tuning::kInFlight));
    recording.dispatch(pipeline_of(recording.device(), Shader::verdict), push, 1);
  }
}

}  // namespace

bool check(const Plan& plan, const std::byte* indices, const Launch& launch) {
  zero(launch.verdict, sizeof(Verdict), launch.stream);
  dispatch_check(plan, indices, launch, 0);
  recorder_of(launch.stream).note_verdict(launch.verdict);
  return true;
}

void complete_verdict(const Plan& plan, const std::byte* indices, const Launch& launch) {
  dispatch_check(plan, indices, launch, kOnlyIfMet);
  recorder_of(launch.stream).note_verdict(launch.verdict);
}

void submit(void* stream) { recorder_of(stream).end_run(); }

Verdict wait(const Verdict* verdict, void* stream) {
  Recorder& recorder = recorder_of(stream);
  recorder.device().pipelines().save();  // while the device works
  if (verdict != nullptr) {
    return recorder.read_verdict(verdict);
  }
  recorder.wait();
  return {};
}

void copy_verdict(const Verdict* verdict, Address to, Recorder& recorder) {
  Nest row;
  row.row_bytes = sizeof *verdict;
  row.element_bytes = 1;
  Launch launch;
  launch.stream = &recorder;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the device
  auto* const output = reinterpret_cast<std::byte*>(to);
  copy(row, reinterpret_cast<const std::byte*>(verdict), output, launch);
}

}  // namespace sheaf::vulkan
