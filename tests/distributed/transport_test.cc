// SPDX-License-Identifier: MIT
//
// The protocol without MPI: threads of this process are the ranks, over a transport of callbacks.
// Then the same with transports that throw, bring too little, or lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>

#include "distributed/group.h"
#include "distributed/refusal_bytes.h"
#include "distributed/thread_ranks.h"
#include "helpers/refusal.h"
#include "helpers/rng.h"
#include "sheaf/sharded.h"
#include "sheaf/sheaf.h"
#include "support/text.h"

namespace {

using sheaf::Array;
using sheaf::cat;
using sheaf::Reduction;
using sheaf::TensorSpec;
using sheaf::distributed::Group;
using sheaf::sharded::CallbackTransport;
using sheaf::sharded::Part;
using sheaf::sharded::ShardedPlan;
using sheaf::sharded::ShardedTensor;
using sheaf::sharded::Split;
using sheaf::sharded::Transport;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int64_t kEntries = 13, kColumns = 3;

std::vector<float> numbers(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = static_cast<float>(rng.from(-1000, 1000)) / 7;
  }
  return values;
}

// Every third rank has none.
std::vector<int64_t> ids_of(int rank) {
  Rng rng(static_cast<uint64_t>(rank) + 3);
  std::vector<int64_t> ids(rank % 3 == 1 ? 0 : 12);
  for (int64_t& id : ids) {
    id = rng.from(-kEntries, kEntries - 1);
  }
  return ids;
}

// This rank's part of a table of `whole`, in blocks.
struct Shard {
  Shard(const std::shared_ptr<Transport>& transport, const std::vector<float>& whole)
      : split(Split::block(kEntries, transport->ranks())),
        first(split.entry(transport->rank(), 0) * kColumns),
        rows(split.count(transport->rank())),
        part(whole.begin() + first, whole.begin() + first + rows * kColumns),
        table(transport, 0, Part(sheaf::view(part, {rows, kColumns}))) {}

  Split split;
  int64_t first, rows;
  std::vector<float> part;
  ShardedTensor table;
};

void gather_and_scatter(const std::shared_ptr<Transport>& transport) {
  const std::vector<float> whole = numbers(1, kEntries * kColumns);
  Shard shard(transport, whole);
  ASSERT_EQ(shard.table.spec(), TensorSpec(sheaf::f32, {kEntries, kColumns}));
  const std::vector<int64_t> ids = ids_of(transport->rank());
  ShardedPlan plan =
      plan_gather(shard.table, sheaf::view(ids).spec, {}, {.workspace_bytes = 12000});
  Array output(plan.output());
  for (int run = 0; run < 2; ++run) {
    plan.run(sheaf::view(ids), output.tensor());
  }
  const Array wanted = sheaf::gather(sheaf::view(whole, {kEntries, kColumns}), sheaf::view(ids));
  EXPECT_THAT(output.elements<float>(), testing::ElementsAreArray(wanted.elements<float>()));

  std::vector<int64_t> all_ids;
  std::vector<float> all_updates, updates;
  for (int rank = 0; rank < transport->ranks(); ++rank) {
    const std::vector<int64_t> theirs = ids_of(rank);
    const std::vector<float> rows =
        numbers(static_cast<uint64_t>(rank) + 50, std::ssize(theirs) * kColumns);
    all_ids.insert(all_ids.end(), theirs.begin(), theirs.end());
    all_updates.insert(all_updates.end(), rows.begin(), rows.end());
    updates = rank == transport->rank() ? rows : updates;
  }
  for (const Reduction reduction :
       {Reduction::kNone, Reduction::kAdd, Reduction::kSub, Reduction::kMul, Reduction::kMin,
        Reduction::kMax, Reduction::kMean}) {
    for (const bool include_self : {true, false}) {
      std::copy_n(whole.begin() + shard.first, shard.part.size(), shard.part.begin());
      const sheaf::ScatterOptions options{.reduction = reduction, .include_self = include_self};
      plan_scatter(shard.table, sheaf::view(ids).spec, output.spec(), options,
                   {.workspace_bytes = 3000})
          .scatter(sheaf::view(ids), sheaf::view(updates, output.sizes()));
      const Array result =
          sheaf::scatter(sheaf::view(whole, {kEntries, kColumns}), sheaf::view(all_ids),
                         sheaf::view(all_updates, {std::ssize(all_ids), kColumns}), options);
      EXPECT_THAT(shard.part, testing::ElementsAreArray(result.elements<float>().subspan(
                                  static_cast<size_t>(shard.first), shard.part.size())));
    }
  }
}

TEST(Transports, CallbacksGiveTheBitsOfOneProcess) {
  for (const int ranks : {1, 2, 3, 7}) {
    EXPECT_THAT(run_ranks(ranks, gather_and_scatter), Each("no error"));
  }
}

