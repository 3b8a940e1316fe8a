// SPDX-License-Identifier: MIT
#include "distributed/local_part.h"

#include <algorithm>
#include <cstring>

#include "distributed/group.h"
#include "execution/host_steps.h"
#include "execution/registry.h"
#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "plan/scatter_steps.h"
#include "sheaf/gather.h"
#include "sheaf/scatter.h"
#include "support/checked.h"
#include "support/float_mode.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

// Axes of a cell: neighbours whose strides chain become one, so that a cell number is an index.
void merge_chains(TensorSpec& view, int& groups) {
  TensorSpec merged;
  merged.dtype = view.dtype;
  int count = 0;
  for (int d = 0; d < view.rank(); ++d) {
    const auto reach = checked_mul(view.sizes[d], view.strides[d]);
    if (d > 0 && d < groups && reach && merged.strides.back() == *reach) {
      merged.sizes.back() *= view.sizes[d];
      merged.strides.back() = view.strides[d];
      continue;
    }
    count += d < groups ? 1 : 0;
    merged.sizes.push_back(view.sizes[d]);
    merged.strides.push_back(view.strides[d]);
  }
  view = merged;
  groups = count;
}

}  // namespace

int64_t LocalPart::bytes_per_row(const CellSpace& space) {
  return static_cast<int64_t>(sizeof(int64_t)) * space.cell_axes.size();
}

LocalPart::LocalPart(const sharded::ShardedTensor& tensor, const Plan& whole,
                     const CellSpace& space, int64_t max_rows, int64_t file_bytes)
    : part_(tensor.part()),
      split_(tensor.split()),
      rank_(tensor.rank()),
      whole_(whole),
      inner_(space.inner),
      row_bytes_(space.row_bytes()),
      cells_(tensor.split().count(tensor.rank()) * space.inner) {
  queue_ = part_.queue();
  if (queue_.device.empty() && queue_.threads == 0) {
    queue_.threads = threads_per_rank();
  }
  file_options_.memory = std::max<int64_t>(file_bytes, 1 << 20);
  const TensorSpec& spec = part_.tensor().spec;
  whole_table_ = part_.table() && spec.sizes[tensor.axis()] == split_.entries();
  view_.dtype = spec.dtype;
  for (const Dims* axes : {&space.cell_axes, &space.slice_axes}) {
    for (const int64_t axis : *axes) {
      view_.sizes.push_back(spec.sizes[static_cast<int>(axis)]);
      view_.strides.push_back(spec.strides[static_cast<int>(axis)]);
    }
  }
  groups_ = space.cell_axes.size();
  merge_chains(view_, groups_);
  has_rows_ = row_bytes_ > 0 && !part_.table() && queue_.device.empty() && groups_ == 1 &&
              rows_are_packed();
  row_stride_ = groups_ == 1 ? used_byte_stride(view_, 0) : 0;
  if (groups_ > 1 || whole_table_) {
    tuples_.resize(static_cast<size_t>(max_rows * groups_));
  }
  if (has_rows_ && !whole.is_scatter()) {
    offsets_.resize(static_cast<size_t>(max_rows));
  }
  if (whole.is_scatter() && cells_ > 0 && row_bytes_ > 0) {
    steps_ = plan_scatter_of(0, whole.request().reduction, whole.request().include_self);
    if (steps_->scatter_steps().start) {
      seen_.resize(static_cast<size_t>(cells_));
      fresh_.reserve(static_cast<size_t>(max_rows));
    }
    if (const auto& mean = steps_->scatter_steps().mean) {
      counts_.resize(static_cast<size_t>(mean->count_elements));
    }
  }
}

bool LocalPart::rows_are_packed() const {
  int64_t stride = 1;
  for (int d = view_.rank() - 1; d >= groups_; --d) {
    if (view_.sizes[d] != 1 && view_.strides[d] != stride) {
      return false;
    }
    stride *= view_.sizes[d];
  }
  return true;
}

TensorSpec LocalPart::rows_spec(int64_t count) const {
  Dims sizes{count};
  for (int d = groups_; d < view_.rank(); ++d) {
    sizes.push_back(view_.sizes[d]);
  }
  return {view_.dtype, sizes};
}

// Cells as indices into view_.
const int64_t* LocalPart::tuples_of(const int64_t* cells, int64_t count) {
  if (tuples_.empty()) {
    return cells;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = cells[i];
    if (whole_table_) {
      rest = split_.entry(rank_, rest / inner_) * inner_ + rest % inner_;
    }
    int64_t* tuple = tuples_.data() + i * groups_;
    for (int g = groups_ - 1; g > 0; --g) {
      tuple[g] = rest % view_.sizes[g];
      rest /= view_.sizes[g];
    }
    tuple[0] = rest;
  }
  return tuples_.data();
}

void LocalPart::gather(const int64_t* cells, int64_t count, std::byte* rows) {
  if (count == 0 || row_bytes_ == 0) {
    return;
  }
  check_cells(cells, count);
  if (has_rows_) {
    copy_whole_rows(cells, count, rows);
    return;
  }
  const int64_t* tuples = tuples_of(cells, count);
  const TensorSpec indices(i64, {count, groups_});
  const Plan plan = plan_gather_nd(view_, indices, {.rule = {.negative = Negative::kOutOfRange}});
  if (part_.table()) {
    TableInfo info = part_.table()->info();
    info.spec = view_;
    sheaf::run(plan, Table(info, part_.table()->source()), {tuples, indices}, {rows, plan.output()},
               file_options_);
  } else if (!queue_.device.empty()) {
    run_on_device(plan, tuples, nullptr, rows, count);
  } else {
    sheaf::run(plan, part_.tensor().data, tuples, rows, queue_, {.output_is_fresh = true});
  }
}

