// SPDX-License-Identifier: MIT
//
// Callers and files that do not keep still, and names made of any bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "io/gguf_bytes.h"
#include "io/scratch.h"

namespace {

using testing::HasSubstr;
using namespace sheaf;

constexpr int64_t kRows = 2048, kColumns = 1024, kCount = 4000;

// Rows that hold their own number, in blocks of their own: every walk over the indices counts.
std::string numbered_rows(const Scratch& scratch) {
  std::vector<float> values(kRows * kColumns);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i / kColumns);
  }
  save(scratch.path("t.npy"), "", view(values, {kRows, kColumns}));
  return scratch.path("t.npy");
}

// While it lives, the second half of `ids` changes between two values.
class Flipping {
 public:
  Flipping(std::vector<int64_t>& ids, int64_t a, int64_t b)
      : thread_([&ids, a, b](const std::stop_token& stop) {
          for (bool first = true; !stop.stop_requested(); first = !first) {
            for (size_t i = ids.size() / 2; i < ids.size(); ++i) {
              std::atomic_ref(ids[i]).store(first ? a : b, std::memory_order_relaxed);
            }
          }
        }) {}

 private:
  std::jthread thread_;
};

std::vector<int64_t> spread_rows() {
  std::vector<int64_t> ids(kCount);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int64_t>(i) % kRows;
  }
  return ids;
}

struct RuleCase {
  OutOfRange rule;
  int64_t a, b;  // what indices change between
};

class FlippedIndices : public testing::TestWithParam<RuleCase> {};

// Each index is read once: what is moved is a row that the index named at some time.
TEST_P(FlippedIndices, StayInsideOfFileGathers) {
  const Scratch scratch;
  const Table table = open_table(numbered_rows(scratch));
  for (const int64_t memory : {int64_t{1} << 20, int64_t{256} << 20}) {
    std::vector<int64_t> ids = spread_rows();
    const std::vector<int64_t> before = ids;
    const Flipping flipping(ids, GetParam().a, GetParam().b);
    const GatherOptions options{.rule = {.out_of_range = GetParam().rule}};
    for (int round = 0; round < 3; ++round) {
      const Array rows = gather(table, view(ids), options, {.memory = memory});
      const auto values = rows.elements<float>();
      for (size_t i = 0; i < ids.size(); ++i) {
        const float row = values[i * kColumns];
        EXPECT_EQ(std::memcmp(&values[i * kColumns], &values[i * kColumns + 1],
                              (kColumns - 1) * sizeof(float)),
                  0);
        if (i < ids.size() / 2) {
          ASSERT_EQ(row, static_cast<float>(before[i]));
        } else {
          ASSERT_TRUE(row >= 0 && row < kRows);
        }
      }
    }
  }
}

// The same where rows are decoded: what is outside is filled by the index that was fetched by.
TEST_P(FlippedIndices, StayInsideOfDecodingGathers) {
  constexpr int64_t kTableRows = 100, kElements = 512;
  const Scratch scratch;
  GgufParts parts;
  parts.tensors = {gguf_tensor("t", {kElements, kTableRows}, kGgufQ8_0, 0)};
  for (int64_t row = 0; row < kTableRows; ++row) {
    for (int64_t block = 0; block < kElements / 32; ++block) {
      parts.data += little(0x3C00, 2) + std::string(32, static_cast<char>(row));
    }
  }
  const Table table = open_table(scratch.write("t.gguf", gguf_file(parts)));
  std::vector<int64_t> ids(kCount);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int64_t>(i) % kTableRows;
  }
  const bool in_range =
      GetParam().rule == OutOfRange::kFail || GetParam().rule == OutOfRange::kTrust;
  const Flipping flipping(ids, in_range ? 0 : GetParam().a, in_range ? kTableRows - 1 : INT64_MAX);
  const GatherOptions options{.rule = {.out_of_range = GetParam().rule, .fill_value = -7}};
  for (int round = 0; round < 3; ++round) {
    const Array rows = gather_encoded(table, view(ids), options, f32, {.memory = 1 << 20});
    const auto values = rows.elements<float>();
    for (size_t i = 0; i < ids.size(); ++i) {
      const float row = values[i * kElements];
      ASSERT_EQ(std::memcmp(&values[i * kElements], &values[i * kElements + 1],
                            (kElements - 1) * sizeof(float)),
                0);
      ASSERT_TRUE((row >= 0 && row < kTableRows) || (row == -7 && !in_range));
    }
  }
}

