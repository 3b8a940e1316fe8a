// SPDX-License-Identifier: MIT
//
// Tensors are views: a pointer, a type, sizes, and strides in elements (0 and negative allowed).
// view() makes one from a vector, span or array and checks that it stays inside.
#pragma once

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

#include "sheaf/dtype.h"
#include "sheaf/fixed.h"

#pragma GCC visibility push(default)

namespace sheaf {

// The strides, in elements, of a row-major tensor without gaps.
Dims contiguous_strides(const Dims& sizes);

// The number of elements. Throws when it, or any product on the way, leaves int64.
int64_t element_count(const Dims& sizes);

// A tensor without its memory. A plan is made from these.
struct TensorSpec {
  DType dtype;
  Dims sizes;
  Dims strides;  // in elements

  TensorSpec() = default;
  TensorSpec(DType type, const Dims& dims);
  TensorSpec(DType type, const Dims& dims, const Dims& element_strides)
      : dtype(type), sizes(dims), strides(element_strides) {}

  int rank() const { return sizes.size(); }
  std::string str() const;  // "f32[3, 5]", with strides where they are not the contiguous ones
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

struct ConstTensor {
  const void* data = nullptr;  // the element at index 0 of every dimension
  TensorSpec spec;
};

struct Tensor {
  void* data = nullptr;
  TensorSpec spec;
  operator ConstTensor() const { return {data, spec}; }
};

namespace detail {

template <class T>
using TensorOf = std::conditional_t<std::is_const_v<T>, ConstTensor, Tensor>;

void check_view_count(const TensorSpec& spec, int64_t buffer_elements);
void check_view_bounds(const TensorSpec& spec, int64_t first, int64_t buffer_elements);

template <class C>
concept Buffer = std::ranges::contiguous_range<C> && std::ranges::sized_range<C>;

}  // namespace detail

// All of `buffer`, as one dimension.
template <detail::Buffer C>
auto view(C&& buffer) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<C>>;
  const auto count = static_cast<int64_t>(std::ranges::size(buffer));
  return detail::TensorOf<T>{std::ranges::data(buffer), TensorSpec(dtype_of<T>(), {count})};
}

// All of `buffer`, row-major with the given sizes; their product must be the buffer's length.
template <detail::Buffer C>
auto view(C&& buffer, const Dims& sizes) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<C>>;
  const TensorSpec spec(dtype_of<T>(), sizes);
  detail::check_view_count(spec, static_cast<int64_t>(std::ranges::size(buffer)));
  return detail::TensorOf<T>{std::ranges::data(buffer), spec};
}

// A strided part of `buffer` whose element [0, 0, …] is buffer[first]; refused if it leaves it.
template <detail::Buffer C>
auto view(C&& buffer, const Dims& sizes, const Dims& strides, int64_t first = 0) {
  using T = std::remove_reference_t<std::ranges::range_reference_t<C>>;
  const TensorSpec spec(dtype_of<T>(), sizes, strides);
  detail::check_view_bounds(spec, first, static_cast<int64_t>(std::ranges::size(buffer)));
  return detail::TensorOf<T>{std::ranges::data(buffer) + first, spec};
}

// Memory whose length the caller guarantees. (T* const&, so that an array is not taken for a
// pointer: its length is known.)
template <class T>
auto view(T* const& data, const Dims& sizes) {
  return detail::TensorOf<T>{data, TensorSpec(dtype_of<T>(), sizes)};
}
template <class T>
auto view(T* const& data, const Dims& sizes, const Dims& strides) {
  return detail::TensorOf<T>{data, TensorSpec(dtype_of<T>(), sizes, strides)};
}

// A tensor that owns its memory (contiguous, 64-byte aligned): what the allocating calls return.
class Array {
 public:
  explicit Array(const TensorSpec& spec);  // sizes and type of `spec`; contents uninitialised

  Tensor tensor() { return {memory_.get(), spec_}; }
  ConstTensor tensor() const { return {memory_.get(), spec_}; }
  const TensorSpec& spec() const { return spec_; }
  const Dims& sizes() const { return spec_.sizes; }

  // The elements, row-major. Throws unless T is the element type.
  template <class T>
  std::span<T> elements() {
    check_type(dtype_of<T>());
    return {reinterpret_cast<T*>(memory_.get()), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<const T> elements() const {
    check_type(dtype_of<T>());
    return {reinterpret_cast<const T*>(memory_.get()), static_cast<size_t>(count_)};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  void check_type(DType asked) const;

  TensorSpec spec_;
  int64_t count_;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace sheaf

#pragma GCC visibility pop
