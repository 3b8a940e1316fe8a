// SPDX-License-Identifier: MIT
//
// What a bag is refused for: by its plan, and by a run that looks at pointers.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// A sound bag: 5 entries of 10 rows of 4 in 2 bags.
struct Asked {
  BagSpecs specs{EncodedSpec(TensorSpec(f32, {10, 4})), TensorSpec(i64, {5}), TensorSpec(i64, {2}),
                 std::nullopt};
  BagOptions options = {};
  std::optional<TensorSpec> output = {};

  BagPlan plan() const {
    return output ? plan_bag(specs, *output, options) : plan_bag(specs, options);
  }
  std::string refused() const {
    return refusal([&] { plan(); });
  }
};

// The four lines of a refusal of the sound bag with something changed.
std::string lines(const std::string& what, const std::string& detail, const std::string& given,
                  const std::string& next) {
  return "bag: " + what + "\n  " + detail + "\n  " + given + "\n  try: " + next;
}

const std::string kGiven = "data f32[10, 4]   indices i64[5]   offsets i64[2]   pool sum";

TEST(BagRefusals, Options) {
  Asked pool;
  pool.options.pool = static_cast<Pool>(6);
  EXPECT_EQ(pool.refused(),
            lines("unknown option", "pool = 6 and segments = 0, but 0..5 and 0..2 have a meaning",
                  "data f32[10, 4]   indices i64[5]   offsets i64[2]   pool ?",
                  "one of the named pools and forms"));
  Asked form;
  form.options.segments = static_cast<SegmentForm>(3);
  EXPECT_EQ(form.refused(),
            lines("unknown option", "pool = 0 and segments = 3, but 0..5 and 0..2 have a meaning",
                  "data f32[10, 4]   indices i64[5]   ? i64[2]   pool sum",
                  "one of the named pools and forms"));
  Asked rule;
  rule.options.rule.out_of_range = static_cast<OutOfRange>(99);
  rule.specs.indices = {};
  rule.specs.segments = TensorSpec(i64, {2});
  EXPECT_EQ(rule.refused(),
            lines("unknown index rule",
                  "negative = 0 and out_of_range = 99, but 0..1 and 0..5 have a meaning",
                  "data f32[10, 4]   offsets i64[2]   pool sum", "one of the named rules"));
  rule.options.rule = {.negative = static_cast<Negative>(2)};
  EXPECT_NE(rule.refused().find("unknown index rule"), std::string::npos);
  rule.specs.indices = TensorSpec(i64, {5});
  EXPECT_NE(rule.refused().find("unknown index rule"), std::string::npos);
}

TEST(BagRefusals, Data) {
  Asked scalar;
  scalar.specs.data = TensorSpec(f32, {});
  scalar.specs.indices = {};
  EXPECT_EQ(
      scalar.refused(),
      lines("data has no rows", "data has 0 dimensions, but entries are picked along the first",
            "data f32[]   offsets i64[2]   pool sum", "reshape data to [1]"));
  Asked row;
  row.specs.data = encoded_rows(Encoding::kRowU8F32, {16});
  EXPECT_EQ(row.refused(), lines("data has no rows",
                                 "data has 1 dimension, but entries are picked along the first, "
                                 "and the last is encoded",
                                 "data row_u8_f32[16]   indices i64[5]   offsets i64[2]   pool sum",
                                 "reshape data to [rows, elements]"));
  Asked strided;
  strided.specs.data = TensorSpec(f32, {10, 4, 3}, {20, 5, 1});
  EXPECT_EQ(strided.refused(),
            lines("rows are not at one distance",
                  "the strides of data behind its first dimension are no single run: [20, 5, 1]",
                  "data f32[10, 4, 3] strides [20, 5, 1]   indices i64[5]   offsets i64[2]   "
                  "pool sum",
                  "a contiguous copy of data"));
  strided.specs.data = TensorSpec(f32, {10, 4, 3}, {20, 3, 1});
  EXPECT_NO_THROW(strided.plan());
  strided.specs.data = TensorSpec(f32, {10, 4, 1}, {20, 5, 9});  // of one entry none is used
  EXPECT_NO_THROW(strided.plan());
  strided.specs.data = TensorSpec(f32, {10, 0, 3}, {20, 5, 1});  // and of no entry
  EXPECT_NO_THROW(strided.plan());
}

