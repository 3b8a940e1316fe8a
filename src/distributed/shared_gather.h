// SPDX-License-Identifier: MIT
//
// A sharded gather among ranks of one node. Rows do not travel: an owner gathers them into memory
// that all can read, and whoever asked copies them to where they are wanted. A round is a run of
// neighbouring tuples, whose rows come from every rank, this one among them; so the output is
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
  static std::unique_ptr<Board> open_board(const Communicator& comm, const CellSpace& space,
                                           const mpi::ShardedOptions& options,
                                           int64_t largest_tuples);

  // Takes all memory.
  SharedGather(const Communicator& comm, const mpi::ShardedTensor& tensor, const Plan& plan,
               const CellSpace& space, const mpi::ShardedOptions& options, int64_t largest_tuples,
               Board& board);

  // Indices are good on every rank. Throws on every rank what went wrong with a part.
  void run(const void* indices, std::byte* output);

  mpi::ShardedPlan::Traffic traffic;

 private:
  struct Round {
    int64_t first, count;  // tuples
    // By tuple: whose row it gets, ranks() for the fill value, and how many bytes after the first
    // row that this owner has for this rank it stands.
    std::vector<int32_t> owners;
    std::vector<int64_t> offsets;
    std::vector<int64_t> rows_before;  // by owner: rows of other ranks that stand before this one's
  };

  void ask(int64_t round, const void* indices);
  void route(Round& asked, const Board::Asked& board, int64_t count);
  void serve(int64_t round);
  void unpack(int64_t round, std::byte* output);

  const Communicator& comm_;
  const Plan& plan_;
  const CellSpace& space_;
  Board& board_;
  Places places_;
  int64_t quota_, round_tuples_;
  LocalPart part_;
  int own_;  // this rank, if its own rows are taken from where they are
  Round rounds_[Board::kParts];
  std::vector<int64_t> cells_;        // of a few tuples
  std::vector<int64_t> asked_cells_;  // by all ranks, in one round
  std::vector<int64_t> bases_;        // by owner: where its rows begin, from the board's memory on
  std::vector<std::byte> fill_;       // a row of the fill value
  int64_t next_tuple_ = 0, next_round_ = 0;
  std::exception_ptr failed_;
};

}  // namespace sheaf::distributed
