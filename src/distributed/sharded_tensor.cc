// SPDX-License-Identifier: MIT
#include "distributed/sharded_tensor.h"

#include "distributed/communicator.h"
#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf::mpi {
namespace {

[[noreturn]] void refuse_sharded(const Cause& cause, const std::string& what,
                                 const std::string& detail, const TensorSpec& whole,
                                 const std::string& next) {
  throw Error(Refusal{.cause = cause,
                      .who = "sharded tensor",
                      .what = what,
                      .detail = detail,
                      .given = cat("whole ", whole.str()),
                      .next = next});
}

void check_part(const ShardedTensor::State& s) {
  const TensorSpec& part = s.part.tensor().spec;
  Dims wanted = s.whole.sizes;
  wanted[s.axis] = s.split.count(s.comm.rank());
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

void check_whole(const ShardedTensor::State& s, int64_t axis) {
  const int rank = s.whole.rank();
  if (axis < -rank || axis >= rank) {
    refuse_sharded(
        {Reason::kAxis, "data"}, "axis out of range",
        cat("axis ", axis, ", but the tensor has ", counted(rank, "dimension", "dimensions")),
        s.whole, "an axis of the tensor");
  }
}

void check_split(const ShardedTensor::State& s) {
  if (s.split.ranks() != s.comm.ranks() || s.split.entries() != s.whole.sizes[s.axis]) {
    refuse_sharded({Reason::kShape, "data", s.axis}, "split does not fit",
                   cat("the split has ", s.split.entries(), " entries on ", s.split.ranks(),
                       " ranks; axis ", s.axis, " has ", s.whole.sizes[s.axis], ", and there are ",
                       counted(s.comm.ranks(), "rank", "ranks")),
                   s.whole, "a split of this axis over this communicator");
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

}  // namespace

ShardedTensor::ShardedTensor(MPI_Comm comm, const TensorSpec& whole, int64_t axis,
                             const Split& split, const Part& part) {
  auto state = std::make_shared<State>(comm, whole, split, part);
  state->comm.together("sharded tensor", [&] {
    check_whole(*state, axis);
    state->axis = static_cast<int>(axis < 0 ? axis + whole.rank() : axis);
    check_split(*state);
    check_part(*state);
  });
  state->comm.same_everywhere("sharded tensor", identity(*state));
  state_ = std::move(state);
}

const TensorSpec& ShardedTensor::spec() const { return state_->whole; }
int ShardedTensor::axis() const { return state_->axis; }
const Split& ShardedTensor::split() const { return state_->split; }
const Part& ShardedTensor::part() const { return state_->part; }
int ShardedTensor::rank() const { return state_->comm.rank(); }
int ShardedTensor::ranks() const { return state_->comm.ranks(); }

}  // namespace sheaf::mpi
