// SPDX-License-Identifier: MIT
//
// Which way is faster, as it was measured: how that is kept, and what it decides.
#include "tables/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "helpers/refusal.h"
#include "io/scratch.h"
#include "support/user_cache.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;
using sheaf::tables::costs_from;
using sheaf::tables::forget_known_costs;
using sheaf::tables::machine_of;
using sheaf::tables::rates_of;
using sheaf::tables::set_known_costs;
using sheaf::tables::text_of;
using testing::EndsWith;
using testing::HasSubstr;

constexpr MeasureOptions kQuick{.table_bytes = 1 << 16, .moved_bytes = 1 << 14, .repeats = 1};

class TableCostsTest : public Tables {
 protected:
  void SetUp() override {
    Tables::SetUp();
    const char* const set = std::getenv("XDG_CACHE_HOME");
    before_ = set == nullptr ? "" : set;
    use_folder(scratch_.path("cache"));
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    }
    forget_known_costs();
  }
  static void use_folder(const std::string& folder) {
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    forget_known_costs();
  }
  static void write_file(const std::string& text) {
    const std::string path = table_costs_file(table_device());
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    forget_known_costs();
  }
  static TableCosts some_costs(double mapped, double ring, double split) {
    TableCosts costs;
    costs.device = table_device();
    costs.machine = machine_of(table_device());
    costs.copy_rate = 50e9;
    costs.rows = {{64, mapped, ring, split}, {256, 4 * mapped, 2 * ring, 2 * split}};
    return costs;
  }
  std::string way_of(const Table& table) const {
    const DeviceCall call(table, zipf(100));
    call.start(table);
    finish(call.plan, table, DeviceCall::queue());
    EXPECT_EQ(call.result(), expected(values_, call));
    return stats(table).way;
  }

  Scratch scratch_;
  std::string before_;
};

TEST_F(TableCostsTest, AreFoundBetweenTheSizesThatWereMeasured) {
  const TableCosts costs = some_costs(1e9, 2e9, 3e9);
  EXPECT_EQ(rates_of(costs, 64).mapped, 1e9);
  EXPECT_NEAR(rates_of(costs, 128).mapped, 2.5e9, 1e3);
  EXPECT_NEAR(rates_of(costs, 128).ring, 3e9, 1e3);
  EXPECT_NEAR(rates_of(costs, 128).split, 4.5e9, 1e3);
  EXPECT_EQ(rates_of(costs, 256).ring, 4e9);
  EXPECT_EQ(rates_of(costs, 1).ring, 2e9);
  EXPECT_EQ(rates_of(costs, 1 << 20).mapped, 4e9);
  EXPECT_EQ(rates_of({}, 64).ring, 0);
}

TEST_F(TableCostsTest, DecideBetweenTheWays) {
  const Table table = host({.lock = true});
  const DeviceCall call(table, {1, 2, 3});
  EXPECT_THAT(explain(call.plan, table, DeviceCall::queue()),
              EndsWith("  decided by the limit of 2048 bytes: nothing was measured here (sheaf "
                       "doctor --measure does)\n"));
  EXPECT_EQ(way_of(table), "ring");
  set_known_costs(some_costs(9e9, 2e9, 3e9));
  EXPECT_EQ(way_of(table), "mapped");
  EXPECT_THAT(explain(call.plan, table, DeviceCall::queue()),
              EndsWith("  measured here: mapped 9.0 GB/s, split 3.0 GB/s, ring 2.0 GB/s\n"));
  set_known_costs(some_costs(2e9, 8.5e9, 3e9));
  EXPECT_EQ(way_of(table), "ring");
  const std::string text = explain(call.plan, table, DeviceCall::queue());
  EXPECT_THAT(text, HasSubstr("  mapped: rows of 64 bytes: 2.0 GB/s, 8.5 GB/s in pieces\n"));
  EXPECT_THAT(text, HasSubstr("  split: rows of 64 bytes: 3.0 GB/s, 8.5 GB/s by one way\n"));
  set_known_costs(some_costs(2e9, 8e9, 9.5e9));
  EXPECT_EQ(way_of(table), "split");
  set_known_costs(some_costs(8e9, 2e9, 9.5e9));
  EXPECT_EQ(way_of(table), "split");
  EXPECT_THAT(explain(call.plan, table, DeviceCall::queue()),
              HasSubstr("  mapped: rows of 64 bytes: 8.0 GB/s, 9.5 GB/s split\n"));
  EXPECT_EQ(way_of(host({.lock = true, .cache_bytes = 640})), "ring");
  EXPECT_EQ(way_of(host({.way = "mapped", .lock = true})), "mapped");
}

