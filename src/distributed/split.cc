// SPDX-License-Identifier: MIT
#include <algorithm>

#include "plan/refuse.h"
#include "sheaf/sharded.h"
#include "support/text.h"

namespace sheaf::sharded {
namespace {

[[noreturn]] void refuse_split(const std::string& detail, const std::string& next) {
  throw Error(Refusal{.cause = {Reason::kOption},
                      .who = "split",
                      .what = "impossible division",
                      .detail = detail,
                      .next = next});
}

void check_split(int64_t entries, int ranks) {
  if (entries < 0 || ranks < 1) {
    refuse_split(cat(entries, " entries over ", ranks, " ranks"),
                 "0 or more entries, 1 or more ranks");
  }
}

[[noreturn]] void refuse_place(const std::string& detail, const std::string& next) {
  throw Error(Refusal{.cause = {Reason::kOption},
                      .who = "split",
                      .what = "outside the split",
                      .detail = detail,
                      .next = next});
}

void check_rank(const Split& split, int rank) {
  if (rank < 0 || rank >= split.ranks()) {
    refuse_place(cat("rank ", rank), cat("a rank from 0 to ", split.ranks() - 1));
  }
}

}  // namespace

Split Split::block(int64_t entries, int ranks) {
  check_split(entries, ranks);
  Split split;
  split.ranks_ = ranks;
  split.entries_ = entries;
  split.small_ = entries / ranks;
  split.large_ = entries % ranks;
  return split;
}

Split Split::block_cyclic(int64_t entries, int ranks, int64_t block) {
  check_split(entries, ranks);
  if (block < 1) {
    refuse_split(cat("blocks of ", block, " entries"), "blocks of 1 or more");
  }
  Split split;
  split.ranks_ = ranks;
  split.entries_ = entries;
  split.block_ = block;
  return split;
}

Split Split::at_offsets(std::vector<int64_t> offsets) {
  if (offsets.size() < 2 || offsets.front() != 0 ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    refuse_split("offsets start at 0, never fall, and are one more than the ranks",
                 "{0, end of rank 0, end of rank 1, …}");
  }
  Split split;
  split.ranks_ = static_cast<int>(std::min<size_t>(offsets.size() - 1, INT32_MAX));
  split.entries_ = offsets.back();
  split.offsets_ = std::move(offsets);
  return split;
}

int64_t Split::count(int rank) const {
  check_rank(*this, rank);
  if (!offsets_.empty()) {
    const auto r = static_cast<size_t>(rank);
    return offsets_[r + 1] - offsets_[r];
  }
  if (block_ == 0) {
    return small_ + (rank < large_ ? 1 : 0);
  }
  const int64_t blocks = entries_ / block_;  // whole ones; a shorter one may follow
  const int64_t last = entries_ % block_;
  return (blocks / ranks_ + (rank < blocks % ranks_ ? 1 : 0)) * block_ +
         (rank == blocks % ranks_ ? last : 0);
}

int64_t Split::entry(int rank, int64_t local) const {
  check_rank(*this, rank);
  if (!offsets_.empty()) {
    return offsets_[static_cast<size_t>(rank)] + local;
  }
  if (block_ == 0) {
    return rank * small_ + std::min<int64_t>(rank, large_) + local;
  }
  return (local / block_ * ranks_ + rank) * block_ + local % block_;
}

Split::Place Split::place(int64_t entry) const {
  if (entry < 0 || entry >= entries_) {
    refuse_place(cat("entry ", entry), cat("an entry from 0 to ", entries_ - 1));
  }
  if (!offsets_.empty()) {  // of ranks without entries, upper_bound passes over all but the owner
    const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), entry);
    return {static_cast<int>(after - offsets_.begin()) - 1, entry - *(after - 1)};
  }
  if (block_ == 0) {
    const int64_t in_large = large_ * (small_ + 1);
    if (entry < in_large) {
      return {static_cast<int>(entry / (small_ + 1)), entry % (small_ + 1)};
    }
    const int64_t rest = entry - in_large;
    return {static_cast<int>(large_ + rest / small_), rest % small_};
  }
  const int64_t block = entry / block_;
  return {static_cast<int>(block % ranks_), block / ranks_ * block_ + entry % block_};
}

}  // namespace sheaf::sharded