TEST(BagRefusals, Indices) {
  Asked matrix;
  matrix.specs.segments = {};
  EXPECT_EQ(matrix.refused(),
            lines("ranks differ",
                  "indices has 1 dimension, but without segments each row of a matrix is a bag",
                  "data f32[10, 4]   indices i64[5]   pool sum",
                  "indices of two dimensions, or segments"));
  Asked list;
  list.specs.indices = TensorSpec(i64, {5, 1});
  EXPECT_EQ(list.refused(),
            lines("ranks differ", "indices has 2 dimensions, but with segments it is a list",
                  "data f32[10, 4]   indices i64[5, 1]   offsets i64[2]   pool sum",
                  "indices of one dimension"));
  Asked floats;
  floats.specs.indices = TensorSpec(f32, {5});
  EXPECT_EQ(floats.refused().substr(0, 5), "bag: ");
  Asked none;
  none.specs.indices = none.specs.segments = {};
  EXPECT_EQ(none.refused(),
            lines("no segments", "without indices, only segments say which rows a bag has",
                  "data f32[10, 4]   pool sum", "offsets, lengths or ids"));
}

TEST(BagRefusals, Segments) {
  Asked empty;
  empty.specs.segments = TensorSpec(i64, {0});
  EXPECT_NO_THROW(empty.plan());
  empty.options.last_offset = true;
  EXPECT_EQ(
      empty.refused(),
      lines("no last offset", "offsets is empty, but its last entry is the end of the last bag",
            "data f32[10, 4]   indices i64[5]   offsets i64[0]   pool sum",
            "offsets of one entry, or last_offset = false"));
  Asked ids;
  ids.options = {.segments = SegmentForm::kIds, .bags = 3};
  EXPECT_EQ(ids.refused(),
            lines("segments do not fit", "there are 2 ids for 5 entries, and bags = 3",
                  "data f32[10, 4]   indices i64[5]   ids i64[2]   pool sum",
                  "one id for each entry, and the number of bags"));
  ids.specs.segments = TensorSpec(i64, {5});
  EXPECT_EQ(ids.plan().bags(), 3);
  ids.options.bags = 0;
  EXPECT_EQ(ids.plan().bags(), 0);
  ids.options.bags = -1;
  EXPECT_NE(ids.refused().find("there are 5 ids for 5 entries, and bags = -1"), std::string::npos);
  for (const TensorSpec& wrong : {TensorSpec(f32, {2}), TensorSpec(i64, {1, 2}),
                                  TensorSpec(i64, {}), TensorSpec(boolean, {2})}) {
    Asked asked;
    asked.specs.segments = wrong;
    EXPECT_EQ(asked.refused(),
              lines("segments are no list of integers", "segments is " + wrong.str(),
                    "data f32[10, 4]   indices i64[5]   offsets " + wrong.str() + "   pool sum",
                    "one dimension of an integer type"));
  }
  TensorSpec malformed(i64, {2});
  malformed.sizes[0] = -1;
  Asked asked;
  asked.specs.segments = malformed;
  EXPECT_NE(asked.refused().find("segments are no list of integers"), std::string::npos);
  malformed = TensorSpec(i64, {2});
  malformed.strides = {1, 1};
  asked.specs.segments = malformed;
  EXPECT_NE(asked.refused().find("segments are no list of integers"), std::string::npos);
  malformed = TensorSpec(i64, {3});
  malformed.strides = {INT64_MAX / 4};
  asked.specs.segments = malformed;
  EXPECT_NE(asked.refused().find("segments are no list of integers"), std::string::npos);
}

