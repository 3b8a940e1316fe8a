// SPDX-License-Identifier: MIT
#include "distributed/shared_gather.h"

#include <algorithm>

#include "distributed/rows.h"
#include "execution/host_steps.h"
#include "support/checked.h"

namespace sheaf::distributed {
namespace {

// Rows of one round stay in the cache between the owner's gather and the copy to the output.
constexpr int64_t kServedBytes = int64_t{1} << 20;
// Below this many rows per pair of ranks, waiting costs more than the cache saves.
constexpr int64_t kLeastRows = 64;
constexpr int64_t kChunk = 512;  // cells that stay in the first-level cache

// Memory per row of quota and pair of ranks: rows, cells and tuples of kParts rounds, and the cells
// that are served.
int64_t memory_per_quota(const CellSpace& space, int ranks) {
  constexpr int64_t kCell = 8, kTuple = 12;
  const int64_t parts =
      saturating_mul(Board::kParts, saturating_add(space.row_bytes(), kCell + kTuple));
  return saturating_mul(ranks, saturating_add(parts, kCell + LocalPart::bytes_per_row(space)));
}

int64_t served_quota(const CellSpace& space, int ranks, int64_t workspace, int64_t largest_tuples) {
  const int64_t in_workspace = workspace / 2 / memory_per_quota(space, ranks);
  const int64_t in_cache = kServedBytes / saturating_mul(ranks, space.row_bytes());
  return std::min({in_workspace, largest_tuples, std::max(in_cache, kLeastRows)});
}

// A round has as many tuples as owners can serve if each is asked for half of its quota; it ends
// before, where one of them is asked for more.
int64_t tuples_of_round(int64_t quota, int ranks) { return std::max(quota, quota * ranks / 2); }

int64_t address(const std::byte* pointer) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(pointer));
}

}  // namespace

std::unique_ptr<Board> SharedGather::open_board(const Group& group, const CellSpace& space,
                                                const sharded::ShardedOptions& options,
                                                int64_t largest_tuples) {
  if (!options.shared_memory || space.row_bytes() == 0) {
    return nullptr;
  }
  const int64_t quota = served_quota(space, group.ranks(), options.workspace_bytes, largest_tuples);
  if (quota < 1) {
    return nullptr;
  }
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): it loses sight of what is returned
  return Board::open(group, {quota, space.row_bytes()},
                     saturating_mul(largest_tuples, space.row_bytes()));
}

SharedGather::SharedGather(const Group& group, const sharded::ShardedTensor& tensor,
                           const Plan& plan, const CellSpace& space,
                           const sharded::ShardedOptions& options, int64_t largest_tuples,
                           Board& board)
    : group_(group),
      plan_(plan),
      space_(space),
      board_(board),
      places_(tensor.split()),
      quota_(served_quota(space, group.ranks(), options.workspace_bytes, largest_tuples)),
      round_tuples_(tuples_of_round(quota_, group.ranks())),
      part_(tensor, plan, space, quota_ * group.ranks(), options.workspace_bytes / 4),
      own_(part_.has_rows() ? group.rank() : -1),
      cells_(size(kChunk)),
      asked_cells_(size(quota_ * group.ranks())),
      bases_(size(group.ranks() + 1)),
      fill_(size(space.row_bytes())) {
  for (Round& round : rounds_) {
    round.owners.resize(size(round_tuples_));
    round.offsets.resize(size(round_tuples_));
    round.rows_before.resize(size(group.ranks()));
  }
  const int64_t element = plan.data().dtype.bytes();
  for (int64_t at = 0; at < space.row_bytes(); at += element) {
    copy_piece(fill_.data() + at, plan.nest().fill_value, element);
  }
}

void SharedGather::run(const void* indices, std::byte* output) {
  traffic = {};
  failed_ = nullptr;
  next_tuple_ = 0;
  const int64_t first = next_round_;
  int64_t round = first;
  ask(round, indices);
  for (bool more = true; more; ++round) {
    board_.wait_for_all(Board::kAsked, round);
    more = board_.anyone_has_more(round);
    if (more) {
      ask(round + 1, indices);
    }
    serve(round);
    if (round > first) {
      unpack(round - 1, output);
    }
  }
  unpack(round - 1, output);
  next_round_ = round;
  traffic.rounds = round - first;
  group_.together(plan_.request().name, [&] {
    if (failed_) {
      std::rethrow_exception(failed_);
    }
  });
}

