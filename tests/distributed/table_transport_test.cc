// SPDX-License-Identifier: MIT
//
// Calls on sharded tables over transports that throw, bring too little, or lie: errors, and no rank
// waits for ever. Threads are the ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "distributed/thread_ranks.h"
#include "helpers/deferred_device.h"
#include "sheaf/table.h"

namespace {

using sheaf::sharded::Part;
using sheaf::sharded::ShardedTensor;
using sheaf::sharded::Transport;
using testing::Each;
using testing::Not;

constexpr int64_t kPartRows = 4, kWidth = 2;

// Two gathers in pieces, of a number of rows that differs between ranks: one to the host, one to a
// device. Returns what came.
std::vector<int32_t> gather_twice(const std::shared_ptr<Transport>& transport) {
  add_deferred_device();
  const int rank = transport->rank();
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 4 * rank; ++i) {
    ids.push_back(i % (kPartRows * transport->ranks()));
  }
  // Pieces of a call that failed may still be on their way: the table waits for them when it goes.
  std::vector<int32_t> output(ids.size() * kWidth, -1), there(output.size(), -1);
  std::vector<int32_t> part(kPartRows * kWidth, rank);
  const ShardedTensor tensor(transport, 0, Part(sheaf::view(part, {kPartRows, kWidth})));
  const sheaf::Table table = table_of(tensor, {.workspace_bytes = 1 << 20});
  const sheaf::Plan plan = sheaf::plan_gather(table.spec(), sheaf::view(ids).spec);
  sheaf::run(plan, table.with({.piece_bytes = 24}), ids.data(), output.data(), {});
  const sheaf::Queue queue{.device = kDeferred, .stream = &part};
  sheaf::run(plan, table, ids.data(), there.data(), queue);
  sheaf::finish(plan, table, queue);
  EXPECT_EQ(output, there);
  return output;
}

void check_rows(const std::shared_ptr<Transport>& transport) {
  const std::vector<int32_t> rows = gather_twice(transport);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / kWidth;
    EXPECT_EQ(rows[i], row % (kPartRows * transport->ranks()) / kPartRows);
  }
}

TEST(TablesOverTransports, HaveTheRowsOfAllRanks) {
  for (const int ranks : {1, 2, 3}) {
    EXPECT_THAT(run_ranks(ranks, check_rows), Each("no error"));
  }
}

// Exchanges of rank 1, when all goes well.
int64_t exchanges_of_tables() {
  int64_t most = 0;
  const auto count = [&](int rank, int64_t call, To, From, const auto& honest) {
    most = rank == 1 ? call + 1 : most;
    return honest();
  };
  EXPECT_THAT(run_ranks(3, check_rows, count), Each("no error"));
  return most;
}

TEST(TablesOverTransports, ThatThrowOrBringTooLittle) {
  const int64_t all = exchanges_of_tables();
  ASSERT_GT(all, 20);
  for (const bool throws : {false, true}) {
    for (int64_t harmed = 0; harmed < all - 1; ++harmed) {
      const auto meddle = [&](int rank, int64_t call, To, From, const auto& honest) -> int64_t {
        if (rank != 1 || call != harmed) {
          return honest();
        }
        if (throws) {
          throw std::runtime_error("a lost connection");
        }
        return honest() - 1;
      };
      const auto thrown = run_ranks(
          3, [](const auto& transport) { gather_twice(transport); }, meddle);
      ASSERT_THAT(thrown, Each(Not("no error"))) << "exchange " << harmed << " of " << all;
    }
  }
}

// What another rank wants, its counts, cells or rows are other bytes. Rows may be wrong then; that
// is noticed, or it ends all the same.
TEST(TablesOverTransports, ThatLie) {
  const int64_t all = exchanges_of_tables();
  int noticed = 0;
  for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
    for (int64_t harmed = 0; harmed < all; ++harmed) {
      const auto meddle = [&](int rank, int64_t call, To, From from, const auto& honest) {
        const int64_t arrived = honest();
        for (const auto& message : from) {
          if (rank == 1 && call == harmed && message.bytes > 0) {
            std::memset(message.data, value, static_cast<size_t>(message.bytes));
          }
        }
        return arrived;
      };
      const auto work = [](const std::shared_ptr<Transport>& transport) {
        const std::vector<int32_t> part(kPartRows * kWidth, 1);
        const ShardedTensor tensor(transport, 0, Part(sheaf::view(part, {kPartRows, kWidth})));
        const sheaf::Table table = table_of(tensor, {.workspace_bytes = 1 << 20});
        const std::vector<int64_t> ids(transport->rank() == 0 ? 9 : 3, 5);
        const sheaf::Plan plan = sheaf::plan_gather(table.spec(), sheaf::view(ids).spec);
        std::vector<int32_t> output(ids.size() * kWidth);
        sheaf::run(plan, table.with({.piece_bytes = 24}), ids.data(), output.data(), {});
      };
      const auto thrown = run_ranks(3, work, meddle);
      noticed += thrown[1] != "no error" ? 1 : 0;
    }
  }
  EXPECT_GT(noticed, all);
}

}  // namespace
