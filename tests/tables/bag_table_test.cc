// SPDX-License-Identifier: MIT
//
// Bags made at random, on tables in host memory and in files, for the host, for a device without
// kernels for bags and for one that has them: the bits of the reference backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "helpers/bag_problem.h"
#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "io/scratch.h"
#include "plan/bag.h"
#include "tables/device_call.h"

namespace {

using namespace sheaf;
using testing::HasSubstr;

// The same bag of rows that lie side by side.
BagProblem with_packed_rows(BagProblem problem) {
  TensorSpec& spec = problem.specs.data.stored;
  BagBytes packed(TensorSpec(spec.dtype, spec.sizes));
  for (int64_t i = 0; i < element_count(spec.sizes); ++i) {
    std::memcpy(packed.element(i), problem.stored.element(i),
                static_cast<size_t>(spec.dtype.bytes()));
  }
  problem.stored = packed;
  spec = packed.spec;
  return problem;
}

// A tensor in memory of a device, or on the host where there is no device.
class Copy {
 public:
  Copy(std::string_view device, const std::vector<std::byte>& bytes, size_t first)
      : memory_(device, bytes.size()), first_(first) {
    memory_.upload(bytes.data(), bytes.size());
  }
  std::byte* start() const { return memory_.data() == nullptr ? nullptr : memory_.data() + first_; }
  void read_back(std::vector<std::byte>& bytes) const {
    memory_.download(bytes.data(), bytes.size());
  }

 private:
  DeviceMemory memory_;
  size_t first_;
};

BagResult on_table(const BagProblem& problem, const Table& table, std::string_view device) {
  const BagPlan plan = problem.plan();
  BagBytes output(plan.output());
  std::fill(output.bytes.begin(), output.bytes.end(), kUntouchedBag);
  BagResult result;
  const Queue queue{.device = device};
  if (device.empty()) {
    try {
      run(plan, table, problem.memory(output.start()), queue);
    } catch (const Error& error) {
      result.error = error.what();
    }
    result.output = output.bytes;
    return result;
  }
  const Copy indices(device, problem.indices.bytes, problem.indices.first);
  const Copy segments(device, problem.segments.bytes, problem.segments.first);
  const Copy weights(device, problem.weights.bytes, problem.weights.first);
  const Copy there(device, output.bytes, output.first);
  try {
    run(plan, table,
        {.indices = indices.start(),
         .segments = segments.start(),
         .weights = weights.start(),
         .output = there.start()},
        queue);
    finish(plan, table, queue);
  } catch (const Error& error) {
    result.error = error.what();
    wait(queue);
  }
  there.read_back(output.bytes);
  result.output = output.bytes;
  return result;
}

class BagTables : public TableTest {
 protected:
  Table host_table(const BagProblem& problem) const {
    return problem.specs.data.encoding == Encoding::kPlain
               ? Table::host({problem.stored.start(), problem.specs.data.stored}, nullptr)
               : Table::host_encoded({problem.specs.data, problem.stored.start()}, nullptr);
  }
  Table file_table(const BagProblem& problem) const {
    const auto& bytes = problem.stored.bytes;
    return open_raw(
        scratch_.write("t.bin", {reinterpret_cast<const char*>(bytes.data()), bytes.size()}),
        problem.specs.data.stored);
  }
  void expect_same(const BagProblem& problem) const {
    const BagResult expected = problem.on_reference();
    std::vector<std::string_view> devices = {"", table_device()};
    if (table_device_is_stand_in()) {
      devices.emplace_back(kDeferredBags);
    }
    for (const std::string_view device : devices) {
      for (const int64_t piece_bytes : {1, 300, 1 << 20}) {
        const TableOptions options{.piece_bytes = piece_bytes, .file = {.memory = 1 << 20}};
        expect_equal(on_table(problem, host_table(problem).with(options), device), expected,
                     problem);
        if (problem.specs.data.encoding == Encoding::kPlain) {
          expect_equal(on_table(problem, file_table(problem).with(options), device), expected,
                       problem);
        }
      }
    }
  }
  static void expect_equal(const BagResult& got, const BagResult& expected,
                           const BagProblem& problem) {
    ASSERT_EQ(got.error, expected.error) << problem.text();
    ASSERT_EQ(first_difference(got.output, expected.output), "") << problem.text();
  }