TEST(BagRefusals, Types) {
  Asked wide;
  wide.options.output_type = f16;
  EXPECT_EQ(wide.refused(), lines("types differ", "output is f16, but data is f32", kGiven,
                                  "an output of type f32"));
  Asked narrow;
  narrow.specs.data = TensorSpec(f16, {10, 4});
  narrow.options.output_type = f64;
  EXPECT_EQ(narrow.refused(), lines("types differ", "output is f64, but data is f16",
                                    "data f16[10, 4]   indices i64[5]   offsets i64[2]   pool sum",
                                    "an output of f32, f16 or bf16"));
  for (const DType type : {f32, f16, bf16}) {
    narrow.options.output_type = type;
    EXPECT_EQ(narrow.plan().output().dtype, type);
  }
  Asked encoded;
  encoded.specs.data = encoded_rows(Encoding::kQ4_0, {10, 32});
  encoded.options.output_type = u8;  // the type of the stored bytes
  EXPECT_EQ(encoded.refused(),
            lines("types differ", "output is u8, but data is q4_0",
                  "data q4_0[10, 32]   indices i64[5]   offsets i64[2]   pool sum",
                  "an output of f32, f16 or bf16"));
  Asked mean;
  mean.specs.data = TensorSpec(boolean, {10, 4});
  mean.options.pool = Pool::kMean;
  EXPECT_NE(mean.refused().find("bag: pool does not fit the type\n  pool = mean on bool: "),
            std::string::npos);
  Asked largest;
  largest.specs.data = TensorSpec(c64, {10, 4});
  largest.options.pool = Pool::kMax;
  EXPECT_NE(largest.refused().find("pool = max on c64: "), std::string::npos);
  Asked root;
  root.specs.data = TensorSpec(i32, {10, 4});
  root.options.pool = Pool::kSqrtN;
  EXPECT_EQ(root.refused(), lines("pool does not fit the type",
                                  "pool = sqrtn on i32: a square root is no such number",
                                  "data i32[10, 4]   indices i64[5]   offsets i64[2]   pool sqrtn",
                                  "a float type, or pool = sum"));
}

TEST(BagRefusals, Weights) {
  Asked shape;
  shape.specs.weights = TensorSpec(f32, {4});
  EXPECT_EQ(shape.refused(),
            lines("weights have the wrong shape",
                  "weights is [4], but there is one for each of [5] entries",
                  "data f32[10, 4]   indices i64[5]   offsets i64[2]   weights f32[4]   pool sum",
                  "weights of shape [5]"));
  shape.specs.indices = {};
  EXPECT_NE(shape.refused().find("there is one for each of [10] entries"), std::string::npos);
  TensorSpec malformed(f32, {5});
  malformed.strides = {1, 2};
  Asked strides;
  strides.specs.weights = malformed;
  EXPECT_NE(strides.refused().find("weights have the wrong shape"), std::string::npos);
  strides.specs.weights->strides = {INT64_MAX / 2};
  EXPECT_NE(strides.refused().find("weights have the wrong shape"), std::string::npos);
  Asked type;
  type.specs.weights = TensorSpec(f64, {5});
  EXPECT_EQ(type.refused(),
            lines("weights do not fit the type", "weights is f64, and products are computed in f32",
                  "data f32[10, 4]   indices i64[5]   offsets i64[2]   weights f64[5]   pool sum",
                  "weights of f32, f16 or bf16 (f64 with data of f64) and data of floats"));
  type.specs.data = TensorSpec(f64, {10, 4});
  EXPECT_NO_THROW(type.plan());
  type.specs.data = TensorSpec(i32, {10, 4});
  type.specs.weights = TensorSpec(f32, {5});
  EXPECT_NE(type.refused().find("products are computed in i32"), std::string::npos);
}

