// SPDX-License-Identifier: MIT
//
// Scatters, bags and prefetches of tables through sheaf/c.h: refusals that change nothing, then the
// results of the same calls on plain memory.
#include <cstring>
#include <filesystem>

#include "helpers.h"
#include "helpers/deferred_device.h"
#include "sheaf/io.h"

namespace sheaf::capi_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr DLDevice kLateDevice{kDLExtDev, 0};

struct DestroyHandle {
  void operator()(sheaf_table_handle* table) const { sheaf_table_destroy(table); }
};
using Handle = std::unique_ptr<sheaf_table_handle, DestroyHandle>;

Handle in_memory(const DLTensor* data, const sheaf_table_options* options = nullptr) {
  sheaf_table_handle* table = nullptr;
  EXPECT_EQ(sheaf_table_memory(data, nullptr, nullptr, options, &table), SHEAF_OK)
      << sheaf_last_error();
  return Handle(table);
}

sheaf_table_counts counts_of(const Handle& table) {
  sheaf_table_counts counts = {};
  counts.struct_size = sizeof counts;
  EXPECT_EQ(sheaf_table_stats(table.get(), &counts), SHEAF_OK);
  return counts;
}

sheaf_bag_tensors bag_of(const DLTensor* indices, const DLTensor* segments = nullptr) {
  sheaf_bag_tensors tensors = {};
  tensors.indices = indices;
  tensors.segments = segments;
  return tensors;
}

// Three rows of two, which change.
class CapiTableCalls : public testing::Test {
 protected:
  Values<float> data{{1, 2, 3, 4, 5, 6}, {3, 2}};
  Values<int64_t> indices{{2, -3, 2}, {3}};
  Values<float> updates{{10, 20, 30, 40, 50, 60}, {3, 2}};
};

