// SPDX-License-Identifier: MIT
//
// The sets of a cache, and threads that fill pieces side by side.
#include "tables/kept_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "execution/launch.h"
#include "tables/device_call.h"
#include "tables/piece_workers.h"
#include "tables/state.h"

namespace {

using namespace sheaf;
using namespace sheaf::tables;

class KeptRowsTest : public Tables {
 protected:
  KeptRowsTest() : device_(*prepared_device({.device = table_device()})), lane_(device_, nullptr) {}

  std::unique_ptr<KeptRows> make(int64_t rows, int64_t slots, std::span<const int64_t> given = {}) {
    auto cache = KeptRows::make(device_, 64, rows, slots, given);
    cache->begin_round();
    cache->clear(lane_);
    return cache;
  }
  // The slots that rows get, in memory of the device.
  std::vector<int32_t> claim(KeptRows& cache, const std::vector<int64_t>& rows, bool surely) {
    DeviceMemory there(table_device(), rows.size() * KeptRows::kClaimBytes);
    std::vector<std::byte> here(there.bytes());
    cache.claim(rows, surely, here.data());
    there.upload(here.data(), here.size());
    const int32_t* const slots = cache.claimed(lane_, there.data(), std::ssize(rows), surely);
    lane_.wait_for_stream();
    std::vector<int32_t> result(rows.size());
    there.download(result.data(), rows.size() * sizeof result[0],
                   static_cast<size_t>(reinterpret_cast<const std::byte*>(slots) - there.data()));
    return result;
  }
  FoundRows find(KeptRows& cache, const std::vector<int64_t>& rows, bool protect = false) {
    offsets_.clear();
    for (const int64_t row : rows) {
      offsets_.push_back(row < 0 ? row : row * 64);
    }
    return cache.find(lane_, {.count = std::ssize(rows), .offsets = offsets_}, protect);
  }

