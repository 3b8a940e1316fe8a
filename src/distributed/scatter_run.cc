// SPDX-License-Identifier: MIT
#include "distributed/scatter_run.h"

#include <algorithm>
#include <numeric>

#include "distributed/rows.h"
#include "plan/refuse.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

constexpr int64_t kScanned = 4096;  // tuples whose cells are read at a time

int64_t bytes_per_update(const CellSpace& space) {
  const int64_t rows = saturating_mul(4, saturating_add(space.row_bytes(), 8));
  return saturating_add(rows, int64_t{sizeof(int64_t)} * 3 + LocalPart::bytes_per_row(space));
}

int64_t step_capacity(const Plan& plan, const CellSpace& space, int64_t workspace,
                      int64_t most_tuples) {
  const int64_t capacity = workspace / bytes_per_update(space);
  if (capacity < 1) {
    refuse(plan.request(), {Reason::kOption}, "workspace too small",
           cat("workspace_bytes = ", workspace, ", but one update of ", space.row_bytes(),
               " bytes needs ", bytes_per_update(space)),
           cat("workspace_bytes = ", bytes_per_update(space), " or more"));
  }
  return std::max<int64_t>(std::min(capacity, most_tuples), 1);
}

// Which block a cell is in. The high bits of a product with an odd constant: neighbouring hot cells
// separate.
int64_t block_of(int64_t cell, int64_t blocks) {
  const uint64_t mixed = static_cast<uint64_t>(cell) * 0x9e3779b97f4a7c15U;
  return static_cast<int64_t>((mixed >> 32) % static_cast<uint64_t>(blocks));
}

}  // namespace

ScatterRun::ScatterRun(const Group& group, const sharded::ShardedTensor& tensor, const Plan& plan,
                       const CellSpace& space, const sharded::ShardedOptions& options,
                       int64_t largest_tuples)
    : group_(group),
      split_(tensor.split()),
      plan_(plan),
      space_(space),
      largest_tuples_(largest_tuples),
      most_updates_(saturating_mul(largest_tuples, group.ranks())),
      capacity_(step_capacity(plan, space, options.workspace_bytes, most_updates_)),
      part_(tensor, plan, space, capacity_, 0),
      sent_(size(group.ranks())),
      received_(size(group.ranks())),
      chunk_(size(kScanned)),
      steps_{{group, options.message_bytes}, {group, options.message_bytes}} {
  const int64_t most_sent = std::min(capacity_, space.tuples);
  selected_.reserve(size(most_sent));
  for (Step& step : steps_) {
    step.sent_cells.resize(size(most_sent));
    step.sent_rows.resize(size(most_sent * space.row_bytes()));
    step.received_cells.resize(size(capacity_));
    step.received_rows.resize(size(capacity_ * space.row_bytes()));
  }
}

// Calls use(update) for the updates of `block` among tuples [from, …) until it returns false.
// Returns the tuple to go on from.
template <class Use>
int64_t ScatterRun::scan(const void* indices, int64_t block, int64_t from, Use use) {
  for (int64_t first = from; first < space_.tuples; first += kScanned) {
    const int64_t count = std::min(kScanned, space_.tuples - first);
    read_cells(space_, plan_, indices, first, count, chunk_.data());
    for (int64_t t = 0; t < count; ++t) {
      const int64_t cell = chunk_[size(t)];
      if (cell == kNoCell || (blocks_ > 1 && block_of(cell, blocks_) != block)) {
        continue;
      }
      const sharded::Split::Place place = split_.place(cell / space_.inner);
      if (!use(Update{first + t, place.local * space_.inner + cell % space_.inner, place.rank})) {
        return first + t;
      }
    }
  }
  return space_.tuples;
}

// Sets sent_; returns the sum.
int64_t ScatterRun::count_block(const void* indices, int64_t block) {
  std::fill(sent_.begin(), sent_.end(), 0);
  scan(indices, block, 0, [&](const Update& update) {
    ++sent_[size(update.owner)];
    return true;
  });
  return std::accumulate(sent_.begin(), sent_.end(), int64_t{0});
}

// Fills selected_ and sent_ with up to capacity_ updates of a block.
int64_t ScatterRun::select(const void* indices, int64_t block, int64_t from) {
  selected_.clear();
  std::fill(sent_.begin(), sent_.end(), 0);
  return scan(indices, block, from, [&](const Update& update) {
    if (std::ssize(selected_) == capacity_) {
      return false;
    }
    selected_.push_back(update);
    ++sent_[size(update.owner)];
    return true;
  });
}

