// SPDX-License-Identifier: MIT
//
// GGUF files on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "io/gguf_bytes.h"
#include "io/scratch.h"
#include "program.h"

namespace {

using testing::Each;
using testing::HasSubstr;
using namespace sheaf;

// embd: 4 rows of 32 in Q8_0, row r has the value r / 2; more: a tensor of i32.
class GgufFiles : public testing::Test {
 protected:
  GgufFiles() {
    GgufParts parts;
    parts.pairs = {gguf_pair("general.name", 8, gguf_text("tiny"))};
    parts.tensors = {gguf_tensor("embd", {32, 4}, kGgufQ8_0, 0),
                     gguf_tensor("more", {2}, kGgufI32, 160)};
    for (char row = 0; row < 4; ++row) {
      parts.data += little(0x3800, 2) + std::string(32, row);
    }
    parts.data.resize(160);
    parts.data += bytes_of<int32_t>({7, 8});
    model_ = scratch_.write("m.gguf", gguf_file(parts));
    embd_ = model_ + ":embd";
    out_ = scratch_.path("out.npy");
  }

  Scratch scratch_;
  std::string model_, embd_, out_;
};

TEST_F(GgufFiles, AreGatheredDecodedOrPacked) {
  const Finished run = run_sheaf({"gather", embd_, "3,-1", "-o", out_});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("f32[2, 32] to "));
  EXPECT_THAT(open_table(out_).load().elements<float>(), Each(1.5F));
  EXPECT_EQ(run_sheaf({"gather", embd_, "2", "-o", out_, "--as", "f16"}).status, 0);
  EXPECT_EQ(open_table(out_).spec().str(), "f16[1, 32]");
  EXPECT_EQ(run_sheaf({"gather", embd_, "2", "-o", out_, "--as", "packed"}).status, 0);
  EXPECT_EQ(open_table(out_).spec().str(), "u8[1, 34]");
  const Finished piped = run_sheaf({"gather_nd", embd_, "0,1;2,3", "-o", "-"});
  scratch_.write("piped.npy", piped.out);
  EXPECT_THAT(open_table(scratch_.path("piped.npy")).load().elements<float>(),
              testing::ElementsAre(0, 1));
}

TEST_F(GgufFiles, ArePooled) {
  const Finished run = run_sheaf({"bag", embd_, "3,1;2,2", "-o", out_});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("f32[2, 32] to "));
  EXPECT_THAT(open_table(out_).load().elements<float>(), Each(2.0F));
  const Finished outside = run_sheaf({"bag", embd_, "3,4;2,2", "-o", out_});
  EXPECT_EQ(outside.status, 1);
  EXPECT_THAT(outside.err, HasSubstr("indices[0, 1] = 4, but axis 0 of data has 4 entries"));
}

TEST_F(GgufFiles, AreListedAndLookedInto) {
  const Finished all = run_sheaf({"inspect", model_});
  EXPECT_THAT(all.out, HasSubstr("embd  q8_0  [4, 32]    136"));
  EXPECT_THAT(all.out, HasSubstr("more  i32   [2]"));
  EXPECT_THAT(all.out, HasSubstr("general.name = tiny"));
  const auto json = nlohmann::json::parse(run_sheaf({"inspect", embd_, "--json"}).out);
  EXPECT_EQ(json["dtype"], "q8_0");
  EXPECT_EQ(json["shape"], nlohmann::json({4, 32}));
  EXPECT_THAT(run_sheaf({"inspect", embd_, "--stats"}).out,
              HasSubstr("embd  q8_0[4, 32]\ncount 128   NaN 0   min 0   max 1.5   mean 0.75"));
  EXPECT_THAT(run_sheaf({"head", embd_, "2"}).out,
              HasSubstr("[1]  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  0.5  … 20"));
}

TEST_F(GgufFiles, SayWhatTheyCannot) {
  const std::pair<std::vector<std::string>, const char*> refusals[] = {
      {{"gather", model_ + ":more", "0", "-o", out_, "--as", "f16"},
       "--as is for encoded tables\n  \"more\" is i32[2]"},
      {{"gather", embd_, "4", "-o", out_}, "indices[0] = 4, but axis 0 of data has 4 entries"},
      {{"gather", embd_, "0", "-o", out_, "--as", "packed", "--device", "none"}, "--device"},
      {{"scatter", embd_, "0", "1", "-o", out_}, "encoded rows are only read"},
      {{"scatter", embd_, "0", "1", "--in-place"}, "encoded rows are only read"},
      {{"gather", model_ + ":more", embd_, "-o", out_}, "where plain elements are needed"},
      {{"convert", model_, scratch_.path("a.safetensors")}, "\"embd\" is q8_0[4, 32]"},
      {{"gather", model_ + ":more", "0", "-o", scratch_.path("a.gguf")}, ".gguf is only read"},
  };
  for (const auto& [arguments, says] : refusals) {
    const Finished run = run_sheaf(arguments);
    EXPECT_NE(run.status, 0) << says;
    EXPECT_THAT(run.err, HasSubstr(says));
  }
  EXPECT_FALSE(std::ifstream(out_)) << "a refusal writes nothing";
}

}  // namespace
