// SPDX-License-Identifier: MIT
//
// The neighbours of gathers and scatters: copies along fixed paths, and conversions. Shapes and
// strides are those of the tensors; `to` is always given, is written in full, and may not overlap
// an input or another output; only cast() may work in place. Null is fine for a tensor without
// elements. All throw Error with the output untouched.
#pragma once

#include <cstdint>
#include <span>

#include "sheaf/index_rule.h"
#include "sheaf/tensor.h"

namespace sheaf {

// to = from, whose dimensions of size 1 are repeated (NumPy's broadcasting). Strides say how either
// is laid out: a copy between a row-major and a column-major tensor is a transposition.
void copy(const ConstTensor& from, const Tensor& to);

// to = from, converted to the type of `to`, of the same shape. Floats become integers by dropping
// the fraction; what is outside the range becomes its nearest end, and NaN becomes 0. Integers that
// do not fit keep their low bits. Floats are rounded to the nearest, ties to even. A bool is 0
// or 1.
void cast(const ConstTensor& from, const Tensor& to);

// Every element becomes `value`, which must be one of the type.
void fill(const Tensor& to, const Scalar& value);

// start, start + delta, start + 2 * delta, … in row-major order. Integers wrap around; floats are
// computed as start + i * delta in double and rounded once.
void fill_sequence(const Tensor& to, const Scalar& start, const Scalar& delta);

// to[i] = from[i mod size] in every dimension: `from`, repeats[d] times along dimension d.
void tile(const ConstTensor& from, const Tensor& to, const Dims& repeats);

// The tensors of `from` one after the other along `axis`; and the reverse.
void join(std::span<const ConstTensor> from, int64_t axis, const Tensor& to);
void split(const ConstTensor& from, int64_t axis, std::span<const Tensor> to);

// to[i] = from[start + i * step] in every dimension; steps may be negative.
void slice(const ConstTensor& from, const Tensor& to, const Dims& start, const Dims& steps);

enum class PadMode : uint8_t {
  kConstant,   // `value`
  kEdge,       // the nearest element
  kReflect,    // mirrored at the first and last element, which are not repeated
  kSymmetric,  // mirrored, and they are
  kWrap,       // the tensor again
};

// `from` with before[d] entries in front along dimension d; the rest of `to` comes behind it.
void pad(const ConstTensor& from, const Tensor& to, const Dims& before, PadMode mode,
         const Scalar& value = {});

// The first lengths[…] entries along `axis` in reverse order, and the others as they are. `lengths`
// is an integer tensor of from's shape with size 1 at the axis; a length below 0 counts as 0, one
// above the size as the size.
void reverse_subsequences(const ConstTensor& from, const ConstTensor& lengths, const Tensor& to,
                          int64_t axis);

// Along `axis`, the element that the index names becomes off_on[1] and all others off_on[0]. A
// negative index counts from the end; one that is out of range names none. `indices` has to's shape
// with size 1 at the axis, `off_on` has two elements.
void one_hot(const ConstTensor& indices, const ConstTensor& off_on, const Tensor& to, int64_t axis);

// The coordinates of the elements that are not zero (NaN is not), in row-major order: row i of
// `coordinates`, an integer tensor [element count of from, rank of from] whose type holds every
// coordinate. Returns how many; later rows are untouched.
int64_t nonzero(const ConstTensor& from, const Tensor& coordinates);

// The first entries along `axis` in order of value, as many as `values` has there, and the places
// in `from` where they were. Equal values keep the order of their places; NaN counts as larger than
// every number. `indices` is an integer tensor of the shape of `values`.
void top_k(const ConstTensor& from, const Tensor& values, const Tensor& indices, int64_t axis,
           bool largest = true);

}  // namespace sheaf
