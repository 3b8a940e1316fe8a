// SPDX-License-Identifier: MIT
//
// Descriptors in one line, and the table of layouts that the tests go by.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sheaf/bnns.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace sheaf::bnns_tests {

inline constexpr BNNSReduceFunction kNone = BNNSReduceFunctionNone;
inline constexpr BNNSReduceFunction kSum = BNNSReduceFunctionSum;

struct Shape {
  BNNSDataLayout layout;
  std::vector<size_t> size;
  std::vector<size_t> stride = {};  // empty: zeros, which mean "without gaps"
};

template <class T>
constexpr BNNSDataType type_of() {
  if constexpr (std::is_same_v<T, float>) {
    return BNNSDataTypeFloat32;
  } else if constexpr (std::is_same_v<T, bool>) {
    return BNNSDataTypeBoolean;
  } else {
    static_assert(std::is_integral_v<T>);
    constexpr uint32_t kind = std::is_signed_v<T> ? BNNSDataTypeIntBit : BNNSDataTypeUIntBit;
    return BNNSDataType{kind | static_cast<uint32_t>(8 * sizeof(T))};
  }
}

inline BNNSNDArrayDescriptor describe(const Shape& shape, BNNSDataType type, void* data) {
  BNNSNDArrayDescriptor descriptor = {};
  descriptor.layout = shape.layout;
  for (size_t i = 0; i < shape.size.size(); ++i) {
    descriptor.size[i] = shape.size[i];
  }
  for (size_t i = 0; i < shape.stride.size(); ++i) {
    descriptor.stride[i] = shape.stride[i];
  }
  descriptor.data = data;
  descriptor.data_type = type;
  return descriptor;
}

template <class T>
BNNSNDArrayDescriptor describe(const Shape& shape, std::vector<T>& values) {
  return describe(shape, type_of<T>(), values.data());
}

// Logical dimension d has extent size[sizes[d]] and stride stride[strides[d]].
struct LayoutFacts {
  BNNSDataLayout layout;
  std::vector<size_t> sizes;
  std::vector<size_t> strides;
};

inline const std::vector<LayoutFacts>& plain_layouts() {
  static const std::vector<LayoutFacts> facts = {
      {BNNSDataLayoutVector, {0}, {0}},
      {BNNSDataLayout1DLastMajor, {0}, {0}},
      {BNNSDataLayout1DFirstMajor, {0}, {0}},
      {BNNSDataLayoutRowMajorMatrix, {1, 0}, {1, 0}},
      {BNNSDataLayoutColumnMajorMatrix, {0, 1}, {0, 1}},
      {BNNSDataLayout2DLastMajor, {0, 1}, {0, 1}},
      {BNNSDataLayout2DFirstMajor, {0, 1}, {1, 0}},
      {BNNSDataLayoutImageCHW, {2, 1, 0}, {2, 1, 0}},
      {BNNSDataLayoutSNE, {2, 1, 0}, {2, 1, 0}},
      {BNNSDataLayoutNSE, {2, 1, 0}, {2, 1, 0}},
      {BNNSDataLayout3DLastMajor, {0, 1, 2}, {0, 1, 2}},
      {BNNSDataLayout3DFirstMajor, {0, 1, 2}, {2, 1, 0}},
      {BNNSDataLayoutConvolutionWeightsOIHW, {3, 2, 1, 0}, {3, 2, 1, 0}},
      {BNNSDataLayout4DLastMajor, {0, 1, 2, 3}, {0, 1, 2, 3}},
      {BNNSDataLayout4DFirstMajor, {0, 1, 2, 3}, {3, 2, 1, 0}},
      {BNNSDataLayout5DLastMajor, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}},
      {BNNSDataLayout5DFirstMajor, {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}},
      {BNNSDataLayout6DLastMajor, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}},
      {BNNSDataLayout6DFirstMajor, {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}},
      {BNNSDataLayout7DLastMajor, {0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6}},
      {BNNSDataLayout7DFirstMajor, {0, 1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1, 0}},
      {BNNSDataLayout8DLastMajor, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}},
      {BNNSDataLayout8DFirstMajor, {0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}},
  };
  return facts;
}

// A tensor of a layout with the given logical sizes; `gap` elements are left out after each row of
// each dimension.
struct Example {
  const LayoutFacts* facts;
  std::vector<size_t> logical;
  Shape shape;
  size_t elements = 1;  // of memory

  Example(const LayoutFacts& layout, std::vector<size_t> logical_sizes, size_t gap = 0)
      : facts(&layout), logical(std::move(logical_sizes)), shape{layout.layout, {}, {}} {
    const size_t rank = logical.size();
    shape.size.resize(rank);
    shape.stride.resize(rank);
    std::vector<size_t> extent(rank);  // by stride
    for (size_t d = 0; d < rank; ++d) {
      shape.size[layout.sizes[d]] = logical[d];
      extent[layout.strides[d]] = logical[d];
    }
    for (size_t k = 0; k < rank; ++k) {
      shape.stride[k] = elements;
      elements = elements * extent[k] + gap;
    }
  }

  size_t offset(const std::vector<size_t>& coordinates) const {
    size_t at = 0;
    for (size_t d = 0; d < logical.size(); ++d) {
      at += coordinates[d] * shape.stride[facts->strides[d]];
    }
    return at;
  }
};

// Every coordinate of a shape, last dimension fastest.
template <class Visit>
void for_each_coordinate(const std::vector<size_t>& sizes, Visit visit) {
  std::vector<size_t> at(sizes.size(), 0);
  const size_t count = std::accumulate(sizes.begin(), sizes.end(), size_t{1}, std::multiplies<>());
  for (size_t i = 0; i < count; ++i) {
    visit(at);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) {
        break;
      }
      at[d] = 0;
    }
  }
}

template <class T>
std::vector<T> iota(size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{0});
  return values;
}

}  // namespace sheaf::bnns_tests
