// SPDX-License-Identifier: MIT
#include "backends/vulkan/commands.h"

#include <cstring>
#include <utility>

#include "backends/vulkan/steps/steps.h"
#include "backends/vulkan/tuning.h"
#include "sheaf/error.h"

namespace sheaf::vulkan {

CommandRecorder::~CommandRecorder() {
  for (const Buffer& chunk : chunks_) {
    free_buffer(device_, chunk);
  }
}

void CommandRecorder::make_room(size_t bytes) {
  if (chunks_.empty() || used_ + bytes > size_t{tuning::kArgumentBytes}) {
    chunks_.reserve(chunks_.size() + 1);
    chunks_.push_back(make_buffer(device_, tuning::kArgumentBytes, true));
    used_ = 0;
  }
}

VkCommandBuffer CommandRecorder::begin_step() {
  make_room(tuning::kArgumentsOfOneStep);
  return commands_;
}

Recorder::Room CommandRecorder::take(size_t bytes) {
  const Buffer& chunk = chunks_.back();
  const size_t at = used_;
  used_ += (bytes + 15) / 16 * 16;
  return {chunk.mapped + at, chunk.address + at};
}

void CommandRecorder::end_run() {
  for (const Verdict* const verdict : std::exchange(noted_, {})) {
    auto found = copies_.find(verdict);
    if (found == copies_.end()) {
      make_room(sizeof(Verdict));
      found = copies_.emplace(verdict, take(sizeof(Verdict))).first;
    }
    copy_verdict(verdict, found->second.address, *this);
  }
  order_after_all(device_.api, commands_, ForHost::kYes);
}

Verdict CommandRecorder::read_verdict(const Verdict* verdict) {
  const auto found = copies_.find(verdict);
  if (found == copies_.end()) {
    throw Error(Refusal{.code = ErrorCode::kInvalidArgument,
                        .cause = {Reason::kMemory},
                        .who = "vulkan",
                        .what = "no verdict to read",
                        .detail = "no run with this workspace was recorded into the command buffer",
                        .next = "the workspace that the run was given"});
  }
  Verdict copy;
  std::memcpy(&copy, found->second.mapped, sizeof copy);
  return copy;
}

}  // namespace sheaf::vulkan
