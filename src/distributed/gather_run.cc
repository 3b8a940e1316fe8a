// SPDX-License-Identifier: MIT
#include "distributed/gather_run.h"

#include <algorithm>
#include <numeric>

#include "distributed/rows.h"
#include "plan/refuse.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

constexpr int64_t kRoundBytes = int64_t{1} << 20;
// Below this many rows per message, latency costs more than the cache saves.
constexpr int64_t kMinRows = 64;

// Two rounds are under way at a time: cells and rows of both, on both sides.
int64_t bytes_per_quota(const CellSpace& space, int ranks) {
  const int64_t rows = saturating_mul(4, space.row_bytes());
  return saturating_mul(ranks,
                        saturating_add(rows, 2 * int64_t{8} + LocalPart::bytes_per_row(space)));
}

int64_t batch_tuples(int64_t workspace, int64_t largest) {
  const int64_t room = std::min<int64_t>(workspace / 2 / DistinctCells::kBytesPerTuple, INT32_MAX);
  return std::max<int64_t>(std::min(room, largest), 1);
}

int64_t row_quota(const Plan& plan, const CellSpace& space, int ranks, int64_t workspace,
                  int64_t batch) {
  const int64_t least = saturating_mul(2, bytes_per_quota(space, ranks));
  const int64_t quota = workspace / 2 / bytes_per_quota(space, ranks);
  if (quota < 1) {
    refuse(plan.request(), {Reason::kOption}, "workspace too small",
           cat("workspace_bytes = ", workspace, ", but a row of ", space.row_bytes(),
               " bytes per pair of ", ranks, " ranks needs ", least),
           cat("workspace_bytes = ", least, " or more"));
  }
  // Rows of one round stay in the cache between gather, message and unpacking.
  const int64_t in_cache =
      kRoundBytes / saturating_mul(ranks, std::max<int64_t>(space.row_bytes(), 1));
  return std::min({quota, batch, std::max(in_cache, kMinRows)});
}

}  // namespace

GatherRun::GatherRun(const Group& group, const sharded::ShardedTensor& tensor, const Plan& plan,
                     const CellSpace& space, const sharded::ShardedOptions& options,
                     int64_t largest_tuples)
    : group_(group),
      plan_(plan),
      space_(space),
      largest_tuples_(largest_tuples),
      batch_tuples_(batch_tuples(options.workspace_bytes, largest_tuples)),
      batches_(pieces_of(largest_tuples, batch_tuples_)),
      quota_(row_quota(plan, space, group.ranks(), options.workspace_bytes, batch_tuples_)),
      distinct_(tensor.split(), space.inner, std::min(batch_tuples_, space.tuples)),
      part_(tensor, plan, space, quota_ * group.ranks(), options.workspace_bytes / 4),
      cells_(size(std::min(batch_tuples_, space.tuples))),
      requests_{{group, options.message_bytes}, {group, options.message_bytes}},
      replies_{{group, options.message_bytes}, {group, options.message_bytes}} {
  const int64_t rows = quota_ * group.ranks();
  counts_.asked.resize(size(group.ranks()));
  counts_.served.resize(size(group.ranks()));
  for (int buffer = 0; buffer < 2; ++buffer) {
    asked_cells_[buffer].resize(size(rows));
    served_[buffer].resize(size(rows * space.row_bytes()));
    received_[buffer].resize(size(rows * space.row_bytes()));
  }
}

void GatherRun::run(const void* indices, std::byte* output) {
  traffic = {};
  failed_ = nullptr;
  for (int64_t batch = 0; batch < batches_; ++batch) {
    const int64_t first = std::min(batch * batch_tuples_, space_.tuples);
    run_batch(indices, first, std::min(batch_tuples_, space_.tuples - first), output);
  }
  group_.together(plan_.request().name, [&] {
    if (failed_) {
      std::rethrow_exception(failed_);
    }
  });
}

void GatherRun::run_batch(const void* indices, int64_t first, int64_t count, std::byte* output) {
  read_cells(space_, plan_, indices, first, count, cells_.data());
  distinct_.assign(cells_.data(), count);
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    counts_.asked[size(rank)] = distinct_.begin(rank + 1) - distinct_.begin(rank);
  }
  // As many rounds as the largest count needs: exchanges are collective.
  const int64_t largest = group_.exchange_counts(counts_.asked, counts_.served,
                                                 std::min(largest_tuples_, batch_tuples_));
  const int64_t rounds = pieces_of(largest, quota_);
  fill(first, count, output);
  traffic.rounds += rounds;
  if (rounds > 0) {
    post_requests(0);
  }
  for (int64_t round = 0; round < rounds; ++round) {
    requests_[round % 2].wait();
    if (round + 1 < rounds) {
      post_requests(round + 1);
    }
    serve(round);
    post_replies(round);
    if (round > 0) {
      unpack(round - 1, first, output);
    }
  }
  if (rounds > 0) {
    unpack(rounds - 1, first, output);
  }
}

// Of `total` rows between two ranks, those of this round.
int64_t GatherRun::rows_in(int64_t total, int64_t round) const {
  return std::clamp<int64_t>(total - round * quota_, 0, quota_);
}

