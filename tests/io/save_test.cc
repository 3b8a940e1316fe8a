// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

class Save : public testing::TestWithParam<const char*> {};

TEST_P(Save, ReadsBackEveryFormat) {
  SKIP_WITHOUT(std::string(GetParam()) == "npz"           ? "zlib"
               : std::string(GetParam()) == "safetensors" ? "json"
                                                          : "");
  const Scratch scratch;
  const std::vector<int64_t> wide = {1, -2, 3};
  const std::vector<uint8_t> narrow = {9};
  save(scratch.path("wide.npy"), "", view(wide, {3, 1}));
  save(scratch.path("narrow.npy"), "", view(narrow));
  const std::string path = scratch.path(std::string("all.") + GetParam());
  save(path,
       {{"n", open_table(scratch.path("narrow.npy"))}, {"w", open_table(scratch.path("wide.npy"))}},
       {{"made by", "\"test\""}});
  const File file(path);
  EXPECT_EQ(to_string(file.format()), GetParam());
  EXPECT_EQ(file.table("w").spec(), TensorSpec(i64, {3, 1}));
  EXPECT_THAT(file.table("w").load().elements<int64_t>(), ElementsAre(1, -2, 3));
  EXPECT_THAT(file.table("n").load().elements<uint8_t>(), ElementsAre(9));
  if (file.format() != FileFormat::kNpz) {
    EXPECT_EQ(file.metadata().at("made by"), "\"test\"");
  }
}
INSTANTIATE_TEST_SUITE_P(Formats, Save, testing::Values("npz", "safetensors", "onnx"));

TEST(SaveOne, WritesAnyStrides) {
  const Scratch scratch;
  const std::vector<int16_t> values = {1, 2, 3, 4, 5, 6};
  save(scratch.path("t.npy"), "t", view(values, {3, 2}, {1, 3}));
  EXPECT_THAT(open_table(scratch.path("t.npy")).load().elements<int16_t>(),
              ElementsAre(1, 4, 2, 5, 3, 6));
  save(scratch.path("t.bin"), "t", view(values));
  EXPECT_EQ(read_all(scratch.path("t.bin")), bytes_of(values));
}

TEST(SaveOne, WritesIntoTheWorkingFolder) {
  const Scratch scratch;
  const std::vector<int16_t> values = {1, 2};
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path(""));
  save("t.npy", "t", view(values));
  std::filesystem::current_path(before);
  EXPECT_THAT(scratch.names(), ElementsAre("t.npy"));
}

TEST(SaveNone, KeepsWhatIsSaidAboutAFile) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  save(scratch.path("n.safetensors"), std::vector<NamedTable>{}, {{"a", "1"}, {"b", "2"}});
  const File file(scratch.path("n.safetensors"));
  EXPECT_TRUE(file.tensors().empty());
  EXPECT_EQ(file.metadata().at("b"), "2");
  EXPECT_THROW(save(scratch.path("n.bin"), std::vector<NamedTable>{}), FileError);
}

TEST(SaveOne, RefusesTypesThatAFormatLacks) {
  const Scratch scratch;
  struct Odd {
    char bytes[3];
  };
  const std::vector<Odd> values(2);
  EXPECT_THROW(save(scratch.path("a.safetensors"), "a", view(values)), FileError);
  EXPECT_THROW(save(scratch.path("a.onnx"), "a", view(values)), FileError);
  EXPECT_THROW(save(scratch.path("a.npy"), std::vector<NamedTable>{}), FileError);
  EXPECT_TRUE(scratch.names().empty());
  save(scratch.path("a.npy"), "a", view(values));
  EXPECT_EQ(open_table(scratch.path("a.npy")).spec(), TensorSpec(opaque(3), {2}));
}

TEST(RunToFile, WritesTheOutput) {
  const Scratch scratch;
  std::vector<int32_t> values(100000);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int32_t>(i);
  }
  save(scratch.path("t.npy"), "", view(values, {25000, 4}));
  const Table table = open_table(scratch.path("t.npy"));
  std::vector<int64_t> rows(30000);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<int64_t>(i * 7919 % 25000);
  }
  const ConstTensor indices = view(rows);
  const Plan plan = plan_gather(table.spec(), indices.spec);
  run_to_file(plan, table, indices, scratch.path("out.npy"), {.memory = 1 << 20});
  const Array expected = gather(table, indices);
  const Array got = open_table(scratch.path("out.npy")).load();
  const auto a = expected.elements<int32_t>(), b = got.elements<int32_t>();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  rows[29999] = 25000;
  EXPECT_THROW(run_to_file(plan, table, indices, scratch.path("bad.npy")), IndexError);
  EXPECT_THAT(scratch.names(), testing::UnorderedElementsAre("t.npy", "out.npy"));
}

}  // namespace
