// SPDX-License-Identifier: MIT
//
// What the command line must not do to files: lose an input, an update or an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "io/scratch.h"
#include "program.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using namespace sheaf;

class KeptFiles : public testing::Test {
 protected:
  KeptFiles() {
    const std::vector<float> values = {0, 1, 2, 3};
    table_ = scratch_.path("table.npy");
    save(table_, "", view(values));
    before_ = read_all(table_);
  }
  void refuses(const std::vector<std::string>& arguments, const std::string& what) {
    const Finished run = run_sheaf(arguments);
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.err, HasSubstr(what));
    EXPECT_EQ(read_all(table_), before_);
  }
  Scratch scratch_;
  std::string table_, before_;
};

TEST_F(KeptFiles, AnInputIsNotReplacedByTheOutput) {
  const std::vector<int64_t> ids = {1};
  save(scratch_.path("ids.npy"), "", view(ids));
  ASSERT_EQ(symlink("table.npy", scratch_.path("link.npy").c_str()), 0);
  const std::string indices = scratch_.path("ids.npy"), text = scratch_.write("ids.csv", "1\n");
  refuses({"gather", table_, "1", "-o", table_}, "file: is its own input");
  refuses({"gather", table_, "1", "-o", scratch_.path("link.npy")}, "file: is its own input");
  refuses({"gather", table_, indices, "-o", indices}, "file: is its own input");
  refuses({"gather", table_, text, "-o", text, "--format", "raw"}, "file: is its own input");
  refuses({"scatter", table_, "0", table_, "-o", table_}, "file: is its own input");
  refuses({"convert", table_, table_}, "file: is its own input");
  EXPECT_EQ(open_table(indices).load().elements<int64_t>()[0], 1);
}

TEST_F(KeptFiles, AnUnknownSuffixIsRefused) {
  refuses({"gather", table_, "1", "-o", scratch_.path("r.parquet")}, "file: unknown suffix");
  refuses({"convert", table_, scratch_.path("x.foo")}, "file: unknown suffix");
  EXPECT_EQ(run_sheaf({"convert", table_, scratch_.path("x.foo"), "--format", "raw"}).status, 0);
  EXPECT_EQ(read_all(scratch_.path("x.foo")), bytes_of<float>({0, 1, 2, 3}));
}

TEST_F(KeptFiles, AnNpzUnderAnotherNameIsNotBroken) {
  SKIP_WITHOUT("zlib");
  const std::string path = scratch_.path("z.bin");
  ASSERT_EQ(run_sheaf({"convert", table_, path, "--format", "npz"}).status, 0);
  const std::string before = read_all(path);
  refuses({"scatter", path + ":data", "1", "5", "--in-place"}, "file: cannot be changed in place");
  EXPECT_EQ(read_all(path), before);
}

// Nothing is lost when two programs add to one file.
TEST_F(KeptFiles, ScattersOfTwoProgramsAreBothKept) {
  const std::string command =
      std::string(SHEAF_PROGRAM) + " scatter " + table_ + " 0 1 --reduction add --in-place --quiet";
  const auto add = [&](int& failures) {
    for (int i = 0; i < 20; ++i) {
      failures += std::system(command.c_str()) != 0;
    }
  };
  int failures[2] = {};
  {
    const std::jthread first([&] { add(failures[0]); }), second([&] { add(failures[1]); });
  }
  EXPECT_THAT(failures, ElementsAre(0, 0));
  const Array result = open_table(table_).load();
  EXPECT_EQ(result.elements<float>()[0], 40);
  EXPECT_EQ(result.elements<float>()[3], 3);
}

TEST_F(KeptFiles, DirectReadsReachTheLastRow) {
  const Finished run =
      run_sheaf({"gather", table_, "3", "-o", scratch_.path("out.npy"), "--direct", "--quiet"});
  if (run.err.find("no O_DIRECT") != std::string::npos) {
    GTEST_SKIP() << "the file system has no O_DIRECT";
  }
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(open_table(scratch_.path("out.npy")).load().elements<float>()[0], 3);
}

TEST_F(KeptFiles, AFullStandardOutputIsAnError) {
  const std::string out = scratch_.path("err");
  const std::string command =
      std::string(SHEAF_PROGRAM) + " inspect " + table_ + " > /dev/full 2> " + out;
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_THAT(read_all(out), StartsWith("sheaf: cannot write to standard output: No space left"));
}

TEST_F(KeptFiles, ALimitOnFileSizesIsAnError) {
  const std::string out = scratch_.path("large.npy");
  const std::string command = "ulimit -f 0; " + std::string(SHEAF_PROGRAM) + " gather " + table_ +
                              " 0 -o " + out + " 2> /dev/null";
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
  EXPECT_THAT(scratch_.names(), testing::UnorderedElementsAre("table.npy"));
}

}  // namespace