void SharedGather::ask(int64_t round, const void* indices) {
  board_.wait_for_all(Board::kServed, round - Board::kParts);
  const Board::Asked board = board_.mine(round);
  Round& asked = rounds_[round % Board::kParts];
  const int ranks = group_.ranks();
  std::fill_n(board.counts, ranks, 0);
  asked.first = next_tuple_;
  asked.count = 0;
  for (;;) {
    // Few enough that no owner gets more requests than its quota.
    const int64_t room = quota_ - *std::max_element(board.counts, board.counts + ranks);
    const int64_t count =
        std::min({kChunk, room, round_tuples_ - asked.count, space_.tuples - next_tuple_});
    if (count == 0) {
      break;
    }
    read_cells(space_, plan_, indices, next_tuple_, count, cells_.data());
    route(asked, board, count);
    next_tuple_ += count;
  }
  board.counts[ranks] = space_.tuples - next_tuple_;
  board_.announce(Board::kAsked, round);
}

// The next `count` tuples of a round, whose cells are in cells_. Own rows are not requested where
// they can be copied from the part itself. No branch depends on the owner: it would be
// mispredicted.
void SharedGather::route(Round& asked, const Board::Asked& board, int64_t count) {
  int32_t* const owners = asked.owners.data() + asked.count;
  int64_t* const offsets = asked.offsets.data() + asked.count;
  places_.find(cells_.data(), count, space_.inner, owners, offsets);
  // Locals: a stored number might change what a member holds, and would have it read again.
  const auto [counts, cells] = board;
  const int64_t quota = quota_, row_bytes = space_.row_bytes(), own_stride = part_.row_stride();
  const int own = own_, none = group_.ranks();
  for (int64_t i = 0; i < count; ++i) {
    const int32_t owner = owners[i];
    if (owner == none) {
      continue;
    }
    const int64_t local = offsets[i], row = counts[owner];
    const int64_t is_own = owner == own ? 1 : 0;
    cells[owner * quota + row] = local;
    counts[owner] = row + 1 - is_own;
    offsets[i] = row * row_bytes + local * (own_stride * is_own);  // of own rows, `row` is 0
  }
  asked.count += count;
}

// Rows for all who ask, those of rank 0 first. A part that fails (a file that cannot be read) must
// not leave the others waiting: they get undefined rows, and the first error at the end.
void SharedGather::serve(int64_t round) {
  board_.wait_for_all(Board::kTaken, round - Board::kParts);
  Round& asked = rounds_[round % Board::kParts];
  const int me = group_.rank();
  int64_t rows = 0;
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    const int64_t count = board_.count(rank, me, round);
    std::copy_n(board_.cells(rank, me, round), count, asked_cells_.data() + rows);
    rows += count;
    traffic.rows += rank == me ? 0 : board_.count(me, rank, round);
    asked.rows_before[size(rank)] = 0;
    for (int before = 0; before < me; ++before) {
      asked.rows_before[size(rank)] += board_.count(before, rank, round);
    }
  }
  if (!failed_) {
    try {
      part_.gather(asked_cells_.data(), rows, board_.my_rows(round));
    } catch (...) {
      failed_ = std::current_exception();
    }
  }
  board_.announce(Board::kServed, round);
}

void SharedGather::unpack(int64_t round, std::byte* output) {
  board_.wait_for_all(Board::kServed, round);
  Round& asked = rounds_[round % Board::kParts];
  const int64_t row_bytes = space_.row_bytes();
  // Rows are in several allocations: offsets between them are computed from addresses.
  const std::byte* const origin = board_.my_rows(round);
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    const std::byte* const rows =
        rank == own_ ? part_.row(0)
                     : board_.rows(rank, round) + asked.rows_before[size(rank)] * row_bytes;
    bases_[size(rank)] = address(rows) - address(origin);
  }
  bases_.back() = address(fill_.data()) - address(origin);
  const int64_t* const bases = bases_.data();
  for (int64_t i = 0; i < asked.count; ++i) {
    asked.offsets[size(i)] += bases[asked.owners[size(i)]];
  }
  if (space_.before == 1) {
    copy_rows({origin, asked.offsets.data(), asked.count, row_bytes,
               output + asked.first * row_bytes, space_.tuples * row_bytes},
              part_.threads());
  } else {
    for (int64_t i = 0; i < asked.count; ++i) {
      unpack_row(space_, asked.first + i, origin + asked.offsets[size(i)], output);
    }
  }
  board_.announce(Board::kTaken, round);
}

}  // namespace sheaf::distributed
