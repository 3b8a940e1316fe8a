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

// Which block a cell is in. Multiplication by an odd constant, high bits: hot neighbours separate.
int64_t block_of(int64_t cell, int64_t blocks) {
  const uint64_t mixed = static_cast<uint64_t>(cell) * 0x9e3779b97f4a7c15U;
  return static_cast<int64_t>((mixed >> 32) % static_cast<uint64_t>(blocks));
}

}  // namespace

ScatterRun::ScatterRun(const Communicator& comm, const mpi::ShardedTensor& tensor, const Plan& plan,
                       const CellSpace& space, const mpi::ShardedOptions& options,
                       int64_t largest_tuples)
    : comm_(comm),
      split_(tensor.split()),
      plan_(plan),
      space_(space),
      most_updates_(saturating_mul(largest_tuples, comm.ranks())),
      capacity_(step_capacity(plan, space, options.workspace_bytes, most_updates_)),
      part_(tensor, plan, space, capacity_, 0),
      sent_(size(comm.ranks())),
      received_(size(comm.ranks())),
      chunk_(size(kScanned)),
      steps_{Step({comm, options.message_bytes}), Step({comm, options.message_bytes})} {
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
      const mpi::Split::Place place = split_.place(cell / space_.inner);
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
  comm_.exchange(sent_, received_);
  const int64_t theirs = std::accumulate(received_.begin(), received_.end(), int64_t{0});
  const int64_t most = comm_.largest(std::max(mine, theirs));
  // Twice as many blocks as fill the workspace exactly: blocks are not all of one size.
  blocks_ = most <= capacity_ ? 1 : 2 * pieces_of(most, capacity_);
  try {
    part_.begin();
  } catch (...) {
    failed_ = std::current_exception();  // the other ranks expect this one's messages all the same
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
  comm_.together(plan_.request().name, [&] {
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
    comm_.exchange(sent_, received_);
    fits = all_have_room(mine);
  }
  if (fits) {
    select(indices, block, 0);
    comm_.exchange(sent_, received_);
    // Indices that have changed since they were counted may all lead to one rank now.
    if (capacity_ >= most_updates_ || all_have_room(std::ssize(selected_))) {
      push(updates);
      return;
    }
    mine = count_block(indices, block);
  }
  for (int sender = 0; sender < comm_.ranks(); ++sender) {
    const bool me = sender == comm_.rank();
    const int64_t pieces = comm_.largest(me ? pieces_of(mine, capacity_) : 0);
    int64_t from = 0;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      from = select(indices, block, me ? from : space_.tuples);
      comm_.exchange(sent_, received_);
      push(updates);
    }
  }
}

// Whether every rank can hold what it sends and what it receives.
bool ScatterRun::all_have_room(int64_t sent) const {
  const int64_t received = std::accumulate(received_.begin(), received_.end(), int64_t{0});
  return comm_.largest(std::max(sent, received)) <= capacity_;
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
  int64_t out = 0, in = 0;
  for (int rank = 0; rank < comm_.ranks(); ++rank) {
    const int64_t sent = sent_[size(rank)], received = received_[size(rank)];
    const int64_t* from_cells = step.sent_cells.data() + out;
    const std::byte* from_rows = step.sent_rows.data() + out * row_bytes;
    int64_t* to_cells = step.received_cells.data() + in;
    std::byte* to_rows = step.received_rows.data() + in * row_bytes;
    if (rank == comm_.rank()) {
      std::copy_n(from_cells, sent, to_cells);
      std::copy_n(from_rows, sent * row_bytes, to_rows);
    } else {
      step.messages.receive(rank, to_cells, received * 8, kCells);
      step.messages.receive(rank, to_rows, received * row_bytes, kRows);
      step.messages.send(rank, from_cells, sent * 8, kCells);
      step.messages.send(rank, from_rows, sent * row_bytes, kRows);
      traffic.bytes_sent += sent * (8 + row_bytes);
      traffic.bytes_received += received * (8 + row_bytes);
      traffic.rows += received;
    }
    out += sent;
    in += received;
  }
  step.received = in;
}

void ScatterRun::apply_pending() {
  if (pending_ == nullptr) {
    return;
  }
  Step& step = *pending_;
  pending_ = nullptr;
  step.messages.wait();
  try {
    part_.apply(step.received_cells.data(), step.received, step.received_rows.data());
  } catch (...) {
    failed_ = std::current_exception();
  }
}

}  // namespace sheaf::distributed