TEST_F(TableCostsTest, AreMeasuredAndKept) {
  EXPECT_EQ(table_costs(table_device()).note, "nothing was measured here");
  const TableCosts measured = measure_table_costs(table_device(), kQuick);
  EXPECT_EQ(measured.note, "");
  ASSERT_EQ(measured.rows.size(), 8);
  EXPECT_EQ(measured.rows.front().row_bytes, 64);
  EXPECT_EQ(measured.rows.back().row_bytes, 8192);
  for (const RowRates& row : measured.rows) {
    EXPECT_GT(row.mapped, 0);
    EXPECT_GT(row.ring, 0);
    EXPECT_GT(row.split, 0);
  }
  EXPECT_GT(measured.copy_rate, 0);
  forget_known_costs();
  const TableCosts kept = table_costs(table_device());
  EXPECT_EQ(kept.note, "");
  EXPECT_EQ(kept.machine, measured.machine);
  ASSERT_EQ(kept.rows.size(), 8);
  EXPECT_NEAR(kept.rows[3].ring / measured.rows[3].ring, 1, 1e-4);
}

TEST_F(TableCostsTest, OfFilesThatSomebodyElseWroteAreIgnored) {
  const std::string good = text_of(some_costs(1e9, 2e9, 3e9));
  EXPECT_EQ(costs_from(good, table_device()).rows.size(), 2);
  const std::string machine = "machine " + machine_of(table_device()) + "\n";
  const std::string title = "sheaf table costs 1\n";
  for (const std::string& text :
       {std::string(), std::string("\0\xff\n", 3), title, title + machine + "end\n",
        good.substr(0, good.size() - 5), title + machine + "row 64 1 2\nend\n",
        title + machine + "row 64 nan 2 3\nend\n", title + machine + "row 64 -1 2 3\nend\n",
        title + machine + "row 64 1 2 1e300\nend\n", title + machine + "row 0 1 2 3\nend\n",
        title + machine + "row 64 1 2 3\nrow 64 1 2 3\nend\n", title + machine + "copy 0\nend\n",
        title + machine + "other 1\nend\n", "sheaf table costs 2\n" + good}) {
    write_file(text);
    const TableCosts costs = table_costs(table_device());
    EXPECT_TRUE(costs.rows.empty()) << text;
    EXPECT_THAT(costs.note, EndsWith("was ignored: it has no costs of tables in it")) << text;
    EXPECT_EQ(way_of(host({.lock = true})), "ring");
  }
  std::string other = good;
  other.replace(other.find("machine ") + 8, 3, "an other");
  write_file(other);
  EXPECT_THAT(table_costs(table_device()).note,
              EndsWith("was ignored: it was measured on another machine"));
  write_file(std::string(1 << 20, 'x'));
  EXPECT_EQ(table_costs(table_device()).note, "nothing was measured here");
  write_file(good);
  EXPECT_EQ(table_costs(table_device()).rows.size(), 2);
}

TEST_F(TableCostsTest, AreNotKeptWhereNothingCanBeWritten) {
  use_folder(scratch_.write("a_file", "x"));
  const TableCosts measured = measure_table_costs(table_device(), kQuick);
  EXPECT_THAT(measured.note, HasSubstr("not kept: "));
  EXPECT_EQ(table_costs(table_device()).rows.size(), 8);  // in this process they are
  EXPECT_FALSE(replace_user_file(scratch_.path("a_file/b"), "text"));
  EXPECT_FALSE(read_user_file(scratch_.path("none"), 100));
  EXPECT_EQ(read_user_file(scratch_.path("a_file"), 100), "x");
}

TEST_F(TableCostsTest, RefuseWhatCannotBeMeasured) {
  EXPECT_THAT(refusal([] { measure_table_costs(table_device(), {.table_bytes = 1}); }),
              HasSubstr("table_bytes 1, moved_bytes 67108864 (8192 or more)"));
  EXPECT_THAT(refusal([] { measure_table_costs(table_device(), {.moved_bytes = 8191}); }),
              HasSubstr("moved_bytes 8191 (8192 or more)"));
  EXPECT_THAT(refusal([] { measure_table_costs(table_device(), {.repeats = 0}); }),
              HasSubstr("repeats 0 (1 or more)"));
  EXPECT_THROW(table_costs("no such device"), Error);
  EXPECT_THROW(measure_table_costs("no such device"), Error);
}

}  // namespace
