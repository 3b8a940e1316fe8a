// SPDX-License-Identifier: MIT
//
// ONNX's Slice: from lists that may name any number to entries that are there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sheaf/tensor.h"

namespace sheaf::onnx {

// Where a slice begins in each dimension, its steps, and how many entries it has there.
struct SliceWindow {
  Dims start, steps, sizes;
};

// All of a tensor.
SliceWindow whole_window(const Dims& sizes);

// Narrows dimension d to entries start, start + step, … before `end`, clipped as NumPy clips them.
// `step` is not 0.
void narrow_window(SliceWindow& window, int d, int64_t start, int64_t end, int64_t step);

// The lists of a node. Without axes: the first dimensions. Without steps: 1.
struct SliceLists {
  std::span<const int64_t> starts, ends;
  std::optional<std::span<const int64_t>> axes, steps;
};

// Throws BadNode.
SliceWindow slice_window(const Dims& sizes, const SliceLists& lists);

}  // namespace sheaf::onnx
