// SPDX-License-Identifier: MIT
//
// The same elements in another layout: flat, stretched, or as plain bytes.
#include <algorithm>

#include "arrays.h"

namespace sheaf::python {
namespace {

nb::object raw_numpy_array(void* memory, const TensorSpec& spec, const npy_intp* sizes,
                           const npy_intp* byte_strides) {
  nb::object array =
      nb::steal(PyArray_New(&PyArray_Type, spec.rank(), sizes, NPY_VOID, byte_strides, memory,
                            static_cast<int>(spec.dtype.bytes()), NPY_ARRAY_WRITEABLE, nullptr));
  if (!array.is_valid()) {
    throw nb::python_error();
  }
  return array;
}

}  // namespace

void tidy_strides(TensorSpec& spec) {
  int64_t contiguous = 1;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    if (spec.sizes[d] > 1) {
      if (__builtin_mul_overflow(contiguous, spec.sizes[d], &contiguous)) {
        return;  // only around an empty dimension, where no stride matters
      }
    } else {
      spec.strides[d] = contiguous;
    }
  }
}

void stretch(View& view, const Dims& sizes) {
  const TensorSpec& spec = view.tensor.spec;
  const int missing = sizes.size() - spec.rank();
  if (missing < 0) {
    return;
  }
  Dims strides(sizes.size(), 0);
  for (int d = missing; d < sizes.size(); ++d) {
    const int64_t size = spec.sizes[d - missing];
    if (size != sizes[d] && size != 1) {
      return;
    }
    strides[d] = size == 1 ? 0 : spec.strides[d - missing];
  }
  view.tensor.spec = TensorSpec(spec.dtype, sizes, strides);
  tidy_strides(view.tensor.spec);
}

nb::object raw_numpy_view(const Tensor& tensor) {
  const TensorSpec& spec = tensor.spec;
  npy_intp sizes[kMaxRank];
  npy_intp strides[kMaxRank];
  for (int d = 0; d < spec.rank(); ++d) {
    sizes[d] = spec.sizes[d];
    strides[d] = spec.strides[d] * spec.dtype.bytes();
  }
  return raw_numpy_array(tensor.data, spec, sizes, strides);
}

nb::object raw_numpy_view(const View& view) {
  if (!view.is_numpy() || view.copy.is_valid()) {
    return raw_numpy_view(view.tensor);
  }
  npy_intp sizes[kMaxRank];
  npy_intp strides[kMaxRank];
  std::copy(view.as_read.sizes.begin(), view.as_read.sizes.end(), sizes);
  std::copy(view.as_read.strides.begin(), view.as_read.strides.end(), strides);
  return raw_numpy_array(view.tensor.data, view.tensor.spec, sizes, strides);
}

View flattened(const View& view, Lane& lane, std::string_view call) {
  const TensorSpec& spec = view.tensor.spec;
  if (spec.rank() == 1) {
    return view;
  }
  if (view.on_gpu()) {
    View flat;
    view_array(flat, view.object.attr("reshape")(-1), {"reshape", Role::kData, nullptr, &lane});
    return flat;
  }
  View flat = view;
  const int64_t count = element_count(spec.sizes);
  if (spec.strides != contiguous_strides(spec.sizes)) {
    const nb::object raw = raw_numpy_view(view);
    refuse_if_changed(view, call);
    nb::object copy = nb::steal(PyArray_Ravel(as_array(raw.ptr()), NPY_CORDER));
    if (!copy.is_valid()) {
      throw nb::python_error();
    }
    flat.tensor.data = PyArray_DATA(as_array(copy.ptr()));
    flat.copy = std::move(copy);
  }
  flat.tensor.spec = TensorSpec(spec.dtype, {count});
  return flat;
}

}  // namespace sheaf::python
