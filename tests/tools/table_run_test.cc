// SPDX-License-Identifier: MIT
//
// sheaf gather --device: rows of a file on a device, and what is said about it.
#include "files/table_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "files/done.h"
#include "helpers/deferred_device.h"
#include "io/scratch.h"
#include "plan/encoded_gather.h"
#include "program.h"

namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::StartsWith;
using namespace sheaf;

class TableRun : public testing::Test {
 protected:
  TableRun() {
    add_deferred_device();
    path_ = scratch_.path("table.npy");
    save(path_, "", view(values_, {4, 2}));
  }
  Scratch scratch_;
  std::string path_;
  std::vector<float> values_ = {0, 1, 10, 11, 20, 21, 30, 31};
};

TEST_F(TableRun, RowsAndNotTheTableTravel) {
  const Table table = open_table(path_);
  std::vector<int64_t> ids = {3, -4};
  const Plan plan = plan_gather(table.spec(), view(ids).spec);
  const cli::DeviceGather got = cli::gather_on_device(plan, table, view(ids), kDeferred, {});
  EXPECT_THAT(got.output.elements<float>(), ElementsAre(30, 31, 0, 1));
  EXPECT_EQ(got.stats.way, "file");
  EXPECT_EQ(got.stats.rows_fetched, 2);
  EXPECT_THAT(got.ways, StartsWith("rows of 8 bytes, by the way \"file\"\n"));
  ids[1] = 4;
  EXPECT_THROW(cli::gather_on_device(plan, table, view(ids), kDeferred, {}), IndexError);
}

TEST_F(TableRun, EncodedRowsAreDecodedOnTheirWay) {
  const EncodedSpec spec = encoded_rows(Encoding::kRowU8F32, {3, 4});
  std::vector<uint8_t> bytes(static_cast<size_t>(element_count(spec.stored.sizes)), 1);
  const Table table = Table::host_encoded({spec, bytes.data()}, nullptr);
  const std::vector<int64_t> ids = {2, 0};
  const EncodedGatherPlan plan = plan_gather_encoded(spec, view(ids).spec);
  const cli::DeviceGather got = cli::gather_on_device(plan, table, view(ids), kDeferred, {});
  Array expected(plan.output());
  plan.run({bytes.data(), nullptr, nullptr, ids.data(), expected.tensor().data});
  EXPECT_THAT(got.output.elements<float>(), ElementsAreArray(expected.elements<float>()));
  EXPECT_THAT(got.ways, HasSubstr("row_u8_f32"));
}

TEST_F(TableRun, WhatWasDoneInWords) {
  cli::Done done;
  done.read.bytes_read = 4096;
  done.read.requests = 1;
  done.read.reader = "pread";
  EXPECT_EQ(cli::summary_of(done, ""), "read 4 KiB in 1 request\n");
  const TensorSpec output(f32, {2, 2});
  EXPECT_FALSE(nlohmann::json::parse(cli::json_of("gather", output, done)).contains("way"));
  done.on_device.emplace();
  done.on_device->way = "file";
  done.on_device->pieces = 2;
  done.on_device->bytes_to_device = 2048;
  EXPECT_EQ(cli::summary_of(done, "there"), "2 KiB to there by the way \"file\" in 2 pieces\n");
  const auto json = nlohmann::json::parse(cli::json_of("gather", output, done));
  EXPECT_EQ(json["way"], "file");
  EXPECT_EQ(json["pieces"], 2);
  EXPECT_EQ(json["bytes_to_device"], 2048);
  EXPECT_FALSE(json.contains("bytes_read")) << "which nobody counted";
}

TEST_F(TableRun, TheProgramOnEveryDeviceThatIsThere) {
  for (const std::string& device : device_names()) {
    if (device == kDeferred || device == kDeferredBags || !device_available(device)) {
      continue;
    }
    const std::string out = scratch_.path("out.npy");
    const Finished run =
        run_sheaf({"gather", path_, "3,0", "-o", out, "--device", device, "--verbose"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("by the way \"file\""));
    EXPECT_THAT(run.out, HasSubstr(device + " by the way \"file\" in 1 piece"));
    EXPECT_THAT(open_table(out).load().elements<float>(), ElementsAre(30, 31, 0, 1));
  }
  const Finished refused = run_sheaf({"gather", path_, "3", "-o", "x.npy", "--device", "none"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("\"none\" is no device of this build"));
}

}  // namespace
