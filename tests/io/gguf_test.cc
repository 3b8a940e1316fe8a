// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/gguf_bytes.h"
#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

// Rows of Q8_0 whose scale is 0.5: code c stands for c / 2.
std::string q8_rows(int64_t rows, int64_t blocks) {
  std::string out;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t b = 0; b < blocks; ++b) {
      out += little(0x3800, 2);
      for (int64_t i = 0; i < 32; ++i) {
        out += static_cast<char>((row * 7 + b * 32 + i) % 127);
      }
    }
  }
  return out;
}
float q8_value(int64_t row, int64_t element) {
  return static_cast<float>((row * 7 + element) % 127) / 2;
}

// The text of any refusal.
template <class Call>
std::string refusal_text(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 31) / 32 * 32);
  return bytes;
}

// 100 rows of 64 in Q8_0, 2 by 3 numbers of i32, and a tensor that nobody decodes.
std::string model() {
  GgufParts parts;
  parts.pairs = {
      gguf_pair("general.name", 8, gguf_text("tiny")),
      gguf_pair("layers", 4, little(7, 4)),
      gguf_pair("flag", 7, little(1, 1)),
      gguf_pair("less", 5, little(uint32_t(-3), 4)),
      gguf_pair("half", 6, little(0x3F000000, 4)),
      gguf_pair("words", 9, little(8, 4) + little(2, 8) + gguf_text("a") + gguf_text("bc"))};
  const std::string rows = padded(q8_rows(100, 2));
  parts.tensors = {gguf_tensor("embd", {64, 100}, kGgufQ8_0, 0),
                   gguf_tensor("ints", {3, 2}, kGgufI32, rows.size()),
                   gguf_tensor("other", {256}, 10, rows.size() + 32)};
  parts.data = rows + padded(bytes_of<int32_t>({1, 2, 3, 4, 5, 6})) + std::string(96, '\0');
  return gguf_file(parts);
}

TEST(Gguf, ListsTensorsAndMetadata) {
  const Scratch scratch;
  const File file(scratch.write("m.gguf", model()));
  EXPECT_EQ(file.format(), FileFormat::kGguf);
  EXPECT_EQ(to_string(file.format()), "gguf");
  EXPECT_THAT(file.metadata(),
              ElementsAre(std::pair("flag", "true"), std::pair("general.name", "tiny"),
                          std::pair("half", "0.5"), std::pair("layers", "7"),
                          std::pair("less", "-3"), std::pair("words", "text[2]")));
  const std::vector<TableInfo>& tensors = file.tensors();
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].encoded.str(), "q8_0[100, 64]");
  EXPECT_EQ(tensors[0].spec.str(), "u8[100, 68]");
  EXPECT_EQ(tensors[0].bytes, 6800);
  EXPECT_EQ(tensors[1].spec.str(), "i32[2, 3]");
  EXPECT_EQ(tensors[1].encoded.encoding, Encoding::kPlain);
  EXPECT_EQ(tensors[2].unsupported, "type Q2_K is not decoded");
  EXPECT_THAT(file.table("ints").load().elements<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Gguf, DecodesTheRowsThatItGathers) {
  const Scratch scratch;
  const Table table = open_table(scratch.write("m.gguf", model()), "embd");
  const std::vector<int64_t> ids = {99, 0, -2, 99};
  const std::vector<int64_t> meant = {99, 0, 98, 99};
  const Array rows = gather_encoded(table, view(ids), GatherOptions{});
  ASSERT_EQ(rows.spec().str(), "f32[4, 64]");
  for (size_t i = 0; i < ids.size(); ++i) {
    for (int64_t e = 0; e < 64; ++e) {
      ASSERT_EQ(rows.elements<float>()[i * 64 + static_cast<size_t>(e)], q8_value(meant[i], e));
    }
  }
  // As they are stored, and in memory: the same.
  const Array stored = gather(table, view(ids));
  EXPECT_EQ(stored.spec().str(), "u8[4, 68]");
  const Array all = table.load();
  for (const DType type : {f32, f16, bf16}) {
    const Encoded in_memory(table.info().encoded, all.tensor().data);
    const Array expected = gather_encoded(in_memory, view(ids), GatherOptions{}, type);
    const Array got = gather_encoded(table, view(ids), GatherOptions{}, type);
    EXPECT_EQ(std::memcmp(got.tensor().data, expected.tensor().data,
                          static_cast<size_t>(4 * 64 * type.bytes())),
              0);
  }
}