TEST_F(CapiTableCalls, NullsAreRefused) {
  const Handle table = in_memory(data);
  const sheaf_bag_tensors tensors = bag_of(indices);
  Values<float> pooled{{-1, -1}, {1, 2}};
  EXPECT_EQ(sheaf_table_scatter(nullptr, indices, updates, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "sheaf_table_scatter: null pointer\n"
               "  table is null\n"
               "  no tensors were read\n"
               "  try: a table that sheaf_table_open or sheaf_table_memory made");
  EXPECT_EQ(sheaf_table_scatter(table.get(), nullptr, updates, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, nullptr, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("updates: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_table_scatter_elements(nullptr, indices, updates, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_scatter_nd(nullptr, indices, updates, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_bag(nullptr, &tensors, pooled, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_bag(table.get(), nullptr, pooled, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("tensors is null"));
  EXPECT_EQ(sheaf_table_bag(table.get(), &tensors, nullptr, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_prefetch(nullptr, indices, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_prefetch(table.get(), nullptr, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_encoded(nullptr, nullptr, nullptr, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(data.values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(pooled.values, Each(-1));
}

TEST_F(CapiTableCalls, ScattersThatDoNotFitChangeNothing) {
  const Handle table = in_memory(data);
  Values<float> two{{7, 7, 7, 7}, {2, 2}};
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, two, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  Values<int32_t> whole{{7, 7, 7, 7, 7, 7}, {3, 2}};
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, whole, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  Values<uint8_t> codes{{1, 2}, {2, 1}}, other{{9, 9, 9}, {3, 1}};
  codes.tensor.dtype = {kDLFloat8_e3m4, 8, 1};
  other.tensor.dtype = {kDLFloat8_e4m3, 8, 1};  // another format of as many bytes
  Values<int64_t> rows{{0, 1, 0}, {3}};
  EXPECT_EQ(sheaf_table_scatter(in_memory(codes).get(), rows, other, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("updates is float8_e4m3, but the table is"));
  EXPECT_THAT(codes.values, ElementsAre(1, 2));
  sheaf_scatter_options options = {};
  options.reduction = 99;
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, updates, &options, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("reduction"));
  options = {};
  options.axis = 2;
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, updates, &options, nullptr),
            SHEAF_INVALID_ARGUMENT);
  sheaf_run_options run = {};
  run.threads = -1;
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, updates, nullptr, &run),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("threads = -1"));
  indices.values[1] = 3;
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, updates, nullptr, nullptr),
            SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("indices[1] = 3"));
  EXPECT_THAT(data.values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(counts_of(table).rows_scattered, 0);
}

TEST_F(CapiTableCalls, ElementsThatShareMemoryAreNotWritten) {
  const Values<float> once{{1, 2}, {3, 2}, {0, 1}};
  const Handle table = in_memory(once);
  Values<float> output{{0, 0}, {1, 2}};
  Values<int64_t> last{{2}, {1}};
  ASSERT_EQ(sheaf_table_gather(table.get(), last, output, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(1, 2));
  EXPECT_NE(sheaf_table_scatter(table.get(), indices, updates, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(once.values, ElementsAre(1, 2));
}

TEST_F(CapiTableCalls, ScattersWriteTheMemory) {
  const Handle table = in_memory(data);
  sheaf_scatter_options add = {};
  add.reduction = SHEAF_REDUCE_ADD;
  ASSERT_EQ(sheaf_table_scatter(table.get(), indices, updates, &add, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(data.values, ElementsAre(31, 42, 3, 4, 65, 86));
  Values<int64_t> elements{{1, 0}, {1, 2}};
  Values<float> two{{-1, -2}, {1, 2}};
  ASSERT_EQ(sheaf_table_scatter_elements(table.get(), elements, two, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(data.values, ElementsAre(31, -2, -1, 4, 65, 86));
  Values<int64_t> tuple{{2, 1}, {1, 2}};
  Values<float> one{{9}, {1}};
  ASSERT_EQ(sheaf_table_scatter_nd(table.get(), tuple, one, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(data.values, ElementsAre(31, -2, -1, 4, 65, 9));
  EXPECT_STREQ(counts_of(table).way, "host");
  EXPECT_GT(counts_of(table).rows_scattered, 0);
}

TEST_F(CapiTableCalls, ScattersReplaceAFile) {
  const std::string path = testing::TempDir() + "capi_table_call.npy";
  save(path, "", ConstTensor{data.values.data(), TensorSpec(f32, {3, 2})});
  sheaf_table_handle* made = nullptr;
  ASSERT_EQ(sheaf_table_open(path.c_str(), nullptr, nullptr, &made), SHEAF_OK);
  const Handle table(made);
  ASSERT_EQ(sheaf_table_scatter(table.get(), indices, updates, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  Values<float> output{{0, 0, 0, 0, 0, 0}, {3, 2}};
  ASSERT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(50, 60, 30, 40, 50, 60));
  EXPECT_THAT(data.values, ElementsAre(1, 2, 3, 4, 5, 6));
  std::filesystem::remove(path);
}

TEST_F(CapiTableCalls, ScattersOfADeviceDropWhatWasWrittenFromItsCache) {
  add_deferred_device();
  sheaf_table_options options = {};
  options.cache_bytes = 1000;
  const Handle table = in_memory(data, &options);
  Values<int64_t> all{{0, 1, 2}, {3}};
  Values<float> output{{0, 0, 0, 0, 0, 0}, {3, 2}};
  all.tensor.device = output.tensor.device = kLateDevice;
  const auto gather = [&] {
    EXPECT_EQ(sheaf_table_gather(table.get(), all, output, nullptr, nullptr), SHEAF_OK)
        << sheaf_last_error();
  };
  for (int i = 0; i < 3; ++i) {
    gather();
  }
  Values<int64_t> row{{1}, {1}};
  Values<float> update{{8, 9}, {1, 2}};
  row.tensor.device = update.tensor.device = kLateDevice;
  ASSERT_EQ(sheaf_table_scatter(table.get(), row, update, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(data.values, ElementsAre(1, 2, 8, 9, 5, 6));
  const int64_t hits = counts_of(table).cache_hits;
  gather();
  EXPECT_THAT(output.values, ElementsAre(1, 2, 8, 9, 5, 6));
  EXPECT_EQ(counts_of(table).cache_hits, hits + 2);
  EXPECT_GT(counts_of(table).bytes_to_host, 0);
  row.values = {3};
  EXPECT_EQ(sheaf_table_scatter(table.get(), row, update, nullptr, nullptr),
            SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(sheaf_table_scatter(table.get(), row, updates, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);  // in two places
}

TEST_F(CapiTableCalls, ScattersIntoADevice) {
  add_deferred_device();
  data.tensor.device = kLateDevice;
  const Handle table = in_memory(data);
  ASSERT_EQ(sheaf_table_scatter(table.get(), indices, updates, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(data.values, ElementsAre(30, 40, 3, 4, 50, 60));
  EXPECT_STREQ(counts_of(table).way, "upload");
  sheaf_queue* queue = nullptr;
  int stream = 0;
  ASSERT_EQ(sheaf_queue_device(kLateDevice, &stream, &queue), SHEAF_OK);
  sheaf_run_options run = {};
  run.queue = queue;
  EXPECT_EQ(sheaf_table_scatter(table.get(), indices, updates, nullptr, &run),
            SHEAF_INVALID_ARGUMENT);  // a queue of another device than theirs
  indices.tensor.device = updates.tensor.device = kLateDevice;
  indices.values = {0, 0, 5};
  ASSERT_EQ(sheaf_table_scatter(table.get(), indices, updates, nullptr, &run), SHEAF_OK);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_THAT(data.values, ElementsAre(30, 40, 3, 4, 50, 60));
  indices.values = {0, 0, 1};
  ASSERT_EQ(sheaf_table_scatter(table.get(), indices, updates, nullptr, &run), SHEAF_OK);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_OK);
  EXPECT_THAT(data.values, ElementsAre(30, 40, 50, 60, 50, 60));
  sheaf_queue_destroy(queue);
}

TEST_F(CapiTableCalls, PrefetchedRowsAreHits) {
  add_deferred_device();
  sheaf_table_options options = {};
  options.cache_bytes = 1000;
  const Handle table = in_memory(data, &options);
  Values<float> output{{0, 0, 0, 0, 0, 0}, {3, 2}};
  indices.values = {2, -3, 7};  // the last is left out
  ASSERT_EQ(sheaf_table_prefetch(table.get(), indices, nullptr, nullptr), SHEAF_OK);
  EXPECT_EQ(counts_of(table).rows_prefetched, 0);  // of the host
  indices.tensor.device = output.tensor.device = kLateDevice;
  ASSERT_EQ(sheaf_table_prefetch(table.get(), indices, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_EQ(counts_of(table).rows_prefetched, 2);
  indices.values = {2, -3, 2};
  ASSERT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_EQ(counts_of(table).cache_misses, 0);
  sheaf_gather_options axis = {};
  axis.axis = 2;
  EXPECT_EQ(sheaf_table_prefetch(table.get(), indices, &axis, nullptr), SHEAF_INVALID_ARGUMENT);
  sheaf_run_options run = {};
  run.threads = -1;
  EXPECT_EQ(sheaf_table_prefetch(table.get(), indices, nullptr, &run), SHEAF_INVALID_ARGUMENT);
}

TEST_F(CapiTableCalls, BagsPoolRows) {
  const Handle table = in_memory(data);
  Values<int64_t> offsets{{0, 2}, {2}};
  Values<float> pooled{{-1, -1, -1, -1}, {2, 2}};
  const sheaf_bag_tensors tensors = bag_of(indices, offsets);
  ASSERT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(pooled.values, ElementsAre(6, 8, 5, 6));
  sheaf_bag_options options = {};
  options.pool = SHEAF_POOL_MAX;
  ASSERT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, &options, nullptr), SHEAF_OK);
  EXPECT_THAT(pooled.values, ElementsAre(5, 6, 5, 6));
  add_deferred_device();
  Values<float> there{{-1, -1, -1, -1}, {2, 2}};
  indices.tensor.device = offsets.tensor.device = there.tensor.device = kLateDevice;
  ASSERT_EQ(sheaf_table_bag(table.get(), &tensors, there, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(there.values, ElementsAre(6, 8, 5, 6));
  EXPECT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);  // the output is on the host
}

TEST_F(CapiTableCalls, BagsThatDoNotFitLeaveTheOutput) {
  const Handle table = in_memory(data);
  Values<int64_t> offsets{{0, 2}, {2}};
  Values<float> pooled{{-1, -1, -1, -1}, {2, 2}};
  sheaf_table plain = {};
  plain.stored = data;
  sheaf_bag_tensors tensors = bag_of(indices, offsets);
  tensors.data = &plain;
  EXPECT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("data beside a table"));
  tensors.data = nullptr;
  Values<float> wide{{-1, -1, -1, -1, -1, -1}, {2, 3}};
  EXPECT_EQ(sheaf_table_bag(table.get(), &tensors, wide, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  sheaf_bag_options options = {};
  options.pool = 77;
  EXPECT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, &options, nullptr),
            SHEAF_INVALID_ARGUMENT);
  sheaf_run_options run = {};
  run.threads = -2;
  EXPECT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, nullptr, &run), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("threads = -2"));
  indices.values[2] = 3;
  EXPECT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, nullptr, nullptr),
            SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_THAT(pooled.values, Each(-1));
  EXPECT_THAT(wide.values, Each(-1));
}

// Two rows of four codes, each with a scale and a bias.
class CapiEncodedTable : public testing::Test {
 protected:
  void SetUp() override {
    const float scales[2][2] = {{2, 1}, {0.5, -1}};
    for (size_t row = 0; row < 2; ++row) {
      std::memcpy(stored.values.data() + row * 12 + 4, scales[row], sizeof scales[row]);
    }
    encoded.encoding = SHEAF_ROW_U8_F32;
    encoded.stored = stored;
    encoded.sizes = {sizes, 2};
  }

  Values<uint8_t> stored{{1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0,  //
                          8, 6, 4, 2, 0, 0, 0, 0, 0, 0, 0, 0},
                         {2, 12}};
  const int64_t sizes[2] = {2, 4};
  sheaf_table encoded = {};
};

TEST_F(CapiEncodedTable, RowsAreDecodedAndPooled) {
  int released = 0;
  sheaf_table_handle* made = nullptr;
  ASSERT_EQ(
      sheaf_table_encoded(
          &encoded, [](void* held) { ++*static_cast<int*>(held); }, &released, nullptr, &made),
      SHEAF_OK)
      << sheaf_last_error();
  Handle table(made);
  DLTensor shown;
  ASSERT_EQ(sheaf_table_tensor(table.get(), &shown), SHEAF_OK);
  EXPECT_EQ(shown.shape[1], 4);
  EXPECT_EQ(shown.dtype.code, kDLFloat);
  Values<int64_t> ids{{1, 0}, {1, 2}};
  Values<float> rows{std::vector<float>(8), {1, 2, 4}};
  ASSERT_EQ(sheaf_table_gather(table.get(), ids, rows, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(rows.values, ElementsAre(3, 2, 1, 0, 3, 5, 7, 9));
  Values<float> pooled{std::vector<float>(4), {1, 4}};
  const sheaf_bag_tensors tensors = bag_of(ids);
  ASSERT_EQ(sheaf_table_bag(table.get(), &tensors, pooled, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(pooled.values, ElementsAre(6, 7, 8, 9));
  ASSERT_EQ(sheaf_table_prefetch(table.get(), ids, nullptr, nullptr), SHEAF_OK);
  Values<uint8_t> updates{std::vector<uint8_t>(24), {1, 2, 12}};
  EXPECT_EQ(sheaf_table_scatter(table.get(), ids, updates, nullptr, nullptr), SHEAF_UNSUPPORTED);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("encoded rows are only read"));
  EXPECT_EQ(released, 0);
  table.reset();
  EXPECT_EQ(released, 1);
}

TEST_F(CapiEncodedTable, RowsThatAreNotCompleteAreRefused) {
  sheaf_table_handle* table = nullptr;
  encoded.encoding = SHEAF_PLAIN;
  EXPECT_EQ(sheaf_table_encoded(&encoded, nullptr, nullptr, nullptr, &table),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("rows that are not complete"));
  EXPECT_EQ(table, nullptr);
  encoded.encoding = SHEAF_ROW_U8_F32;
  const int64_t wide[2] = {2, 5};
  encoded.sizes = {wide, 2};
  EXPECT_EQ(sheaf_table_encoded(&encoded, nullptr, nullptr, nullptr, &table),
            SHEAF_INVALID_ARGUMENT);
  encoded.sizes = {sizes, 2};
  encoded.stored = nullptr;
  EXPECT_EQ(sheaf_table_encoded(&encoded, nullptr, nullptr, nullptr, &table),
            SHEAF_INVALID_ARGUMENT);
  add_deferred_device();
  stored.tensor.device = kLateDevice;
  encoded.stored = stored;
  EXPECT_EQ(sheaf_table_encoded(&encoded, nullptr, nullptr, nullptr, &table),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("encoded rows on a device"));
}

}  // namespace
}  // namespace sheaf::capi_tests
