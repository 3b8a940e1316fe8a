// SPDX-License-Identifier: MIT
//
// The picture of a table (pictures/journey.h) knows the ways without the device: it has to say what
// the library says.
#include <gtest/gtest.h>

#include "io/scratch.h"
#include "pictures/journey.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;

class PicturedWays : public Tables {
 protected:
  static void expect_same(const Table& table, const pictures::Journey& journey,
                          const Queue& queue) {
    const Plan plan = plan_gather(table.spec(), TensorSpec(i64, {3}));
    const int64_t row_bytes = plan.nest().row_bytes;
    const auto pictured = pictures::ways_of(journey, row_bytes);
    const auto real = table_ways(plan, table, queue);
    ASSERT_EQ(pictured.size(), real.size());
    for (size_t i = 0; i < real.size(); ++i) {
      EXPECT_EQ(pictured[i].name, real[i].name);
      EXPECT_EQ(pictured[i].refusal, real[i].refusal) << real[i].name;
    }
  }
  static pictures::Journey journey(std::string from, bool to_device) {
    return {.from = std::move(from), .to = std::string(to_device ? table_device() : "host")};
  }
};

TEST_F(PicturedWays, AreTheLibrarys) {
  const Scratch scratch;
  const Table file = open_raw(scratch.write("t.bin", bytes_of(values_)), {i32, {kRows, kColumns}});
  const DeviceMemory memory(table_device(), 640);
  const Table device = Table::device(table_device(), {memory.data(), {i32, {10, 16}}}, nullptr);
  for (const bool to_device : {false, true}) {
    const Queue queue = to_device ? DeviceCall::queue() : Queue{};
    expect_same(host(), journey("host", to_device), queue);
    expect_same(file, journey("file", to_device), queue);
    expect_same(device, journey(std::string(table_device()), to_device), queue);
  }
}

TEST_F(PicturedWays, KnowLockedMemoryAndCaches) {
  pictures::Journey locked = journey("host", true);
  locked.locked = true;
  expect_same(host({.lock = true}), locked, DeviceCall::queue());
  const Table wide = Table::host(view(values_, {kRows / 40, kColumns * 40}), nullptr);
  expect_same(wide.with({.lock = true}), locked, DeviceCall::queue());
  locked.cached_rows = {1};
  expect_same(wide.with({.lock = true, .cache_bytes = 1 << 14}), locked, DeviceCall::queue());
}

}  // namespace
