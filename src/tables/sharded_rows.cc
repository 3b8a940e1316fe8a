// SPDX-License-Identifier: MIT
#include "tables/sharded_rows.h"

#include <algorithm>
#include <cstring>

#include "distributed/sharded_tensor.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::tables {
namespace {

// Of a round: as a piece of a ring, so that a piece takes one round.
constexpr int64_t kShardedRoundBytes = int64_t{4} << 20;
constexpr int64_t kRoundRows[] = {64, 2048, 65536};
constexpr int64_t kNotWanted = -1;

int64_t bytes_of_entry(const TensorSpec& spec) {
  int64_t bytes = spec.dtype.bytes();
  for (int d = 1; d < spec.rank(); ++d) {
    bytes = saturating_mul(bytes, spec.sizes[d]);  // the plan refuses such a tensor
  }
  return bytes;
}

int64_t most_in_a_round(int64_t row_bytes) {
  return std::max<int64_t>(kShardedRoundBytes / std::max<int64_t>(row_bytes, 1), 1);
}

class FetchedFromRanks final : public RowSource {
 public:
  explicit FetchedFromRanks(ShardedRows& rows) : rows_(rows) {}

  void begin() override { rows_.open(); }

  // Rows of a nest are whole rows of the table, one or several.
  void fetch(std::span<const int64_t> offsets, int64_t row_bytes, std::byte* to) override {
    const int64_t each = row_bytes / rows_.row_bytes();
    numbers_.clear();
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < each; ++i) {
        numbers_.push_back(offset / rows_.row_bytes() + i);
      }
    }
    rows_.fetch(numbers_, to);
  }

 private:
  ShardedRows& rows_;
  std::vector<int64_t> numbers_;
};

}  // namespace

ShardedRows::ShardedRows(const sharded::ShardedTensor& data, const sharded::ShardedOptions& options)
    : row_bytes_(bytes_of_entry(data.spec())), group_(*data.state().group) {
  const GatherOptions rule{
      .rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kFill}};
  for (const int64_t rows : kRoundRows) {
    const TensorSpec indices(i64, {std::min(rows, most_in_a_round(row_bytes_))});
    if (rounds_.empty() || rounds_.back().indices != indices) {
      rounds_.push_back({indices, plan_gather(data, indices, rule, options)});
    }
  }
  const int64_t most = rounds_.back().indices.sizes[0];
  group_.together("table", [&] {
    asked_.resize(static_cast<size_t>(most), kNotWanted);
    received_.resize(static_cast<size_t>(most * row_bytes_));
  });
}

void ShardedRows::call(std::string_view who, const std::function<void()>& work) {
  const std::lock_guard lock(one_call_);
  who_ = who;
  failed_ = nullptr;
  all_know_ = false;
  try {
    work();
  } catch (...) {
    failed_ = std::current_exception();
    std::fill(asked_.begin(), asked_.end(), kNotWanted);
    if (all_know_ || group_.ranks() == 1) {
      throw;
    }
  }
  serve_others();
}

// Others may still fetch rows that their caches are to hold.
void ShardedRows::open() {
  for (int64_t most = kRows; most > kToBegin;) {
    most = agree(kToBegin);
    take_part(most);
  }
}

void ShardedRows::fetch(std::span<const int64_t> rows, std::byte* to) {
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), asked_.size()));
    std::copy(some.begin(), some.end(), asked_.begin());
    take_part(agree(kRows + std::ssize(some)));
    const auto bytes = std::ssize(some) * row_bytes_;
    std::memcpy(to, received_.data(), static_cast<size_t>(bytes));
    to += bytes;
    rows = rows.subspan(some.size());
  }
}

// What the most demanding rank wants. Throws on all ranks if one has failed.
int64_t ShardedRows::agree(int64_t mine) {
  const int64_t most = group_.largest(mine);
  if (most < mine) {
    group_.refuse_message(cat("the largest wish of all ranks cannot be ", most));
  }
  if (most == kEnd) {
    all_know_ = true;
    group_.together(who_, [&] {
      if (failed_) {
        std::rethrow_exception(failed_);
      }
    });
  }
  return most;
}

// All ranks are here, and some want rows, or none does. What goes wrong is thrown on each of them.
void ShardedRows::take_part(int64_t most) {
  if (most <= kRows) {
    return;
  }
  const auto round = std::find_if(rounds_.begin(), rounds_.end(), [&](const Round& each) {
    return each.indices.sizes[0] >= most - kRows;
  });
  try {
    if (round == rounds_.end()) {
      group_.refuse_message(cat("another rank wants ", most - kRows, " rows"));
    }
    round->plan.run({asked_.data(), round->indices}, {received_.data(), round->plan.output()});
  } catch (...) {
    all_know_ = true;
    throw;
  }
  std::fill_n(asked_.begin(), round->indices.sizes[0], kNotWanted);
}

void ShardedRows::serve_others() {
  for (;;) {
    const int64_t most = agree(failed_ ? kEnd : kNothing);
    if (most == kNothing) {
      agree(kNothing);  // a rank that was told so alone would leave the others waiting
      return;
    }
    take_part(most);
  }
}

std::unique_ptr<RowSource> open_sharded_rows(ShardedRows& rows) {
  return std::make_unique<FetchedFromRanks>(rows);
}

}  // namespace sheaf::tables