TEST(BagRefusals, Output) {
  Asked shape;
  shape.output = TensorSpec(f32, {3, 4});
  EXPECT_EQ(shape.refused(),
            lines("output does not fit", "output is f32[3, 4], but this bag writes f32[2, 4]",
                  "data f32[10, 4]   indices i64[5]   offsets i64[2]   output f32[3, 4]   pool sum",
                  "an output of f32[2, 4]"));
  shape.output = TensorSpec(f16, {2, 4});
  shape.options.output_type = f32;
  EXPECT_NE(shape.refused().find("output is f16[2, 4], but this bag writes f32[2, 4]"),
            std::string::npos);
  shape.output = TensorSpec(f32, {2, 4});
  shape.output->strides = {4};
  EXPECT_NE(shape.refused().find("output does not fit"), std::string::npos);
  Asked large;
  large.output = TensorSpec(f32, {2, 4}, {INT64_MAX / 2, 1});
  EXPECT_EQ(
      large.refused(),
      lines("tensor too large", "the sizes or strides of output reach further than 2^63 - 1 bytes",
            "data f32[10, 4]   indices i64[5]   offsets i64[2]   output f32[2, 4] strides "
            "[4611686018427387903, 1]   pool sum",
            "check how the shape was computed"));
  Asked strided;
  strided.output = TensorSpec(f32, {2, 4}, {2, 1});  // rows share elements
  EXPECT_EQ(strided.refused(),
            lines("output strides do not fit",
                  "output has strides [2, 1], but its rows must be single runs of elements that "
                  "share no memory",
                  "data f32[10, 4]   indices i64[5]   offsets i64[2]   output f32[2, 4] strides "
                  "[2, 1]   pool sum",
                  "a contiguous output"));
  strided.specs.data = TensorSpec(f32, {10, 2, 2});
  strided.output = TensorSpec(f32, {2, 2, 2}, {8, 3, 1});
  EXPECT_NE(strided.refused().find("output strides do not fit"), std::string::npos);
  strided.output = TensorSpec(f32, {2, 2, 2}, {-8, 2, 1});
  EXPECT_NO_THROW(strided.plan());
}

// Outputs of which a few bytes exist, repeated: more elements, or bytes, than can be counted.
TEST(BagRefusals, OutputsBeyondCounting) {
  for (const int64_t size : {int64_t{1} << 40, int64_t{1} << 31}) {
    Asked asked;
    asked.specs = {EncodedSpec(TensorSpec(f32, {1, size}, {0, 0})), std::nullopt,
                   TensorSpec(i64, {1}), std::nullopt};
    asked.options = {.segments = SegmentForm::kIds, .bags = size};
    TensorSpec output;
    output.sizes = {size, size};
    output.strides = {0, 0};
    asked.output = output;
    EXPECT_NE(asked.refused().find("bag: tensor too large"), std::string::npos);
  }
}

TEST(BagRefusals, Values) {
  Asked empty;
  empty.specs.data = TensorSpec(u8, {10, 4});
  empty.options.empty_value = -1;
  EXPECT_EQ(empty.refused().substr(0, 30), "bag: empty_value does not fit\n");
  Asked fill;
  fill.specs.data = TensorSpec(u8, {10, 4});
  fill.options.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 256};
  EXPECT_NE(fill.refused().find("bag: fill_value does not fit"), std::string::npos);
  fill.specs.data = TensorSpec(f16, {10, 4});
  EXPECT_NO_THROW(fill.plan());
  Asked padding;
  padding.options.padding_index = 10;
  EXPECT_EQ(padding.refused(),
            lines("padding_index out of range", "padding_index = 10, but data has 10 entries",
                  kGiven, "a row from -10 to 9"));
  padding.options.padding_index = -11;
  EXPECT_NE(padding.refused().find("padding_index = -11"), std::string::npos);
  for (const int64_t good : {0, 9, -1, -10}) {
    padding.options.padding_index = good;
    EXPECT_NO_THROW(padding.plan());
  }
  padding.specs.indices = {};
  EXPECT_EQ(
      padding.refused(),
      lines("padding_index without indices", "rows are pooled in order, and no entry names one",
            "data f32[10, 4]   offsets i64[2]   pool sum", "indices, or no padding_index"));
}

// ---- What a run sees.

struct AskedRun {
  std::vector<float> table = std::vector<float>(40, 1), output = std::vector<float>(8, -1);
  std::vector<int64_t> indices = std::vector<int64_t>(5, 3), offsets = {0, 2};
  std::vector<float> weights = std::vector<float>(5, 2);
  BagMemory memory{.stored = table.data(),
                   .indices = indices.data(),
                   .segments = offsets.data(),
                   .weights = weights.data(),
                   .output = output.data()};

