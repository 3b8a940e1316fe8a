// SPDX-License-Identifier: MIT
#include "execution/host_steps.h"

#include <algorithm>
#include <cstring>

#include "execution/cancel.h"
#include "execution/choice.h"
#include "execution/registry.h"
#include "plan/reduce.h"

namespace sheaf {
namespace {

constexpr int64_t kPieceBytes = 1024;
constexpr int64_t kElementsBetweenQuestions = 1 << 16;  // to the caller, who may cancel

// The longest piece that rows are made of and that fits the stack.
int64_t piece_of(int64_t row_bytes, int64_t element_bytes) {
  const int64_t elements = row_bytes / element_bytes;
  int64_t most = kPieceBytes / element_bytes;
  while (elements % most != 0) {
    --most;
  }
  return most * element_bytes;
}

// Scatters one element to all places of the nest: rows are written piece by piece, each from the
// same few elements.
void scatter_element(const Backend& backend, Nest nest, const std::byte* element,
                     int64_t element_bytes, const ScatterBuffers& buffers, const Launch& launch) {
  std::byte piece[kPieceBytes];
  const int64_t bytes = piece_of(nest.row_bytes, element_bytes);
  for (int64_t at = 0; at < bytes; at += element_bytes) {
    std::memcpy(piece + at, element, static_cast<size_t>(element_bytes));
  }
  for (Loop& loop : nest.loops) {
    loop.output = 0;
  }
  if (bytes < nest.row_bytes) {
    nest.loops.push_back({nest.row_bytes / bytes, bytes, 0, 0, 0});
    nest.row_bytes = bytes;
  }
  Launch plain = launch;
  plain.workspace = nullptr;  // it is the updates' kernel's
  plain.check_while_moving = false;
  scatter_kernel(backend, nest).run(nest, {buffers.data, buffers.indices, piece}, plain);
}

// Divides sums by counts, where there was an update.
struct Divider {
  const Nest& nest;
  DType type;
  const std::byte* counts;
  std::byte* sums;
  int64_t self;
  CancelPoint& cancel;

  void loops(int loop, int64_t count_at, int64_t sum_at) const {
    if (loop == nest.loops.size()) {
      divide(count_at, sum_at, 0, 1);
      return;
    }
    const Loop& l = nest.loops[loop];
    if (loop + 1 == nest.loops.size() && l.data == 0) {  // elements that share a count
      for (int64_t p = 0; p < l.extent && !cancel.stopped(); p += kElementsBetweenQuestions) {
        const int64_t elements = std::min(kElementsBetweenQuestions, l.extent - p);
        cancel.before_rows(elements, 0);
        divide(count_at, sum_at + p * l.output, l.output, elements);
      }
      return;
    }
    for (int64_t p = 0; p < l.extent && !cancel.before_rows(1, 0); ++p) {
      loops(loop + 1, count_at + p * l.data, sum_at + p * l.output);
    }
  }

  void divide(int64_t count_at, int64_t sum_at, int64_t step, int64_t elements) const {
    int64_t count = 0;
    std::memcpy(&count, counts + count_at, sizeof count);
    if (count > 0) {
      divide_elements(type, sums + sum_at, step, elements, count + self);
    }
  }
};

// Calls step(data, output) with the byte offsets of each point. Elements side by side are kDataStep
// and kOutputStep bytes apart.
template <int64_t kDataStep, int64_t kOutputStep, class Step>
void for_each_point(const Nest& nest, CancelPoint& cancel, int loop, int64_t data, int64_t output,
                    const Step& step) {
  if (loop == nest.loops.size()) {
    step(data, output);
    return;
  }
  const Loop& l = nest.loops[loop];
  if (loop + 1 == nest.loops.size()) {
    for (int64_t first = 0; first < l.extent; first += kElementsBetweenQuestions) {
      const int64_t last = std::min(l.extent, first + kElementsBetweenQuestions);
      if (cancel.before_rows(last - first, 0)) {
        return;
      }
      if (l.data == kDataStep && l.output == kOutputStep) {  // which the compiler can vectorise
        for (int64_t p = first; p < last; ++p) {
          step(data + p * kDataStep, output + p * kOutputStep);
        }
      } else {
        for (int64_t p = first; p < last; ++p) {
          step(data + p * l.data, output + p * l.output);
        }
      }
    }
    return;
  }
  for (int64_t p = 0; p < l.extent && !cancel.stopped(); ++p) {
    for_each_point<kDataStep, kOutputStep>(nest, cancel, loop + 1, data + p * l.data,
                                           output + p * l.output, step);
  }
}

}  // namespace

void host_fill(const Backend& backend, const Nest& nest, const std::byte* element,
               const ScatterBuffers& buffers, const Launch& launch) {
  scatter_element(backend, nest, element, nest.element_bytes, buffers, launch);
}

void host_count(const Backend& backend, const Nest& nest, const ScatterBuffers& buffers,
                const Launch& launch) {
  const int64_t one = 1;
  std::byte bytes[sizeof one];
  std::memcpy(bytes, &one, sizeof one);
  scatter_element(backend, nest, bytes, sizeof one, buffers, launch);
}

void host_divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums,
                 int64_t self, const Launch& launch) {
  CancelPoint cancel(launch.cancel);
  Divider{nest, type, counts, sums, self, cancel}.loops(0, 0, 0);
}

