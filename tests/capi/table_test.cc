// SPDX-License-Identifier: MIT
//
// Tables through sheaf/c.h: refusals with an untouched output, then results, on the host and on a
// device that runs nothing before it is waited for.
#include <filesystem>

#include "helpers.h"
#include "helpers/deferred_device.h"
#include "sheaf/io.h"

namespace sheaf::capi_tests {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct DestroyTable {
  void operator()(sheaf_table_handle* table) const { sheaf_table_destroy(table); }
};
using TablePtr = std::unique_ptr<sheaf_table_handle, DestroyTable>;

void count_release(void* held) { ++*static_cast<int*>(held); }

// Two rows out of three.
class CapiTable : public testing::Test {
 protected:
  TablePtr in_memory(const sheaf_table_options* options = nullptr) {
    sheaf_table_handle* table = nullptr;
    EXPECT_EQ(sheaf_table_memory(data, count_release, &released, options, &table), SHEAF_OK)
        << sheaf_last_error();
    return TablePtr(table);
  }

  TablePtr in_file(const char* name = nullptr) {
    save(path, "rows", ConstTensor{data.values.data(), TensorSpec(f32, {3, 2})});
    sheaf_table_handle* table = nullptr;
    EXPECT_EQ(sheaf_table_open(path.c_str(), name, nullptr, &table), SHEAF_OK)
        << sheaf_last_error();
    return TablePtr(table);
  }

  void TearDown() override { std::filesystem::remove(path); }