  std::string refused(const RunOptions& options = {},
                      ErrorCode code = ErrorCode::kInvalidArgument) {
    Asked asked;
    asked.specs.weights = TensorSpec(f32, {5});
    const BagPlan plan = asked.plan();
    const std::string text = refusal([&] { plan.run(memory, options); }, code);
    EXPECT_EQ(output, std::vector<float>(8, -1)) << "the output is untouched";
    EXPECT_EQ(table, std::vector<float>(40, 1)) << "and so are inputs";
    return text;
  }
};

TEST(BagRefusals, NullPointers) {
  const auto refused_without = [](auto BagMemory::*which) {
    AskedRun run;
    run.memory.*which = nullptr;
    return run.refused();
  };
  EXPECT_EQ(refused_without(&BagMemory::stored),
            lines("null pointer", "data has elements, but its pointer is null",
                  "data f32[10, 4]   indices i64[5]   offsets i64[2]   weights f32[5]   output "
                  "f32[2, 4]   pool sum",
                  "pass the tensor's memory"));
  EXPECT_NE(refused_without(&BagMemory::indices).find("indices has elements"), std::string::npos);
  EXPECT_NE(refused_without(&BagMemory::segments).find("segments has elements"), std::string::npos);
  EXPECT_NE(refused_without(&BagMemory::weights).find("weights has elements"), std::string::npos);
  EXPECT_NE(refused_without(&BagMemory::output).find("output has elements"), std::string::npos);
}

// Strides that are sound by themselves, and lead from the pointer out of what can be addressed.
TEST(BagRefusals, AddressesBeyondMemory) {
  for (const bool high : {true, false}) {
    Asked asked;
    asked.specs.weights = TensorSpec(f32, {5}, {high ? 1 : -1});
    AskedRun run;
    const intptr_t address = high ? INTPTR_MAX - 7 : INTPTR_MIN + 8;
    std::memcpy(&run.memory.weights, &address, sizeof address);
    EXPECT_NE(refusal([&] { asked.plan().run(run.memory); })
                  .find("bag: tensor too large\n  the strides of weights lead from its pointer out "
                        "of the address space"),
              std::string::npos);
  }
}

TEST(BagRefusals, Overlaps) {
  const auto refused_on = [](auto BagMemory::*which, const char* name) {
    AskedRun run;
    run.memory.*which = run.output.data();
    EXPECT_EQ(run.refused(),
              lines("output overlaps an input", std::string("output and ") + name + " share memory",
                    "data f32[10, 4]   indices i64[5]   offsets i64[2]   weights f32[5]   output "
                    "f32[2, 4]   pool sum",
                    "an output of its own, then copy it back"));
  };
  refused_on(&BagMemory::stored, "data");
  refused_on(&BagMemory::indices, "indices");
  refused_on(&BagMemory::segments, "segments");
  refused_on(&BagMemory::weights, "weights");
}

TEST(BagRefusals, Kernels) {
  AskedRun run;
  EXPECT_EQ(run.refused({.kernel = "cpu.rows"}, ErrorCode::kUnsupported),
            lines("no such kernel", "\"cpu.rows\" names no bag kernel of this build",
                  "data f32[10, 4]   indices i64[5]   offsets i64[2]   weights f32[5]   output "
                  "f32[2, 4]   pool sum",
                  "another kernel; sheaf doctor lists the backends"));
  Asked filled;
  filled.options.rule.out_of_range = OutOfRange::kFill;
  std::vector<float> output(8);
  const AskedRun memory;
  EXPECT_NE(refusal(
                [&] {
                  BagMemory to = memory.memory;
                  to.output = output.data();
                  to.weights = nullptr;
                  filled.plan().run(to, {.kernel = "cpu.bag"});
                },
                ErrorCode::kUnsupported)
                .find("cpu.bag refuses: rows of a fill value are in no table"),
            std::string::npos);
}

}  // namespace
}  // namespace sheaf