  const Backend& device_;
  Lane lane_;
  std::vector<int64_t> offsets_;
};

TEST_F(KeptRowsTest, GiveEverySlotOnceInARound) {
  const auto cache = make(100000, 160);
  std::vector<int64_t> rows(2000);
  std::iota(rows.begin(), rows.end(), 5);
  std::set<int32_t> taken;
  for (const int32_t slot : claim(*cache, rows, true)) {
    if (slot != kNoSlot) {
      EXPECT_TRUE(taken.insert(slot).second) << slot;
      EXPECT_LT(slot, cache->slots());
    }
  }
  EXPECT_EQ(std::ssize(taken), cache->slots());  // so many rows fill every set
  EXPECT_EQ(claim(*cache, {5000}, true), std::vector<int32_t>{kNoSlot});
  cache->begin_round();
  EXPECT_NE(claim(*cache, {5000}, true), std::vector<int32_t>{kNoSlot});
}

TEST_F(KeptRowsTest, HoldAllRowsIfThereIsRoom) {
  for (const int64_t count : {1, 15, 16, 17, 1000}) {
    const auto cache = make(count, count);
    std::vector<int64_t> rows(static_cast<size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    claim(*cache, rows, false);
    EXPECT_EQ(find(*cache, rows).hits, count);
  }
}

TEST_F(KeptRowsTest, WearDownTheRowThatIsAskedForLeast) {
  const auto cache = make(1000, 2);  // one set
  claim(*cache, {1, 2}, false);
  find(*cache, {1, 1, 1, 2});
  cache->begin_round();
  EXPECT_EQ(claim(*cache, {3}, false)[0], kNoSlot);  // 2 was asked for twice
  EXPECT_EQ(claim(*cache, {3}, false)[0], kNoSlot);
  EXPECT_NE(claim(*cache, {3}, false)[0], kNoSlot);
  EXPECT_EQ(find(*cache, {1, 3}).hits, 2);
  EXPECT_EQ(find(*cache, {2}).hits, 0);
}

TEST_F(KeptRowsTest, SayWhatTheyLack) {
  const auto cache = make(1000, 16);
  claim(*cache, {7}, false);
  const FoundRows found = find(*cache, {9, 7, -1, 8});
  EXPECT_EQ(found.hits, 1);
  EXPECT_EQ(found.bad, 0);
  EXPECT_EQ(std::vector(found.missed_rows.begin(), found.missed_rows.end()),
            (std::vector<int64_t>{9, 8}));
  EXPECT_EQ(std::vector(found.missed_points.begin(), found.missed_points.end()),
            (std::vector<int32_t>{0, 3}));
  cache->drop(lane_, std::vector<int64_t>{7, 500});
  EXPECT_EQ(find(*cache, {7}).hits, 0);
}

TEST_F(KeptRowsTest, KeepGivenRowsAndNoOthers) {
  std::vector<int64_t> given(300);
  for (size_t i = 0; i < given.size(); ++i) {
    given[i] = static_cast<int64_t>(i * i);
  }
  const auto cache = make(100000, 200, given);
  EXPECT_EQ(cache->slots(), 200);
  EXPECT_TRUE(cache->is_given(199 * 199));
  EXPECT_FALSE(cache->is_given(199 * 199 + 1));
  EXPECT_EQ(find(*cache, {given.begin(), given.begin() + 200}).hits, 200);
  EXPECT_EQ(find(*cache, {given.begin() + 200, given.end()}).hits, 0);
}

TEST_F(KeptRowsTest, AreClaimedByManyThreads) {
  const auto cache = make(100000, 1600);
  std::vector<std::vector<int32_t>> slots(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < slots.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<int64_t> rows(1000);
      std::iota(rows.begin(), rows.end(), static_cast<int64_t>(t) * 700);  // some are shared
      std::vector<std::byte> here(rows.size() * KeptRows::kClaimBytes);
      cache->claim(rows, true, here.data());
      slots[t].resize(rows.size());
      std::memcpy(slots[t].data(), here.data(), rows.size() * sizeof(int32_t));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (lane_.looks_up_rows()) {
    return;  // nothing was claimed yet
  }
  std::set<int32_t> taken;
  for (const std::vector<int32_t>& some : slots) {
    for (const int32_t slot : some) {
      EXPECT_TRUE(slot == kNoSlot || taken.insert(slot).second) << slot;
    }
  }
}

class Workers : public KeptRowsTest {
 protected:
  // A call whose ring is large enough for several threads.
  Workers()
      : table_(host({.way = "ring", .piece_bytes = 1 << 20, .pieces = 4, .threads = 4})),
        device_call_(table_, {1, 2, 3}),
        queue_(device_call_.queue()),
        call_{.plan = device_call_.plan, .table = table_, .queue = queue_, .device = &device_} {}

  Table table_;
  DeviceCall device_call_;
  Queue queue_;
  Call call_;
};

TEST_F(Workers, RunEveryPieceOnceEachAtADeskOfItsOwn) {
  PieceWorkers workers(call_, lane_, 100);
  EXPECT_EQ(lane_.ring_pieces(), 8);
  std::vector<std::atomic<int>> runs(500);
  std::map<const Desk*, std::atomic<int>> at_desk;
  std::mutex mutex;
  workers.run(500, int64_t{1} << 30, [&](Desk& desk, int64_t piece) {
    std::atomic<int>* busy = nullptr;
    {
      const std::lock_guard lock(mutex);
      busy = &at_desk[&desk];
    }
    EXPECT_EQ(++*busy, 1);
    std::byte* const memory = desk.begin_piece();
    std::memset(memory, 1, static_cast<size_t>(lane_.piece_bytes()));
    desk.hand_over([&] { ++runs[static_cast<size_t>(piece)]; });
    --*busy;
  });
  for (const std::atomic<int>& count : runs) {
    EXPECT_EQ(count, 1);
  }
  EXPECT_LE(at_desk.size(), 4u);
}

TEST_F(Workers, StopAtAFailureAndThrowIt) {
  PieceWorkers workers(call_, lane_, 100);
  std::atomic<int> runs = 0;
  EXPECT_THROW(workers.run(100000, int64_t{1} << 30,
                           [&](Desk& /*desk*/, int64_t piece) {
                             ++runs;
                             if (piece == 3) {
                               throw std::out_of_range("piece 3");
                             }
                           }),
               std::out_of_range);
  EXPECT_LT(runs, 100000);
}

TEST_F(Workers, AreFewerWhereTheirPiecesWouldBeSmall) {
  EXPECT_EQ(lane_.reserve_for_threads(64, 100, {.piece_bytes = 1 << 20, .pieces = 4}), 8);
  EXPECT_EQ(lane_.piece_bytes(), 256 << 10);
  EXPECT_EQ(lane_.reserve_for_threads(4, 1 << 20, {.piece_bytes = 1 << 20, .pieces = 4}), 2);
  EXPECT_EQ(lane_.reserve_for_threads(4, 4 << 20, {.piece_bytes = 1 << 20, .pieces = 4}), 1);
  EXPECT_EQ(lane_.piece_bytes(), 4 << 20);
  EXPECT_EQ(lane_.ring_pieces(), 4);
}

TEST_F(Workers, GatherWhatOneThreadDoes) {
  const std::vector<int64_t> ids = zipf(60000);
  expect_rows(table_, ids);
  EXPECT_GT(stats(table_).pieces, 4);
  expect_rows(host({.way = "ring",
                    .piece_bytes = 1 << 20,
                    .pieces = 4,
                    .threads = 4,
                    .cache_bytes = 100 * 64}),
              ids);
  const Table split = host({.way = "split", .piece_bytes = 1 << 20, .threads = 4, .lock = true});
  if (table_device_is_stand_in()) {
    expect_rows(split, ids);
    EXPECT_LT(stats(split).rows_fetched, 60000);
  }
}

}  // namespace