TEST(Gguf, DecodesElementsOfRowsInMemory) {
  const Scratch scratch;
  const Table table = open_table(scratch.write("m.gguf", model()), "embd");
  const std::vector<int64_t> ids = {63, 1};
  EXPECT_EQ(gather_encoded(table, view(ids), GatherOptions{.axis = 1}).elements<float>()[2],
            q8_value(1, 63));
  const std::vector<int64_t> each = {5, 6, 7};
  EXPECT_THAT(gather_encoded(table, view(each, {1, 3}), GatherElementsOptions{}).elements<float>(),
              ElementsAre(q8_value(5, 0), q8_value(6, 1), q8_value(7, 2)));
  const std::vector<int64_t> pairs = {5, 3, 0, 63};
  EXPECT_THAT(gather_encoded(table, view(pairs, {2, 2}), GatherNdOptions{}).elements<float>(),
              ElementsAre(q8_value(5, 3), q8_value(0, 63)));
}

// Every rule gives what it gives in memory, the fill value among decoded rows too.
TEST(Gguf, KeepsTheRulesOfIndices) {
  const Scratch scratch;
  const Table table = open_table(scratch.write("m.gguf", model()), "embd");
  const Array all = table.load();
  const Encoded in_memory(table.info().encoded, all.tensor().data);
  const std::vector<int64_t> ids = {3, 100, -101, INT64_MAX, INT64_MIN, 99};
  for (const OutOfRange rule : {OutOfRange::kClamp, OutOfRange::kWrap, OutOfRange::kFill}) {
    const GatherOptions options{.rule = {.out_of_range = rule, .fill_value = 1.5}};
    const Array expected = gather_encoded(in_memory, view(ids), options);
    const Array got = gather_encoded(table, view(ids), options);
    EXPECT_THAT(got.elements<float>(), testing::ElementsAreArray(expected.elements<float>()));
    run_to_file(plan_gather_encoded(table.info().encoded, view(ids).spec, options), table,
                view(ids), scratch.path("out.npy"));
    const Array written = open_table(scratch.path("out.npy")).load();
    EXPECT_THAT(written.elements<float>(), testing::ElementsAreArray(expected.elements<float>()));
  }
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kTrust}) {
    try {
      gather_encoded(table, view(ids), GatherOptions{.rule = {.out_of_range = rule}});
      ADD_FAILURE() << "indices out of range pass";
    } catch (const IndexError& error) {
      EXPECT_THAT(error.what(), HasSubstr("indices[1] = 100"));
      EXPECT_THAT(error.what(), HasSubstr("q8_0[100, 64]"));
    }
  }
}

