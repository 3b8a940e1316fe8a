// SPDX-License-Identifier: MIT
#include "helpers/deferred_device.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "execution/host_steps.h"
#include "execution/registry.h"
#include "helpers/deferred_cache.h"
#include "plan/lower.h"
#include "plan/nest_shape.h"
#include "plan/resolve.h"
#include "sheaf/error.h"

namespace sheaf {
namespace {

using Steps = std::deque<std::function<void()>>;
std::map<void*, Steps>& streams() {
  static std::map<void*, Steps> all;
  return all;
}

// Of the streams; held while steps run, which may wait for others.
std::recursive_mutex& streams_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

void enqueue_on(void* stream, std::function<void()> step) {
  const std::lock_guard lock(streams_mutex());
  streams()[stream].push_back(std::move(step));
}

namespace {

void enqueue(const Launch& launch, std::function<void()> step) {
  enqueue_on(launch.stream, std::move(step));
}

const Backend& reference() { return host_backend("reference"); }

// As a device's check does: counts, and keeps the first in row-major order with its value.
void judge(const Plan& plan, const std::byte* indices, Verdict& verdict) {
  const TensorSpec& spec = plan.indices();
  const int tuple = tuple_dim(plan.request());
  const int64_t count = element_count(spec.sizes);
  verdict = {};
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, element = 0;
    int component = 0;
    for (int d = spec.rank() - 1; d >= 0; --d) {
      const int64_t at = rest % spec.sizes[d];
      rest /= spec.sizes[d];
      element += at * (spec.sizes[d] > 1 ? spec.strides[d] : 0);
      component = d == tuple ? static_cast<int>(at) : component;
    }
    const int64_t value = with_index_type(spec.dtype, [&](auto zero) {
      return static_cast<int64_t>(load_index<decltype(zero)>(indices, element));
    });
    const bool outside = with_index_type(spec.dtype, [&](auto zero) {
      return in_range_or_outside(load_index<decltype(zero)>(indices, element),
                                 plan.nest().coordinates[component].extent,
                                 plan.nest().negative) == kOutside;
    });
    if (outside && verdict.bad++ == 0) {
      verdict.not_first = ~static_cast<unsigned long long>(number);
      verdict.value = static_cast<unsigned long long>(value);
    }
  }
}

bool refused(const Launch& launch) { return launch.verdict != nullptr && launch.verdict->bad != 0; }

bool check(const Plan& plan, const std::byte* indices, const Launch& launch) {
  enqueue(launch, [plan, indices, launch] { judge(plan, indices, *launch.verdict); });
  return true;
}

const char* accepts_everything(const KernelQuery& /*query*/) { return nullptr; }
const char* wants_aligned_rows(const KernelQuery& query) {
  return query.addresses % 16 == 0 ? nullptr : "rows are not aligned to 16 bytes";
}
const char* takes_one_launch(const KernelQuery& query) {
  constexpr int64_t kMostPoints = (int64_t{1} << 31) - 1;
  return point_count(query.nest) <= kMostPoints ? nullptr : "more points than one launch can have";
}
size_t some_bytes(const Nest& nest, int /*threads*/) { return static_cast<size_t>(nest.row_bytes); }

bool gather(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  enqueue(launch, [nest, buffers, launch, plan = *launch.plan] {
    if (launch.check_while_moving) {
      launch.verdict->met = reference().check(plan, buffers.indices, {}) ? 0 : 1;
    }
    if (!refused(launch)) {
      reference().gather.front().run(nest, buffers, launch);
    }
  });
  return true;
}

// Uses all of its workspace.
bool gather_aligned(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  enqueue(launch, [nest, launch] { std::memset(launch.workspace, 0xAB, some_bytes(nest, 0)); });
  return gather(nest, buffers, launch);
}

bool scatter(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  enqueue(launch, [nest, buffers, launch] {
    if (!refused(launch)) {
      reference().scatter.front().run(nest, buffers, launch);
    }
  });
  return true;
}

void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch) {
  enqueue(launch, [=] {
    if (!refused(launch)) {
      reference().copy(nest, data, output, launch);
    }
  });
}

void fill(const Backend& /*self*/, const Nest& nest, const std::byte* element,
          const ScatterBuffers& buffers, const Launch& launch) {
  std::vector<std::byte> kept(element, element + nest.element_bytes);
  enqueue(launch, [=] {
    if (!refused(launch)) {
      reference().fill(reference(), nest, kept.data(), buffers, launch);
    }
  });
}

void count(const Backend& /*self*/, const Nest& nest, const ScatterBuffers& buffers,
           const Launch& launch) {
  enqueue(launch, [=] {
    if (!refused(launch)) {
      reference().count(reference(), nest, buffers, launch);
    }
  });
}

void divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums, int64_t self,
            const Launch& launch) {
  enqueue(launch, [=] {
    if (!refused(launch)) {
      reference().divide(nest, type, counts, sums, self, launch);
    }
  });
}

