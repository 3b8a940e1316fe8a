// SPDX-License-Identifier: MIT
//
// Gathers of encoded tables on a device against the reference, bit for bit: every encoding,
// operator, axis, index rule and type of the output. A bad index leaves the output as it was.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "helpers/bag_device.h"
#include "helpers/decode_oracle.h"
#include "helpers/device.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::byte kUntouchedElement{0xA5};

// A table with random bits, and what a plan of it gives in both places.
class EncodedDevice {
 public:
  EncodedDevice(Rng& rng, Encoding encoding)
      : problem_(random_encoded_bag(rng, encoding)),
        stored_(sent(problem_.stored)),
        scales_(sent(problem_.scales)),
        zeros_(sent(problem_.zeros)) {}

  const EncodedSpec& spec() const { return problem_.specs.data; }

  Bytes on_host(const EncodedGatherPlan& plan, const std::vector<int64_t>& indices) const {
    Bytes output = untouched(plan);
    plan.run({problem_.stored.start(), problem_.scales.start(), problem_.zeros.start(),
              indices.data(), output.data()},
             {.kernel = "reference"});
    return output;
  }

  // Throws as finish() does, after it has set `output`.
  void on_device(const EncodedGatherPlan& plan, const std::vector<int64_t>& indices, bool fresh,
                 Bytes& output) const {
    output = untouched(plan);
    DeviceMemory memory(test_device(), output.size());
    DeviceMemory entries(test_device(), indices.size() * sizeof(int64_t));
    memory.upload(output.data(), output.size());
    entries.upload(indices.data(), entries.bytes());
    const RunOptions options{.output_is_fresh = fresh};
    const Queue asked{.device = test_device()};
    DeviceMemory workspace(test_device(), workspace_bytes(plan, asked, options));
    const Queue queue{.device = test_device(), .workspace = workspace};
    run(plan,
        {start(stored_, problem_.stored), start(scales_, problem_.scales),
         start(zeros_, problem_.zeros), entries.data(), memory.data()},
        queue, options);
    wait(queue);
    memory.download(output.data(), output.size());
    finish(plan, queue);
  }

 private:
  static std::optional<DeviceMemory> sent(const BagBytes& tensor) {
    std::optional<DeviceMemory> memory;
    if (!tensor.bytes.empty()) {
      memory.emplace(test_device(), tensor.bytes.size());
      memory->upload(tensor.bytes.data(), tensor.bytes.size());
    }
    return memory;
  }
  static const void* start(const std::optional<DeviceMemory>& memory, const BagBytes& tensor) {
    return memory ? memory->data() + tensor.first : nullptr;
  }
  static Bytes untouched(const EncodedGatherPlan& plan) {
    const TensorSpec& output = plan.output();
    return Bytes(static_cast<size_t>(element_count(output.sizes) * output.dtype.bytes()),
                 kUntouchedElement);
  }

  BagProblem problem_;
  std::optional<DeviceMemory> stored_, scales_, zeros_;
};

template <class Options>
void compare(const EncodedDevice& table, const std::vector<int64_t>& indices, const Dims& shape,
             const Options& options) {
  for (const DType type : {f32, f16, bf16}) {
    if (!takes_next_problem()) {
      continue;
    }
    const EncodedGatherPlan plan =
        plan_gather_encoded(table.spec(), TensorSpec(i64, shape), options, type);
    const Bytes expected = table.on_host(plan, indices);
    for (const bool fresh : {false, true}) {
      Bytes got;
      table.on_device(plan, indices, fresh, got);
      ASSERT_TRUE(got == expected) << "fresh " << fresh << "\n" << plan.str();
    }
  }
}

std::vector<int64_t> some_indices(Rng& rng, int64_t count, int64_t extent, bool outside) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) {
    indices.push_back(outside && rng.one_in(4) ? rng.from(extent, 3 * extent)
                                               : rng.from(-extent, extent - 1));
  }
  return indices;
}

class DeviceEncoded : public DeviceTest, public testing::WithParamInterface<Encoding> {};

TEST_P(DeviceEncoded, AlongEveryAxis) {
  Rng rng(4);
  for (int i = 0; i < 6 && !HasFatalFailure(); ++i) {
    const EncodedDevice table(rng, GetParam());
    const Dims sizes = table.spec().sizes;
    for (int axis = 0; axis < sizes.size(); ++axis) {
      for (const OutOfRange rule :
           {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
        compare(table, some_indices(rng, 7, sizes[axis], rule != OutOfRange::kFail), {7},
                GatherOptions{.axis = axis, .rule = {.out_of_range = rule, .fill_value = 3}});
      }
    }
  }
}

TEST_P(DeviceEncoded, ElementsAndTuples) {
  Rng rng(5);
  for (int i = 0; i < 6 && !HasFatalFailure(); ++i) {
    const EncodedDevice table(rng, GetParam());
    const Dims sizes = table.spec().sizes;
    for (int axis = 0; axis < sizes.size(); ++axis) {
      Dims shape = sizes;
      shape[axis] = 3;
      compare(table, some_indices(rng, element_count(shape), sizes[axis], false), shape,
              GatherElementsOptions{.axis = axis});
    }
    compare(table, some_indices(rng, 5, sizes[0], false), {5, 1}, GatherNdOptions{});
  }
}

TEST_P(DeviceEncoded, ABadIndexLeavesTheOutput) {
  Rng rng(6);
  const EncodedDevice table(rng, GetParam());
  const EncodedGatherPlan plan =
      plan_gather_encoded(table.spec(), TensorSpec(i64, {3}), GatherOptions{});
  Bytes got;
  EXPECT_THROW(table.on_device(plan, {0, table.spec().sizes[0], 0}, false, got), IndexError);
  EXPECT_TRUE(got == Bytes(got.size(), kUntouchedElement));
  EXPECT_THROW(table.on_device(plan, {0, table.spec().sizes[0], 0}, true, got), IndexError);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceEncoded, testing::ValuesIn(oracle::all_encodings()),
                         [](const auto& one) { return std::string(to_string(one.param)); });

}  // namespace
}  // namespace sheaf
