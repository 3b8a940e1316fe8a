// SPDX-License-Identifier: MIT
#include "distributed/sharded_tensor.h"

#include <utility>

#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::sharded {
namespace {

using distributed::Group;

constexpr const char* kWho = "sharded tensor";

[[noreturn]] void refuse_sharded(const Cause& cause, const std::string& what,
                                 const std::string& detail, const TensorSpec& whole,
                                 const std::string& next) {
  throw Error(Refusal{.cause = cause,
                      .who = kWho,
                      .what = what,
                      .detail = detail,
                      .given = cat("whole ", whole.str()),
                      .next = next});
}

void check_part(const ShardedTensor::State& s) {
  const TensorSpec& part = s.part.tensor().spec;
  Dims wanted = s.whole.sizes;
  wanted[s.axis] = s.split.count(s.group->rank());
  const bool whole_table = s.part.table() && part.sizes == s.whole.sizes;
  if (part.dtype != s.whole.dtype) {
    refuse_sharded({Reason::kType, "data"}, "types differ",
                   cat("the part is ", part.dtype.name(), ", the whole ", s.whole.dtype.name()),
                   s.whole, "one type on all ranks");
  }
  if (part.sizes != wanted && !whole_table) {
    refuse_sharded(
        {Reason::kShape, "data", s.axis, part.sizes, wanted}, "part of the wrong shape",
        cat("the part is ", bracketed(part.sizes), ", but this rank has ", bracketed(wanted)),
        s.whole, cat("a part of shape ", bracketed(wanted)));
  }
  if (part.strides.size() != part.sizes.size()) {
    refuse_sharded(
        {Reason::kStrides, "data"}, "strides do not match sizes",
        cat("the part has ", part.sizes.size(), " sizes but ", part.strides.size(), " strides"),
        s.whole, "one stride, in elements, for each dimension");
  }
  if (!byte_range(part)) {
    refuse_sharded({Reason::kTooLarge, "data"}, "part too large",
                   cat("strides ", bracketed(part.strides), " reach further than 2^63 - 1 bytes"),
                   s.whole, "check the strides; they are in elements, not in bytes");
  }
  if (!elements_disjoint(part)) {
    refuse_sharded({Reason::kStrides, "data"}, "part overlaps itself",
                   cat("strides ", bracketed(part.strides), " place several elements in one spot"),
                   s.whole, "a part whose strides keep its elements apart");
  }
  if (s.part.tensor().data == nullptr && !s.part.table() && element_count(wanted) > 0) {
    refuse_sharded({Reason::kNull, "data"}, "null pointer",
                   "the part has elements, but its pointer is null", s.whole,
                   "the memory of the part");
  }
}

// Made non-negative.
int checked_axis(const TensorSpec& whole, int64_t axis) {
  const int rank = whole.rank();
  if (axis < -rank || axis >= rank) {
    refuse_sharded(
        {Reason::kAxis, "data"}, "axis out of range",
        cat("axis ", axis, ", but the tensor has ", counted(rank, "dimension", "dimensions")),
        whole, "an axis of the tensor");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void check_split(const ShardedTensor::State& s) {
  if (s.split.ranks() != s.group->ranks() || s.split.entries() != s.whole.sizes[s.axis]) {
    refuse_sharded({Reason::kShape, "data", s.axis}, "split does not fit",
                   cat("the split has ", s.split.entries(), " entries on ", s.split.ranks(),
                       " ranks; axis ", s.axis, " has ", s.whole.sizes[s.axis], ", and there are ",
                       counted(s.group->ranks(), "rank", "ranks")),
                   s.whole, "a split of this axis over this group");
  }
}

// What has to be the same on all ranks.
std::string identity(const ShardedTensor::State& s) {
  std::string text = cat("whole ", s.whole.str(), "   axis ", s.axis, "   entries per rank");
  for (int rank = 0; rank < s.split.ranks(); ++rank) {
    text += cat(" ", s.split.count(rank));
  }
  return cat(text, "   blocks of ", s.split.block());
}

std::shared_ptr<const ShardedTensor::State> checked_state(std::shared_ptr<const Group> group,
                                                          const TensorSpec& whole, int64_t axis,
                                                          const Split& split, const Part& part) {
  auto state = std::make_shared<ShardedTensor::State>(
      ShardedTensor::State{std::move(group), TensorSpec(whole.dtype, whole.sizes), 0, split, part});
  state->group->together(kWho, [&] {
    state->axis = checked_axis(whole, axis);
    check_split(*state);
    check_part(*state);
  });
  state->group->same_everywhere(kWho, identity(*state));
  return state;
}

// The split whose ranks have these entries, one after the other.
Split joined_split(const std::vector<int64_t>& counts, const TensorSpec& part) {
  std::vector<int64_t> offsets{0};
  for (const int64_t count : counts) {
    const auto end = checked_add(offsets.back(), count);
    if (!end) {
      refuse_sharded({Reason::kTooLarge, "data"}, "tensor too large",
                     "the parts have more than 2^63 - 1 entries together", part,
                     "check how the shape was computed");
    }
    offsets.push_back(*end);
  }
  return Split::at_offsets(std::move(offsets));
}

}  // namespace

ShardedTensor::ShardedTensor(std::shared_ptr<Transport> transport, const TensorSpec& whole,
                             int64_t axis, const Split& split, const Part& part)
    : state_(checked_state(std::make_shared<const Group>(std::move(transport)), whole, axis, split,
                           part)) {}

ShardedTensor::ShardedTensor(std::shared_ptr<Transport> transport, int64_t axis, const Part& part) {
  auto group = std::make_shared<const Group>(std::move(transport));
  TensorSpec whole = part.tensor().spec;
  int at = 0;
  group->together(kWho, [&] { at = checked_axis(whole, axis); });
  std::vector<int64_t> counts(static_cast<size_t>(group->ranks()));
  group->exchange_counts(std::vector<int64_t>(counts.size(), whole.sizes[at]), counts, INT64_MAX);
  Split split = Split::block(0, 1);
  group->together(kWho, [&] { split = joined_split(counts, whole); });
  whole.sizes[at] = split.entries();
  state_ = checked_state(std::move(group), whole, at, split, part);
}

ShardedTensor ShardedTensor::with_part(const Part& part) const {
  auto state = std::make_shared<State>(*state_);
  state->whole.dtype = part.tensor().spec.dtype;
  state->part = part;
  check_part(*state);
  ShardedTensor tensor = *this;
  tensor.state_ = std::move(state);
  return tensor;
}

const TensorSpec& ShardedTensor::spec() const { return state_->whole; }
int ShardedTensor::axis() const { return state_->axis; }
const Split& ShardedTensor::split() const { return state_->split; }
const Part& ShardedTensor::part() const { return state_->part; }
int ShardedTensor::rank() const { return state_->group->rank(); }
int ShardedTensor::ranks() const { return state_->group->ranks(); }

}  // namespace sheaf::sharded