namespace {

using Work = std::function<void(int64_t, int64_t)>;

void run_on_host(int64_t count, int64_t bytes, const Queue& queue, const Work& work) {
  for (const Backend* backend : host_backends()) {
    if (backend->ranges != nullptr) {
      return backend->ranges(count, bytes, queue.threads, work);
    }
  }
  work(0, count);  // a build without the cpu backend; GCOVR_EXCL_LINE
}

// The points of a range of the outermost loop.
void convert_range(Nest nest, int64_t begin, int64_t end, DType from, DType to,
                   const std::byte* data, std::byte* output, const Launch& launch) {
  CancelPoint cancel(launch.cancel);
  if (!nest.loops.empty()) {
    data += begin * nest.loops[0].data;
    output += begin * nest.loops[0].output;
    nest.loops[0].extent = end - begin;
  }
  with_small_float(from == f32 ? to : from, [&](auto zero) {
    using Narrow = decltype(zero);
    if (from == f32) {
      for_each_point<sizeof(float), sizeof(Narrow)>(
          nest, cancel, 0, 0, 0, [&](int64_t at, int64_t to_at) {
            float value = 0;
            std::memcpy(&value, data + at, sizeof value);
            const auto result = narrowed<Narrow>(value);
            std::memcpy(output + to_at, &result, sizeof result);
          });
    } else {
      for_each_point<sizeof(Narrow), sizeof(float)>(
          nest, cancel, 0, 0, 0, [&](int64_t at, int64_t to_at) {
            Narrow value{};
            std::memcpy(&value, data + at, sizeof value);
            const float result = widened(value);
            std::memcpy(output + to_at, &result, sizeof result);
          });
    }
  });
}

}  // namespace

void host_convert(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
                  const Launch& launch) {
  int64_t points = 1;
  for (const Loop& loop : nest.loops) {
    points *= loop.extent;
  }
  const int64_t outer = nest.loops.empty() ? 1 : nest.loops[0].extent;
  const auto convert = [&](int64_t begin, int64_t end) {
    convert_range(nest, begin, end, from, to, data, output, launch);
  };
  run_on_host(outer, points * (from.bytes() + to.bytes()), {.threads = launch.threads},
              std::cref(convert));  // a copy might take memory
}

void run_ranges(std::string_view who, int64_t count, int64_t bytes, const Queue& queue,
                const Work& work) {
  const CancelScope* scope = current_cancel_scope();
  if (scope == nullptr || count == 0) {
    return run_on_host(count, bytes, queue, work);
  }
  const int64_t item_bytes = std::max<int64_t>(1, bytes / count);
  const int64_t step = std::max<int64_t>(1, CancelPoint::kPieceBytes / item_bytes);
  run_on_host(count, bytes, queue, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end && !scope->cancelled(); at += std::min(step, end - at)) {
      work(at, at + std::min(step, end - at));
    }
  });
  throw_if_cancelled(scope, who);
}

void copy_rows(const RowCopy& copy, int threads) {
  for (const Backend* backend : host_backends()) {
    if (backend->copy_rows != nullptr) {
      return backend->copy_rows(copy, threads);
    }
  }
  // A build without the cpu backend; GCOVR_EXCL_START
  for (int64_t i = 0; i < copy.count; ++i) {
    std::memcpy(copy.output + i * copy.row_bytes, copy.data + copy.offsets[i],
                static_cast<size_t>(copy.row_bytes));
  }
  // GCOVR_EXCL_STOP
}

}  // namespace sheaf
