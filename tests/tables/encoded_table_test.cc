// SPDX-License-Identifier: MIT
//
// Encoded rows on their way to a device: the bits of the same gather in host memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "io/gguf_bytes.h"
#include "io/scratch.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;
using testing::HasSubstr;

constexpr int64_t kEncodedRows = 40;

// Rows whose bytes are random, but for scales that stay numbers.
std::vector<uint8_t> random_rows(const EncodedSpec& spec) {
  Rng rng(static_cast<uint64_t>(spec.encoding));
  std::vector<uint8_t> bytes(static_cast<size_t>(element_count(spec.stored.sizes)));
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(rng.next());
  }
  return bytes;
}

// Indices and output on the device.
std::string rows_on_device(const EncodedGatherPlan& plan, const Table& table,
                           const std::vector<int64_t>& ids,
                           std::string_view device = table_device()) {
  const auto bytes =
      static_cast<size_t>(element_count(plan.output().sizes) * plan.output().dtype.bytes());
  DeviceMemory indices(device, ids.size() * 8);
  DeviceMemory output(device, bytes);
  indices.upload(ids.data(), ids.size() * 8);
  output.fill(std::byte{0xEE}, bytes);
  const Queue queue{.device = device};
  run(plan, table, indices.data(), output.data(), queue);
  finish(plan.decoded_gather(), table, queue);
  std::string text(bytes, '\0');
  output.download(text.data(), bytes);
  return text;
}

class EncodedTables : public TableTest {
 protected:
  static void expect_same(const EncodedSpec& spec, DType type, const IndexRule& rule) {
    const std::vector<uint8_t> stored = random_rows(spec);
    const std::vector<int64_t> ids = {3, 39, 3, 0, -1, 40, 3, 77};
    const EncodedGatherPlan plan =
        plan_gather_encoded(spec, view(ids).spec, GatherOptions{.rule = rule}, type);
    std::string expected(static_cast<size_t>(element_count(plan.output().sizes) * type.bytes()),
                         '\0');
    plan.run({stored.data(), nullptr, nullptr, ids.data(), expected.data()});
    for (const int64_t piece_bytes : {1, 1000, 1 << 20}) {
      const Table table =
          Table::host_encoded({spec, stored.data()}, nullptr).with({.piece_bytes = piece_bytes});
      EXPECT_EQ(rows_on_device(plan, table, ids), expected) << spec.str() << " " << piece_bytes;
      if (table_device_is_stand_in()) {  // one that decodes by itself
        EXPECT_EQ(rows_on_device(plan, table, ids, kDeferredBags), expected) << spec.str();
      }
      std::string on_host(expected.size(), '\0');
      run(plan, table, ids.data(), on_host.data(), {});
      EXPECT_EQ(on_host, expected);
    }
  }
};

TEST_F(EncodedTables, HaveTheBitsOfHostMemory) {
  for (const Encoding encoding :
       {Encoding::kRowU8F32, Encoding::kRowU8F16Front, Encoding::kRowU4F16, Encoding::kRowU2F16,
        Encoding::kQ8_0, Encoding::kQ4_0, Encoding::kQ4_1, Encoding::kQ5_0, Encoding::kQ5_1,
        Encoding::kQ4K, Encoding::kQ5K, Encoding::kQ6K}) {
    for (const DType type : {f32, f16, bf16}) {
      const EncodedSpec spec = encoded_rows(encoding, {kEncodedRows, 256});
      expect_same(spec, type, {.out_of_range = OutOfRange::kClamp});
      expect_same(spec, type, {.out_of_range = OutOfRange::kFill, .fill_value = 7});
    }
  }
  expect_same(encoded_rows(Encoding::kQ8_0, {kEncodedRows, 3, 32}), f32,
              {.out_of_range = OutOfRange::kWrap});
}

TEST_F(EncodedTables, ComeFromFiles) {
  const Scratch scratch;
  GgufParts parts;
  parts.tensors = {gguf_tensor("token_embd.weight", {32, 50}, kGgufQ8_0, 0)};
  for (int row = 0; row < 50; ++row) {
    parts.data += little(0x3C00, 2) + std::string(32, static_cast<char>(row));
  }
  const Table table = open_table(scratch.write("model.gguf", gguf_file(parts)));
  const std::vector<int64_t> ids = {17, 3, 42, 3};
  const EncodedGatherPlan plan = plan_gather_encoded(table.info().encoded, view(ids).spec);
  const Array expected = gather_encoded(table, view(ids));
  const std::string rows = rows_on_device(plan, table, ids);
  EXPECT_EQ(rows, std::string(reinterpret_cast<const char*>(expected.tensor().data), rows.size()));
  EXPECT_EQ(stats(table).way, "file");
}

