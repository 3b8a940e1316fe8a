// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

std::string safetensors(const std::string& json, const std::string& data) {
  return little(json.size(), 8) + json + data;
}

const std::string kData = bytes_of<int32_t>({1, 2, 3, 4});
const char kOne[] = R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[0,16]}})";

TEST(Safetensors, ReadsTensorsAndMetadata) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const File file(scratch.write(
      "a.safetensors", safetensors(R"({"__metadata__":{"format":"pt"},)"
                                   R"("b":{"dtype":"I32","shape":[1,1],"data_offsets":[12,16]},)"
                                   R"("a":{"dtype":"I32","shape":[3],"data_offsets":[0,12]},)"
                                   R"("e":{"dtype":"F4","shape":[0],"data_offsets":[16,16]}}   )",
                                   kData)));
  EXPECT_EQ(file.format(), FileFormat::kSafetensors);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_THAT(file.table("a").load().elements<int32_t>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(file.table("b").load().elements<int32_t>(), ElementsAre(4));
  EXPECT_EQ(file.tensors()[2].unsupported, "type F4 is unknown");
  EXPECT_THROW(file.table("e"), FileError);
  EXPECT_THROW(file.table("c"), FileError);
  EXPECT_THROW(file.table(), FileError);
}

struct HeaderRefusal {
  const char* json;
  const char* says;
};

TEST(Safetensors, RefusesHeadersThatLie) {
  SKIP_WITHOUT("json");
  const HeaderRefusal refusals[] = {
      {"", "its header is not a JSON object"},
      {"[]", "its header is not a JSON object"},
      {"{", "malformed JSON"},
      {R"({"a":1})", "not described by an object"},
      {R"({"a":{"dtype":"I32","shape":[4]}})", "its tensors end at 0 of 16"},
      {R"({"a":{"dtype":"I32","shape":[5],"data_offsets":[0,16]}})", "needs 20"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[0,17]}})", "leave the 16 bytes"},
      {R"({"a":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}})", "end at 12 of 16"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[16,0]}})", "overlap"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[0,16]},)"
       R"("b":{"dtype":"I32","shape":[4],"data_offsets":[0,16]}})",
       "overlap"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[0,16]},)"
       R"("a":{"dtype":"I32","shape":[4],"data_offsets":[0,16]}})",
       "occurs twice"},
      {R"({"a":{"dtype":"I32","shape":[1.5],"data_offsets":[0,16]}})", "not what it should be"},
      {R"({"a":{"dtype":"I32","shape":[-4],"data_offsets":[0,16]}})", "is negative"},
      {R"({"a":{"dtype":"I32","shape":[4611686018427387904,4],"data_offsets":[0,16]}})",
       "does not fit into 64 bits"},
      {R"({"a":{"dtype":"I32","shape":[18446744073709551615],"data_offsets":[0,16]}})",
       "not what it should be"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[0,16,16]}})", "end at 0 of 16"},
      {R"({"a":{"b":{"c":{"d":{"e":1}}}}})", "nested too deeply"},
      {R"({"__metadata__":{"a":1},"a":{"dtype":"I32","shape":[4],"data_offsets":[0,16]}})",
       "is not a text"},
      {"{\"\xff\":{}}", "malformed JSON"},
  };
  const Scratch scratch;
  for (const HeaderRefusal& refusal : refusals) {
    const std::string path = scratch.write("a.safetensors", safetensors(refusal.json, kData));
    EXPECT_THAT(error_of(path), HasSubstr(refusal.says)) << refusal.json;
  }
  EXPECT_THAT(error_of(scratch.write("a.safetensors", little(uint64_t{1} << 62, 8) + "{}")),
              HasSubstr("at most 2 are possible"));
  EXPECT_THAT(error_of(scratch.write("a.safetensors", "12")), HasSubstr("shorter than expected"));
}

TEST(SafetensorsIndex, OpensItsShards) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  scratch.write("m-1.safetensors", safetensors(kOne, kData));
  scratch.write("m-2.safetensors",
                safetensors(R"({"b":{"dtype":"I32","shape":[4],"data_offsets":[0,16]}})", kData));
  const File file(scratch.write("m.safetensors.index.json",
                                R"({"metadata":{"total_size":32.0,"tied":true},"weight_map":)"
                                R"({"a":"m-1.safetensors","b":"m-2.safetensors"}})"));
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[1].path, scratch.path("m-2.safetensors"));
  EXPECT_THAT(file.table("b").load().elements<int32_t>(), ElementsAre(1, 2, 3, 4));
}

TEST(SafetensorsIndex, StaysInItsFolder) {
  SKIP_WITHOUT("json");
  const Scratch outside, scratch;
  const std::string shard = outside.write("m.safetensors", safetensors(kOne, kData));
  const auto index = [&](const std::string& name) {
    return scratch.write("m.safetensors.index.json", R"({"weight_map":{"a":")" + name + "\"}}");
  };
  for (const std::string& name : {std::string("../m.safetensors"), shard, std::string("x/../../m"),
                                  std::string(), std::string("m.safetensors\\u0000.bak")}) {
    EXPECT_THAT(error_of(index(name)), HasSubstr("only files below its own folder")) << name;
  }
  ASSERT_EQ(symlink(shard.c_str(), scratch.path("link.safetensors").c_str()), 0);
  EXPECT_THAT(error_of(index("link.safetensors")), HasSubstr("is a link to"));
  EXPECT_THAT(error_of(index("missing.safetensors")), HasSubstr("No such file"));
  EXPECT_THAT(error_of(scratch.write("m.safetensors.index.json", "{}")),
              HasSubstr("it has no weight_map"));
}

// Stores of models have a folder of contents, and links to them by name.
TEST(SafetensorsIndex, FollowsLinksThatItsOwnLinkFollows) {
  SKIP_WITHOUT("json");
  const Scratch store, names;
  store.write("1", safetensors(kOne, kData));
  store.write("2", R"({"weight_map":{"a":"m.safetensors"}})");
  ASSERT_EQ(symlink(store.path("1").c_str(), names.path("m.safetensors").c_str()), 0);
  const std::string index = names.path("m.safetensors.index.json");
  ASSERT_EQ(symlink(store.path("2").c_str(), index.c_str()), 0);
  EXPECT_THAT(open_table(index, "a").load().elements<int32_t>(), ElementsAre(1, 2, 3, 4));
}

TEST(SafetensorsIndex, MissesATensor) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  scratch.write("m.safetensors", safetensors(kOne, kData));
  EXPECT_THAT(error_of(scratch.write("m.safetensors.index.json",
                                     R"({"weight_map":{"b":"m.safetensors"}})")),
              HasSubstr("\"b\" should be in \"m.safetensors\""));
}

}  // namespace
