// SPDX-License-Identifier: MIT
//
// A result never takes the place of a file that it is read from, whatever the names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/scratch.h"

namespace {

using testing::HasSubstr;
using namespace sheaf;

const std::vector<float> kValues = {1, 2, 3, 4};
const std::vector<int64_t> kPicked = {1};

template <class F>
std::string refusal(F call) {
  try {
    call();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

void gather_to(const Table& table, const std::string& path) {
  run_to_file(plan_gather(table.spec(), {i64, {1}}), table, view(kPicked), path);
}

TEST(OwnInput, IsRefusedByEveryName) {
  const Scratch scratch;
  const std::string path = scratch.path("big.npy");
  save(path, "", view(kValues));
  const std::string before = read_all(path);
  ASSERT_EQ(symlink("big.npy", scratch.path("soft.npy").c_str()), 0);
  ASSERT_EQ(link(path.c_str(), scratch.path("hard.npy").c_str()), 0);
  const Table table = open_table(path);
  EXPECT_EQ(refusal([&] { gather_to(table, path); }),
            "file: is its own input\n  \"" + path +
                "\", which is read, is the same file; the result would take its place\n  file \"" +
                path + "\"\n  try: another path");
  for (const char* name : {"soft.npy", "hard.npy", "./big.npy"}) {
    const std::string other = scratch.path(name);
    EXPECT_THAT(refusal([&] { gather_to(table, other); }), HasSubstr("is its own input")) << name;
    EXPECT_THAT(refusal([&] { save(other, {{"t", table}}); }), HasSubstr("is its own input"));
  }
  EXPECT_EQ(read_all(path), before);
  gather_to(table, scratch.path("other.npy"));
}

TEST(OwnInput, CoversEveryFileOfAModel) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const std::string first = scratch.path("m-1.safetensors"),
                    second = scratch.path("m-2.safetensors");
  save(first, "a", view(kValues));
  save(second, "b", view(kValues));
  const std::string index =
      scratch.write("m.safetensors.index.json",
                    R"({"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}})");
  const Table a = open_table(index, "a");
  const Plan plan = plan_scatter(a.spec(), {i64, {1}}, {f32, {1}});
  for (const std::string& path : {first, second}) {
    EXPECT_THAT(refusal([&] { gather_to(a, path); }), HasSubstr("is its own input"));
  }
  EXPECT_THAT(refusal([&] { gather_to(a, index); }), HasSubstr("is its own input"));
  const std::vector<float> one = {5};
  EXPECT_THAT(refusal([&] { run_scatter_to_file(plan, a, view(kPicked), view(one), second); }),
              HasSubstr("is its own input"));
}

TEST(OwnInput, AnUnknownSuffixIsRefused) {
  const Scratch scratch;
  const std::string path = scratch.path("t.npy");
  save(path, "", view(kValues));
  const Table table = open_table(path);
  EXPECT_EQ(
      refusal([&] { gather_to(table, scratch.path("r.parquet")); }),
      "file: unknown suffix\n  a new file is .npy, .npz, .safetensors or .onnx; .bin and .raw "
      "hold bytes without a header\n  file \"" +
          scratch.path("r.parquet") +
          "\"\n  try: one of these suffixes, or the option format, as in raw");
  EXPECT_THAT(refusal([&] { save(scratch.path("r.foo"), "t", view(kValues)); }),
              HasSubstr("unknown suffix"));
  save(scratch.path("r.foo"), "t", view(kValues), {.format = FileFormat::kRaw});
  EXPECT_EQ(read_all(scratch.path("r.foo")), bytes_of(kValues));
  save(scratch.path("r.bin"), "t", view(kValues));
  EXPECT_EQ(read_all(scratch.path("r.bin")), bytes_of(kValues));
  save(scratch.path("r.bin"), "t", view(kValues), {.format = FileFormat::kNpy});
  EXPECT_EQ(read_all(scratch.path("r.bin")), read_all(path));
}

TEST(OwnInput, AnOnnxFileEndsAt2GiB) {
  const Scratch scratch;
  const std::string path = scratch.write("t.bin", "");
  ASSERT_EQ(truncate(path.c_str(), int64_t{3} << 30), 0);
  const Table table = open_raw(path, {u8, {int64_t{3} << 30}});
  EXPECT_THAT(refusal([&] {
                save(scratch.path("t.onnx"), {{"t", table}});
              }),
              HasSubstr("too large for .onnx\n  protocol buffers end at 2 GiB"));
}

// The content decides what can be changed in place, not the name.
TEST(OwnInput, AnNpzUnderAnotherNameKeepsItsChecksums) {
  SKIP_WITHOUT("zlib");
  const Scratch scratch;
  const std::string path = scratch.path("z.bin");
  save(path, "a", view(kValues), {.format = FileFormat::kNpz});
  const std::string before = read_all(path);
  const std::vector<float> one = {5};
  EXPECT_THAT(refusal([&] { scatter(open_table(path, "a"), view(kPicked), view(one)); }),
              HasSubstr("cannot be changed in place\n  \"a\" is compressed, encoded or has a "
                        "checksum (.npz)"));
  EXPECT_EQ(read_all(path), before);
}

}  // namespace
