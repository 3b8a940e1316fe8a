// SPDX-License-Identifier: MIT
//
// Running a scatter: the steps of plan/scatter_steps.h, each by the backend of the nest's kernel.
#include <cstring>
#include <exception>
#include <vector>

#include "backends/registry.h"
#include "plan/index_error.h"
#include "plan/reduce.h"
#include "plan/refuse.h"
#include "plan/scatter_steps.h"

namespace sheaf {
namespace {

std::vector<std::byte> repeated(const void* element, int64_t element_bytes, int64_t row_bytes) {
  const auto* bytes = static_cast<const std::byte*>(element);
  std::vector<std::byte> row(static_cast<size_t>(row_bytes));
  for (size_t at = 0; at < row.size(); ++at) {
    row[at] = bytes[at % static_cast<size_t>(element_bytes)];
  }
  return row;
}

// All the memory that a scatter takes, taken before anything is written: if there is none, the
// output is still untouched.
struct Scratch {
  std::vector<std::byte> start_row, count_row;
  std::vector<int64_t> counts;

  void take(const ScatterSteps& steps) {
    if (steps.start) {
      start_row = repeated(steps.neutral, steps.start->element_bytes, steps.start->row_bytes);
    }
    if (steps.mean) {
      const int64_t one = 1;
      count_row = repeated(&one, sizeof one, steps.mean->count.row_bytes);
      counts.resize(static_cast<size_t>(steps.mean->count_elements));
    }
  }
};

Scratch scratch_for(const Request& request, const ScatterSteps& steps) {
  Scratch scratch;
  try {
    scratch.take(steps);
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw Error(ErrorCode::kOutOfMemory,
                four_lines(request, "out of memory",
                           "the counts of a mean, or a row to start from, do not fit into memory",
                           "fewer elements a call, or reduction = add"));
  }
  return scratch;
}

// One row to all the places of `nest`.
void scatter_row(const Backend& backend, const Nest& nest, const std::vector<std::byte>& row,
                 std::byte* data, const std::byte* indices, int threads) {
  scatter_kernel(backend, nest).run(nest, {data, indices, row.data()}, threads);
}

// Divides sums by counts, where there was an update; `self` is 1 if the old value is a summand too.
struct Divider {
  const Nest& nest;
  DType type;
  const std::byte* counts;
  std::byte* sums;
  int64_t self;

  void loops(int loop, int64_t count_at, int64_t sum_at) const {
    if (loop == nest.loops.size()) {
      divide(count_at, sum_at, 0, 1);
      return;
    }
    const Loop& l = nest.loops[loop];
    if (loop + 1 == nest.loops.size() && l.data == 0) {  // elements that share a count
      divide(count_at, sum_at, l.output, l.extent);
      return;
    }
    for (int64_t p = 0; p < l.extent; ++p) {
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

void finish_mean(const Plan& plan, const MeanSteps& mean, const Backend& backend, Scratch& scratch,
                 const std::byte* indices, std::byte* output, int threads) {
  auto* counts = reinterpret_cast<std::byte*>(scratch.counts.data());
  scatter_row(backend, mean.count, scratch.count_row, counts, indices, threads);
  Divider{mean.divide, plan.output().dtype, counts, output, plan.request().include_self ? 1 : 0}
      .loops(0, 0, 0);
}

}  // namespace

void Plan::run(const void* data_memory, const void* indices_memory, const void* updates_memory,
               void* output_memory, const RunOptions& options) const {
  check_scatter_memory(data_memory, indices_memory, updates_memory, output_memory);
  const Choice<ScatterBuffers> choice = choose_scatter(*this, options);
  const Backend& backend = *choice.backend;
  const int threads = options.threads;
  const auto* indices_bytes = static_cast<const std::byte*>(indices_memory);
  auto* output_bytes = static_cast<std::byte*>(output_memory);
  if (nest_.out_of_range == OutOfRange::kFail &&
      !backend.all_in_range(nest_, indices_bytes, threads)) {
    throw_first_bad_index(*this, indices_memory);
  }
  if (scatter_->base.empty()) {
    return;  // no element to write to
  }
  Scratch scratch;
  if (!nest_.empty()) {
    scratch = scratch_for(*request_, *scatter_);
  }
  const bool zeros = request_->onto_zeros;
  if (zeros || data_memory != output_memory) {
    backend.copy(scatter_->base, zeros ? nullptr : static_cast<const std::byte*>(data_memory),
                 output_bytes, threads);
  }
  if (nest_.empty()) {
    return;
  }
  if (scatter_->start) {
    scatter_row(backend, *scatter_->start, scratch.start_row, output_bytes, indices_bytes, threads);
  }
  choice.kernel->run(
      nest_, {output_bytes, indices_bytes, static_cast<const std::byte*>(updates_memory)}, threads);
  if (scatter_->mean) {
    finish_mean(*this, *scatter_->mean, backend, scratch, indices_bytes, output_bytes, threads);
  }
}

}  // namespace sheaf