int LocalPart::threads() const {
  return queue_.device.empty() ? queue_.threads : threads_per_rank();
}

void LocalPart::check_cells(const int64_t* cells, int64_t count) const {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    good &= static_cast<uint64_t>(cells[i]) < static_cast<uint64_t>(cells_);
  }
  if (!good) {
    refuse(whole_.request(), {Reason::kIndex, "indices"}, "damaged message",
           cat("a rank names a cell outside of the ", cells_, " here"),
           "the same call on all ranks");
  }
}

// A plan per round would cost more than it decides.
void LocalPart::copy_whole_rows(const int64_t* cells, int64_t count, std::byte* rows) {
  for (int64_t i = 0; i < count; ++i) {
    offsets_[static_cast<size_t>(i)] = cells[i] * row_stride_;
  }
  copy_rows({row(0), offsets_.data(), count, row_bytes_, rows, count * row_bytes_}, queue_.threads);
}

// The scatter of `count` rows into the part, in place.
Plan LocalPart::plan_scatter_of(int64_t count, Reduction reduction, bool include_self) const {
  const Request& r = whole_.request();
  return plan_scatter_nd(view_, TensorSpec(i64, {count, groups_}), rows_spec(count), view_,
                         {.reduction = reduction,
                          .include_self = include_self,
                          .onto_zeros = count == 0 && r.onto_zeros,
                          .relaxed = r.relaxed,
                          .rule = {.negative = Negative::kOutOfRange}});
}

// A mean is a sum until end().
void LocalPart::apply(const int64_t* cells, int64_t count, const std::byte* rows) {
  if (count == 0 || row_bytes_ == 0) {
    return;
  }
  check_cells(cells, count);
  if (!seen_.empty()) {
    start_fresh_cells(cells, count);
  }
  for (int64_t i = 0; !counts_.empty() && i < count; ++i) {
    ++counts_[static_cast<size_t>(cells[i])];
  }
  const int64_t* tuples = tuples_of(cells, count);
  const Reduction reduction = whole_.request().reduction;
  const Plan plan =
      plan_scatter_of(count, reduction == Reduction::kMean ? Reduction::kAdd : reduction, true);
  if (!queue_.device.empty()) {
    run_on_device(plan, tuples, rows, nullptr, count);
  } else {
    void* data = part_.tensor().data;
    sheaf::run(plan, data, tuples, rows, data, queue_);
  }
}

// Without include_self, a cell starts from the neutral element when its first update comes.
void LocalPart::start_fresh_cells(const int64_t* cells, int64_t count) {
  fresh_.clear();
  for (int64_t i = 0; i < count; ++i) {
    if (!seen_[static_cast<size_t>(cells[i])]) {
      seen_[static_cast<size_t>(cells[i])] = true;
      fresh_.push_back(cells[i]);
    }
  }
  if (fresh_.empty()) {
    return;
  }
  const auto fresh = std::ssize(fresh_);
  const auto* tuples = reinterpret_cast<const std::byte*>(tuples_of(fresh_.data(), fresh));
  const Plan plan = plan_scatter_of(fresh, whole_.request().reduction, false);
  const ScatterSteps& steps = plan.scatter_steps();
  const Backend& backend = *host_backends().front();
  backend.fill(backend, *steps.start, steps.neutral,
               {static_cast<std::byte*>(part_.tensor().data), tuples, nullptr},
               {.threads = queue_.threads});
}

// The base step: zeros, where the scatter starts from them.
void LocalPart::begin() {
  std::fill(seen_.begin(), seen_.end(), false);
  std::fill(counts_.begin(), counts_.end(), 0);
  if (!steps_ || !whole_.request().onto_zeros) {
    return;
  }
  if (!queue_.device.empty()) {
    run_on_device(*steps_, nullptr, nullptr, nullptr, 0);
  } else {
    sheaf::run(*steps_, nullptr, nullptr, nullptr, part_.tensor().data, queue_);
  }
}

// The last step of a mean: sums are divided by their counts.
void LocalPart::end() {
  if (counts_.empty()) {
    return;
  }
  const DefaultFloatMode mode;  // the caller's must not change the bits of a mean
  host_backends().front()->divide(steps_->scatter_steps().mean->divide, view_.dtype,
                                  reinterpret_cast<const std::byte*>(counts_.data()),
                                  static_cast<std::byte*>(part_.tensor().data),
                                  whole_.request().include_self ? 1 : 0,
                                  {.threads = queue_.threads});
}

void LocalPart::run_on_device(const Plan& plan, const int64_t* tuples, const std::byte* updates,
                              std::byte* rows, int64_t count) {
  Queue queue = queue_;
  const auto index_bytes = sizeof(int64_t) * static_cast<size_t>(count * groups_);
  const auto rows_bytes = static_cast<size_t>(count * row_bytes_);
  DeviceMemory indices(queue.device, index_bytes);
  DeviceMemory staged(queue.device, rows_bytes);
  DeviceMemory workspace(queue.device, workspace_bytes(plan, queue));
  queue.workspace = workspace;
  void* data = part_.tensor().data;
  if (count > 0) {
    indices.upload(tuples, index_bytes);
  }
  if (plan.is_scatter()) {
    if (count > 0) {
      staged.upload(updates, rows_bytes);
    }
    sheaf::run(plan, data, indices.data(), staged.data(), data, queue);
    finish(plan, queue);
  } else {
    sheaf::run(plan, data, indices.data(), staged.data(), queue);
    finish(plan, queue);
    staged.download(rows, rows_bytes);
  }
}

}  // namespace sheaf::distributed
