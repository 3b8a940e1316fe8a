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
      {R"({"a":{}})", "\"a\" is empty"},
      {R"({"a":{"dtype":[],"shape":[4],"data_offsets":[0,16]}})", "\"dtype\" is empty"},
      {R"({"__metadata__":{"shape":[]}})", "\"shape\" is empty"},
      {R"({"__metadata__":{"a":["b"]}})", "is not a text"},
      {R"({"a":{"dtype":32,"shape":[4],"data_offsets":[0,16]}})", "\"dtype\" of \"a\" is not"},
      {R"({"a":{"dtype":["I32"],"shape":[4],"data_offsets":[0,16]}})", "\"dtype\" of \"a\" is not"},
      {R"({"a":{"dtype":"I32","shape":"4","data_offsets":[0,16]}})", "\"shape\" of \"a\" is not"},
      {R"({"a":{"dtype":"I32","shape":4,"data_offsets":[0,16]}})", "\"shape\" of \"a\" is not"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":["0",16]}})", "\"data_offsets\" of"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":16}})", "\"data_offsets\" of"},
      {R"({"a":{"dtype":null,"shape":[4],"data_offsets":[0,16]}})", "type null is unknown"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[0,16]},)"
       R"("b":{"dtype":"I32","shape":[0],"data_offsets":[16,8]}})",
       "overlap"},
      {R"({"a":{"shape":[4],"data_offsets":[0,16]}})", "\"a\" lacks dtype, shape"},
      {R"({"a":{"dtype":"I32","data_offsets":[0,16]}})", "\"a\" lacks dtype, shape"},
      {R"({"a":{"dtype":"I32","shape":[4],"data_offsets":[0,16]},"b":{"dtype":"I32","shape":[0]}})",
       "\"b\" lacks dtype, shape or data_offsets"},
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

TEST(Safetensors, ReadsAScalarAndNothing) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const File one(scratch.write(
      "a.safetensors", safetensors(R"({"__metadata__":{},)"
                                   R"("a":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})",
                                   bytes_of<int32_t>({9}))));
  EXPECT_EQ(one.tensors()[0].spec, TensorSpec(i32, {}));
  EXPECT_THAT(one.table().load().elements<int32_t>(), ElementsAre(9));
  const File none(scratch.write("n.safetensors", safetensors("{}", "")));
  EXPECT_TRUE(none.tensors().empty());
  const auto missing = [&] { none.table("a"); };
  EXPECT_THROW(missing(), FileError);
}

TEST(Safetensors, AMissingNameListsTheFirstNames) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  std::string json;
  for (int i = 0; i < 9; ++i) {
    json += (i == 0 ? "{\"t" : ",\"t") + std::to_string(i) +
            R"(":{"dtype":"I32","shape":[0],"data_offsets":[0,0]})";
  }
  const File file(scratch.write("a.safetensors", safetensors(json + "}", "")));
  try {
    file.table("other");
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("\"other\" is not one of 9: t0, t1, t2, t3, t4, t5, t6, t7, …"));
  }
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

// What is no pair of a tensor and a file is passed over, as other readers do.
TEST(SafetensorsIndex, TakesTextsOfItsMapAlone) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  scratch.write("m.safetensors", safetensors(kOne, kData));
  const File file(scratch.write(
      "m.safetensors.index.json",
      R"({"version":1,"metadata":{"total_size":16,"format":"pt","parts":["x"]},)"
      R"("other":{"c":"no.safetensors"},"weight_map":{"a":"m.safetensors","b":7,"d":["x"]}})"));
  ASSERT_EQ(file.tensors().size(), 1u);
  EXPECT_EQ(file.metadata().at("total_size"), "16");
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST(SafetensorsIndex, HasALimit) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const std::string path = scratch.write("m.safetensors.index.json", "{}");
  ASSERT_EQ(truncate(path.c_str(), 100'000'001), 0);
  EXPECT_EQ(
      error_of(path),
      "file: index too large\n  it has 100000001 bytes, at most 100000000 are read\n  file \"" +
          path + "\"\n  try: the index that belongs to the model");
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

// Shards lie beside an index that is named without a folder.
TEST(SafetensorsIndex, MayLieInTheWorkingFolder) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  scratch.write("m.safetensors", safetensors(kOne, kData));
  scratch.write("m.safetensors.index.json", R"({"weight_map":{"a":"m.safetensors"}})");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path(""));
  EXPECT_EQ(error_of("m.safetensors.index.json"), "");
  std::filesystem::current_path(before);
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
