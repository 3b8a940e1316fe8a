// SPDX-License-Identifier: MIT
//
// Running the gradient of a bag on a device. Its workspace begins as that of the bag does
// (run_bag_device.cc), so that finish() of the bag reports what is wrong with segments and indices.
// Behind that are how many rows entries name, what the steps want, the rows of sums that are to be
// added, and the workspace of the bag that makes the sums.
#include <algorithm>
#include <cstring>
#include <memory>

#include "execution/check_tensors.h"
#include "execution/launch.h"
#include "execution/run_bag.h"
#include "execution/run_bag_gradient.h"
#include "sheaf/queue.h"
#include "support/text.h"

namespace sheaf {
namespace {

// A gradient on a device, and the bag that makes its sums.
class DeviceGradient {
 public:
  DeviceGradient(const BagGradientPlan& plan, const Queue& queue)
      : plan_(plan),
        queue_(queue),
        request_(gradient_request(plan)),
        device_(*prepared_device(queue)),
        nest_(nest_of(plan)) {
    const char* const why = device_.bag_gradient == nullptr ? "it has no kernels for them"
                                                            : device_.bag_gradient->refusal(nest_);
    if (why != nullptr) {
      refuse_as(ErrorCode::kUnsupported, request_, {Reason::kKernel},
                "no such gradient on this device",
                cat("the backend \"", queue.device, "\" refuses: ", why), "memory of the host");
    }
    if (sums_rows() && nest_.rows > 0 && nest_.bag.elements > 0) {
      sums_ = std::make_unique<BagPlan>(plan_of_sums());
    }
    lay_out();
  }

  size_t workspace_bytes() const { return bytes_; }

  void run(const BagGradientMemory& memory, std::string_view kernel) const {
    check_memory(memory);
    check_workspace(bytes_);
    auto* const workspace = static_cast<std::byte*>(queue_.workspace.memory);
    const BagLayout head = bag_layout(plan_.bag(), nullptr);
    const Plan* const gather = plan_.bag().checked_gather();
    const Launch launch{
        .stream = queue_.stream,
        .verdict = gather != nullptr ? reinterpret_cast<Verdict*>(workspace) : nullptr,
        .workspace = workspace + steps_at_};
    const GradientBuffers buffers = buffers_of(memory, workspace, head);
    if (gather != nullptr) {
      device_.check(*gather, buffers.bag.indices, launch);
    }
    const BagGradientSteps& steps = *device_.bag_gradient;
    steps.read(nest_, buffers, launch);
    if (plan_.of() == BagGradientOf::kWeights) {
      if (nest_.bag.entries > 0) {
        steps.weights(nest_, buffers, launch);
      }
    } else {
      steps.order(nest_, buffers, launch);
      if (nest_.rows > 0 && nest_.bag.elements > 0) {
        write_rows(steps, buffers, launch, kernel);
      }
    }
    submit(*device_.device, queue_.stream, "starting the gradient of a bag");
  }

  int64_t named_rows() const {
    check_workspace(steps_at_);
    device_.device->wait(nullptr, queue_.stream);
    int64_t named = 0;
    device_.device->download(
        &named, static_cast<const std::byte*>(queue_.workspace.memory) + named_at_, sizeof named);
    return named;
  }

 private:
  static GradientNest nest_of(const BagGradientPlan& plan) {
    GradientNest nest;
    nest.bag = plan.bag().nest();
    nest.of = plan.of();
    nest.add = plan.options().add;
    nest.gradient = *plain_rows(plan.gradient());
    nest.output_type = plan.output().dtype;
    if (plan.of() == BagGradientOf::kWeights) {
      nest.places = entry_places(plan.output());
    } else {
      nest.output = *plain_rows(plan.output());
      nest.rows = nest.compressed() ? std::min(nest.bag.entries, nest.bag.extent) : nest.bag.extent;
    }
    return nest;
  }

  bool sums_rows() const {
    return plan_.of() != BagGradientOf::kWeights && !picks_one(nest_.bag.pool);
  }

  // Where rows of sums are made: the output, or memory of the run's own, from which they are added.
  TensorSpec sums_spec() const {
    Dims sizes = plan_.output().sizes;
    sizes[0] = nest_.rows;
    return nest_.add ? TensorSpec(nest_.output_type, sizes) : plan_.output();
  }

