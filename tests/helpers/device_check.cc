// SPDX-License-Identifier: MIT
#include "helpers/device_check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "helpers/device.h"
#include "helpers/problem_plan.h"
#include "helpers/random_problem.h"

namespace {

constexpr std::byte kPattern{0xEE};

// How many elements before and after the first a tensor reaches.
struct Reach {
  int64_t low = 0, high = 0;
};

Reach reach_of(const sheaf::TensorSpec& spec) {
  Reach reach;
  if (element_count(spec.sizes) > 0) {
    for (int d = 0; d < spec.rank(); ++d) {
      if (spec.sizes[d] > 1) {
        (spec.strides[d] < 0 ? reach.low : reach.high) += (spec.sizes[d] - 1) * spec.strides[d];
      }
    }
    reach.high += 1;
  }
  return reach;
}

// What one run left: the output, or the text of the refusal beside an output that nobody wrote.
struct Result {
  Slab output;
  std::string refusal;
};

struct Inputs {
  Slab data, indices, updates;
  Slab output;  // as it is before a run

  Result run(const sheaf::Plan& plan, const Machine& machine, const std::string& kernel,
             bool in_place, bool fresh = false) {
    Result result{in_place ? data : output, ""};
    const Memory written = result.output.memory();
    try {
      machine.run(plan,
                  {in_place ? written : data.memory(), indices.memory(), written,
                   plan.is_scatter() ? updates.memory() : Memory{}},
                  {.kernel = kernel, .output_is_fresh = fresh});
    } catch (const sheaf::IndexError& error) {
      result.refusal = error.what();
      result.refusal += "\n(first " + testing::PrintToString(as_vector(error.position())) +
                        ", count " + std::to_string(error.bad_count()) + ")";
      EXPECT_TRUE(fresh || result.output == (in_place ? data : output))
          << kernel << " wrote, then refused";
    }
    return result;
  }
};

}  // namespace

Slab::Slab(const sheaf::TensorSpec& spec, size_t shift) : spec_(spec), shift_(shift) {
  const Reach reach = reach_of(spec);
  const auto bytes = static_cast<size_t>((reach.high - reach.low) * spec.dtype.bytes());
  first_ = shift + static_cast<size_t>(-reach.low * spec.dtype.bytes());
  packed_ = spec == sheaf::TensorSpec(spec.dtype, spec.sizes);
  bytes_.assign(shift + bytes, kPattern);
}

std::span<std::byte> Slab::used() { return std::span(bytes_).subspan(shift_); }

Memory Slab::memory() { return {bytes_.data() + first_, used()}; }

std::byte* Slab::element(int64_t number) {
  const int64_t at =
      packed_ ? number : offset_of(oracle::point_of(number, as_vector(spec_.sizes)), spec_.strides);
  return bytes_.data() + first_ + at * spec_.dtype.bytes();
}

void Slab::write_random(uint64_t seed, bool numbers) {
  Rng rng(seed);
  if (!numbers) {
    std::generate(used().begin(), used().end(), [&] { return static_cast<std::byte>(rng.next()); });
    return;
  }
  for (int64_t e = 0; e < element_count(spec_.sizes); ++e) {
    write_random_element(rng, spec_.dtype, e % 2 == 0, element(e));
  }
}

void Slab::write_indices(const std::function<oracle::Wide(int64_t)>& value) {
  for (int64_t e = 0; e < element_count(spec_.sizes); ++e) {
    write_index(spec_.dtype, value(e), element(e));
  }
}

bool operator==(const Slab& a, const Slab& b) { return a.bytes_ == b.bytes_; }

void DeviceCheck::run() const {
  const sheaf::TensorSpec none(sheaf::u8, {0});
  const bool scatters = plan.is_scatter();
  const bool numbers = plan.nest().reduction != sheaf::Reduction::kNone;
  Inputs inputs{Slab(plan.data(), shift), Slab(plan.indices(), shift),
                Slab(scatters ? plan.updates() : none, shift), Slab(plan.output(), shift)};
  inputs.data.write_random(1, numbers);
  inputs.updates.write_random(2, numbers);
  inputs.indices.write_indices(index);
  const bool can_be_in_place = scatters && plan.data() == plan.output();
  // Either way for the first kernel, so that in some check each kernel goes both.
  bool in_place = can_be_in_place && element_count(plan.indices().sizes) % 2 == 1;
  const std::vector<std::string> kernels = gpu().kernels(plan);
  EXPECT_FALSE(kernels.empty()) << "no kernel of the device takes\n" << plan.str();
  for (const std::string& kernel : kernels) {
    const Result expected = inputs.run(plan, host(), "reference", in_place);
    const Result got = inputs.run(plan, gpu(), kernel, in_place);
    EXPECT_EQ(got.refusal, expected.refusal) << kernel << "\n" << plan.str();
    EXPECT_TRUE(got.output == expected.output)
        << kernel << (in_place ? " in place" : "") << " wrote something else, pointers " << shift
        << " bytes off\n"
        << plan.str();
    if (!in_place) {  // checked while rows move: the same refusal, or the same output
      const Result fresh = inputs.run(plan, gpu(), kernel, false, true);
      EXPECT_EQ(fresh.refusal, expected.refusal) << kernel << ", fresh output\n" << plan.str();
      EXPECT_TRUE(!fresh.refusal.empty() || fresh.output == expected.output)
          << kernel << ", fresh output\n"
          << plan.str();
    }
    in_place = can_be_in_place && !in_place;
  }
}

void run_all(const std::vector<DeviceCheck>& checks) {
  for (const DeviceCheck& check : checks) {
    if (!testing::Test::HasFailure()) {
      check.run();
    }
  }
}

std::set<std::string> untried_kernels(const std::vector<std::vector<DeviceCheck>>& checks) {
  std::set<std::string> tried;
  std::set<std::string> untried;
  for (const std::vector<DeviceCheck>& list : checks) {
    for (const DeviceCheck& check : list) {
      for (const sheaf::KernelReport& report :
           sheaf::kernels_for(check.plan, {.device = test_device()})) {
        (report.refusal.empty() ? tried : untried).insert(report.name);
      }
    }
  }
  for (const std::string& name : tried) {
    untried.erase(name);
  }
  return untried;
}

std::function<oracle::Wide(int64_t)> spread(int64_t extent, sheaf::DType index_type) {
  const bool is_signed = index_type.is_signed_integer();
  return [=](int64_t number) {
    const oracle::Wide most = largest(index_type);
    const auto reach = static_cast<int64_t>(std::min<oracle::Wide>(extent, most));
    const auto value = static_cast<int64_t>((static_cast<uint64_t>(number) * 2654435761U + 12345U) %
                                            static_cast<uint64_t>(reach));
    return oracle::Wide{is_signed && number % 3 == 0 ? -1 - value : value};
  };
}
