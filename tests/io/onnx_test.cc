// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/onnx_model.h"
#include "io/scratch.h"
#include "io/wire.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

std::string field(int number, const std::string& bytes) {
  std::string out;
  io::put_bytes(out, number, bytes);
  return out;
}
std::string field(int number, uint64_t value) {
  std::string out;
  io::put_number(out, number, value);
  return out;
}

// Fields of 4 and of 8 bytes, which floats stand in.
template <class T>
std::string fixed(int number, T value) {
  const int kind = sizeof(T) == 8 ? 1 : 5;
  return std::string(1, static_cast<char>(number << 3 | kind)) + bytes_of<T>({value});
}

constexpr uint64_t kFloat = 1, kInt32 = 6, kDouble = 11;
const std::string kShape = field(1, 2) + field(2, kInt32) + field(8, "a");
const std::string kRaw = field(9, bytes_of<int32_t>({7, 8}));

std::string model(const std::string& tensor) { return field(1, 8) + field(7, field(5, tensor)); }

std::string external(const std::string& key, const std::string& value) {
  return field(13, field(1, key) + field(2, value));
}

// A model of one node with one attribute.
std::string with_attribute(const std::string& attribute) {
  return field(7, field(1, field(4, "Gather") + field(5, field(1, "a") + attribute)));
}

TEST(Onnx, ReadsFloatsPackedAndOneByOne) {
  const Scratch scratch;
  const std::string singles =
      field(1, 2) + field(2, kFloat) + field(8, "s") + fixed(4, 1.5F) + fixed(4, -2.0F);
  const std::string packed =
      field(1, 2) + field(2, kFloat) + field(8, "p") + field(4, bytes_of<float>({3, 4}));
  const std::string doubles = field(1, 2) + field(2, kDouble) + field(8, "d") + fixed(10, 5.25) +
                              field(10, bytes_of<double>({6}));
  const File file(
      scratch.write("a.onnx", field(7, field(5, singles) + field(5, packed) + field(5, doubles))));
  EXPECT_THAT(file.table("s").load().elements<float>(), ElementsAre(1.5F, -2));
  EXPECT_THAT(file.table("p").load().elements<float>(), ElementsAre(3, 4));
  EXPECT_THAT(file.table("d").load().elements<double>(), ElementsAre(5.25, 6));
}