TEST(Transports, ErrorsOfOneRankAreThrownOnAll) {
  const auto work = [](const std::shared_ptr<Transport>& transport) {
    const Shard shard(transport, numbers(1, kEntries * kColumns));
    std::vector<int64_t> ids{0, transport->rank() == 2 ? kEntries : 1};
    ShardedPlan plan = plan_gather(shard.table, sheaf::view(ids).spec);
    Array output(plan.output());
    plan.run(sheaf::view(ids), output.tensor());
  };
  EXPECT_THAT(run_ranks(4, work),
              Each("gather: index out of range\n  on rank 2: indices[1] = 13, but axis 0 of data "
                   "has 13 entries (allowed -13..12); 1 of 2 indices are out of range\n  data "
                   "f32[13, 3]   indices i64[2]   axis 0   output f32[2, 3]\n  try: out_of_range = "
                   "clamp or fill;  picture: sheaf explain 'gather f32[13,3] i64[2]={0,13} "
                   "axis=0'"));
}

TEST(Transports, PartsThatDoNotJoin) {
  const auto joined = [](int64_t columns, int64_t axis) {
    return run_ranks(2, [=](const std::shared_ptr<Transport>& transport) {
      const std::vector<float> part(6);
      const int64_t own = transport->rank() == 1 ? columns : 3;
      ShardedTensor(transport, axis, Part(sheaf::view(part, {6 / own, own})));
    });
  };
  EXPECT_THAT(joined(3, 1), Each("no error"));
  EXPECT_THAT(joined(2, 0), Each(StartsWith("sharded tensor: ranks disagree\n  on rank 0: ")));
  EXPECT_THAT(joined(3, 2), Each(StartsWith("sharded tensor: axis out of range\n  on rank 0: ")));
  EXPECT_THAT(run_ranks(2,
                        [](const std::shared_ptr<Transport>& transport) {
                          const TensorSpec most(sheaf::f32, {INT64_MAX, 0});
                          ShardedTensor(transport, 0, Part(sheaf::Tensor{nullptr, most}));
                        }),
              Each(HasSubstr("the parts have more than 2^63 - 1 entries together")));
}

