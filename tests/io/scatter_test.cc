// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/scratch.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace sheaf;

TEST(FileScatter, ReplacesOneTensorOfAFile) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const std::vector<float> table = {0, 1, 2, 3, 4, 5};
  const std::vector<int64_t> other = {7};
  save(scratch.path("t.npy"), "", view(table, {3, 2}));
  save(scratch.path("o.npy"), "", view(other));
  const std::string path = scratch.path("m.safetensors");
  save(path, {{"o", open_table(scratch.path("o.npy"))}, {"t", open_table(scratch.path("t.npy"))}});
  const std::vector<int64_t> rows = {2, 0, 2};
  const std::vector<float> updates = {10, 10, 20, 20, 30, 30};
  const Table before = open_table(path, "t"), apart = open_table(path, "t");
  scatter(before, view(rows), view(updates, {3, 2}), {.reduction = Reduction::kAdd});
  EXPECT_THAT(open_table(path, "t").load().elements<float>(), ElementsAre(20, 21, 2, 3, 44, 45));
  EXPECT_THAT(open_table(path, "o").load().elements<int64_t>(), ElementsAre(7));
  // The table follows its file; who has opened it apart still sees the old content, whole.
  const Array followed = before.load();
  EXPECT_THAT(followed.elements<float>(), ElementsAre(20, 21, 2, 3, 44, 45));
  const Array old = apart.load();
  EXPECT_THAT(old.elements<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

// Tensors of raw files have no name, which other formats want.
TEST(FileScatter, NamesTheTensorOfANewFile) {
  SKIP_WITHOUT("json");
  const Scratch scratch;
  const std::vector<float> values = {1, 2, 3}, ten = {10};
  const std::vector<int64_t> last = {2};
  scratch.write("t.bin", bytes_of(values));
  const Table raw = open_raw(scratch.path("t.bin"), {f32, {3}});
  const Plan plan = plan_scatter(raw.spec(), view(last).spec, view(ten).spec);
  run_scatter_to_file(plan, raw, view(last), view(ten), scratch.path("o.safetensors"));
  EXPECT_THAT(open_table(scratch.path("o.safetensors"), "output").load().elements<float>(),
              ElementsAre(1, 2, 10));
}

// Every scatter has its form for tables in files.
TEST(FileScatter, OfEveryKindGivesTheBitsOfMemory) {
  const Scratch scratch;
  const std::vector<float> table = {0, 1, 2, 3, 4, 5}, updates = {10, 20};
  const std::vector<int64_t> ids = {2, 0}, columns = {1, 0};
  const auto fresh = [&] {
    save(scratch.path("t.npy"), "", view(table, {3, 2}));
    return open_table(scratch.path("t.npy"));
  };
  const auto now = [&] { return open_table(scratch.path("t.npy")).load(); };
  scatter_elements(fresh(), view(columns, {2, 1}), view(updates, {2, 1}), {.axis = 1});
  EXPECT_THAT(now().elements<float>(), ElementsAre(0, 10, 20, 3, 4, 5));
  const std::vector<float> ten = {10};
  scatter_nd(fresh(), view(ids, {1, 2}), view(ten), {.reduction = Reduction::kAdd});
  EXPECT_THAT(now().elements<float>(), ElementsAre(0, 1, 2, 3, 14, 5));
  xla_scatter(fresh(), view(ids, {2, 1}), view(updates, {2, 1}),
              {.update_window_dims = {1},
               .inserted_window_dims = {0},
               .scatter_dims_to_operand_dims = {0},
               .index_vector_dim = 1});
  EXPECT_THAT(now().elements<float>(), ElementsAre(20, 1, 2, 3, 10, 5));
}

TEST(FileScatter, GivesTheBitsOfMemoryInManyWaves) {
  const Scratch scratch;
  constexpr int64_t kRows = 20000, kColumns = 16, kUpdates = 60000;
  std::vector<float> table(kRows * kColumns), updates(kUpdates * kColumns);
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<float>(i % 97) / 7;
  }
  for (size_t i = 0; i < updates.size(); ++i) {
    updates[i] = static_cast<float>(i % 89) / 11;
  }
  std::vector<int32_t> rows(kUpdates);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<int32_t>(i * 2654435761u % kRows);
  }
  for (const Reduction reduction : {Reduction::kAdd, Reduction::kMean, Reduction::kNone}) {
    for (const bool include_self : {true, false}) {
      const ScatterOptions options{.reduction = reduction, .include_self = include_self};
      const Array expected = scatter(view(table, {kRows, kColumns}), view(rows),
                                     view(updates, {kUpdates, kColumns}), options);
      const bool at_once =
          reduction != Reduction::kNone && (reduction == Reduction::kMean || !include_self);
      const std::string path = scratch.path("t.npy");
      save(path, "", view(table, {kRows, kColumns}));
      scatter(open_table(path), view(rows), view(updates, {kUpdates, kColumns}), options,
              {.memory = at_once ? kUpdates * 32 : 1 << 20});
      const Array got = open_table(path).load();
      EXPECT_EQ(std::memcmp(got.tensor().data, expected.tensor().data, table.size() * 4), 0)
          << to_string(reduction) << include_self;
    }
  }
}

