// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/scratch.h"
#include "program.h"
#include "sheaf/explain.h"
#include "sheaf/version.h"

namespace {

using testing::HasSubstr;

TEST(Doctor, TellsOfEveryBackend) {
  const Finished run = run_sheaf({"doctor"});
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_TRUE(run.out.starts_with("sheaf " SHEAF_VERSION "\n")) << run.out;
  for (const std::string& name : sheaf::backend_names()) {
    EXPECT_THAT(run.out, HasSubstr("  backend       " + name + "   works\n"));
  }
  for (const std::string& name : sheaf::device_names()) {
    const std::string verdict = sheaf::device_available(name) ? "   works" : "";
    EXPECT_THAT(run.out, HasSubstr("  device        " + name + verdict + "   " +
                                   sheaf::device_description(name) + "\n"));
  }
  const bool keeps_kernels = sheaf::device_available("vulkan");
  EXPECT_EQ(run.out.find("  kernels kept  ") != std::string::npos, keeps_kernels) << run.out;
  if (sheaf::device_names().empty()) {
    EXPECT_THAT(run.out, HasSubstr("  device        none in this build\n"));
  }
  EXPECT_THAT(run.out, testing::ContainsRegex("  mpi +(not built in this version|.*MPI.*)\n"));
}

TEST(Doctor, PrintsJson) {
  const Finished run = run_sheaf({"doctor", "--json"}, "SHEAF_KERNEL=reference");
  EXPECT_EQ(run.status, 0);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["version"], SHEAF_VERSION);
  EXPECT_EQ(json["kernel_override"], "reference");
  EXPECT_GE(json["threads"], 1);
  ASSERT_EQ(json["backends"].size(), sheaf::backend_names().size());
  EXPECT_EQ(json["backends"].back()["name"], "reference");
  EXPECT_EQ(json["backends"].back()["works"], true);
  const std::vector<std::string> devices = sheaf::device_names();
  ASSERT_EQ(json["devices"].size(), devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(json["devices"][i]["name"], devices[i]);
    EXPECT_EQ(json["devices"][i]["description"], sheaf::device_description(devices[i]));
    EXPECT_EQ(json["devices"][i]["works"], sheaf::device_available(devices[i]));
    EXPECT_EQ(json["devices"][i]["trouble"], "");
    EXPECT_EQ(json["devices"][i]["kernel_cache"] != "",
              devices[i] == "vulkan" && sheaf::device_available("vulkan"));
  }
}

TEST(Doctor, MeasuresHowDevicesAreFed) {
  const Scratch scratch;
  const std::string folder = "XDG_CACHE_HOME=" + scratch.path("cache");
  const auto before = nlohmann::json::parse(run_sheaf({"doctor", "--json"}, folder).out);
  const Finished run = run_sheaf({"doctor", "--json", "--measure"}, folder);
  EXPECT_EQ(run.status, 0) << run.out;
  const auto after = nlohmann::json::parse(run.out);
  ASSERT_EQ(after["devices"].size(), before["devices"].size());
  for (size_t i = 0; i < before["devices"].size(); ++i) {
    if (!after["devices"][i]["works"]) {
      continue;
    }
    EXPECT_EQ(before["devices"][i]["table_costs"]["note"], "nothing was measured here");
    const auto& costs = after["devices"][i]["table_costs"];
    EXPECT_NE(costs["rows"].empty(), costs["note"] == "") << costs;
  }
}

TEST(Doctor, TellsThatCallsAreSentElsewhere) {
  EXPECT_THAT(run_sheaf({"doctor"}, "SHEAF_KERNEL=reference").out,
              HasSubstr("  SHEAF_KERNEL  reference   (every call is sent there)\n"));
}

}  // namespace
