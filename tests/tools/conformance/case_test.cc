// SPDX-License-Identifier: MIT
//
// Files that are not what they should be. Hostile cases in sound files are in run_case_test.cc.
#include "conformance/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace sheaf::cli {
namespace {

using testing::HasSubstr;

class CaseFile : public testing::Test {
 protected:
  ~CaseFile() override { unlink(path_.c_str()); }

  // Why a file with this text is refused.
  std::string refusal(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    try {
      load_cases(path_);
    } catch (const BadFile& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with(path_ + ": ")) << what;
      return what.substr(path_.size() + 2);
    }
    return "not refused";
  }

  const std::string path_ =
      testing::TempDir() + "sheaf_case_test_" + std::to_string(getpid()) + ".json";
};

TEST_F(CaseFile, ThatIsNotJsonIsRefusedWithThePosition) {
  EXPECT_THAT(refusal(""), HasSubstr("parse error at line 1, column 1"));
  EXPECT_THAT(refusal("[1,\n2"), HasSubstr("parse error at line 2, column 2"));
  EXPECT_THAT(refusal("[1] 2"), HasSubstr("parse error at line 1, column 5"));
  EXPECT_THAT(refusal("[\"\xff\"]"), HasSubstr("parse error at line 1"));
  EXPECT_THAT(refusal(std::string("[\0]", 3)), HasSubstr("parse error at line 1, column 2"));
  EXPECT_THAT(refusal("[NaN]"), HasSubstr("parse error at line 1"));
  EXPECT_THAT(refusal("[1e999]"), HasSubstr("number overflow parsing '1e999'"));
}

TEST_F(CaseFile, ThatIsNotAListIsRefused) {
  EXPECT_EQ(refusal("{}"), "is not a list of cases");
  EXPECT_EQ(refusal("3"), "is not a list of cases");
  EXPECT_EQ(refusal("null"), "is not a list of cases");
}

TEST_F(CaseFile, ThatNestsDeepIsRefused) {
  EXPECT_EQ(refusal(std::string(3000000, '[')), "nests more than 16 deep");
  std::string objects;
  for (int i = 0; i < 100000; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_EQ(refusal(objects), "nests more than 16 deep");
}

TEST_F(CaseFile, ThatIsVeryLargeIsRefused) {
  EXPECT_EQ(refusal(std::string((64 << 20) + 1, ' ')), "has more than 67108864 bytes; split it");
  EXPECT_THROW(load_cases("/dev/zero"), BadFile);
}

TEST_F(CaseFile, ThatIsNotThereIsRefused) {
  EXPECT_THROW(load_cases(path_ + ".none"), BadFile);
  EXPECT_THROW(load_cases(testing::TempDir()), BadFile);
}

TEST_F(CaseFile, IsRead) {
  EXPECT_EQ(refusal("[]"), "not refused");
  EXPECT_EQ(load_cases("tests/cases/pass.json").size(), 55U);
}

}  // namespace
}  // namespace sheaf::cli