  BagPlan plan_of_sums() const {
    const BagNest& nest = nest_.bag;
    BagRequest request;
    request.name = request_.name;
    request.output = sums_spec();
    request.specs.data = plan_.gradient();
    request.specs.indices = TensorSpec(i64, {nest.entries});
    request.specs.segments = TensorSpec(i64, {nest_.rows + 1});
    if (has_factors(nest)) {
      request.specs.weights = TensorSpec(nest.computed, {nest.entries});
    }
    request.options.last_offset = true;
    request.options.accumulate_f32 = nest.computed == f32;
    request.options.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kTrust};
    return make_bag_plan(request);
  }

  void lay_out() {
    constexpr size_t kAligned = 256;
    const auto take = [&](size_t bytes) {
      const size_t at = bytes_;
      bytes_ += (bytes + kAligned - 1) / kAligned * kAligned;
      return at;
    };
    bytes_ = bag_layout(plan_.bag(), nullptr).bytes;
    named_at_ = take(sizeof(int64_t));
    steps_at_ = take(device_.bag_gradient->workspace_bytes(nest_));
    if (nest_.add) {
      added_at_ =
          take(static_cast<size_t>(element_count(sums_spec().sizes) * sums_spec().dtype.bytes()));
    }
    if (sums_ != nullptr) {
      sums_bytes_ = sheaf::workspace_bytes(*sums_, {.device = queue_.device});
      sums_at_ = take(sums_bytes_);
    }
  }

  void check_memory(const BagGradientMemory& memory) const {
    const BagSpecs& specs = plan_.bag().request().specs;
    const NamedTensor read_first[] = {
        {"indices", memory.bag.indices, spec_or_null(specs.indices)},
        {"segments", memory.bag.segments, spec_or_null(specs.segments)}};
    check_tensors(request_, read_first, {"output", memory.output, &plan_.output()});
    check_gradient_memory(plan_, memory, request_, plan_.output(), nest_.rows);
    const auto check = [&](const char* name, const void* at, const TensorSpec* spec) {
      const int64_t multiple = spec == nullptr ? 1 : device_.device->alignment(spec->dtype);
      if (reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(multiple) != 0) {
        refuse(request_, {Reason::kMemory}, "misaligned pointer",
               cat(name, " is ", spec->dtype.name(), ", but its address is not a multiple of ",
                   multiple, " bytes, as the device needs"),
               "a copy of the tensor at an aligned address");
      }
    };
    const TensorSpec rows(i64, {nest_.rows});
    check("gradient", memory.gradient, &plan_.gradient());
    check("data", memory.bag.stored, reads_table(plan_) ? &specs.data.stored : nullptr);
    check("indices", memory.bag.indices, spec_or_null(specs.indices));
    check("segments", memory.bag.segments, spec_or_null(specs.segments));
    check("weights", memory.bag.weights, spec_or_null(specs.weights));
    check("rows", memory.rows, plan_.of() == BagGradientOf::kRows ? &rows : nullptr);
    check("output", memory.output, &plan_.output());
  }

  void check_workspace(size_t needed) const {
    constexpr size_t kAligned = 256;
    const WorkspaceView& workspace = queue_.workspace;
    if (workspace.bytes < needed || workspace.memory == nullptr ||
        reinterpret_cast<uintptr_t>(workspace.memory) % kAligned != 0) {
      refuse(request_, {Reason::kMemory}, "workspace too small, or misaligned",
             cat("the workspace has ", workspace.memory == nullptr ? 0 : workspace.bytes,
                 " bytes, but the plan needs ", needed, " at a multiple of ", kAligned),
             cat("as many bytes as workspace_bytes(plan) returns, on device ", queue_.device));
    }
  }

