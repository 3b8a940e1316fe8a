// SPDX-License-Identifier: MIT
//
// Running a scatter: the steps of plan/scatter_steps.h, each by the backend of the nest's kernel.
#include <vector>

#include "backends/registry.h"
#include "plan/index_error.h"
#include "plan/memory.h"
#include "plan/reduce.h"
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

// One row to all the places of `nest`.
void scatter_row(const Backend& backend, const Nest& nest, const void* element, std::byte* data,
                 const std::byte* indices, int threads) {
  const auto row = repeated(element, nest.element_bytes, nest.row_bytes);
  scatter_kernel(backend, nest).run(nest, {data, indices, row.data()}, threads);
}

// Visits the elements of a tensor in row-major order, with their byte offsets.
template <class Visit>
void visit_elements(const TensorSpec& spec, int d, int64_t offset, Visit& visit) {
  if (d == spec.rank()) {
    visit(offset);
    return;
  }
  const int64_t stride = used_byte_stride(spec, d);
  for (int64_t p = 0; p < spec.sizes[d]; ++p) {
    visit_elements(spec, d + 1, offset + p * stride, visit);
  }
}

void divide_by_counts(const Plan& plan, const std::vector<int64_t>& counts, std::byte* output) {
  const int64_t self = plan.request().include_self ? 1 : 0;
  size_t element = 0;
  auto divide = [&](int64_t offset) {
    if (const int64_t count = counts[element++]; count > 0) {
      divide_element(plan.output().dtype, output + offset, count + self);
    }
  };
  visit_elements(plan.output(), 0, 0, divide);
}

void finish_mean(const Plan& plan, const Nest& counting, const Backend& backend,
                 const std::byte* indices, std::byte* output, int threads) {
  std::vector<int64_t> counts(static_cast<size_t>(element_count(plan.output().sizes)));
  const int64_t one = 1;
  scatter_row(backend, counting, &one, reinterpret_cast<std::byte*>(counts.data()), indices,
              threads);
  divide_by_counts(plan, counts, output);
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
  const bool zeros = request_->onto_zeros;
  if ((zeros || data_memory != output_memory) && !scatter_->base.empty()) {
    backend.copy(scatter_->base, zeros ? nullptr : static_cast<const std::byte*>(data_memory),
                 output_bytes, threads);
  }
  if (nest_.empty()) {
    return;
  }
  if (scatter_->start) {
    scatter_row(backend, *scatter_->start, scatter_->neutral, output_bytes, indices_bytes, threads);
  }
  choice.kernel->run(
      nest_, {output_bytes, indices_bytes, static_cast<const std::byte*>(updates_memory)}, threads);
  if (scatter_->counts) {
    finish_mean(*this, *scatter_->counts, backend, indices_bytes, output_bytes, threads);
  }
}

}  // namespace sheaf
