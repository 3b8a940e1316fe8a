// SPDX-License-Identifier: MIT
//
// A sharded scatter. Updates travel to the owner of their cell and are applied there in the order
// of their rank, then of their position. What an owner gets at once has to fit its workspace:
//   - if all of it does, all ranks send at once;
//   - if not, cells are divided into blocks, by a hash, and one block is done after the other: the
//     order of updates matters within a cell only;
//   - a block that is still too large (one cell that all ranks update) is sent by one rank after
//     the other, in pieces.
// While the updates of one step travel, those of the step before are applied.
#pragma once

#include <exception>
#include <vector>

#include "distributed/group.h"
#include "distributed/local_part.h"

namespace sheaf::distributed {

class ScatterRun {
 public:
  ScatterRun(const Group& group, const sharded::ShardedTensor& tensor, const Plan& plan,
             const CellSpace& space, const sharded::ShardedOptions& options,
             int64_t largest_tuples);

  // Indices are good on every rank.
  void run(const void* indices, const std::byte* updates);

  sharded::ShardedPlan::Traffic traffic;

 private:
  // What travels in one step.
  struct Step {
    Step(const Group& group, int64_t message_bytes)
        : cells(group, message_bytes), rows(group, message_bytes) {}
    std::vector<int64_t> sent_cells, received_cells;
    std::vector<std::byte> sent_rows, received_rows;
    int64_t received = 0;
    Messages cells, rows;
  };
  struct Update {
    int64_t tuple, cell;  // cell within the owner's part
    int owner;
  };

  int64_t count_block(const void* indices, int64_t block);
  int64_t select(const void* indices, int64_t block, int64_t from);
  template <class Use>
  int64_t scan(const void* indices, int64_t block, int64_t from, Use use);
  void exchange_counts();
  bool all_have_room(int64_t sent) const;
  void run_block(const void* indices, const std::byte* updates, int64_t block);
  void push(const std::byte* updates);
  void pack(Step& step, const std::byte* updates);
  void exchange(Step& step);
  void apply_pending();

  const Group& group_;
  const sharded::Split& split_;
  const Plan& plan_;
  const CellSpace& space_;
  int64_t largest_tuples_;  // of any rank
  int64_t most_updates_;    // of all ranks together
  int64_t capacity_;        // updates per step, sent or received
  int64_t blocks_ = 1;      // of cells
  LocalPart part_;
  std::vector<int64_t> sent_, received_;  // updates per rank
  std::vector<Update> selected_;
  std::vector<int64_t> chunk_;
  Step steps_[2];
  int current_ = 0;
  Step* pending_ = nullptr;
  std::exception_ptr failed_;
};

}  // namespace sheaf::distributed
