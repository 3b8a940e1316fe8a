// SPDX-License-Identifier: MIT
//
// A bag with tensors of its own, to be run in several places whose outputs are then compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "helpers/rng.h"
#include "sheaf/bag.h"

// The bytes of a tensor, and where in them its first element is.
struct BagBytes {
  sheaf::TensorSpec spec;
  std::vector<std::byte> bytes;
  size_t first = 0;

  BagBytes() = default;
  explicit BagBytes(const sheaf::TensorSpec& tensor);  // zeros

  const std::byte* start() const { return bytes.empty() ? nullptr : bytes.data() + first; }
  std::byte* start() { return bytes.empty() ? nullptr : bytes.data() + first; }
  const std::byte* element(int64_t at) const;  // `at` counts row-major
  std::byte* element(int64_t at);
  void set(int64_t at, int64_t value);  // of an integer type
  void set_all(const std::vector<int64_t>& values);
  // Numbers of its type, some of them NaN, infinite or beyond what sums can hold.
  void fill_numbers(Rng& rng);
  void fill_bytes(Rng& rng);
};

// What a run did: its output, or what was thrown with the output that it left.
struct BagResult {
  std::vector<std::byte> output;
  std::string error;
  friend bool operator==(const BagResult&, const BagResult&) = default;
};

// What an output's bytes are before a run.
inline constexpr std::byte kUntouchedBag{0xA5};

struct BagProblem {
  sheaf::BagSpecs specs;
  sheaf::BagOptions options;
  std::optional<sheaf::TensorSpec> output;
  BagBytes stored, scales, zeros, indices, segments, weights;

  // After specs are set: makes the tensors, with numbers in data and weights and valid indices.
  void make_tensors(Rng& rng);
  sheaf::BagPlan plan() const;  // throws if the bag is refused
  sheaf::BagMemory memory(void* result) const;
  std::string text() const;  // the plan and its rule

  BagResult on_host(const sheaf::RunOptions& options) const;
  BagResult on_reference() const { return on_host({.kernel = "reference"}); }
};

// The kernels of the host's backends that take the plan.
std::vector<std::string_view> bag_kernels(const sheaf::BagPlan& plan);

// "byte 12: 0 for 128", or nothing.
std::string first_difference(const std::vector<std::byte>& got,
                             const std::vector<std::byte>& expected);

// Offsets, lengths or ids of `lengths`, as `form` wants them.
std::vector<int64_t> segments_of(const std::vector<int64_t>& lengths, sheaf::SegmentForm form,
                                 bool last_offset);

// Gaps, sometimes every second element, and sometimes from the last row to the first.
sheaf::TensorSpec random_bag_strides(Rng& rng, sheaf::DType type, const sheaf::Dims& sizes);
// Any type, pool, form of segments, index rule and strides. A sound one: its indices are good if
// the rule is kFail.
BagProblem random_bag(Rng& rng);
// An encoded table with random bits in it, scales of NaN and infinity included.
BagProblem random_encoded_bag(Rng& rng, sheaf::Encoding encoding);