  Values<float> data{{1, 2, 3, 4, 5, 6}, {3, 2}};
  Values<int64_t> indices{{2, -3}, {2}};
  Values<float> output{{-1, -1, -1, -1}, {2, 2}};
  std::string path = testing::TempDir() + "capi_table.safetensors";
  int released = 0;
};

TEST_F(CapiTable, NullsAreRefused) {
  sheaf_table_handle* table = nullptr;
  EXPECT_EQ(sheaf_table_open(nullptr, nullptr, nullptr, &table), SHEAF_INVALID_ARGUMENT);
  EXPECT_STREQ(sheaf_last_error(),
               "sheaf_table_open: null pointer\n"
               "  path is null\n"
               "  no tensors were read\n"
               "  try: the path of a file");
  EXPECT_EQ(sheaf_table_open("x.npy", nullptr, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_memory(nullptr, nullptr, nullptr, nullptr, &table), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("data: the pointer to the DLTensor is null"));
  EXPECT_EQ(sheaf_table_memory(data, nullptr, nullptr, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_gather(nullptr, indices, output, nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_tensor(nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_stats(nullptr, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_forget_cached_rows(nullptr), SHEAF_INVALID_ARGUMENT);
  sheaf_table_destroy(nullptr);
  const TablePtr rows = in_memory();
  EXPECT_EQ(sheaf_table_gather(rows.get(), nullptr, output, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_tensor(rows.get(), nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_table_stats(rows.get(), nullptr), SHEAF_INVALID_ARGUMENT);
}

TEST_F(CapiTable, MemoryIsReleasedOnce) {
  {
    const TablePtr table = in_memory();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  sheaf_table_handle* table = nullptr;
  sheaf_table_options options = {};
  options.pieces = 65;
  EXPECT_EQ(sheaf_table_memory(data, count_release, &released, &options, &table),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(released, 2);
}

TEST_F(CapiTable, OptionsWithoutAMeaningAreRefused) {
  sheaf_table_handle* table = nullptr;
  sheaf_table_options options = {};
  options.struct_size = 8;
  EXPECT_EQ(sheaf_table_memory(data, nullptr, nullptr, &options, &table), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("options of another version"));
  options.struct_size = sizeof options;
  options.cached_rows = {nullptr, 3};
  EXPECT_EQ(sheaf_table_memory(data, nullptr, nullptr, &options, &table), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("cached_rows.values is null"));
  const int64_t rows[] = {3};
  options.cached_rows = {rows, 1};
  options.cache_bytes = 100;
  EXPECT_EQ(sheaf_table_memory(data, nullptr, nullptr, &options, &table), SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("cached_rows has 3"));
}

TEST_F(CapiTable, GathersFromMemory) {
  const TablePtr table = in_memory();
  ASSERT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(5, 6, 1, 2));
  Values<int64_t> elements{{2, 0}, {1, 2}};
  Values<float> two{{0, 0}, {1, 2}};
  ASSERT_EQ(sheaf_table_gather_elements(table.get(), elements, two, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(two.values, ElementsAre(5, 2));
  Values<float> row{{0, 0}, {2}};
  Values<int64_t> tuple{{1}, {1}};
  ASSERT_EQ(sheaf_table_gather_nd(table.get(), tuple, row, nullptr, nullptr), SHEAF_OK);
  EXPECT_THAT(row.values, ElementsAre(3, 4));
  sheaf_table_counts counts = {};
  ASSERT_EQ(sheaf_table_stats(table.get(), &counts), SHEAF_OK);
  EXPECT_EQ(counts.calls, 3);
  EXPECT_STREQ(counts.way, "host");
}

TEST_F(CapiTable, GathersFromAFile) {
  const TablePtr table = in_file();
  DLTensor tensor;
  ASSERT_EQ(sheaf_table_tensor(table.get(), &tensor), SHEAF_OK);
  EXPECT_EQ(tensor.ndim, 2);
  EXPECT_EQ(tensor.shape[0], 3);
  EXPECT_EQ(tensor.dtype.bits, 32);
  ASSERT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(5, 6, 1, 2));
  sheaf_table_counts counts = {};
  counts.struct_size = 2 * sizeof(int64_t);  // of a program that knows `calls` only
  counts.rows = -7;
  ASSERT_EQ(sheaf_table_stats(table.get(), &counts), SHEAF_OK);
  EXPECT_EQ(counts.calls, 1);
  EXPECT_EQ(counts.rows, -7);
}

TEST_F(CapiTable, FilesThatAreNotThere) {
  sheaf_table_handle* table = nullptr;
  EXPECT_EQ(sheaf_table_open("/nowhere/t.npy", nullptr, nullptr, &table), SHEAF_FILE_ERROR);
  EXPECT_EQ(table, nullptr);
  in_file();
  EXPECT_NE(sheaf_table_open(path.c_str(), "columns", nullptr, &table), SHEAF_OK);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("columns"));
}

TEST_F(CapiTable, ABadIndexLeavesTheOutputUntouched) {
  indices.values[1] = 3;
  for (const bool file : {false, true}) {
    const TablePtr table = file ? in_file() : in_memory();
    EXPECT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, nullptr),
              SHEAF_INDEX_OUT_OF_RANGE);
    EXPECT_THAT(sheaf_last_error(), HasSubstr("indices[1] = 3"));
    EXPECT_THAT(output.values, Each(-1));
  }
  sheaf_gather_options options = {};
  options.rule.out_of_range = SHEAF_CLAMP;
  ASSERT_EQ(sheaf_table_gather(in_memory().get(), indices, output, &options, nullptr), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(5, 6, 5, 6));
}

TEST_F(CapiTable, OutputsOfAnotherShapeOrTypeAreRefused) {
  const TablePtr table = in_memory();
  Values<float> small{{-1, -1}, {1, 2}};
  EXPECT_EQ(sheaf_table_gather(table.get(), indices, small, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(small.values, Each(-1));
  Values<int32_t> other{{-1, -1, -1, -1}, {2, 2}};
  EXPECT_EQ(sheaf_table_gather(table.get(), indices, other, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  sheaf_run_options run = {};
  run.threads = -1;
  EXPECT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, &run),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_THAT(sheaf_last_error(), HasSubstr("threads = -1"));
}

TEST_F(CapiTable, RowsOfTheHostComeToADevice) {
  add_deferred_device();
  constexpr DLDevice kDevice{kDLExtDev, 0};
  indices.tensor.device = kDevice;
  output.tensor.device = kDevice;
  const TablePtr table = in_memory();
  ASSERT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, nullptr), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_THAT(output.values, ElementsAre(5, 6, 1, 2));

  sheaf_queue* queue = nullptr;
  int stream = 0;
  ASSERT_EQ(sheaf_queue_device(kDevice, &stream, &queue), SHEAF_OK);
  sheaf_run_options run = {};
  run.queue = queue;
  indices.values = {1, 0};
  ASSERT_EQ(sheaf_table_gather(table.get(), indices, output, nullptr, &run), SHEAF_OK)
      << sheaf_last_error();
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_OK);
  EXPECT_THAT(output.values, ElementsAre(3, 4, 1, 2));
  indices.values = {9, 0};
  sheaf_status status = sheaf_table_gather(table.get(), indices, output, nullptr, &run);
  status = status == SHEAF_OK ? sheaf_queue_finish(queue) : status;
  EXPECT_EQ(status, SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_THAT(output.values, ElementsAre(3, 4, 1, 2));
  Values<float> on_host{{-1, -1, -1, -1}, {2, 2}};
  EXPECT_EQ(sheaf_table_gather(table.get(), indices, on_host, nullptr, nullptr),
            SHEAF_INVALID_ARGUMENT);
  sheaf_table_counts counts = {};
  ASSERT_EQ(sheaf_table_stats(table.get(), &counts), SHEAF_OK);
  EXPECT_STREQ(counts.way, "ring");
  EXPECT_GT(counts.bytes_to_device, 0);
  sheaf_queue_destroy(queue);
}

}  // namespace
}  // namespace sheaf::capi_tests