TEST_P(FlippedIndices, StayInsideOfFileScatters) {
  const Scratch scratch;
  const std::string path = numbered_rows(scratch);
  const bool fills = GetParam().rule == OutOfRange::kFill;
  const ScatterOptions options{
      .rule = {.out_of_range = fills ? OutOfRange::kSkip : GetParam().rule}};
  const std::vector<float> updates(kCount * kColumns, -1);
  for (const int64_t memory : {int64_t{1} << 20, int64_t{256} << 20}) {
    std::vector<int64_t> ids = spread_rows();
    const Flipping flipping(ids, GetParam().a, GetParam().b);
    scatter(open_table(path), view(ids), view(updates, {kCount, kColumns}), options,
            {.memory = memory});
    const Array result = open_table(path).load();
    for (int64_t row = 0; row < kCount / 2; ++row) {
      ASSERT_EQ(result.elements<float>()[static_cast<size_t>(row * kColumns)], -1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, FlippedIndices,
                         testing::Values(RuleCase{OutOfRange::kFail, 0, kRows - 1},
                                         RuleCase{OutOfRange::kTrust, 0, kRows - 1},
                                         RuleCase{OutOfRange::kClamp, INT64_MIN, INT64_MAX},
                                         RuleCase{OutOfRange::kWrap, INT64_MIN, INT64_MAX},
                                         RuleCase{OutOfRange::kFill, -kRows - 1, kRows - 1}));

// Indices that repeat by a stride of 0, or lie apart, are copied as they are.
TEST(FileIndices, HaveAnyStrides) {
  const Scratch scratch;
  const Table table = open_table(numbered_rows(scratch));
  const std::vector<int64_t> ids = {5, 99, 7, 99, 9};
  const Array twice = gather(table, view(ids, {2, 3}, {0, 2}));
  for (const size_t i : {size_t{0}, size_t{3}}) {
    EXPECT_EQ(twice.elements<float>()[i * kColumns], 5);
    EXPECT_EQ(twice.elements<float>()[(i + 2) * kColumns], 9);
  }
  const Array back = gather(table, view(ids, {3}, {-2}, 4));
  EXPECT_EQ(back.elements<float>()[0], 9);
  EXPECT_EQ(back.elements<float>()[2 * kColumns], 5);
  const std::vector<int64_t> wrong = {5, 0, kRows, 0, 9};
  try {
    gather(table, view(wrong, {2, 3}, {0, 2}));
    FAIL();
  } catch (const IndexError& error) {
    EXPECT_EQ(error.position(), (Dims{0, 1}));
    EXPECT_EQ(error.bad_count(), 2);
  }
}

TEST(FileNames, WithANulAreRefused) {
  const Scratch scratch;
  const std::string path = scratch.path("t.npy");
  const std::vector<float> values = {1};
  save(path, "", view(values));
  const std::string cut = path + std::string("\0.bak", 5);
  EXPECT_THROW(open_table(cut), FileError);
  EXPECT_THROW(save(cut, "", view(values)), FileError);
  EXPECT_THAT(error_of(cut),
              HasSubstr("file: NUL in a path\n  the system would cut the path there"));
}

// What is not UTF-8 would break those who show the message.
TEST(FileNames, AreShownAsUtf8) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const std::string json = "{\"\xff\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}";
  const std::string path =
      scratch.write("bad\xfe.safetensors", little(json.size(), 8) + json + "1234");
  const std::string text = error_of(path);
  EXPECT_THAT(text, HasSubstr("malformed JSON"));
  EXPECT_THAT(text, HasSubstr("bad\\xfe.safetensors"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\xff")));
}

TEST(FileNames, OfTensorsAreUtf8) {
  SKIP_WITHOUT("zlib");
  const Scratch scratch;
  const std::vector<float> values = {1};
  save(scratch.path("t.npz"), "abc", view(values));
  std::string bytes = read_all(scratch.path("t.npz"));
  for (size_t at = bytes.find("abc"); at != std::string::npos; at = bytes.find("abc", at)) {
    bytes[at] = '\xff';
  }
  EXPECT_THAT(error_of(scratch.write("bad.npz", bytes)),
              HasSubstr("a name is not UTF-8\n  tensor \"\\xffbc\""));
}

TEST(FileNames, OfOnnxAreUtf8) {
  const Scratch scratch;
  const std::vector<float> values = {1};
  save(scratch.path("t.onnx"), "abc", view(values));
  std::string bytes = read_all(scratch.path("t.onnx"));
  bytes[bytes.find("abc")] = '\x80';
  EXPECT_THAT(error_of(scratch.write("bad.onnx", bytes)), HasSubstr("is not UTF-8: \"\\x80bc\""));
}

// O_DIRECT reads whole blocks; a file rarely ends with one.
TEST(DirectReads, ReachTheEndOfTheFile) {
  const Scratch scratch;
  for (const int64_t bytes : {1, 4095, 4096, 4097, 100000}) {
    const std::string path = scratch.write("t.bin", std::string(static_cast<size_t>(bytes), 'x'));
    const Table table = open_raw(path, {u8, {bytes}});
    const std::vector<int64_t> ends = {0, bytes - 1, bytes / 2};
    for (const char* reader : {"pread", "io_uring"}) {
      try {
        const Array got = gather(table, view(ends), {}, {.direct = true, .reader = reader});
        EXPECT_EQ(got.elements<uint8_t>()[1], 'x');
      } catch (const FileError& error) {
        EXPECT_THAT(error.what(),
                    testing::AnyOf(HasSubstr("no O_DIRECT"), HasSubstr("no io_uring")));
      }
    }
  }
}

TEST(FileSizes, ThatLeave64BitsAreRefused) {
  const std::vector<int64_t> one = {0};
  const Scratch scratch;
  const std::string path = scratch.write("t.bin", "x");
  const Table table = open_raw(path, {u8, {1}});
  // One index, repeated: an output of 2^63 - 1 bytes, and a header.
  const ConstTensor many = view(one, {INT64_MAX}, {0});
  const Plan plan = plan_gather(table.spec(), many.spec);
  try {
    run_to_file(plan, table, many, scratch.path("out.npy"));
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), ("file: too large\n  its size does not fit into 64 bits\n  file \"" +
                                scratch.path("out.npy") + "\"\n  try: fewer or smaller tensors")
                                   .c_str());
  }
}

TEST(FileSizes, SaveRefusesNull) {
  const Scratch scratch;
  try {
    save(scratch.path("t.npy"), "t", ConstTensor{nullptr, {f32, {3}}});
    FAIL();
  } catch (const FileError& error) {  // not the system's word on a bad address
    EXPECT_STREQ(
        error.what(),
        ("file: null pointer\n  the tensor has elements, but its pointer is null\n  file \"" +
         scratch.path("t.npy") + "\"\n  try: pass the tensor's memory")
            .c_str());
  }
  save(scratch.path("t.npy"), "t", ConstTensor{nullptr, {f32, {0}}});
}

}  // namespace