// A plan whose rows lie further apart than those of the table would read behind it.
TEST_F(EncodedTables, RefusePlansOfOtherDistances) {
  const EncodedSpec spec = encoded_rows(Encoding::kQ8_0, {4, 32});
  const std::vector<uint8_t> stored = random_rows(spec);
  const Table table = Table::host_encoded({spec, stored.data()}, nullptr);
  const std::vector<int64_t> ids = {3};
  EncodedSpec far = spec;
  far.stored.strides[0] = 1 << 20;
  const EncodedGatherPlan plan = plan_gather_encoded(far, view(ids).spec);
  std::vector<float> output(32, 5.0F);
  constexpr const char* kText =
      "gather: planned for another table\n"
      "  the plan is for bytes u8[4, 34] strides [1048576, 1], but those of the table are u8[4, "
      "34]";
  EXPECT_THAT(refusal([&] { run(plan, table, ids.data(), output.data(), {}); }), HasSubstr(kText));
  EXPECT_THAT(refusal([&] { rows_on_device(plan, table, ids); }), HasSubstr(kText));
  EXPECT_THAT(refusal([&] {
                run(plan, table, view(ids), {output.data(), plan.output()});
              }),
              HasSubstr(kText));
  EXPECT_THAT(output, testing::Each(5.0F));
}

// Two elements take 10 bytes as they are stored, and 4 when they are decoded.
TEST_F(EncodedTables, OfRowsThatShrinkWhenDecoded) {
  const Scratch scratch;
  const EncodedSpec spec = encoded_rows(Encoding::kRowU8F32, {kEncodedRows, 2});
  expect_same(spec, f16, {.out_of_range = OutOfRange::kClamp});
  const std::vector<uint8_t> stored = random_rows(spec);
  const Table table = Table::host_encoded({spec, stored.data()}, nullptr);
  const std::vector<int64_t> ids = {3, 39, 3, 0, 40};
  const GatherOptions fill{.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 7}};
  const EncodedGatherPlan plan = plan_gather_encoded(spec, view(ids).spec, fill, f16);
  const Array expected = gather_encoded(Encoded(spec, stored.data()), view(ids), fill, f16);
  const Array got = gather_encoded(table, view(ids), fill, f16);
  run_to_file(plan, table, view(ids), scratch.path("rows.npy"));
  const Array written = open_table(scratch.path("rows.npy")).load();
  for (const Array* const rows : {&got, &written}) {
    EXPECT_EQ(std::memcmp(rows->tensor().data, expected.tensor().data, 5 * 2 * 2), 0);
  }
}

TEST_F(EncodedTables, RefuseWhatTheyCannotDo) {
  const EncodedSpec spec = encoded_rows(Encoding::kQ8_0, {4, 32});
  const std::vector<uint8_t> stored = random_rows(spec);
  const Table table = Table::host_encoded({spec, stored.data()}, nullptr);
  const std::vector<int64_t> ids = {4};
  const EncodedGatherPlan plan = plan_gather_encoded(spec, view(ids).spec);
  EXPECT_EQ(index_error([&] { rows_on_device(plan, table, ids); }).bad_count(), 1);
  const EncodedGatherPlan inner =
      plan_gather_encoded(spec, view(ids).spec, GatherOptions{.axis = 1});
  EXPECT_THAT(refusal([&] { rows_on_device(inner, table, ids); }, ErrorCode::kUnsupported),
              HasSubstr("gather: elements of encoded rows\n"
                        "  rows are decoded whole on their way to a device\n"));
  const EncodedSpec other = encoded_rows(Encoding::kQ4_0, {4, 32});
  EXPECT_THAT(
      refusal([&] { rows_on_device(plan_gather_encoded(other, view(ids).spec), table, ids); }),
      HasSubstr("the plan is for q4_0[4, 32], but the table is q8_0[4, 32]"));
  EXPECT_THAT(refusal([&] { Table::host_encoded(view(stored), nullptr); }),
              HasSubstr("table: rows that are not complete\n"));
  EncodedSpec codes;
  codes.encoding = Encoding::kU8;
  codes.sizes = {4, 34};
  codes.stored = spec.stored;
  EXPECT_THAT(refusal([&] {
                Table::host_encoded({codes, stored.data()}, nullptr);
              }),
              HasSubstr("table: rows that are not complete\n"));
  for (auto EncodedSpec::*const beside : {&EncodedSpec::scales, &EncodedSpec::zeros}) {
    EncodedSpec two = spec;
    two.*beside = TensorSpec(f32, {1});
    EXPECT_THAT(refusal([&] {
                  Table::host_encoded({two, stored.data()}, nullptr);
                }),
                HasSubstr("table: rows that are not complete\n"));
  }
  EncodedSpec longer = spec;
  longer.stored = TensorSpec(u8, {4, 33});
  EXPECT_THAT(refusal([&] {
                Table::host_encoded({longer, stored.data()}, nullptr);
              }),
              HasSubstr("table: gaps between rows\n"));
  EncodedSpec gaps = spec;
  gaps.stored.strides[0] += 2;
  EXPECT_THAT(refusal([&] {
                Table::host_encoded({gaps, stored.data()}, nullptr);
              }),
              HasSubstr("table: gaps between rows\n"));
  EXPECT_THAT(refusal([&] { rows_on_device(plan, table.with({.way = "mapped"}), ids); },
                      ErrorCode::kUnsupported),
              HasSubstr("mapped: the rows have to be decoded"));
}

}  // namespace
