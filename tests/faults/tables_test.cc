// SPDX-License-Identifier: MIT
//
// Calls on tables, with every allocation failing in turn. On the host the output is untouched, as
// in plain memory. On a device pieces may have arrived: such calls write to an output of their own.
#include <algorithm>

#include "faults/each_allocation.h"
#include "helpers/deferred_device.h"
#include "sheaf/sheaf.h"

namespace sheaf::faults {
namespace {

const std::vector<float> kTableRows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // 4 rows of 3
const std::vector<int64_t> kTableIds = {3, 0, 1, 1, 2};
const std::vector<int64_t> kTableOffsets = {0, 2, 2};
const std::vector<std::byte> kEncodedRows(256, std::byte{0});

Table rows(const TableOptions& options) {
  return Table::host(view(kTableRows, {4, 3}), nullptr).with(options);
}

// Runs a call on the device, and waits for what was started even if it is refused: then there is
// memory again.
template <class Start>
void on_device(const Table& table, const Start& start) {
  const Queue queue{.device = kDeferred};
  try {
    start(queue);
  } catch (const std::exception& error) {
    allow_allocations(-1);
    wait(queue);
    EXPECT_GE(stats(table).calls, 0);  // what the table keeps is sound
    const std::string_view text = error.what();
    throw_if_out_of_memory(text.find("memory is not locked") != std::string_view::npos);
    throw;
  }
}

void gather_on_device(const TableOptions& options, Output& o) {
  const Table table = rows(options);
  const Plan plan = plan_gather(table.spec(), view(kTableIds).spec);
  Output pieces = {};
  clear(pieces);
  on_device(table, [&](const Queue& queue) {
    run(plan, table, kTableIds.data(), pieces, queue);
    run(plan, table, kTableIds.data(), pieces, queue);  // with what the first has kept
    finish(plan, table, queue);
  });
  std::copy_n(pieces, kOutput, o);
}

void scatter_from_device(const TableOptions& options, Output& o) {
  Output target = {};
  clear(target);
  const Table table = Table::host_writable({target, {f32, {4, 3}}}, nullptr).with(options);
  const Plan plan = plan_scatter(table.spec(), view(kTableIds).spec, TensorSpec(f32, {5, 3}),
                                 {.reduction = Reduction::kAdd});
  const std::vector<float> updates(15, 2);
  on_device(table, [&](const Queue& queue) {
    run_scatter(plan, table, kTableIds.data(), updates.data(), queue);
    finish(plan, table, queue);
  });
  std::copy_n(target, kOutput, o);
}

void bag_on_device(const TableOptions& options, Output& o) {
  const Table table = rows(options);
  const BagPlan plan =
      plan_bag({table.spec(), view(kTableIds).spec, view(kTableOffsets).spec, std::nullopt});
  Output pieces = {};
  clear(pieces);
  on_device(table, [&](const Queue& queue) {
    run(plan, table,
        {.indices = kTableIds.data(), .segments = kTableOffsets.data(), .output = pieces}, queue);
    finish(plan, table, queue);
  });
  std::copy_n(pieces, kOutput, o);
}

class OutOfMemoryTables : public testing::Test {
 protected:
  void SetUp() override { add_deferred_device(); }
  void TearDown() override { limit_pinned_memory(INT64_MAX); }
};

TEST_F(OutOfMemoryTables, OnTheHost) {
  EXPECT_GT(fail_each_allocation("gather of a table",
                                 [](Output& o) {
                                   const Table table = rows({});
                                   const Plan plan =
                                       plan_gather(table.spec(), view(kTableIds).spec);
                                   run(plan, table, kTableIds.data(), o, {});
                                 }),
            0);
  fail_each_allocation("scatter into a table", [](Output& o) {
    const std::vector<float> updates(15, 2);
    const Table table = Table::host_writable({o, {f32, {4, 3}}}, nullptr).with({.cache_bytes = 64});
    run_scatter(plan_scatter(table.spec(), view(kTableIds).spec, TensorSpec(f32, {5, 3})), table,
                kTableIds.data(), updates.data(), {});
  });
  fail_each_allocation("gather of an encoded table", [](Output& o) {
    const EncodedSpec spec = encoded_rows(Encoding::kRowU8F32, {4, 3});
    const Table table = Table::host_encoded({spec, kEncodedRows.data()}, nullptr);
    run(plan_gather_encoded(spec, view(kTableIds).spec), table, kTableIds.data(), o, {});
  });
  fail_each_allocation("bag of a table", [](Output& o) {
    const Table table = rows({});
    run(plan_bag({table.spec(), view(kTableIds).spec, view(kTableOffsets).spec, std::nullopt}),
        table, {.indices = kTableIds.data(), .segments = kTableOffsets.data(), .output = o}, {});
  });
}

TEST_F(OutOfMemoryTables, OnADevice) {
  for (const int64_t pinned : {INT64_MAX, int64_t{0}}) {  // without any, it falls back
    limit_pinned_memory(pinned);
    for (const int64_t piece_bytes : {20, 1 << 12}) {
      const TableOptions ring{.way = "ring", .piece_bytes = piece_bytes};
      EXPECT_GT(fail_each_allocation("pieces", [&](Output& o) { gather_on_device(ring, o); }), 0);
      fail_each_allocation("scatter", [&](Output& o) { scatter_from_device(ring, o); });
      fail_each_allocation("bag", [&](Output& o) { bag_on_device(ring, o); });
    }
    const TableOptions cached{.way = "ring", .cache_bytes = 24};
    fail_each_allocation("cached", [&](Output& o) { gather_on_device(cached, o); });
  }
  limit_pinned_memory(INT64_MAX);
  for (const char* const way : {"mapped", "split"}) {
    const TableOptions locked{.way = way, .lock = true};
    fail_each_allocation(way, [&](Output& o) { gather_on_device(locked, o); });
  }
}

}  // namespace
}  // namespace sheaf::faults
