// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

const std::string kArray =
    npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", bytes_of<int32_t>({7, 8}));

// One member of a zip file, as told: what a header claims need not be so.
struct Member {
  std::string name = "a.npy";
  std::string stream = kArray;
  uint64_t claimed = kArray.size();
  int method = 0, flags = 0;
  uint64_t offset = 0;     // of its local header, as the directory claims
  std::string extra = {};  // fields of the directory's entry
  std::optional<uint64_t> stream_claimed = {};
};

std::string local(const Member& m) {
  return std::string("PK\x03\x04") + little(20, 2) + little(static_cast<uint64_t>(m.flags), 2) +
         little(static_cast<uint64_t>(m.method), 2) + little(0, 8) + little(m.stream.size(), 4) +
         little(m.claimed, 4) + little(m.name.size(), 2) + little(0, 2) + m.name + m.stream;
}

std::string entry(const Member& m) {
  return std::string("PK\x01\x02") + little(20, 2) + little(20, 2) +
         little(static_cast<uint64_t>(m.flags), 2) + little(static_cast<uint64_t>(m.method), 2) +
         little(0, 8) + little(m.stream_claimed.value_or(m.stream.size()), 4) +
         little(m.claimed, 4) + little(m.name.size(), 2) + little(m.extra.size(), 2) +
         little(0, 10) + little(m.offset, 4) + m.name + m.extra;
}

std::string ending(uint64_t members, uint64_t bytes, uint64_t offset) {
  return std::string("PK\x05\x06") + little(0, 4) + little(members, 2) + little(members, 2) +
         little(bytes, 4) + little(offset, 4) + little(0, 2);
}

std::string zip(const Member& m) {
  const std::string first = local(m), directory = entry(m);
  return first + directory + ending(1, directory.size(), first.size());
}

TEST(Npz, ReadsAStoredMember) {
  const Scratch scratch;
  const File file(scratch.write("a.npz", zip({})));
  EXPECT_EQ(file.format(), FileFormat::kNpz);
  ASSERT_EQ(file.tensors().size(), 1u);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[0].storage, "plain");
  EXPECT_THAT(file.table("a").load().elements<int32_t>(), ElementsAre(7, 8));
}

TEST(Npz, RefusesDirectoriesThatLie) {
  const Scratch scratch;
  const std::string good = zip({});
  EXPECT_THAT(error_of(scratch.write("a.npz", good.substr(0, good.size() - 23))),
              HasSubstr("its table of contents is missing"));
  EXPECT_THAT(error_of(scratch.write("a.npz", local({}) + entry({}) + ending(1, 60, 1 << 30))),
              HasSubstr("lies outside the file's"));
  EXPECT_THAT(
      error_of(scratch.write("a.npz", local({}) + "garbage" + ending(1, 7, local({}).size()))),
      HasSubstr("its table of contents is damaged"));
  EXPECT_THAT(error_of(scratch.write("a.npz", zip({.offset = 40}))),
              HasSubstr("no member begins at 40"));
}

TEST(Npz, RefusesEndingsThatLie) {
  const Scratch scratch;
  const std::string first = local({}), directory = entry({});
  const auto end_error = [&](const std::string& end) {
    return error_of(scratch.write("a.npz", first + directory + end));
  };
  EXPECT_THAT(end_error(ending(1, directory.size() + 30, first.size())), HasSubstr("cannot be"));
  EXPECT_THAT(end_error(ending(1, directory.size() - 1, first.size())), HasSubstr("is damaged"));
  EXPECT_THAT(end_error("PK\x05\x06 cut short"), HasSubstr("is missing: the file may be cut"));
  // Sizes of 64 bits are announced, but nothing says where they stand.
  EXPECT_THAT(end_error(ending(1, 0xffffffff, first.size())), HasSubstr("lies outside the file's"));
  EXPECT_EQ(end_error(ending(0xffff, directory.size(), first.size())), "");
  const std::string nowhere =
      std::string("PK\x06\x07") + little(0, 4) + little(1, 8) + little(1, 4);
  EXPECT_THAT(end_error(nowhere + ending(1, 0xffffffff, 0xffffffff)),
              HasSubstr("its zip64 record is missing"));
}