  Scratch scratch_;
};

TEST_F(BagTables, HaveTheBitsOfTheReference) {
  Rng rng(5);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    expect_same(with_packed_rows(random_bag(rng)));
  }
}

TEST_F(BagTables, OfEncodedRowsToo) {
  Rng rng(6);
  for (const Encoding encoding : {Encoding::kRowU8F32, Encoding::kRowU8F16Front,
                                  Encoding::kRowU4F16, Encoding::kQ8_0, Encoding::kQ4K}) {
    for (int i = 0; i < 4 && !HasFailure(); ++i) {
      BagProblem problem = random_encoded_bag(rng, encoding);
      if (problem.specs.data.stored ==
          TensorSpec(problem.specs.data.stored.dtype, problem.specs.data.stored.sizes)) {
        expect_same(problem);
      }
    }
  }
}

TEST_F(BagTables, RefuseBadIndicesSegmentsAndOtherTables) {
  const std::vector<float> values(12, 1.0F);
  const Table table = Table::host(view(values, {4, 3}), nullptr).with({.way = "ring"});
  BagProblem problem;
  problem.specs = {.data = TensorSpec(f32, {4, 3}),
                   .indices = TensorSpec(i64, {3}),
                   .segments = TensorSpec(i64, {2})};
  Rng rng(1);
  problem.make_tensors(rng);
  problem.indices.set_all({0, 4, 1});
  problem.segments.set_all({0, 2});
  const BagResult bad_index = on_table(problem, table, table_device());
  EXPECT_EQ(bad_index.error, problem.on_reference().error);
  EXPECT_THAT(bad_index.error, HasSubstr("index out of range"));
  EXPECT_THAT(bad_index.output, testing::Each(kUntouchedBag));
  problem.indices.set_all({0, 3, 1});
  problem.segments.set_all({0, 9});
  const BagResult bad_segment = on_table(problem, table, table_device());
  EXPECT_EQ(bad_segment.error, problem.on_reference().error);
  EXPECT_THAT(bad_segment.output, testing::Each(kUntouchedBag));
  const std::vector<float> more(15, 1.0F);
  EXPECT_THAT(on_table(problem, Table::host(view(more, {5, 3}), nullptr), table_device()).error,
              HasSubstr("bag: planned for another table\n"
                        "  the plan is for f32[4, 3], but the table is f32[5, 3]\n"));
  EncodedSpec far = encoded_rows(Encoding::kQ8_0, {4, 32});
  const std::vector<uint8_t> blocks(4 * 34);
  const Table encoded = Table::host_encoded({far, blocks.data()}, nullptr);
  far.stored.strides[0] = 1 << 20;
  problem.specs.data = far;
  EXPECT_THAT(on_table(problem, encoded, "").error,
              HasSubstr("bag: planned for another table\n"
                        "  the plan is for bytes u8[4, 34] strides [1048576, 1], but those of the "
                        "table are u8[4, 34]\n"));
  const TensorSpec spread(f32, {4, 2}, {3, 1});
  problem.specs.data = spread;
  EXPECT_THAT(
      on_table(problem, Table::host({values.data(), spread}, nullptr), table_device()).error,
      HasSubstr("bag: gaps between rows\n"
                "  rows of a table that are fetched for a bag lie side by side\n"));
  problem.specs.data = TensorSpec(f32, {4, 3});
  const BagPlan plan = problem.plan();
  EXPECT_THAT(refusal([&] { run(plan, table, {}, {.device = table_device()}); }),
              HasSubstr("its pointer is null"));
}

}  // namespace