// The reader is behind the list when it learns that it needs the list.
TEST(Onnx, ReadsLongListsOfNumbers) {
  const Scratch scratch;
  const std::string values(40'000, '\x05');
  const std::string list =
      field(1, values.size()) + field(2, kInt32) + field(5, values) + field(8, "list");
  const Array read = File(scratch.write("a.onnx", model(list))).table("list").load();
  EXPECT_THAT(read.elements<int32_t>(), testing::Each(5));
}

TEST(Onnx, TwoTensorsShareAnExternalFile) {
  const Scratch scratch;
  scratch.write("a.data", bytes_of<int32_t>({1, 2, 3, 4}));
  const auto part = [](const char* name, const char* offset) {
    return field(5, field(1, 2) + field(2, kInt32) + field(8, name) + field(14, 1) +
                        external("location", "a.data") + external("offset", offset));
  };
  const File file(scratch.write("a.onnx", field(7, part("a", "0") + part("b", "8"))));
  EXPECT_THAT(file.table("a").load().elements<int32_t>(), ElementsAre(1, 2));
  EXPECT_THAT(file.table("b").load().elements<int32_t>(), ElementsAre(3, 4));
}

TEST(Onnx, ReadsNodesTypesAndOpsets) {
  const Scratch scratch;
  const std::string attributes =
      field(5, field(1, "real") + fixed(2, 0.5F)) +
      field(5, field(1, "reals") + field(7, bytes_of<float>({1, 2})) + fixed(7, 3.0F)) +
      field(5, field(1, "value") + field(5, kShape + kRaw)) +
      field(5, field(1, "ints") + field(8, 4) + field(20, 7));
  const std::string node = field(1, "x") + field(2, "y") + field(3, "n") + field(4, "Gather") +
                           field(6, "words") + field(7, "com.microsoft") + attributes;
  const std::string tensor_type = field(2, field(1, field(1, kInt32) + field(2, "")));
  const std::string sequence = field(2, field(4, "")), map = field(2, field(5, ""));
  const std::string optional = field(2, field(9, "") + field(6, "denotation"));
  const std::string graph = field(1, node) + field(2, "graph") +
                            field(11, field(1, "x") + tensor_type + field(3, "words")) +
                            field(11, field(1, "s") + sequence) + field(11, field(1, "m") + map) +
                            field(12, field(1, "o") + optional) + field(12, field(1, "y"));
  const std::string opsets =
      field(8, field(1, "com.microsoft") + field(2, 1)) + field(8, field(2, 21) + field(3, 9));
  const auto file = std::make_shared<io::OpenFile>(
      scratch.write("a.onnx", opsets + field(2, "tests") + field(7, graph)));
  const io::OnnxModel read = io::read_onnx_model(file);
  ASSERT_EQ(read.nodes.size(), 1u);
  EXPECT_EQ(read.nodes[0].domain, "com.microsoft");
  ASSERT_EQ(read.nodes[0].attributes.size(), 4u);
  EXPECT_EQ(read.nodes[0].attributes[0].real, 0.5F);
  EXPECT_THAT(read.nodes[0].attributes[1].reals, ElementsAre(1, 2, 3));
  EXPECT_EQ(read.nodes[0].attributes[2].tensor->info.spec, TensorSpec(i32, {2}));
  EXPECT_THAT(read.nodes[0].attributes[3].numbers, ElementsAre(4));
  EXPECT_EQ(read.element_types.at("x"), static_cast<int64_t>(kInt32));
  for (const char* name : {"s", "m", "o"}) {
    EXPECT_EQ(read.element_types.at(name), io::OnnxModel::kNotATensor) << name;
  }
  EXPECT_FALSE(read.element_types.contains("y"));
  EXPECT_EQ(read.opsets.at("com.microsoft"), 1);
  EXPECT_EQ(read.opsets.at(""), 21);
}

TEST(Onnx, ReadsRawTypedAndExternalData) {
  const Scratch scratch;
  scratch.write("a.data", "skip" + bytes_of<int32_t>({5, 6}));
  const std::string typed = field(1, std::string("\x02")) + field(2, kInt32) + field(8, "t") +
                            field(5, uint64_t(-1)) + field(5, std::string("\x03"));
  const std::string elsewhere = field(1, 2) + field(2, kInt32) + field(8, "e") + field(14, 1) +
                                external("location", "a.data") + external("offset", "4") +
                                external("length", "8");
  const File file(scratch.write(
      "a.onnx", field(7, field(5, kShape + kRaw) + field(5, typed) + field(5, elsewhere))));
  EXPECT_EQ(file.format(), FileFormat::kOnnx);
  EXPECT_THAT(file.table("a").load().elements<int32_t>(), ElementsAre(7, 8));
  EXPECT_THAT(file.table("t").load().elements<int32_t>(), ElementsAre(-1, 3));
  EXPECT_THAT(file.table("e").load().elements<int32_t>(), ElementsAre(5, 6));
  EXPECT_EQ(file.tensors()[1].storage, "fields");
  EXPECT_EQ(file.tensors()[2].path, scratch.path("a.data"));
}

TEST(Onnx, RefusesMessagesThatLie) {
  const Scratch scratch;
  scratch.write("a.data", "12345678");
  const std::string ext = kShape + field(14, 1);
  const std::pair<std::string, const char*> refusals[] = {
      {"", "it has no graph"},
      {std::string("\x3a\xff\xff\xff\xff\x0f", 6), "but its message ends at"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12), "more than 64 bits"},
      {"\x3a", "cut short"},
      {"\x3b", "unknown kind of field"},
      {field(7, 1), "is not a message"},
      {model(kShape + field(9, "123")), "has 3 bytes of data, but i32[2] needs 8"},
      {model(kShape), "has 0 bytes of data"},
      {model(kShape + field(4, "12345678")), "has its data in field 4"},
      {model(field(1, uint64_t(-2)) + field(2, kInt32) + kRaw), "is negative"},
      {model(field(1, uint64_t{1} << 62) + field(1, 8) + field(2, kInt32) + kRaw),
       "does not fit into 64 bits"},
      {model(field(1, 2) + field(2, 8) + kRaw), "ONNX type 8 is unknown"},
      {model(field(3, "") + kShape + kRaw), "split into segments"},
      {model(ext), "has no location"},
      {model(ext + external("location", "../a.data")), "only files below its own folder"},
      {model(ext + external("location", "/etc/passwd")), "only files below its own folder"},
      {model(ext + external("location", "b.data")), "No such file"},
      {model(ext + external("location", "a.data") + external("offset", "4")), "but the file has 8"},
      {model(ext + external("location", "a.data") + external("offset", "9223372036854775807")),
       "but the file has 8"},
      {model(ext + external("location", "a.data") + external("offset", "-4")), "is \"-4\""},
      {model(ext + external("location", "a.data") + external("offset", "4 or 5")), "is \"4 or 5\""},
      {model(ext + external("location", "a.data") + external("length", "4")), "has 4 bytes"},
      {model(kShape + field(9, 8)), "raw_data is not bytes"},
      {model(kShape + field(13, 8)), "external_data is not a message"},
      {model(kShape + field(8, 8) + kRaw), "field 8 is not a text of at most 1048576 bytes"},
      {model(kShape + field(8, std::string((1 << 20) + 1, 'a')) + kRaw), "field 8 is not a text"},
      {model(kShape + fixed(1, 2.0F) + kRaw), "field 1 is not a list of integers"},
      {std::string("\x3d\x01", 2), "field 7 has 4 bytes at 1, but its message ends at 2"},
      {with_attribute(field(2, 1)), "field 2 is not a float"},
      {with_attribute(field(7, "12345")), "field 7 is not a list of floats"},
      {with_attribute(field(5, 1)), "field 5 is not a message"},
  };
  for (const auto& [bytes, says] : refusals) {
    EXPECT_THAT(error_of(scratch.write("a.onnx", bytes)), HasSubstr(says)) << says;
  }
}

