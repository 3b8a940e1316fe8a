// SPDX-License-Identifier: MIT
//
// Running a bag: the last checks, its segments as offsets of the run's own, then the first kernel
// that accepts.
#include <algorithm>
#include <memory>
#include <new>

#include "execution/backend.h"
#include "execution/bag_kernel.h"
#include "execution/check_tensors.h"
#include "execution/launch.h"
#include "execution/registry.h"
#include "execution/run_bag.h"
#include "plan/resolve.h"
#include "sheaf/queue.h"
#include "support/float_mode.h"
#include "support/text.h"

namespace sheaf {
namespace {

void check_bag_memory(const BagPlan& plan, const BagMemory& memory) {
  const BagSpecs& specs = plan.request().specs;
  const NamedTensor inputs[] = {{"data", memory.stored, &specs.data.stored},
                                {"scales", memory.scales, spec_or_null(specs.data.scales)},
                                {"zeros", memory.zeros, spec_or_null(specs.data.zeros)},
                                {"indices", memory.indices, spec_or_null(specs.indices)},
                                {"segments", memory.segments, spec_or_null(specs.segments)},
                                {"weights", memory.weights, spec_or_null(specs.weights)}};
  check_tensors(plan.request(), inputs, {"output", memory.output, &plan.output()});
}

// Reads each segment once, and writes where bags begin: offsets[bags] is the end of the last.
// Without offsets the segments are only checked.
template <class Segment>
class OffsetWriter {
 public:
  OffsetWriter(const BagPlan& plan, const void* segments, int64_t* offsets)
      : plan_(plan),
        cancel_(current_cancel_scope()),
        nest_(plan.nest()),
        segments_(static_cast<const std::byte*>(segments)),
        offsets_(offsets) {}

  void write() {
    switch (nest_.form) {
      case SegmentForm::kOffsets: return from_offsets();
      case SegmentForm::kLengths: return from_lengths();
      case SegmentForm::kIds: return from_ids();
    }
  }

 private:
  int64_t segment(int64_t i) const {
    return widen(load_index<Segment>(segments_, i * nest_.segment_stride));
  }

  void store(int64_t bag, int64_t offset) {
    if (offsets_ != nullptr) {
      offsets_[bag] = offset;
    }
  }

  bool stops() { return cancel_.before(sizeof(int64_t)); }

  // Some hundred at a time: copied, then compared with one another, both by vectors.
  void from_offsets() {
    constexpr int64_t kPiece = 512;
    int64_t read[kPiece];
    int64_t before = 0;
    for (int64_t i = 0; i < nest_.segments && !cancel_.before(kPiece * 8); i += kPiece) {
      int64_t* const piece = offsets_ != nullptr ? offsets_ + i : read;
      const int64_t count = std::min(kPiece, nest_.segments - i);
      for (int64_t k = 0; k < count; ++k) {
        piece[k] = segment(i + k);
      }
      bool good = piece[0] >= before && (i > 0 || piece[0] == 0);
      for (int64_t k = 1; k < count; ++k) {
        good &= piece[k] >= piece[k - 1];
      }
      if (!good || piece[count - 1] > nest_.entries) {
        refuse_first(piece, i, before);
      }
      before = piece[count - 1];
    }
    if (nest_.segments == nest_.bags) {
      store(nest_.bags, nest_.bags == 0 ? 0 : nest_.entries);
    }
  }

  // The first bad offset of those from number `first` on; `before` is the one before it.
  [[noreturn]] void refuse_first(const int64_t* piece, int64_t first, int64_t before) const {
    int64_t k = 0;
    while (piece[k] >= before && piece[k] <= nest_.entries && (first + k > 0 || piece[k] == 0)) {
      before = piece[k++];
    }
    refuse_segment(plan_, first + k, piece[k]);
  }

  void from_lengths() {
    int64_t sum = 0;
    store(0, 0);
    for (int64_t i = 0; i < nest_.segments && !stops(); ++i) {
      const int64_t length = segment(i);
      if (length < 0 || length > nest_.entries - sum) {
        refuse_segment(plan_, i, length);
      }
      store(i + 1, sum += length);
    }
    if (sum != nest_.entries && !cancel_.stopped()) {
      refuse_segment(plan_, nest_.segments, sum);
    }
  }

  void from_ids() {
    int64_t bag = 0;  // bags that have begun
    for (int64_t i = 0; i < nest_.segments && !stops(); ++i) {
      const int64_t id = segment(i);
      if (id < 0 || id >= nest_.bags || id + 1 < bag) {
        refuse_segment(plan_, i, id);
      }
      begin_bags(bag, id, i);
      bag = std::max(bag, id + 1);
    }
    begin_bags(bag, nest_.bags, nest_.segments);
  }

  // Bags [first, last] begin at `entry`.
  void begin_bags(int64_t first, int64_t last, int64_t entry) {
    for (int64_t bag = first; offsets_ != nullptr && bag <= last && !stops(); ++bag) {
      offsets_[bag] = entry;
    }
  }

