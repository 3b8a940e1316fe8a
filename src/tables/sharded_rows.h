// SPDX-License-Identifier: MIT
//
// The rows of a table that lie on several ranks.
//
// A call on such a table is collective, but which rows a rank needs, how many, and in how many
// pieces, is its own affair. Rows come in rounds, which all ranks take part in until none of them
// wants more:
//   agree  what the ranks want: rows, nothing any more, or an end because one has failed
//   fetch  one run of a sharded gather, of the smallest that has room for what any rank wants; a
//          rank that wants fewer rows names some that are not there
// So one rank may gather to its device in many pieces while another has its rows cached, and has
// nothing to do but to serve.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "distributed/group.h"
#include "io/source.h"
#include "sheaf/sharded.h"
#include "tables/row_source.h"

namespace sheaf::tables {

class ShardedRows {
 public:
  // Collective. `data` is split along axis 0.
  ShardedRows(const sharded::ShardedTensor& data, const sharded::ShardedOptions& options);

  // Collective: calls `work` as one call of this rank, then serves the others until they are done.
  // If it throws on any rank, throws on all of them what it threw on the lowest. One at a time.
  void call(std::string_view who, const std::function<void()>& work);

  // The rest is for `work`. To be called when its indices are known to be good, before anything is
  // written: throws if another rank has failed so far.
  void open();

  // Puts these rows of the table side by side.
  void fetch(std::span<const int64_t> rows, std::byte* to);

  int64_t row_bytes() const { return row_bytes_; }

 private:
  // What a rank wants of the others: one of these, or kRows and a number of rows more.
  static constexpr int64_t kNothing = 0, kToBegin = 1, kRows = 2, kEnd = INT64_MAX;

  struct Round {
    TensorSpec indices;
    sharded::ShardedPlan plan;
  };

  int64_t agree(int64_t mine);
  void take_part(int64_t most);
  void serve_others();

  std::mutex one_call_;
  int64_t row_bytes_;
  std::vector<Round> rounds_;        // by rising sizes
  distributed::Group group_;         // of the agreements
  std::vector<int64_t> asked_;       // by this rank, in a round
  std::vector<std::byte> received_;  // rows
  std::string_view who_;
  std::exception_ptr failed_;  // of this rank, in this call
  bool all_know_ = false;      // that the call has failed
};

// One call on a table, of which `who` is the operator: collective if it lies on several ranks.
template <class Work>
void on_all_ranks(const Table& table, std::string_view who, const Work& work) {
  if (ShardedRows* const shards = table.source()->shards.get()) {
    shards->call(who, work);
  } else {
    work();
  }
}

// The rows as one call fetches them.
std::unique_ptr<RowSource> open_sharded_rows(ShardedRows& rows);

}  // namespace sheaf::tables
