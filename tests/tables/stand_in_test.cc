// SPDX-License-Identifier: MIT
//
// What only a device made of host memory shows: it reads the host's rows, pools and decodes them
// itself, counts the bytes that reach it, and does nothing before it is waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;

class StandIn : public TableTest {};

// Rows that kernels reach: locked memory of the host, and the device's own.
TEST_F(StandIn, PoolsByThePlanItselfWhereItReadsTheRows) {
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const ConstTensor rows = view(values, {4, 3});
  const BagPlan plan = plan_bag({rows.spec, TensorSpec(i64, {2, 2}), {}, {}});
  const Queue queue{.device = kDeferredBags};
  for (const auto& [table, way] :
       {std::pair{Table::host(rows, nullptr).with({.way = "mapped", .lock = true}), "mapped"},
        {Table::device(kDeferredBags, rows, nullptr), "device"}}) {
    std::vector<int64_t> ids = {3, 0, 1, 1};
    std::vector<float> output(6, -1);
    run(plan, table, {.indices = ids.data(), .output = output.data()}, queue);
    EXPECT_THAT(output, testing::Each(-1)) << "nothing was waited for";
    finish(plan, table, queue);
    EXPECT_THAT(output, testing::ElementsAre(9, 11, 13, 6, 8, 10)) << way;
    EXPECT_EQ(stats(table).way, way);
    EXPECT_EQ(stats(table).rows, 4);
    ids[2] = 4;
    output.assign(6, -1);
    run(plan, table, {.indices = ids.data(), .output = output.data()}, queue);
    EXPECT_EQ(index_error([&, &bags = table] { finish(plan, bags, queue); }).bad_count(), 1);
    EXPECT_THAT(output, testing::Each(-1));
  }
}

TEST_F(StandIn, IsGivenEncodedRowsAsTheyAreStored) {
  const EncodedSpec spec = encoded_rows(Encoding::kRowU4F16, {40, 512});
  const std::vector<uint8_t> stored(static_cast<size_t>(element_count(spec.stored.sizes)));
  const Table table = Table::host_encoded({spec, stored.data()}, nullptr);
  const std::vector<int64_t> ids = {3, 39, 0, 7};
  const EncodedGatherPlan plan = plan_gather_encoded(spec, view(ids).spec);
  const auto bytes_to = [&](std::string_view device) {
    std::vector<float> output(4 * 512, -1);
    const Queue queue{.device = device};
    run(plan, table, ids.data(), output.data(), queue);
    finish(plan.decoded_gather(), table, queue);
    EXPECT_THAT(output, testing::Each(0));
    return stats(table).bytes_to_device;
  };
  EXPECT_LT(bytes_to(kDeferredBags), 4 * (260 + 8));  // 2,048 bytes each, decoded
  EXPECT_GT(bytes_to(kDeferred), 4 * 2048);
}

}  // namespace