// Sizes of 64 bits, which numpy.savez writes for large files.
TEST(Npz, ReadsSizesOf64Bits) {
  const Scratch scratch;
  const std::string first = local({});
  const std::string other = little(0x5455, 2) + little(1, 2) + "x";
  const std::string wide = little(1, 2) + little(24, 2) + little(kArray.size(), 8) +
                           little(kArray.size(), 8) + little(0, 8);
  const Member member{.claimed = 0xffffffff,
                      .offset = 0xffffffff,
                      .extra = other + wide,
                      .stream_claimed = 0xffffffff};
  const std::string directory = entry(member);
  const std::string record = std::string("PK\x06\x06") + little(0, 36) +
                             little(directory.size(), 8) + little(first.size(), 8);
  const std::string where = std::string("PK\x06\x07") + little(0, 4) +
                            little(first.size() + directory.size(), 8) + little(1, 4);
  const File file(scratch.write(
      "a.npz", first + directory + record + where + ending(1, 0xffffffff, 0xffffffff)));
  EXPECT_THAT(file.table("a").load().elements<int32_t>(), ElementsAre(7, 8));
}

TEST(Npz, RefusesEntriesThatLie) {
  const Scratch scratch;
  const auto entry_error = [&](const Member& m) {
    return error_of(scratch.write("a.npz", zip(m)));
  };
  EXPECT_THAT(entry_error({.extra = little(1, 2) + little(9, 2) + "12345678"}),
              HasSubstr("an extra field is cut short"));
  // Too short for one of the sizes that it should hold.
  EXPECT_THAT(entry_error({.claimed = 0xffffffff, .extra = little(1, 2) + little(4, 2) + "1234"}),
              HasSubstr("claims 4294967295 bytes"));
  EXPECT_THAT(entry_error({.offset = zip({}).size() - 10}),
              HasSubstr("a member begins at the end of the file"));
  EXPECT_THAT(entry_error({.stream_claimed = zip({}).size() - 4}),
              HasSubstr("\"a.npy\" is cut short"));
  EXPECT_THAT(entry_error({.claimed = kArray.size() - 4}),
              HasSubstr("claims 72 bytes, but 76 are stored"));
}

TEST(Npz, RefusesMembersThatAreNoArrays) {
  const Scratch scratch;
  EXPECT_THAT(
      error_of(scratch.write("a.npz", zip({.stream = "no array, not at all", .claimed = 20}))),
      HasSubstr("it does not begin with \\x93NUMPY"));
  EXPECT_THAT(
      error_of(scratch.write("a.npz", zip({.stream = "short", .claimed = 5}))),
      HasSubstr("shorter than expected\n  12 bytes are wanted at 0, but the file ends at 5"));
}

TEST(Npz, RefusesMembersThatLie) {
  SKIP_WITHOUT("zlib");
  const Scratch scratch;
  EXPECT_THAT(error_of(scratch.write("a.npz", zip({.claimed = 5000}))), HasSubstr("claims 5000"));
  // A bomb: no deflated stream of this length grows to a GiB.
  EXPECT_THAT(error_of(scratch.write("a.npz", zip({.claimed = 1 << 30, .method = 8}))),
              HasSubstr("more than its"));
  EXPECT_THAT(error_of(scratch.write("a.npz", zip({.claimed = 500, .method = 8}))),
              HasSubstr("damaged compressed data"));
  EXPECT_THAT(error_of(scratch.write("a.npz", zip({.flags = 1}))), HasSubstr("it is encrypted"));
  EXPECT_THAT(error_of(scratch.write("a.npz", zip({.method = 12}))),
              HasSubstr("compression method 12 is unknown"));
  const std::string longer = kArray + "more";
  EXPECT_THAT(error_of(scratch.write("a.npz", zip({.stream = longer, .claimed = longer.size()}))),
              HasSubstr("has 12 bytes of data, but i32[2] needs 8"));
}

TEST(Npz, RefusesMembersThatOverlapOrShareAName) {
  const Scratch scratch;
  const std::string first = local({});
  const std::string twice = entry({}) + entry({.name = "b.npy"});
  EXPECT_THAT(
      error_of(scratch.write("a.npz", first + twice + ending(2, twice.size(), first.size()))),
      HasSubstr("overlap"));
  const std::string two = first + local({});
  const std::string same = entry({}) + entry({.offset = first.size()});
  EXPECT_THAT(error_of(scratch.write("a.npz", two + same + ending(2, same.size(), two.size()))),
              HasSubstr("two members are named \"a.npy\""));
}

// A stream that is not valid, and one that ends before its time.
TEST(Npz, DamagedStreamsAreRefused) {
  SKIP_WITHOUT("zlib");
  const Scratch scratch;
  const std::string good = read_all("fuzz/corpus/npz/waves.npz");
  ASSERT_EQ(error_of(scratch.write("good.npz", good)), "");
  int refused = 0;
  for (size_t at = 60; at < good.size() - 120; at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    refused += error_of(scratch.write("bad.npz", bad)) != "";
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