  GradientBuffers buffers_of(const BagGradientMemory& memory, std::byte* workspace,
                             const BagLayout& head) const {
    const auto bytes = [](const void* at) { return static_cast<const std::byte*>(at); };
    GradientBuffers buffers{};
    buffers.bag = {
        .data = {bytes(memory.bag.stored), bytes(memory.bag.scales), bytes(memory.bag.zeros)},
        .indices = bytes(memory.bag.indices),
        .weights = bytes(memory.bag.weights),
        .offsets = nullptr,
        .output = nullptr,
        .segments = bytes(memory.bag.segments),
        .faults = nest_.bag.per_bag < 0 ? reinterpret_cast<SegmentFaults*>(workspace + head.faults)
                                        : nullptr};
    buffers.gradient = bytes(memory.gradient);
    buffers.named = reinterpret_cast<int64_t*>(workspace + named_at_);
    buffers.rows = static_cast<int64_t*>(memory.rows);
    buffers.output = static_cast<std::byte*>(memory.output);
    return buffers;
  }

  void write_rows(const BagGradientSteps& steps, const GradientBuffers& buffers,
                  const Launch& launch, std::string_view kernel) const {
    auto* const workspace = static_cast<std::byte*>(queue_.workspace.memory);
    std::byte* const sums = nest_.add ? workspace + added_at_ : buffers.output;
    if (sums_ == nullptr) {
      GradientNest nest = nest_;
      GradientBuffers to = buffers;
      nest.output = *plain_rows(sums_spec());
      to.output = sums;
      steps.sum_picked(nest, to, launch);
    } else {
      const GradientLists lists = steps.lists(nest_, launch.workspace);
      start_bag_on_device(*sums_,
                          {.stored = buffers.gradient,
                           .indices = lists.bags,
                           .segments = lists.begins,
                           .weights = lists.factors,
                           .output = sums},
                          {.device = queue_.device,
                           .stream = queue_.stream,
                           .workspace = {workspace + sums_at_, sums_bytes_}},
                          {.kernel = kernel, .output_is_fresh = nest_.add});
    }
    if (nest_.add) {
      steps.add(nest_, buffers, sums, launch);
    }
  }

  const BagGradientPlan& plan_;
  const Queue& queue_;
  BagRequest request_;
  const Backend& device_;
  GradientNest nest_;
  std::unique_ptr<BagPlan> sums_;  // null: there are none, or they are no bag
  size_t named_at_ = 0, steps_at_ = 0, added_at_ = 0, sums_at_ = 0, sums_bytes_ = 0, bytes_ = 0;
};

// As a device does it: what is behind the last row is -1, and 0.
void run_on_host(const BagGradientPlan& plan, const BagGradientMemory& memory,
                 const RunOptions& options) {
  const BagEntries entries = plan.entries(memory.bag, options);
  plan.run(entries, memory, options);
  if (plan.of() == BagGradientOf::kRows) {
    const TensorSpec& output = plan.output();
    const int64_t all = output.sizes[0];
    const int64_t bytes = all == 0 ? 0 : element_count(output.sizes) / all * output.dtype.bytes();
    constexpr int64_t kNone = -1;
    for (int64_t r = entries.rows(); r < all; ++r) {  // at any address
      std::memcpy(static_cast<std::byte*>(memory.rows) + r * static_cast<int64_t>(sizeof kNone),
                  &kNone, sizeof kNone);
    }
    std::fill_n(static_cast<std::byte*>(memory.output) + entries.rows() * bytes,
                (all - entries.rows()) * bytes, std::byte{});
  }
}

}  // namespace

void run(const BagGradientPlan& plan, const BagGradientMemory& memory, const Queue& queue,
         const RunOptions& options) {
  if (queue.device.empty()) {
    RunOptions on_host = options;
    on_host.threads = queue.threads;
    return run_on_host(plan, memory, on_host);
  }
  DeviceGradient(plan, queue).run(memory, options.kernel);
}

void finish(const BagGradientPlan& plan, const Queue& queue) { finish(plan.bag(), queue); }

size_t workspace_bytes(const BagGradientPlan& plan, const Queue& queue,
                       const RunOptions& /*options*/) {
  return queue.device.empty() ? 0 : DeviceGradient(plan, queue).workspace_bytes();
}

int64_t named_rows(const BagGradientPlan& plan, const Queue& queue) {
  if (queue.device.empty()) {
    refuse(gradient_request(plan), {Reason::kOption}, "no device",
           "this queue is the host's, which leaves nothing in a workspace",
           "rows() of the entries, plan.entries(memory)");
  }
  return DeviceGradient(plan, queue).named_rows();
}

}  // namespace sheaf
