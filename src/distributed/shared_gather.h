// SPDX-License-Identifier: MIT
//
// A sharded gather among ranks of one node. Rows are not sent: an owner gathers them into memory
// that all ranks can read, and the rank that requested them copies them to its output. A round is a
// run of neighbouring tuples, whose rows come from every rank, this one included; so the output is
// written once, from its first byte to its last.
//
//   step k    ask for round k + 1 | serve round k | unpack round k - 1
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "distributed/board.h"
#include "distributed/local_part.h"
#include "distributed/places.h"

namespace sheaf::distributed {

class SharedGather {
 public:
  // Collective: a board for this gather, or null if the options, the workspace or the ranks do not
  // allow one. `largest_tuples` is the largest number of tuples of any rank.
  static std::unique_ptr<Board> open_board(const Group& group, const CellSpace& space,
                                           const sharded::ShardedOptions& options,
                                           int64_t largest_tuples);

  // Takes all memory.
  SharedGather(const Group& group, const sharded::ShardedTensor& tensor, const Plan& plan,
               const CellSpace& space, const sharded::ShardedOptions& options,
               int64_t largest_tuples, Board& board);

  // Indices are good on every rank. Throws on every rank what went wrong with a part.
  void run(const void* indices, std::byte* output);

  sharded::ShardedPlan::Traffic traffic;

 private:
  struct Round {
    int64_t first, count;  // tuples
    // By tuple: the owner of its row, or ranks() for the fill value, and the offset of the row, in
    // bytes from the first row that this owner serves to this rank.
    std::vector<int32_t> owners;
    std::vector<int64_t> offsets;
    std::vector<int64_t> rows_before;  // by owner: rows for lower ranks, which come first
  };

  void ask(int64_t round, const void* indices);
  void route(Round& asked, const Board::Asked& board, int64_t count);
  void serve(int64_t round);
  void unpack(int64_t round, std::byte* output);

  const Group& group_;
  const Plan& plan_;
  const CellSpace& space_;
  Board& board_;
  Places places_;
  int64_t quota_, round_tuples_;
  LocalPart part_;
  int own_;  // this rank, if own rows are copied from the part itself; else -1
  Round rounds_[Board::kParts];
  std::vector<int64_t> cells_;        // of a few tuples
  std::vector<int64_t> asked_cells_;  // by all ranks, in one round
  std::vector<int64_t> bases_;        // by owner: where its rows begin, from the board's memory on
  std::vector<std::byte> fill_;       // a row of the fill value
  int64_t next_tuple_ = 0, next_round_ = 0;
  std::exception_ptr failed_;
};

}  // namespace sheaf::distributed