// Rows of this round that `rank` asks for. Own rows are not served where they can be copied from
// the part itself.
int64_t GatherRun::rows_for(int rank, int64_t round) const {
  return rank == group_.rank() && part_.has_rows() ? 0 : rows_in(counts_.served[size(rank)], round);
}

void GatherRun::post_requests(int64_t round) {
  Messages& messages = requests_[round % 2];
  int64_t* asked = asked_cells_[round % 2].data();
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    const int64_t wanted = rows_in(counts_.asked[size(rank)], round);
    const int64_t* cells = distinct_.local_cells() + distinct_.begin(rank) + round * quota_;
    const int64_t theirs = rows_for(rank, round);
    if (rank == group_.rank()) {
      std::copy_n(cells, theirs, asked);
    } else {
      messages.receive(rank, asked, theirs * 8);
      messages.send(rank, cells, wanted * 8);
      traffic.bytes_sent += wanted * 8;
      traffic.bytes_received += theirs * 8;
    }
    asked += theirs;
  }
  messages.start();
}

// A part that fails (a file that cannot be read) must not leave the others waiting: they get
// undefined rows, and the error at the end.
void GatherRun::serve(int64_t round) {
  int64_t rows = 0;
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    rows += rows_for(rank, round);
  }
  if (!failed_) {
    try {
      part_.gather(asked_cells_[round % 2].data(), rows, served_[round % 2].data());
    } catch (...) {
      failed_ = std::current_exception();
    }
  }
}

void GatherRun::post_replies(int64_t round) {
  Messages& messages = replies_[round % 2];
  const std::byte* served = served_[round % 2].data();
  std::byte* received = received_[round % 2].data();
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    const int64_t theirs = rows_for(rank, round) * space_.row_bytes();
    const int64_t mine = rows_in(counts_.asked[size(rank)], round) * space_.row_bytes();
    if (rank != group_.rank()) {
      messages.receive(rank, received, mine);
      messages.send(rank, served, theirs);
      traffic.bytes_sent += theirs;
      traffic.bytes_received += mine;
      traffic.rows += rows_in(counts_.asked[size(rank)], round);
    }
    served += theirs;
    received += mine;
  }
  messages.start();
}

void GatherRun::unpack(int64_t round, int64_t first, std::byte* output) {
  if (part_.has_rows()) {
    unpack_own(round, first, output);  // while replies travel
  }
  replies_[round % 2].wait();
  const std::byte* served = served_[round % 2].data();
  const std::byte* received = received_[round % 2].data();
  const int64_t row_bytes = space_.row_bytes();
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    const int64_t rows = rows_in(counts_.asked[size(rank)], round);
    const bool own = rank == group_.rank();
    if (!own || !part_.has_rows()) {  // own rows did not travel
      unpack_from(own ? served : received, rank, round, first, output);
    }
    served += rows_for(rank, round) * row_bytes;
    received += rows * row_bytes;
  }
}

// Rows of `rank`, one after the other from `rows` on.
void GatherRun::unpack_from(const std::byte* rows, int rank, int64_t round, int64_t first,
                            std::byte* output) {
  const int64_t count = rows_in(counts_.asked[size(rank)], round);
  const int64_t number = distinct_.begin(rank) + round * quota_;
  for (int64_t i = 0; i < count; ++i, rows += space_.row_bytes()) {
    for (int32_t t = distinct_.first_tuple(number + i); t >= 0; t = distinct_.next_tuple(t)) {
      unpack_row(space_, first + t, rows, output);
    }
  }
}

// Rows of this rank's own part, copied from the part itself. They are scattered, so they are
// prefetched.
void GatherRun::unpack_own(int64_t round, int64_t first, std::byte* output) {
  constexpr int64_t kAhead = 8, kLine = 64, kMostLines = 8;
  const int64_t count = rows_in(counts_.asked[size(group_.rank())], round);
  const int64_t number = distinct_.begin(group_.rank()) + round * quota_;
  const int64_t* const cells = distinct_.local_cells() + number;
  const int64_t prefetched = std::min(space_.row_bytes(), kMostLines * kLine);
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const std::byte* const row = part_.row(cells[i + kAhead]);
      for (int64_t at = 0; at < prefetched; at += kLine) {
        __builtin_prefetch(row + at, 0, 2);  // the second level: far faster on arm64
      }
    }
    for (int32_t t = distinct_.first_tuple(number + i); t >= 0; t = distinct_.next_tuple(t)) {
      unpack_row(space_, first + t, part_.row(cells[i]), output);
    }
  }
}

// Tuples without a cell get the fill value.
void GatherRun::fill(int64_t first, int64_t count, std::byte* output) {
  if (plan_.nest().out_of_range != OutOfRange::kFill) {
    return;
  }
  const int64_t bytes = plan_.data().dtype.bytes();
  for (int64_t t = 0; t < count; ++t) {
    if (cells_[size(t)] != kNoCell) {
      continue;
    }
    std::byte* row = output + space_.grid_offset(first + t);
    for (int64_t piece = 0; piece < space_.before; ++piece) {
      for (int64_t at = 0; at < space_.after_bytes; at += bytes) {
        copy_piece(row + piece * space_.piece_stride() + at, plan_.nest().fill_value, bytes);
      }
    }
  }
}

}  // namespace sheaf::distributed
