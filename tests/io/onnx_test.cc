// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

constexpr uint64_t kInt32 = 6;
const std::string kShape = field(1, 2) + field(2, kInt32) + field(8, "a");
const std::string kRaw = field(9, bytes_of<int32_t>({7, 8}));

std::string model(const std::string& tensor) { return field(1, 8) + field(7, field(5, tensor)); }

std::string external(const std::string& key, const std::string& value) {
  return field(13, field(1, key) + field(2, value));
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
      {model(ext + external("location", "a.data") + external("length", "4")), "has 4 bytes"},
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

}  // namespace