TEST(FileScatter, RefusesAMeanThatNeedsMoreMemory) {
  const Scratch scratch;
  constexpr int64_t kUpdates = 40000;
  const std::vector<float> table = {1, 2, 3}, updates(kUpdates, 1);
  const std::vector<int64_t> rows(kUpdates, 0);
  save(scratch.path("t.npy"), "", view(table));
  const Table file = open_table(scratch.path("t.npy"));
  const FileOptions small{.memory = 1 << 20}, enough{.memory = kUpdates * 32};
  try {
    scatter(file, view(rows), view(updates), {.reduction = Reduction::kMean}, small);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("memory too small\n  40000 updates have to be applied"));
    EXPECT_THAT(error.what(), HasSubstr("try: memory of 1280000 bytes or more"));
  }
  EXPECT_THAT(scratch.names(), ElementsAre("t.npy"));
  scatter(file, view(rows), view(updates), {.reduction = Reduction::kMean}, enough);
  EXPECT_LT(open_table(scratch.path("t.npy")).load().elements<float>()[0], 1.1F);
}

TEST(FileScatter, RoundsOnceWhereThatIsAskedFor) {
  const Scratch scratch;
  const std::vector<bfloat16> table(1), ones(1000, bfloat16{0x3F80});
  const std::vector<int64_t> rows(1000, 0);
  save(scratch.path("t.safetensors"), "t", view(table));
  const Table file = open_table(scratch.path("t.safetensors"), "t");
  scatter(file, view(rows), view(ones), {.reduction = Reduction::kAdd, .accumulate_f32 = true});
  const Array sums = open_table(scratch.path("t.safetensors"), "t").load();
  EXPECT_EQ(sums.elements<bfloat16>()[0].bits, 0x447A);  // 1000; one by one they stop at 256
}

TEST(FileScatter, ChecksIndicesBeforeItWrites) {
  const Scratch scratch;
  const std::vector<int32_t> table = {1, 2, 3}, updates = {9, 9};
  const std::vector<int64_t> rows = {1, 3};
  save(scratch.path("t.npy"), "", view(table));
  const Table file = open_table(scratch.path("t.npy"));
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kTrust}) {
    EXPECT_THROW(scatter(file, view(rows), view(updates), {.rule = {.out_of_range = rule}}),
                 IndexError);
  }
  EXPECT_THAT(file.load().elements<int32_t>(), ElementsAre(1, 2, 3));
}

TEST(FileScatter, RefusesWhatCannotBeChangedInPlace) {
  SKIP_WITHOUT("zlib");
  const Scratch scratch;
  const std::vector<int32_t> table = {1, 2, 3}, updates = {9};
  const std::vector<int64_t> rows = {1}, wrong = {3};
  save(scratch.path("t.npz"), "t", view(table));
  const Table npz = open_table(scratch.path("t.npz"));
  try {
    scatter(npz, view(rows), view(updates));
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be changed in place"));
  }
  EXPECT_THROW(scatter(npz, view(wrong), view(updates)), IndexError);
  // Another file may take the result, in another format.
  const Plan plan = plan_scatter(npz.spec(), TensorSpec(i64, {1}), TensorSpec(i32, {1}));
  run_scatter_to_file(plan, npz, view(rows), view(updates), scratch.path("new.npy"));
  EXPECT_THAT(open_table(scratch.path("new.npy")).load().elements<int32_t>(), ElementsAre(1, 9, 3));
  EXPECT_THAT(npz.load().elements<int32_t>(), ElementsAre(1, 2, 3));
}

}  // namespace
