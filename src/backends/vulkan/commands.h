// SPDX-License-Identifier: MIT
//
// Steps are recorded into a command buffer of the caller, who may submit it any number of times.
// Arguments, and a copy of each run's verdict for the host, stay as long as this object.
#pragma once

#include <map>
#include <vector>

#include "backends/vulkan/recorder.h"

namespace sheaf::vulkan {

class CommandRecorder : public Recorder {
 public:
  CommandRecorder(OpenDevice& device, VkCommandBuffer commands)
      : Recorder(device), commands_(commands) {}
  ~CommandRecorder() override;

  void note_verdict(const Verdict* verdict) override { noted_.push_back(verdict); }
  void end_run() override;
  void wait() override {}  // that is the caller's business
  Verdict read_verdict(const Verdict* verdict) override;

 private:
  VkCommandBuffer begin_step() override;
  Room take(size_t bytes) override;
  void make_room(size_t bytes);

  VkCommandBuffer commands_;
  std::vector<Buffer> chunks_;             // of tuning::kArgumentBytes
  size_t used_ = 0;                        // of the last one
  std::vector<const Verdict*> noted_;      // of the run that is recorded
  std::map<const Verdict*, Room> copies_;  // by the verdicts' addresses
};

}  // namespace sheaf::vulkan
