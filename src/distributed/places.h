// SPDX-License-Identifier: MIT
//
// Split::place() for many entries: a split into equal blocks is looked up by an estimate instead of
// a division, which costs more than the rest of the work on an index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "distributed/cells.h"
#include "sheaf/sharded.h"

namespace sheaf::distributed {

class Places {
 public:
  explicit Places(const sharded::Split& split) : split_(split), ranks_(split.ranks()) {
    if (split.entries() == 0 || split != sharded::Split::block(split.entries(), ranks_)) {
      return;
    }
    ranks_per_entry_ = static_cast<double>(ranks_) / static_cast<double>(split.entries());
    for (int rank = 0; rank < ranks_; ++rank) {
      begins_.push_back(split.entry(rank, 0));
    }
    begins_.push_back(std::numeric_limits<int64_t>::max());
  }

  // `entry` is one of [0, split.entries()).
  sharded::Split::Place of(int64_t entry) const {
    return begins_.empty() ? split_.place(entry)
                           : in_blocks(entry, begins_.data(), ranks_per_entry_, ranks_ - 1);
  }

  // Owners of cells, and the numbers of the cells there; ranks() and 0 for kNoCell. `inner` cells
  // make an entry.
  void find(const int64_t* cells, int64_t count, int64_t inner, int32_t* owners,
            int64_t* locals) const {
    if (begins_.empty()) {
      find_all(cells, count, inner, owners, locals,
               [this](int64_t entry) { return split_.place(entry); });
      return;
    }
    // Locals: a stored number might change what a member holds, and would have it read again.
    const auto find_in_blocks = [begins = begins_.data(), per_entry = ranks_per_entry_,
                                 last = ranks_ - 1](int64_t entry) {
      return in_blocks(entry, begins, per_entry, last);
    };
    if (inner == 1) {
      find_all(cells, count, 1, owners, locals, find_in_blocks);
    } else {
      find_all(cells, count, inner, owners, locals, find_in_blocks);
    }
  }

 private:
  static sharded::Split::Place in_blocks(int64_t entry, const int64_t* begins,
                                         double ranks_per_entry, int last) {
    int rank = std::min(static_cast<int>(static_cast<double>(entry) * ranks_per_entry), last);
    // Off by one at most, but where ranks outnumber entries.
    while (entry < begins[rank]) {
      --rank;
    }
    while (entry >= begins[rank + 1]) {
      ++rank;
    }
    return {rank, entry - begins[rank]};
  }

  // Inlined, so that a division by an `inner` of 1 is none.
  template <class Find>
  [[gnu::always_inline]] void find_all(const int64_t* cells, int64_t count, int64_t inner,
                                       int32_t* owners, int64_t* locals, Find find) const {
    const int none = ranks_;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t cell = cells[i];
      if (cell == kNoCell) {
        owners[i] = none;
        locals[i] = 0;
        continue;
      }
      const int64_t entry = cell / inner;
      const sharded::Split::Place place = find(entry);
      owners[i] = place.rank;
      locals[i] = place.local * inner + (cell - entry * inner);
    }
  }

  const sharded::Split& split_;
  int ranks_;
  double ranks_per_entry_ = 0;
  std::vector<int64_t> begins_;  // first entry of each rank, then a sentinel; empty: not blocks
};

}  // namespace sheaf::distributed