// More rows than a chunk has, and more than the memory of a wave.
TEST(Gguf, DecodesMoreThanFitsIntoMemory) {
  const Scratch scratch;
  constexpr int64_t kRows = 300, kBlocks = 128;
  GgufParts parts;
  parts.tensors = {gguf_tensor("t", {32 * kBlocks, kRows}, kGgufQ8_0, 0)};
  parts.data = q8_rows(kRows, kBlocks);
  const Table table = open_table(scratch.write("m.gguf", gguf_file(parts)));
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 500; ++i) {
    ids.push_back(i * 77 % kRows);
  }
  const FileOptions small{.memory = 1 << 20};
  const Array rows = gather_encoded(table, view(ids), GatherOptions{}, f32, small);
  run_to_file(plan_gather_encoded(table.info().encoded, view(ids).spec), table, view(ids),
              scratch.path("rows.npy"), small);
  const Array written = open_table(scratch.path("rows.npy")).load();
  for (size_t i = 0; i < ids.size(); ++i) {
    for (const int64_t e : {int64_t{0}, int64_t{31}, 32 * kBlocks - 1}) {
      const size_t at = i * 32 * kBlocks + static_cast<size_t>(e);
      ASSERT_EQ(rows.elements<float>()[at], q8_value(ids[i], e)) << i << " " << e;
      ASSERT_EQ(written.elements<float>()[at], q8_value(ids[i], e)) << i << " " << e;
    }
  }
  const std::vector<int64_t> column = {1};
  EXPECT_THAT(refusal_text([&] {
                gather_encoded(table, view(column), GatherOptions{.axis = 1}, f32, small);
              }),
              HasSubstr("elements of rows of q8_0[300, 4096] are gathered from memory: 1305600 "
                        "bytes, but memory is 1048576"));
}

TEST(Gguf, IsOnlyReadWhereItIsEncoded) {
  const Scratch scratch;
  const std::string path = scratch.write("m.gguf", model());
  const File file(path);
  const std::vector<int64_t> ids = {1};
  const std::vector<uint8_t> bytes(68);
  EXPECT_THAT(refusal_text([&] {
                scatter(file.table("embd"), view(ids), view(bytes, {1, 68}));
              }),
              HasSubstr("encoded rows are only read\n  \"embd\" is q8_0[100, 64]"));
  EXPECT_THAT(refusal_text([&] {
                save(scratch.path("a.npy"), {{"embd", file.table("embd")}});
              }),
              HasSubstr("no such type in this format"));
  EXPECT_THAT(refusal_text([&] { save(scratch.path("a.gguf"), "t", view(ids)); }),
              HasSubstr(".gguf is only read"));
  EXPECT_THAT(refusal_text([&] { gather_encoded(file.table("ints"), view(ids), GatherOptions{}); }),
              HasSubstr("data is not encoded"));
  EXPECT_THAT(refusal_text([&] { file.table("other"); }), HasSubstr("type Q2_K is not decoded"));
  // Plain tensors change in place.
  const std::vector<int32_t> nine = {9, 9, 9};
  scatter(file.table("ints"), view(ids), view(nine, {1, 3}));
  EXPECT_THAT(open_table(path, "ints").load().elements<int32_t>(), ElementsAre(1, 2, 3, 9, 9, 9));
}

TEST(Gguf, RefusesCallsThatDoNotFit) {
  const Scratch scratch;
  const Table table = open_table(scratch.write("m.gguf", model()), "embd");
  const std::vector<int64_t> ids = {1};
  std::vector<float> output(128);
  const EncodedGatherPlan plan = plan_gather_encoded(table.info().encoded, view(ids).spec);
  const Tensor to{output.data(), plan.output()};
  const auto other = plan_gather_encoded(encoded_rows(Encoding::kQ8_0, {9, 64}), view(ids).spec);
  EXPECT_THAT(refusal_text([&] { run(other, table, view(ids), to); }),
              HasSubstr("the plan is for q8_0[9, 64], but the table is q8_0[100, 64]"));
  const std::vector<int64_t> two = {1, 2};
  EXPECT_THAT(refusal_text([&] { run(plan, table, view(two), to); }), HasSubstr("indices"));
  EXPECT_THAT(refusal_text([&] {
                run(plan, table, {nullptr, view(ids).spec}, to);
              }),
              HasSubstr("indices has elements, but its pointer is null"));
  EXPECT_THAT(refusal_text([&] {
                run(plan, table, view(ids), {nullptr, plan.output()});
              }),
              HasSubstr("output has elements, but its pointer is null"));
  const auto gaps =
      plan_gather_encoded(table.info().encoded, view(ids).spec, TensorSpec(f32, {1, 64}, {64, 2}));
  EXPECT_THAT(refusal_text([&] {
                run(gaps, table, view(ids), {output.data(), gaps.output()});
              }),
              HasSubstr("gaps in the output"));
  EXPECT_THAT(refusal_text([&] { gather_encoded(table, view(ids), GatherOptions{}, i32); }),
              HasSubstr("encoded elements become f32, f16 or bf16"));
  EXPECT_THAT(refusal_text([&] { run_to_file(plan, table, view(ids), scratch.path("m.gguf")); }),
              testing::AnyOf(HasSubstr("read from"), HasSubstr("input")));
  EXPECT_EQ(output, std::vector<float>(128));
  EXPECT_EQ(read_all(scratch.path("m.gguf")), model());
}