void convert(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
             const Launch& launch) {
  enqueue(launch, [=] {
    if (!refused(launch)) {
      host_convert(nest, from, to, data, output, launch);
    }
  });
}

void complete_verdict(const Plan& plan, const std::byte* indices, const Launch& launch) {
  enqueue(launch, [plan, indices, launch] {
    if (launch.verdict->met != 0) {
      judge(plan, indices, *launch.verdict);
      launch.verdict->met = 1;
    }
  });
}

void run_some(int64_t count, void* stream) {
  const std::lock_guard lock(streams_mutex());
  Steps& steps = streams()[stream];
  for (int64_t left = count; left > 0 && !steps.empty(); --left) {
    const auto step = std::move(steps.front());
    steps.pop_front();  // if it throws, those behind it are still there
    step();
  }
}

Verdict wait(const Verdict* verdict, void* stream) {
  const std::lock_guard lock(streams_mutex());
  run_some(std::ssize(streams()[stream]), stream);
  return verdict == nullptr ? Verdict{} : *verdict;
}

std::atomic<int64_t> transferred{0};

void transfer(void* to, const void* from, size_t bytes) {
  transferred += static_cast<int64_t>(bytes);
  std::memcpy(to, from, bytes);
}

// Host memory that this device reads, and how much more there may be.
struct Pinned {
  std::mutex mutex;
  std::map<const std::byte*, size_t> ranges;
  std::atomic<int64_t> left = INT64_MAX;
  std::atomic<bool> capturing = false;
};
Pinned& pinned() {
  static Pinned all;
  return all;
}