TEST(Onnx, ReadsATensorFile) {
  const Scratch scratch;
  EXPECT_THAT(open_table(scratch.write("a.pb", kShape + kRaw)).load().elements<int32_t>(),
              ElementsAre(7, 8));
}

std::vector<int> small_values(const Array& array) {
  const auto* const bytes = static_cast<const uint8_t*>(array.tensor().data);
  return {bytes, bytes + element_count(array.sizes())};
}

constexpr uint64_t kUint4 = 21, kInt4 = 22, kUint2 = 25, kInt2 = 26;

// Packed without regard to rows, the first in the lowest bits; in memory a byte each.
TEST(Onnx, UnpacksElementsOfLessThanAByte) {
  const Scratch scratch;
  scratch.write("a.data", "skip\x1b");
  const std::string rows = field(1, 3) + field(1, 3) + field(2, kInt4) + field(8, "rows") +
                           field(9, "\x21\x43\x65\x87\x09");
  const std::string typed = field(1, 3) + field(2, kUint4) + field(8, "typed") + field(5, 0xf1) +
                            field(5, std::string("\x02"));
  const std::string elsewhere = field(1, 4) + field(2, kUint2) + field(8, "elsewhere") +
                                field(14, 1) + external("location", "a.data") +
                                external("offset", "4") + external("length", "1");
  const std::string twos = field(1, 5) + field(2, kInt2) + field(8, "twos") + field(9, "\xe4\x02");
  const std::string none = field(1, 0) + field(2, kInt2) + field(8, "none") + field(9, "");
  const File file(
      scratch.write("a.onnx", field(7, field(5, rows) + field(5, typed) + field(5, elsewhere) +
                                           field(5, twos) + field(5, none))));
  EXPECT_EQ(file.table("rows").spec().str(), "i4[3, 3]");
  EXPECT_EQ(file.table("rows").info().storage, "packed");
  EXPECT_THAT(small_values(file.table("rows").load()), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(small_values(file.table("typed").load()), ElementsAre(1, 15, 2));
  EXPECT_THAT(small_values(file.table("elsewhere").load()), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(small_values(file.table("twos").load()), ElementsAre(0, 1, 2, 3, 2));
  EXPECT_THAT(small_values(file.table("none").load()), testing::IsEmpty());
  const std::vector<int64_t> ids = {2, 1, -1};
  EXPECT_THAT(small_values(gather(file.table("rows"), view(ids))),
              ElementsAre(7, 8, 9, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(small_values(gather(file.table("rows"), view(ids), {.axis = 1})),
              ElementsAre(3, 2, 3, 6, 5, 6, 9, 8, 9));
  const auto text = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::vector<uint8_t> bytes(3);
  const ConstTensor update{bytes.data(), TensorSpec(i4, {1, 3})};
  const std::vector<int64_t> first = {0};
  EXPECT_THAT(text([&] { scatter(file.table("rows"), view(first), update); }),
              HasSubstr("\"rows\" is compressed, encoded or has a checksum (packed)"));
  EXPECT_THAT(text([&] { save(scratch.path("b.onnx"), "t", update); }),
              HasSubstr("packed elements are only read\n  \"t\" is i4[1, 3], which .onnx packs"));
  EXPECT_THAT(text([&] { save(scratch.path("b.safetensors"), "t", update); }),
              HasSubstr("no such type in .safetensors"));
  save(scratch.path("b.npy"), "t", update);
  EXPECT_EQ(open_table(scratch.path("b.npy")).spec().str(), "opaque1[1, 3]");
}

TEST(Onnx, RefusesPackedElementsThatLie) {
  const Scratch scratch;
  const std::string shape = field(1, 3) + field(2, kInt4) + field(8, "a");
  EXPECT_THAT(error_of(scratch.write("a.onnx", model(shape + field(9, "123")))),
              HasSubstr("has 3 bytes of data, but i4[3] needs 2"));
  EXPECT_THAT(error_of(scratch.write("a.onnx", model(shape + field(5, 1)))),
              HasSubstr("has 1 bytes of data, but i4[3] needs 2"));
  scratch.write("a.data", "12");
  EXPECT_THAT(
      error_of(scratch.write("a.onnx", model(shape + field(14, 1) + external("location", "a.data") +
                                             external("length", "3")))),
      HasSubstr("has 3 bytes, but i4[3] needs 2"));
}

// More than a window of packed bytes, at places that are no multiple of a byte.
TEST(Onnx, UnpacksLargeTensors) {
  const Scratch scratch;
  constexpr int64_t kRows = 1001, kColumns = 333;
  std::string raw((kRows * kColumns + 1) / 2, '\0');
  const auto code = [](int64_t i) { return static_cast<int>((i * 7 + i / 16) % 16); };
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    char& byte = raw[static_cast<size_t>(i / 2)];
    byte = static_cast<char>(byte | code(i) << (i % 2 * 4));
  }
  const Table table =
      open_table(scratch.write("a.onnx", model(field(1, kRows) + field(1, kColumns) +
                                               field(2, kUint4) + field(8, "a") + field(9, raw))));
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 700; ++i) {
    ids.push_back(i * 13 % kRows);
  }
  const std::vector<int> rows = small_values(gather(table, view(ids), {}, {.memory = 1 << 20}));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    ASSERT_EQ(rows[i], code(ids[i / kColumns] * kColumns + at % kColumns)) << i;
  }
}

}  // namespace
