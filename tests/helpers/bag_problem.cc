// SPDX-License-Identifier: MIT
#include "helpers/bag_problem.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "execution/registry.h"
#include "plan/byte_ranges.h"
#include "plan/reduce.h"
#include "sheaf/error.h"
#include "support/text.h"

using namespace sheaf;

namespace {

// Numbers of which sums are exact, rounded, infinite or NaN.
double some_number(Rng& rng) {
  switch (rng.from(0, 63)) {
    case 0: return std::numeric_limits<double>::quiet_NaN();
    case 1: return std::numeric_limits<double>::infinity();
    case 2: return -0.0;
    case 3: return 1e-40;
    default: return static_cast<double>(rng.from(-4000, 4000)) / 37;
  }
}

void write_number(DType type, double value, int64_t whole, std::byte* to) {
  with_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    T element{};
    if constexpr (SmallFloat<T>::value) {
      element = narrowed<T>(static_cast<float>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      element = static_cast<T>(value);
    } else if constexpr (is_complex_v<T>) {
      element =
          T(static_cast<typename T::value_type>(value), static_cast<typename T::value_type>(whole));
    } else if constexpr (std::is_same_v<T, Truth>) {
      element.byte = static_cast<uint8_t>(whole % 3);
    } else {
      element = static_cast<T>(whole);
    }
    std::memcpy(to, &element, sizeof element);
  });
}

}  // namespace

BagBytes::BagBytes(const TensorSpec& tensor) : spec(tensor) {
  const ByteRange range = *byte_range(tensor);
  bytes.resize(static_cast<size_t>(range.hi - range.lo));
  first = static_cast<size_t>(-range.lo);
}

const std::byte* BagBytes::element(int64_t at) const {
  int64_t place = 0;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    place += at % spec.sizes[d] * spec.strides[d];
    at /= spec.sizes[d];
  }
  return bytes.data() + static_cast<int64_t>(first) + place * spec.dtype.bytes();
}

std::byte* BagBytes::element(int64_t at) {
  return const_cast<std::byte*>(std::as_const(*this).element(at));
}

void BagBytes::set(int64_t at, int64_t value) {
  std::memcpy(element(at), &value, static_cast<size_t>(spec.dtype.bytes()));
}

void BagBytes::set_all(const std::vector<int64_t>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    set(static_cast<int64_t>(i), values[i]);
  }
}

void BagBytes::fill_numbers(Rng& rng) {
  const auto step = static_cast<size_t>(spec.dtype.bytes());
  for (size_t at = 0; at + step <= bytes.size(); at += step) {
    write_number(spec.dtype, some_number(rng), rng.from(-100, 100), bytes.data() + at);
  }
}

void BagBytes::fill_bytes(Rng& rng) {
  // Half of the tables have small exponents, so that not every sum is infinite.
  const int mask = rng.from(0, 1) == 0 ? 0xFF : 0x3B;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(rng.from(0, 255) & mask);
  }
}

void BagProblem::make_tensors(Rng& rng) {
  stored = BagBytes(specs.data.stored);
  if (specs.data.encoding == Encoding::kPlain) {
    stored.fill_numbers(rng);
  } else {
    stored.fill_bytes(rng);
  }
  if (specs.data.scales) {
    scales = BagBytes(*specs.data.scales);
    scales.fill_bytes(rng);
  }
  if (specs.data.zeros) {
    zeros = BagBytes(*specs.data.zeros);
    zeros.fill_bytes(rng);
  }
  if (specs.indices) {
    indices = BagBytes(*specs.indices);
    for (int64_t i = 0; i < element_count(specs.indices->sizes); ++i) {
      indices.set(i, rng.from(0, std::max<int64_t>(specs.data.sizes[0] - 1, 0)));
    }
  }
  if (specs.weights) {
    weights = BagBytes(*specs.weights);
    weights.fill_numbers(rng);
  }
  if (specs.segments) {
    segments = BagBytes(*specs.segments);
  }
}

BagPlan BagProblem::plan() const {
  return output ? plan_bag(specs, *output, options) : plan_bag(specs, options);
}

BagMemory BagProblem::memory(void* result) const {
  return {.stored = stored.start(),
          .scales = scales.start(),
          .zeros = zeros.start(),
          .indices = indices.start(),
          .segments = segments.start(),
          .weights = weights.start(),
          .output = result};
}

std::string BagProblem::text() const { return plan().str() + plan().json(); }

BagResult BagProblem::on_host(const RunOptions& run_options) const {
  const BagPlan bag = plan();
  BagBytes to(bag.output());
  std::fill(to.bytes.begin(), to.bytes.end(), kUntouchedBag);
  BagResult result;
  try {
    bag.run(memory(to.start()), run_options);
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.output = to.bytes;
  return result;
}

std::vector<std::string_view> bag_kernels(const BagPlan& plan) {
  std::vector<std::string_view> kernels;
  for (const Backend* backend : host_backends()) {
    for (const BagKernel& kernel : backend->bag) {
      if (kernel.refusal(plan.nest()) == nullptr) {
        kernels.push_back(kernel.name);
      }
    }
  }
  return kernels;
}

std::string first_difference(const std::vector<std::byte>& got,
                             const std::vector<std::byte>& expected) {
  if (got.size() != expected.size()) {
    return cat(static_cast<int64_t>(got.size()), " bytes for ",
               static_cast<int64_t>(expected.size()));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (got[i] != expected[i]) {
      return cat("byte ", static_cast<int64_t>(i), ": ", std::to_integer<int>(got[i]), " for ",
                 std::to_integer<int>(expected[i]));
    }
  }
  return {};
}

std::vector<int64_t> segments_of(const std::vector<int64_t>& lengths, SegmentForm form,
                                 bool last_offset) {
  std::vector<int64_t> segments;
  int64_t sum = 0;
  for (size_t s = 0; s < lengths.size(); ++s) {
    switch (form) {
      case SegmentForm::kOffsets: segments.push_back(sum); break;
      case SegmentForm::kLengths: segments.push_back(lengths[s]); break;
      case SegmentForm::kIds:
        segments.insert(segments.end(), static_cast<size_t>(lengths[s]), static_cast<int64_t>(s));
        break;
    }
    sum += lengths[s];
  }
  if (form == SegmentForm::kOffsets && last_offset) {
    segments.push_back(sum);
  }
  return segments;
}
