// SPDX-License-Identifier: MIT
//
// A sharded gather. For each batch of tuples: find the distinct cells of each owner, send them
// there, receive rows, copy each row to its tuples. Rounds of a fixed number of rows
// per pair of ranks keep every buffer bounded, however many ranks ask one owner at once:
//
//   round k    requests travel | owner gathers | replies travel | requester unpacks
//   round k+1                    requests travel | owner gathers  | replies travel | …
//
// On one node rows need not travel: see shared_gather.h.
#pragma once

#include <exception>
#include <vector>

#include "distributed/distinct.h"
#include "distributed/group.h"
#include "distributed/local_part.h"

namespace sheaf::distributed {

class GatherRun {
 public:
  // Takes all memory. `largest_tuples` is the largest number of tuples of any rank.
  GatherRun(const Group& group, const sharded::ShardedTensor& tensor, const Plan& plan,
            const CellSpace& space, const sharded::ShardedOptions& options, int64_t largest_tuples);

  // Indices are good on every rank. Throws on every rank what went wrong with a part.
  void run(const void* indices, std::byte* output);

  sharded::ShardedPlan::Traffic traffic;

 private:
  struct Counts {
    std::vector<int64_t> asked, served;  // rows per rank, of this batch
  };

  void run_batch(const void* indices, int64_t first, int64_t count, std::byte* output);
  int64_t rows_in(int64_t total, int64_t round) const;
  int64_t rows_for(int rank, int64_t round) const;
  void post_requests(int64_t round);
  void serve(int64_t round);
  void post_replies(int64_t round);
  void unpack(int64_t round, int64_t first, std::byte* output);
  void unpack_own(int64_t round, int64_t first, std::byte* output);
  void unpack_from(const std::byte* rows, int rank, int64_t round, int64_t first,
                   std::byte* output);
  void fill(int64_t first, int64_t count, std::byte* output);

  const Group& group_;
  const Plan& plan_;
  const CellSpace& space_;
  int64_t largest_tuples_, batch_tuples_ = 0, batches_ = 0;
  int64_t quota_ = 0;  // rows per round and pair of ranks
  DistinctCells distinct_;
  LocalPart part_;
  Counts counts_;
  std::vector<int64_t> cells_;           // of the batch
  std::vector<int64_t> asked_cells_[2];  // by other ranks, per round
  std::vector<std::byte> served_[2];     // rows for them
  std::vector<std::byte> received_[2];   // rows from them
  Messages requests_[2], replies_[2];
  std::exception_ptr failed_;
};

}  // namespace sheaf::distributed
