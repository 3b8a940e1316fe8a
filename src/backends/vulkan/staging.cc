// SPDX-License-Identifier: MIT
#include "backends/vulkan/staging.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "backends/vulkan/memory.h"
#include "sheaf/error.h"

namespace sheaf::vulkan {
namespace {

// All that allocate_pinned() returned, by address.
struct PinnedMemory {
  std::mutex mutex;
  std::map<const std::byte*, Buffer, std::less<>> buffers;
};

PinnedMemory& pinned_memory() {
  static auto& all = *new PinnedMemory;
  return all;
}

void* allocate_pinned(size_t bytes) {
  try {
    const Buffer buffer = make_buffer(own_device(), bytes, true);
    PinnedMemory& all = pinned_memory();
    const std::lock_guard lock(all.mutex);
    all.buffers.emplace(buffer.mapped, buffer);
    return buffer.mapped;
  } catch (const Error&) {  // pageable memory does as well
    return nullptr;
  }
}

void release_pinned(void* memory) {
  PinnedMemory& all = pinned_memory();
  const std::lock_guard lock(all.mutex);
  const auto found = all.buffers.find(static_cast<const std::byte*>(memory));
  if (found != all.buffers.end()) {
    free_buffer(own_device(), found->second);
    all.buffers.erase(found);
  }
}

std::optional<Range> pinned_range(const void* memory, size_t bytes) {
  PinnedMemory& all = pinned_memory();
  const auto* const at = static_cast<const std::byte*>(memory);
  const std::lock_guard lock(all.mutex);
  const auto behind = all.buffers.upper_bound(at);
  if (behind == all.buffers.begin()) {
    return std::nullopt;
  }
  const auto& [start, buffer] = *std::prev(behind);
  const auto offset = static_cast<uint64_t>(at - start);
  return offset <= buffer.bytes && bytes <= buffer.bytes - offset
             ? std::optional<Range>({buffer, offset})
             : std::nullopt;
}

void copy_pinned(void* to, const void* from, size_t bytes, void* stream) {
  if (bytes == 0) {
    return;
  }
  Recorder& recorder = recorder_of(stream);
  if (&recorder.device() != &own_device()) {
    throw_outside_memory();
  }
  const std::optional<Range> here = pinned_range(from, bytes);
  const std::optional<Range> back = here ? std::nullopt : pinned_range(to, bytes);
  if (!here && !back) {
    throw_outside_memory();
  }
  const Range source = here ? *here : range_at(from, bytes);
  const Range target = here ? range_at(to, bytes) : *back;
  Recording(recorder).copy(source.buffer, source.offset, target.buffer, target.offset, bytes);
}

// Streams that end in a command buffer of the caller have no marks.
BatchRecorder* batches_of(void* stream) {
  return dynamic_cast<BatchRecorder*>(&recorder_of(stream));
}

void record_mark(void* event, void* stream) {
  if (BatchRecorder* const batches = batches_of(stream)) {
    *static_cast<BatchRecorder::Mark*>(event) = batches->mark();
  }
}

}  // namespace

const StagingSteps kStagingSteps{
    .allocate = allocate_pinned,
    .release = release_pinned,
    .lock = nullptr,
    .unlock = nullptr,
    .seen_by_device = [](const void* /*memory*/) -> const void* { return nullptr; },
    .copy = copy_pinned,
    .make_event = []() -> void* { return new BatchRecorder::Mark; },
    .free_event = [](void* event) { delete static_cast<BatchRecorder::Mark*>(event); },
    .record = record_mark,
    .wait = [](void* event) { BatchRecorder::wait(*static_cast<BatchRecorder::Mark*>(event)); },
    .make_stream = nullptr,
    .free_stream = nullptr,
    .follow = nullptr,
    .use = [](int number) { return number; },
    .capturing = [](void* stream) { return batches_of(stream) == nullptr; },
    .move_rows = nullptr,
    .cache = nullptr,
};

}  // namespace sheaf::vulkan
