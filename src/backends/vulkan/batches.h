// SPDX-License-Identifier: MIT
//
// Steps are recorded into a batch, a command buffer with memory for their arguments, and sent to
// the device together: at the end of a run, or when the batch is full.
#pragma once

#include <array>
#include <vector>

#include "backends/vulkan/recorder.h"
#include "backends/vulkan/tuning.h"

namespace sheaf::vulkan {

class BatchRecorder : public Recorder {
 public:
  explicit BatchRecorder(OpenDevice& device);
  ~BatchRecorder() override;

  // A place in what was recorded. Of a recorder that is gone, all is done.
  struct Mark {
    uint64_t recorder = 0;  // 0: nothing was marked
    uint64_t value = 0;
  };
  Mark mark();
  static void wait(const Mark& mark);

  void end_run() override;
  void wait() override;
  Verdict read_verdict(const Verdict* verdict) override;

  // Around what is sent: the next batch waits until the semaphore has the value; the semaphore gets
  // the value when all so far is done.
  void wait_for(VkSemaphore semaphore, uint64_t value);
  void signal(VkSemaphore semaphore, uint64_t value);

 private:
  struct Batch {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    uint64_t done = 0;  // the semaphore's value when the device has run it
  };
  struct Semaphores {
    std::vector<VkSemaphore> handles;
    std::vector<uint64_t> values;
    void add(VkSemaphore semaphore, uint64_t value) {
      handles.push_back(semaphore);
      values.push_back(value);
    }
  };

  VkCommandBuffer begin_step() override;
  Room take(size_t bytes) override;

  void make_batches();
  void release();
  void open_batch();
  void close_batch();
  void send(const VkCommandBuffer* commands, const Semaphores& signals);
  void wait_until(uint64_t value) const;

  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;  // a timeline: batches done
  uint64_t submitted_ = 0;
  uint64_t number_ = 0;  // of this recorder among all that there were
  std::array<Batch, tuning::kBatches> batches_;
  size_t current_ = 0;
  bool open_ = false;
  Buffer arguments_;
  size_t argument_bytes_ = 0;  // used of the current batch
  Semaphores waits_;           // of the next batch
  std::mutex readback_mutex_;
  Buffer readback_;  // where a verdict is copied to be read
};

}  // namespace sheaf::vulkan