TEST(Transports, Example) {
  const auto work = [](const std::shared_ptr<Transport>& given) {
    const int rank = given->rank(), ranks = given->ranks();
    const auto all_to_all = [&](To to, From from) { return given->exchange(to, from); };
    const auto abort_all = [&] { given->abort(); };
    std::vector<float> mine(8, static_cast<float>(rank));
    const std::vector<int64_t> ids{0, -1};
    // [example callback-transport]
    const auto transport = std::make_shared<sheaf::sharded::CallbackTransport>(
        rank, ranks, [&](auto to, auto from) { return all_to_all(to, from); },
        [&] { abort_all(); });
    const sheaf::sharded::ShardedTensor table(transport, 0, sheaf::view(mine, {2, 4}));
    sheaf::sharded::ShardedPlan plan = plan_gather(table, sheaf::view(ids).spec);
    sheaf::Array output(plan.output());
    plan.run(sheaf::view(ids), output.tensor());
    // [/example]
    EXPECT_THAT(output.elements<float>(), testing::ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  };
  EXPECT_THAT(run_ranks(2, work), Each("no error"));
}

// A part elsewhere, and of another type.
TEST(Transports, PartsMove) {
  const auto work = [](const std::shared_ptr<Transport>& transport) {
    const Shard shard(transport, numbers(1, kEntries * kColumns));
    std::vector<int32_t> moved(shard.part.size(), transport->rank());
    const ShardedTensor other =
        shard.table.with_part(Part(sheaf::view(moved, {shard.rows, kColumns})));
    const std::vector<int64_t> last{-1};
    ShardedPlan plan = plan_gather(other, sheaf::view(last).spec);
    Array output(plan.output());
    plan.run(sheaf::view(last), output.tensor());
    EXPECT_THAT(output.elements<int32_t>(), Each(transport->ranks() - 1));
    EXPECT_THAT(refusal([&] { shard.table.with_part(Part(sheaf::view(moved))); }),
                HasSubstr("part of the wrong shape"));
  };
  EXPECT_THAT(run_ranks(3, work), Each("no error"));
}

TEST(Transports, RanksThatCannotBe) {
  const auto group = [](int rank, int ranks) {
    return refusal([=] { Group(std::make_shared<CallbackTransport>(rank, ranks, nullptr)); });
  };
  EXPECT_EQ(group(2, 2),
            "transport: not a group of ranks\n  rank 2 of 2\n  try: a rank from 0 to ranks - 1");
  EXPECT_THAT(group(-1, 2), HasSubstr("rank -1 of 2"));
  EXPECT_THAT(group(0, 0), HasSubstr("rank 0 of 0"));
  EXPECT_THAT(refusal([] { Group(std::shared_ptr<Transport>()); }),
              HasSubstr("the transport is null"));
}

// Less of the same, for what is done again and again: a gather in two rounds, and a scatter whose
// ranks send one after the other.
void gather_then_scatter(const std::shared_ptr<Transport>& transport) {
  Shard shard(transport, numbers(1, kEntries * kColumns));
  const std::vector<int64_t> ids(transport->rank() == 0 ? 9 : 3, kEntries - 1);
  ShardedPlan plan = plan_gather(shard.table, sheaf::view(ids).spec, {}, {.workspace_bytes = 900});
  Array output(plan.output());
  plan.run(sheaf::view(ids), output.tensor());
  plan_scatter(shard.table, sheaf::view(ids).spec, output.spec(),
               {.reduction = Reduction::kMean, .include_self = false}, {.workspace_bytes = 700})
      .scatter(sheaf::view(ids), output.tensor());
}

// How many exchanges rank 1 takes part in, when all goes well.
int64_t exchanges() {
  int64_t most = 0;
  const auto count = [&](int rank, int64_t call, To, From, const auto& honest) {
    if (rank == 1) {
      most = call + 1;
    }
    return honest();
  };
  EXPECT_THAT(run_ranks(3, gather_then_scatter, count), Each("no error"));
  return most;
}

// `harm` does its work in one exchange of rank 1, whichever it is: every rank gets an error, and
// the test ends. All but the last: who has agreed that all is well has returned.
void harm_each(const std::function<int64_t(To, From, const std::function<int64_t()>&)>& harm) {
  const int64_t all = exchanges();
  ASSERT_GT(all, 20);
  for (int64_t harmed = 0; harmed < all - 1; ++harmed) {
    const auto meddle = [&](int rank, int64_t call, To to, From from, const auto& honest) {
      return rank == 1 && call == harmed ? harm(to, from, honest) : honest();
    };
    ASSERT_THAT(run_ranks(3, gather_then_scatter, meddle), Each(Not("no error")))
        << "exchange " << harmed << " of " << all;
  }
}

TEST(BrokenTransports, ThatThrow) {
  harm_each([](To, From, const auto&) -> int64_t { throw std::runtime_error("before"); });
}

TEST(BrokenTransports, ThatThrowAfterwards) {
  harm_each([](To, From, const auto& honest) -> int64_t {
    honest();
    throw std::runtime_error("after");
  });
}

TEST(BrokenTransports, ThatBringTooLittleOrTooMuch) {
  for (const int64_t more : {-1, 1, -1000}) {
    harm_each([=](To, From, const auto& honest) { return honest() + more; });
  }
}

// The text of the rank that notices, and of those that wait for it; the group is left for good.
TEST(BrokenTransports, Texts) {
  const auto work = [](const std::shared_ptr<Transport>& transport) {
    const Group group(transport);
    if (transport->rank() == 1) {
      EXPECT_EQ(refusal([&] { group.largest(3); }, sheaf::ErrorCode::kDevice),
                "transport: damaged message\n  an exchange brought 23 bytes, but 24 were sent\n"
                "  try: a transport that delivers every byte");
    }
    group.largest(3);
    group.largest(4);
  };
  const auto meddle = [](int rank, int64_t, To, From, const auto& honest) {
    const int64_t arrived = honest();
    return rank == 1 ? arrived - 1 : arrived;
  };
  EXPECT_THAT(
      run_ranks(2, work, meddle),
      testing::ElementsAre("stopped",
                           "transport: group left\n  rank 1 left it after an exchange that failed\n"
                           "  try: a new group, and a new sharded tensor over it"));
}

// Bytes that are not what was sent: counts, cells, rows or errors. Rows are the caller's; anything
// else gives an error. None may lead to a crash, a hang or memory that is not the table's.
TEST(BrokenTransports, ThatLie) {
  const int64_t all = exchanges();
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
      const auto thrown = run_ranks(3, gather_then_scatter, meddle);
      noticed += thrown[1] != "no error" ? 1 : 0;
    }
  }
  EXPECT_GT(noticed, all);
}

// An error of another rank, cut short or with other numbers in it.
TEST(BrokenTransports, ErrorsThatCannotBeRead) {
  const auto error = std::make_exception_ptr(
      sheaf::IndexError(sheaf::Refusal{.code = sheaf::ErrorCode::kIndexOutOfRange,
                                       .who = "gather",
                                       .what = "index out of range",
                                       .detail = "indices[1] = 9",
                                       .next = "clamp"},
                        {1}, 1));
  const std::string bytes = sheaf::distributed::bytes_of(error, "gather", 3);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(refusal([&] { sheaf::distributed::throw_bytes(bytes.substr(0, length)); },
                      sheaf::ErrorCode::kDevice),
              "transport: damaged message\n  another rank's error cannot be read\n"
              "  try: what that rank says");
    std::string other = bytes;
    other[length] = static_cast<char>(0xff);
    EXPECT_THROW(sheaf::distributed::throw_bytes(other), sheaf::Error);
  }
}

}  // namespace
