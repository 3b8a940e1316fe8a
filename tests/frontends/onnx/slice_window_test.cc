// SPDX-License-Identifier: MIT
#include "frontends/onnx/slice_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "frontends/onnx/bad_node.h"

namespace sheaf::onnx {
namespace {

// Python's slice of a list, entry by entry: negative numbers count from the end once, then both
// ends are clipped.
std::vector<int64_t> python_slice(int64_t size, int64_t start, int64_t end, int64_t step) {
  const auto clipped = [&](int64_t at) {
    if (at < 0) {
      at = at < -size ? -1 : at + size;
      return at < 0 ? (step > 0 ? 0 : -1) : at;
    }
    return at >= size ? (step > 0 ? size : size - 1) : at;
  };
  std::vector<int64_t> entries;
  const int64_t stop = clipped(end);
  for (int64_t at = clipped(start); step > 0 ? at < stop : at > stop;) {
    entries.push_back(at);
    if (step > size || step < -size) {
      break;
    }
    at += step;
  }
  return entries;
}

TEST(SliceWindow, IsPythonsSlice) {
  const int64_t ends[] = {INT64_MIN, -7, -4, -3, -1, 0, 1, 3, 4, 9, INT64_MAX};
  for (const int64_t size : {0, 1, 4}) {
    for (const int64_t start : ends) {
      for (const int64_t end : ends) {
        for (const int64_t step :
             {INT64_MIN, int64_t{-3}, int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MAX}) {
          const SliceWindow window = slice_window(
              {size}, {{&start, 1}, {&end, 1}, std::nullopt, std::span<const int64_t>(&step, 1)});
          std::vector<int64_t> entries;
          for (int64_t i = 0; i < window.sizes[0]; ++i) {
            entries.push_back(window.start[0] + i * window.steps[0]);
          }
          EXPECT_EQ(entries, python_slice(size, start, end, step))
              << size << ": " << start << " " << end << " " << step;
        }
      }
    }
  }
}

TEST(SliceWindow, LeavesTheOtherDimensions) {
  const std::vector<int64_t> starts = {1}, ends = {3}, axes = {-2};
  const SliceWindow window = slice_window({5, 6, 7}, {starts, ends, axes, std::nullopt});
  EXPECT_EQ(window.sizes, Dims({5, 2, 7}));
  EXPECT_EQ(window.start, Dims({0, 1, 0}));
  EXPECT_EQ(window.steps, Dims({1, 1, 1}));
}

std::string window_refusal(const std::vector<int64_t>& starts, const std::vector<int64_t>& axes,
                           const std::vector<int64_t>& steps) {
  try {
    slice_window({5, 6}, {starts, starts, axes, steps});
    return "";
  } catch (const BadNode& bad) {
    return std::string(bad.what()) + " / " + bad.next();
  }
}

TEST(SliceWindow, RefusesListsThatDoNotFit) {
  EXPECT_EQ(window_refusal({1}, {0, 1}, {1}),
            "its starts, ends, axes and steps differ in length / equal lengths");
  EXPECT_EQ(window_refusal({1}, {2}, {1}), "axis 2 of a tensor of rank 2 / an axis from -2 to 1");
  EXPECT_EQ(window_refusal({1}, {1}, {0}),
            "axis 1 has a step of 0, or is named twice / distinct axes and steps that are not 0");
  EXPECT_EQ(window_refusal({0, 0}, {1, -1}, {1, 1}),
            "axis -1 has a step of 0, or is named twice / distinct axes and steps that are not 0");
}

}  // namespace
}  // namespace sheaf::onnx