TEST(Gguf, HasItsOwnAlignment) {
  const Scratch scratch;
  GgufParts parts;
  parts.version = 2;
  parts.alignment = 64;
  parts.pairs = {gguf_pair("general.alignment", 4, little(64, 4))};
  parts.tensors = {gguf_tensor("a", {2}, kGgufI32, 0), gguf_tensor("b", {}, kGgufI32, 64)};
  parts.data = bytes_of<int32_t>({1, 2}) + std::string(56, '\0') + bytes_of<int32_t>({3});
  const File file(scratch.write("m.gguf", gguf_file(parts)));
  EXPECT_THAT(file.table("a").load().elements<int32_t>(), ElementsAre(1, 2));
  EXPECT_THAT(file.table("b").load().elements<int32_t>(), ElementsAre(3));
  EXPECT_EQ(file.table("b").spec().rank(), 0);
}

std::string with_tensors(const std::vector<std::string>& tensors, const std::string& data) {
  GgufParts parts;
  parts.tensors = tensors;
  parts.data = data;
  return gguf_file(parts);
}
std::string with_pair(const std::string& pair) {
  GgufParts parts;
  parts.pairs = {pair};
  return gguf_file(parts);
}

TEST(Gguf, RefusesFilesThatLie) {
  const Scratch scratch;
  const std::string row(64, '\0'), header = "GGUF" + little(3, 4);
  const std::string nested = [] {
    std::string lists;
    for (int i = 0; i < 20; ++i) {
      lists += little(9, 4) + little(1, 8);
    }
    return lists + std::string(64, '\0');
  }();
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  const std::pair<std::string, const char*> refusals[] = {
      {"GGUF", "a number has 4 bytes at 4, but the file has 4"},
      {"GGUF" + little(1, 4), "version 1 of .gguf, but 2 and 3 are known"},
      {std::string("GGUF\0\0\0\x03", 8), "big-endian .gguf"},
      {header + little(1, 8), "it claims 1 tensors in 0 bytes"},
      {header + little(UINT64_MAX, 8) + little(0, 8), "it claims 18446744073709551615 tensors"},
      {header + little(0, 8) + little(kHuge, 8) + row, "pairs of metadata in 64 bytes"},
      {with_pair(little(kHuge, 8) + row), "bytes of a name"},
      {with_pair(gguf_text(std::string(70000, 'a')) + little(4, 4) + little(1, 4)),
       "a key has 70000 bytes, at most 65535"},
      {with_pair(gguf_pair("\xff", 4, little(1, 4))), "a key is not UTF-8"},
      {with_pair(gguf_pair("a", 13, little(1, 4))), "a value of type 13"},
      {with_pair(gguf_pair("a", 7, little(2, 1))), "a truth is 2"},
      {with_pair(gguf_pair("a", 8, little(kHuge, 8))), "bytes of a text"},
      {with_pair(gguf_pair("a", 9, little(99, 4) + little(1, 8))), "a list of values of type 99"},
      {with_pair(gguf_pair("a", 9, little(10, 4) + little(kHuge, 8))), "entries of a list"},
      {with_pair(gguf_pair("a", 9, nested)), "lists in lists, more than 8 deep"},
      {with_pair(gguf_pair("general.alignment", 4, little(24, 4))), "general.alignment is 24"},
      {with_pair(gguf_pair("general.alignment", 4, little(0, 4))), "general.alignment is 0"},
      {with_pair(gguf_pair("general.alignment", 10, little(32, 8))), "general.alignment is 32"},
      {with_pair(gguf_pair("general.alignment", 8, gguf_text("x"))), "general.alignment is x"},
      {with_tensors({gguf_tensor("a", std::vector<uint64_t>(33, 1), kGgufF32, 0)}, row),
       "\"a\" has 33 dimensions, at most 32"},
      {with_tensors({gguf_tensor("a", {UINT64_MAX}, kGgufF32, 0)}, row), "a size of \"a\" is"},
      {with_tensors({gguf_tensor("a", {kHuge, 8}, kGgufF32, 0)}, row), "does not fit into 64 bits"},
      {with_tensors({gguf_tensor("a", {kHuge, 8}, kGgufQ8_0, 0)}, row),
       "does not fit into 64 bits"},
      {with_tensors({gguf_tensor("a", {8}, kGgufF32, 8)}, row), "no multiple of the alignment, 32"},
      {with_tensors({gguf_tensor("a", {8}, kGgufF32, uint64_t(INT64_MAX) / 32 * 32)}, row),
       "no multiple of the alignment"},
      {with_tensors({gguf_tensor("a", {17}, kGgufF32, 0)}, row), "but the file has 128"},
      {with_tensors({gguf_tensor("a", {8}, kGgufF32, 64)}, row), "but the file has 128"},
      {with_tensors({gguf_tensor("a", {33}, kGgufQ8_0, 0)}, row),
       "rows of \"a\" are not whole blocks of 32 elements (Q8_0)"},
      {with_tensors({gguf_tensor("a", {}, kGgufQ8_0, 0)}, row), "are not whole blocks"},
      {with_tensors({gguf_tensor("a", {128}, kGgufQ4K, 0)}, row), "whole blocks of 256"},
      {with_tensors({gguf_tensor("a", {8}, kGgufF32, 0), gguf_tensor("a", {8}, kGgufF32, 32)}, row),
       "tensor \"a\" occurs twice"},
      {with_tensors({gguf_tensor("a", {9}, kGgufF32, 0), gguf_tensor("b", {8}, kGgufF32, 32)}, row),
       "\"a\" and \"b\" overlap"},
      {with_tensors({gguf_tensor("a", {8}, 77, 0)}, row), "type 77 is unknown"},
      {with_tensors({gguf_tensor("\xff", {8}, kGgufF32, 0)}, row), "a tensor's name is not UTF-8"},
  };
  for (const auto& [bytes, says] : refusals) {
    EXPECT_THAT(error_of(scratch.write("a.gguf", bytes)), HasSubstr(says)) << says;
  }
  GgufParts twice;
  twice.pairs = {gguf_pair("a", 4, little(1, 4)), gguf_pair("a", 4, little(2, 4))};
  EXPECT_THAT(error_of(scratch.write("a.gguf", gguf_file(twice))),
              HasSubstr("key \"a\" occurs twice"));
}

// A file cut anywhere is refused, or lacks nothing that it speaks of.
TEST(Gguf, RefusesFilesThatAreCutShort) {
  const Scratch scratch;
  const std::string whole = model();
  const size_t needed = whole.size() - 96;  // what is not decoded is not looked for
  for (size_t bytes = 4; bytes < needed; bytes += bytes < 600 ? 1 : 97) {
    EXPECT_NE(error_of(scratch.write("a.gguf", whole.substr(0, bytes))), "") << bytes;
  }
}

}  // namespace