// False where there is no memory left to note it.
bool add_pinned(const void* memory, size_t bytes) {
  const std::lock_guard lock(pinned().mutex);
  try {
    pinned().ranges[static_cast<const std::byte*>(memory)] = bytes;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

size_t remove_pinned(const void* memory) {
  const std::lock_guard lock(pinned().mutex);
  const auto found = pinned().ranges.find(static_cast<const std::byte*>(memory));
  const size_t bytes = found->second;
  pinned().ranges.erase(found);
  return bytes;
}

const void* seen_by_device(const void* memory) {
  const std::lock_guard lock(pinned().mutex);
  const auto* const at = static_cast<const std::byte*>(memory);
  const auto behind = pinned().ranges.upper_bound(at);
  if (behind == pinned().ranges.begin()) {
    return nullptr;
  }
  const auto& [start, bytes] = *std::prev(behind);
  return at < start + bytes ? memory : nullptr;
}

// A mark in a stream: `passed` when the stream got there.
struct Event {
  void* stream = nullptr;
  int64_t recorded = 0, passed = 0;
};

void record(void* event, void* stream) {
  const std::lock_guard lock(streams_mutex());
  auto* const mark = static_cast<Event*>(event);
  enqueue_on(stream, [mark, number = mark->recorded + 1] { mark->passed = number; });
  mark->stream = stream;  // only now: nothing waits for a step that there was no memory for
  ++mark->recorded;
}

void wait_for_event(void* event) {
  const std::lock_guard lock(streams_mutex());
  const auto* const mark = static_cast<const Event*>(event);
  while (mark->passed != mark->recorded) {
    run_some(1, mark->stream);
  }
}

// Tests change the last of them.
StagingSteps kStaging{
    .allocate = [](size_t bytes) -> void* {
      if (pinned().left < static_cast<int64_t>(bytes)) {
        return nullptr;
      }
      void* const memory = ::operator new(bytes, std::align_val_t(256), std::nothrow);
      if (memory == nullptr || !add_pinned(memory, bytes)) {
        ::operator delete(memory, std::align_val_t(256));
        return nullptr;
      }
      pinned().left -= static_cast<int64_t>(bytes);
      return memory;
    },
    .release =
        [](void* memory) {
          const auto bytes = static_cast<int64_t>(remove_pinned(memory));
          if (pinned().left < INT64_MAX - bytes) {
            pinned().left += bytes;
          }
          ::operator delete(memory, std::align_val_t(256));
        },
    .lock = [](const void* memory,
               size_t bytes) { return pinned().left > 0 && add_pinned(memory, bytes); },
    .unlock = [](const void* memory) { remove_pinned(memory); },
    .seen_by_device = seen_by_device,
    .copy = [](void* to, const void* from, size_t bytes,
               void* stream) { enqueue_on(stream, [=] { transfer(to, from, bytes); }); },
    .make_event = []() -> void* { return new Event; },
    .free_event = [](void* event) { delete static_cast<Event*>(event); },
    .record = record,
    .wait = wait_for_event,
    .make_stream = []() -> void* { return new char; },
    .free_stream =
        [](void* stream) {
          const std::lock_guard lock(streams_mutex());
          streams().erase(stream);
          delete static_cast<char*>(stream);
        },
    .follow =
        [](void* stream, void* event) {
          const std::lock_guard lock(streams_mutex());
          enqueue_on(stream, [mark = static_cast<Event*>(event),
                              number = static_cast<Event*>(event)->recorded] {
            while (mark->passed < number) {
              run_some(1, mark->stream);
            }
          });
        },
    .use = [](int number) { return number; },
    .capturing = [](void* /*stream*/) { return pinned().capturing.load(); },
    .move_rows = nullptr,
    .cache = nullptr,
};

constexpr DeviceSteps kDevice{
    .allocate = [](size_t bytes) { return ::operator new(bytes, std::align_val_t(256)); },
    .release = [](void* memory) { ::operator delete(memory, std::align_val_t(256)); },
    .upload = transfer,
    .download = transfer,
    .fill = [](void* memory, std::byte value,
               size_t bytes) { std::memset(memory, static_cast<int>(value), bytes); },
    .free_bytes = [] { return size_t{1} << 30; },
    .zero = [](void* memory, size_t bytes,
               void* stream) { enqueue_on(stream, [=] { std::memset(memory, 0, bytes); }); },
    .prepare = [](void* /*stream*/) {},
    .complete_verdict = complete_verdict,
    .convert = convert,
    .wait = wait,
    .check_launches = [](const char* /*what*/) {},
    .alignment = [](DType type) { return std::min<int64_t>(type.bytes(), kDeferredAlignment); },
    .dlpack_type = kDeferredDlpackType,
    .current = [] { return 0; },
    .staging = &kStaging,
};

constexpr GatherKernel kGather[] = {
    {"deferred.aligned", wants_aligned_rows, gather_aligned, Checks::kWhileMoving, some_bytes},
    {"deferred.loops", accepts_everything, gather, Checks::kWhileMoving},
};
constexpr ScatterKernel kScatter[] = {
    {"deferred.one_launch", takes_one_launch, scatter},
    {"deferred.loops", accepts_everything, scatter},
};

constexpr Backend kBackend{.name = kDeferred,
                           .gather = kGather,
                           .scatter = kScatter,
                           .device = &kDevice,
                           .available = [] { return true; },
                           .describe = [] { return std::string("a device that waits"); },
                           .check = check,
                           .copy = copy,
                           .fill = fill,
                           .count = count,
                           .divide = divide};

const Backend& deferred_backend() { return kBackend; }

// Bags whose segments are offsets as a device's tables make them: int64, with the last.
const char* takes_offsets(const BagNest& nest) {
  const bool offsets = nest.form == SegmentForm::kOffsets && nest.segment_type == i64 &&
                       nest.segment_stride == 1 && nest.segments == nest.bags + 1;
  return nest.per_bag >= 0 || offsets ? nullptr : "segments are no offsets with the last";
}

// As a device does: notes the first offset that is none.
bool judge_offsets(const BagNest& nest, const int64_t* offsets, SegmentFaults& faults) {
  faults = {};
  int64_t before = 0;
  for (int64_t i = 0; i <= nest.bags; before = offsets[i++]) {
    if ((i == 0 && offsets[i] != 0) || offsets[i] < before || offsets[i] > nest.entries) {
      faults.not_first[0] = ~static_cast<unsigned long long>(i);
      faults.value[0] = offsets[i];
      return false;
    }
  }
  return true;
}

BagEnd pool(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  enqueue(launch, [nest, buffers, launch] {
    BagBuffers host = buffers;
    host.offsets = reinterpret_cast<const int64_t*>(buffers.segments);
    const bool sound =
        buffers.faults == nullptr || judge_offsets(nest, host.offsets, *buffers.faults);
    if (sound && !refused(launch)) {
      reference().bag.front().run(nest, host, launch);
    }
  });
  return BagEnd::kDone;
}

constexpr BagKernel kBags[] = {{"deferred.bags", takes_offsets, pool}};

bool decode(const EncodedNest& nest, const EncodedBuffers& buffers, const Launch& launch) {
  enqueue(launch, [nest, buffers, launch] {
    if (!refused(launch)) {
      reference().encoded.front().run(nest, buffers, launch);
    }
  });
  return true;
}

constexpr EncodedKernel kEncoded[] = {
    {"deferred.encoded", [](const EncodedNest& /*nest*/) -> const char* { return nullptr; }, decode,
     Checks::kFirst}};

// Experts of whole tokens, by plain loops over i64 that lie side by side.
const char* takes_i64(const MoeNest& nest) {
  return nest.index_type == i64 ? nullptr : "experts are not i64";
}
void permute(const MoeNest& nest, const MoeBuffers& buffers, const Launch& launch) {
  enqueue(launch, [=] {
    if (refused(launch)) {
      return;
    }
    const auto* const experts = reinterpret_cast<const int64_t*>(buffers.experts);
    int64_t row = 0;
    for (int64_t expert = 0; expert < nest.experts; ++expert) {
      buffers.offsets[expert] = row;
      for (int64_t i = 0; i < nest.count; ++i) {
        const bool is_none = experts[i] < 0 || experts[i] >= nest.experts;
        launch.verdict->met = is_none ? 1 : launch.verdict->met;
        if (experts[i] == expert) {
          std::memcpy(buffers.rows + row * nest.row_bytes,
                      buffers.tokens + i / nest.choices * nest.token_stride,
                      static_cast<size_t>(nest.row_bytes));
          buffers.inverse[i] = row++;
        }
      }
    }
    buffers.offsets[nest.experts] = row;
  });
}
constexpr MoeSteps kMoe{takes_i64, [](const MoeNest& /*nest*/) { return size_t{64}; }, permute};

constexpr Backend with_bags() {
  Backend backend = kBackend;
  backend.name = kDeferredBags;
  backend.bag = kBags;
  backend.encoded = kEncoded;
  backend.moe = &kMoe;
  return backend;
}
constexpr Backend kBackendWithBags = with_bags();

int64_t waiting() {
  int64_t total = 0;
  for (const auto& [stream, steps] : streams()) {
    total += static_cast<int64_t>(steps.size());
  }
  return total;
}

}  // namespace
}  // namespace sheaf

void add_deferred_device() {
  static const bool added = [] {
    sheaf::add_backend(sheaf::kBackendWithBags);
    sheaf::add_backend(sheaf::deferred_backend());
    return true;
  }();
  static_cast<void>(added);
}

int64_t steps_waiting() { return sheaf::waiting(); }

void run_steps(int64_t count, void* stream) { sheaf::run_some(count, stream); }

int64_t transferred_bytes() { return sheaf::transferred; }

void set_looks_up_rows(bool on) {
  sheaf::kStaging.cache = on ? &sheaf::kDeferredCache : nullptr;
  sheaf::kStaging.move_rows = on ? sheaf::move_deferred_rows : nullptr;
}

void limit_pinned_memory(int64_t bytes) { sheaf::pinned().left = bytes; }

void set_capturing(bool on) { sheaf::pinned().capturing = on; }