void ScatterRun::run(const void* indices, const std::byte* updates) {
  traffic = {};
  failed_ = nullptr;
  blocks_ = 1;
  const int64_t mine = count_block(indices, 0);
  exchange_counts();
  const int64_t theirs = std::accumulate(received_.begin(), received_.end(), int64_t{0});
  const int64_t most = group_.largest(std::max(mine, theirs));
  // Twice as many blocks as fill the workspace exactly: blocks are not all of one size.
  blocks_ = most <= capacity_ ? 1 : 2 * pieces_of(most, capacity_);
  try {
    part_.begin();
  } catch (...) {
    failed_ = std::current_exception();  // the other ranks still wait for this one's messages
  }
  for (int64_t block = 0; block < blocks_; ++block) {
    run_block(indices, updates, block);
  }
  apply_pending();
  try {
    part_.end();
  } catch (...) {
    failed_ = std::current_exception();
  }
  group_.together(plan_.request().name, [&] {
    if (failed_) {
      std::rethrow_exception(failed_);
    }
  });
}

void ScatterRun::run_block(const void* indices, const std::byte* updates, int64_t block) {
  bool fits = true;
  int64_t mine = 0;
  if (blocks_ > 1) {
    mine = count_block(indices, block);
    exchange_counts();
    fits = all_have_room(mine);
  }
  if (fits) {
    select(indices, block, 0);
    exchange_counts();
    // Indices that have changed since they were counted may all name cells of one rank now.
    if (capacity_ >= most_updates_ || all_have_room(std::ssize(selected_))) {
      push(updates);
      return;
    }
    mine = count_block(indices, block);
  }
  for (int sender = 0; sender < group_.ranks(); ++sender) {
    const bool me = sender == group_.rank();
    const int64_t pieces = group_.largest(me ? pieces_of(mine, capacity_) : 0);
    int64_t from = 0;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      from = select(indices, block, me ? from : space_.tuples);
      exchange_counts();
      push(updates);
    }
  }
}

void ScatterRun::exchange_counts() { group_.exchange_counts(sent_, received_, largest_tuples_); }

// Whether every rank can hold what it sends and what it receives.
bool ScatterRun::all_have_room(int64_t sent) const {
  const int64_t received = std::accumulate(received_.begin(), received_.end(), int64_t{0});
  return group_.largest(std::max(sent, received)) <= capacity_;
}

// Sends what is selected, and meanwhile applies what came in the step before.
void ScatterRun::push(const std::byte* updates) {
  Step& step = steps_[current_];
  current_ = 1 - current_;
  pack(step, updates);
  exchange(step);
  apply_pending();
  pending_ = &step;
  ++traffic.rounds;
}

void ScatterRun::pack(Step& step, const std::byte* updates) {
  std::vector<int64_t> at(sent_.size());
  std::exclusive_scan(sent_.begin(), sent_.end(), at.begin(), int64_t{0});
  for (const Update& update : selected_) {
    const int64_t to = at[size(update.owner)]++;
    step.sent_cells[size(to)] = update.cell;
    pack_row(space_, update.tuple, updates, step.sent_rows.data() + to * space_.row_bytes());
  }
}

void ScatterRun::exchange(Step& step) {
  const int64_t row_bytes = space_.row_bytes();
  if (std::accumulate(received_.begin(), received_.end(), int64_t{0}) > capacity_) {
    group_.refuse_message("ranks announce more updates than they said there are");
  }
  int64_t out = 0, in = 0;
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    const int64_t sent = sent_[size(rank)], received = received_[size(rank)];
    const int64_t* from_cells = step.sent_cells.data() + out;
    const std::byte* from_rows = step.sent_rows.data() + out * row_bytes;
    int64_t* to_cells = step.received_cells.data() + in;
    std::byte* to_rows = step.received_rows.data() + in * row_bytes;
    if (rank == group_.rank()) {
      std::copy_n(from_cells, sent, to_cells);
      std::copy_n(from_rows, sent * row_bytes, to_rows);
    } else {
      step.cells.receive(rank, to_cells, received * 8);
      step.cells.send(rank, from_cells, sent * 8);
      step.rows.receive(rank, to_rows, received * row_bytes);
      step.rows.send(rank, from_rows, sent * row_bytes);
      traffic.bytes_sent += sent * (8 + row_bytes);
      traffic.bytes_received += received * (8 + row_bytes);
      traffic.rows += received;
    }
    out += sent;
    in += received;
  }
  step.cells.start();
  step.rows.start();
  step.received = in;
}

void ScatterRun::apply_pending() {
  if (pending_ == nullptr) {
    return;
  }
  Step& step = *pending_;
  pending_ = nullptr;
  step.cells.wait();
  step.rows.wait();
  try {
    part_.apply(step.received_cells.data(), step.received, step.received_rows.data());
  } catch (...) {
    failed_ = std::current_exception();
  }
}

}  // namespace sheaf::distributed