  const BagPlan& plan_;
  CancelPoint cancel_;
  const BagNest& nest_;
  const std::byte* segments_;
  int64_t* offsets_;
};

[[noreturn]] void refuse_memory(const BagPlan& plan) {
  refuse_as(ErrorCode::kOutOfMemory, plan.request(), {Reason::kMemory}, "out of memory",
            "the offsets of the bags, or the sums of one, do not fit into memory",
            "fewer bags per call");
}

void run_on_host(const BagPlan& plan, const BagMemory& memory, const Queue& queue,
                 const RunOptions& options) {
  const BagNest& nest = plan.nest();
  const BagChoice choice = choose_bag(plan, host_backends(), options.kernel);
  const auto offsets = bag_offsets(plan, memory.segments, nest.has_output());
  Launch launch = host_launch(queue);
  const Plan* const gather = plan.checked_gather();
  if (gather != nullptr) {
    try {
      check_before(*gather, *choice.backend, bag_checks(nest, *choice.kernel),
                   static_cast<const std::byte*>(memory.indices), options.output_is_fresh, launch);
    } catch (const Error&) {
      throw_if_cancelled(launch.cancel, plan.request().name);  // in the bag's words
      throw;
    }
  }
  if (!nest.has_output()) {
    return;
  }
  const DefaultFloatMode mode;
  const BagBuffers buffers{
      {static_cast<const std::byte*>(memory.stored), static_cast<const std::byte*>(memory.scales),
       static_cast<const std::byte*>(memory.zeros)},
      static_cast<const std::byte*>(memory.indices),
      static_cast<const std::byte*>(memory.weights),
      offsets.get(),
      static_cast<std::byte*>(memory.output)};
  const BagEnd end = choice.kernel->run(nest, buffers, launch);
  throw_if_cancelled(launch.cancel, plan.request().name);
  if (end == BagEnd::kNoMemory) {
    refuse_memory(plan);
  }
  if (end == BagEnd::kBadIndex) {
    throw_bad_index_met(*gather, memory.indices);
  }
}

}  // namespace

std::unique_ptr<int64_t[]> bag_offsets(const BagPlan& plan, const void* segments, bool keep) {
  const BagNest& nest = plan.nest();
  if (nest.per_bag >= 0) {
    return nullptr;
  }
  std::unique_ptr<int64_t[]> offsets;
  if (keep) {
    offsets.reset(new (std::nothrow) int64_t[static_cast<size_t>(nest.bags) + 1]);
    if (offsets == nullptr) {
      refuse_memory(plan);
    }
  }
  with_index_type(nest.segment_type, [&](auto zero) {
    OffsetWriter<decltype(zero)>(plan, segments, offsets.get()).write();
  });
  throw_if_cancelled(current_cancel_scope(), plan.request().name);
  return offsets;
}

Checks bag_checks(const BagNest& nest, const BagKernel& kernel) {
  const bool uses_every_entry =
      nest.per_bag >= 0 || nest.form != SegmentForm::kOffsets || nest.segments == nest.bags;
  return nest.has_output() && uses_every_entry ? kernel.checks : Checks::kNever;
}

// The rule that it breaks follows from what it is: all segments before it are good.
void refuse_segment(const BagPlan& plan, int64_t at, int64_t value) {
  const BagNest& nest = plan.nest();
  const bool wrong_sum = nest.form == SegmentForm::kLengths && at == nest.segments;
  std::string rule;
  switch (nest.form) {
    case SegmentForm::kOffsets:
      rule = at == 0                ? "the first bag begins at 0"
             : value > nest.entries ? "no bag begins behind the last entry"
                                    : "bags begin in order";
      break;
    case SegmentForm::kLengths:
      rule = wrong_sum ? cat("the lengths add up to ", value)
                       : "lengths are 0 or more and add up to the entries";
      break;
    case SegmentForm::kIds:
      rule = value < 0 || value >= nest.bags ? "ids are numbers of bags" : "ids ascend";
      break;
  }
  refuse(
      plan.request(), {Reason::kShape, "segments"}, "segments do not fit",
      cat(wrong_sum ? std::string() : cat(to_string(nest.form), "[", at, "] = ", value, ", but "),
          rule, " (there are ", counted(nest.entries, "entry", "entries"), " in ",
          counted(nest.bags, "bag", "bags"), ")"),
      "segments that cover the entries in order");
}

BagChoice choose_bag(const BagPlan& plan, std::span<const Backend* const> backends,
                     std::string_view asked) {
  std::string refusals;
  for (const Backend* backend : backends) {
    for (const BagKernel& kernel : backend->bag) {
      if (!asked.empty() && asked != backend->name && asked != kernel.name) {
        continue;
      }
      const char* const why = kernel.refusal(plan.nest());
      if (why == nullptr) {
        return {backend, &kernel};
      }
      refusals += cat(refusals.empty() ? "" : "; ", kernel.name, " refuses: ", why);
    }
  }
  refuse_as(ErrorCode::kUnsupported, plan.request(), {Reason::kKernel}, "no such kernel",
            refusals.empty() ? cat("\"", asked, "\" names no bag kernel of this build") : refusals,
            "another kernel; sheaf doctor lists the backends");
}

void run(const BagPlan& plan, const BagMemory& memory, const Queue& queue,
         const RunOptions& options) {
  check_bag_memory(plan, memory);
  if (!queue.device.empty()) {
    start_bag_on_device(plan, memory, queue, options);
    return;
  }
  run_on_host(plan, memory, queue, options);
}

void BagPlan::run(const BagMemory& memory, const RunOptions& options) const {
  sheaf::run(*this, memory, {.threads = options.threads}, options);
}

}  // namespace sheaf
