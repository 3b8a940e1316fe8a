// SPDX-License-Identifier: MIT
#include "backends/vulkan/batches.h"

#include <cstring>
#include <map>

#include "backends/vulkan/steps/steps.h"

namespace sheaf::vulkan {
namespace {

VkCommandPool make_pool(const OpenDevice& device) {
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = device.queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  check_result(device.api.CreateCommandPool(device.device, &info, nullptr, &pool),
               "making a command pool");
  return pool;
}

VkSemaphore make_timeline(const OpenDevice& device) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  check_result(device.api.CreateSemaphore(device.device, &info, nullptr, &semaphore),
               "making a semaphore");
  return semaphore;
}

// Recorders by their numbers, for marks that outlive them.
struct LiveRecorders {
  std::mutex mutex;
  std::map<uint64_t, const BatchRecorder*> all;
  uint64_t last = 0;
};

LiveRecorders& live_recorders() {
  static auto& recorders = *new LiveRecorders;
  return recorders;
}

}  // namespace

BatchRecorder::BatchRecorder(OpenDevice& device) : Recorder(device) {
  try {
    make_batches();
    LiveRecorders& live = live_recorders();
    const std::lock_guard lock(live.mutex);
    number_ = ++live.last;
    live.all.emplace(number_, this);
  } catch (...) {
    release();
    throw;
  }
}

BatchRecorder::Mark BatchRecorder::mark() {
  const std::lock_guard lock(mutex_);
  close_batch();
  return {number_, submitted_};
}

void BatchRecorder::wait(const Mark& mark) {
  const BatchRecorder* recorder = nullptr;
  {
    LiveRecorders& live = live_recorders();
    const std::lock_guard lock(live.mutex);
    const auto found = live.all.find(mark.recorder);
    recorder = found == live.all.end() ? nullptr : found->second;
  }
  if (recorder != nullptr) {
    recorder->wait_until(mark.value);
  }
}

void BatchRecorder::make_batches() {
  semaphore_ = make_timeline(device_);
  pool_ = make_pool(device_);
  arguments_ = make_buffer(device_, tuning::kArgumentBytes * tuning::kBatches, true);
  readback_ = make_buffer(device_, sizeof(Verdict), true);
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  for (Batch& batch : batches_) {
    check_result(device_.api.AllocateCommandBuffers(device_.device, &info, &batch.commands),
                 "making a command buffer");
  }
}

BatchRecorder::~BatchRecorder() {
  {
    const std::lock_guard lock(live_recorders().mutex);
    live_recorders().all.erase(number_);
  }
  try {
    wait_until(submitted_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): of a lost device nothing runs any more
  }
  release();
}

void BatchRecorder::release() {
  free_buffer(device_, readback_);
  free_buffer(device_, arguments_);
  device_.api.DestroyCommandPool(device_.device, pool_, nullptr);  // and its command buffers
  device_.api.DestroySemaphore(device_.device, semaphore_, nullptr);
}

void BatchRecorder::wait_until(uint64_t value) const {
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &value;
  check_result(device_.api.WaitSemaphores(device_.device, &info, UINT64_MAX),
               "waiting for the device");
}

// Waits only if the device is kBatches behind.
void BatchRecorder::open_batch() {
  const Batch& batch = batches_.at(current_);
  wait_until(batch.done);
  check_result(device_.api.ResetCommandBuffer(batch.commands, 0), "recording");
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check_result(device_.api.BeginCommandBuffer(batch.commands, &begin), "recording");
  argument_bytes_ = 0;
  open_ = true;
}

void BatchRecorder::close_batch() {
  if (!open_) {
    return;
  }
  Batch& batch = batches_.at(current_);
  order_after_all(device_.api, batch.commands, ForHost::kYes);
  open_ = false;
  current_ = (current_ + 1) % batches_.size();
  check_result(device_.api.EndCommandBuffer(batch.commands), "recording");
  Semaphores own;
  own.add(semaphore_, submitted_ + 1);
  send(&batch.commands, own);
  submitted_ = batch.done = submitted_ + 1;
}

void BatchRecorder::send(const VkCommandBuffer* commands, const Semaphores& signals) {
  const std::vector<VkPipelineStageFlags> stages(
      waits_.handles.size(), VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT);
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.waitSemaphoreValueCount = static_cast<uint32_t>(waits_.values.size());
  timeline.pWaitSemaphoreValues = waits_.values.data();
  timeline.signalSemaphoreValueCount = static_cast<uint32_t>(signals.values.size());
  timeline.pSignalSemaphoreValues = signals.values.data();
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.waitSemaphoreCount = static_cast<uint32_t>(waits_.handles.size());
  info.pWaitSemaphores = waits_.handles.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = commands != nullptr ? 1 : 0;
  info.pCommandBuffers = commands;
  info.signalSemaphoreCount = static_cast<uint32_t>(signals.handles.size());
  info.pSignalSemaphores = signals.handles.data();
  const std::lock_guard lock(device_.queue_mutex);
  check_result(device_.api.QueueSubmit(device_.queue, 1, &info, VK_NULL_HANDLE),
               "sending commands to the device");
  waits_ = {};
}

VkCommandBuffer BatchRecorder::begin_step() {
  if (argument_bytes_ + tuning::kArgumentsOfOneStep > tuning::kArgumentBytes) {
    close_batch();
  }
  if (!open_) {
    open_batch();
  }
  return batches_.at(current_).commands;
}

Recorder::Room BatchRecorder::take(size_t bytes) {
  const size_t at = current_ * size_t{tuning::kArgumentBytes} + argument_bytes_;
  argument_bytes_ += (bytes + 15) / 16 * 16;
  return {arguments_.mapped + at, arguments_.address + at};
}

void BatchRecorder::end_run() {
  const std::lock_guard lock(mutex_);
  close_batch();
}

void BatchRecorder::wait() {
  const std::lock_guard lock(mutex_);
  close_batch();
  wait_until(submitted_);
}

// The verdict may lie in memory of the caller, which is known by address only: a kernel copies it.
Verdict BatchRecorder::read_verdict(const Verdict* verdict) {
  const std::lock_guard lock(readback_mutex_);
  copy_verdict(verdict, readback_.address, *this);
  wait();
  Verdict found;
  std::memcpy(&found, readback_.mapped, sizeof found);
  return found;
}

void BatchRecorder::wait_for(VkSemaphore semaphore, uint64_t value) {
  const std::lock_guard lock(mutex_);
  close_batch();
  waits_.add(semaphore, value);
}

void BatchRecorder::signal(VkSemaphore semaphore, uint64_t value) {
  const std::lock_guard lock(mutex_);
  close_batch();
  Semaphores asked;
  asked.add(semaphore, value);
  send(nullptr, asked);
}

}  // namespace sheaf::vulkan
