// SPDX-License-Identifier: MIT
#include "sheaf/move.h"

#include <vector>

#include "moves/moves.h"

namespace sheaf {
namespace {

void run(const moves::Work& work, const ConstTensor& from, const Tensor& to) {
  const void* inputs[] = {from.data};
  void* outputs[] = {to.data};
  work(inputs, outputs);
}

}  // namespace

void copy(const ConstTensor& from, const Tensor& to) {
  run(moves::copy("copy", from.spec, to.spec), from, to);
}

void cast(const ConstTensor& from, const Tensor& to) {
  run(moves::cast("cast", from.spec, to.spec), from, to);
}

void fill(const Tensor& to, const Scalar& value) {
  run(moves::fill("fill", to.spec, value), {}, to);
}

void fill_sequence(const Tensor& to, const Scalar& start, const Scalar& delta) {
  run(moves::sequence("fill_sequence", to.spec, start, delta), {}, to);
}

void tile(const ConstTensor& from, const Tensor& to, const Dims& repeats) {
  run(moves::tile("tile", from.spec, to.spec, repeats), from, to);
}

void join(std::span<const ConstTensor> from, int64_t axis, const Tensor& to) {
  std::vector<TensorSpec> specs;
  std::vector<const void*> inputs;
  for (const ConstTensor& tensor : from) {
    specs.push_back(tensor.spec);
    inputs.push_back(tensor.data);
  }
  void* outputs[] = {to.data};
  moves::join("join", specs, to.spec, axis)(inputs, outputs);
}

void split(const ConstTensor& from, int64_t axis, std::span<const Tensor> to) {
  std::vector<TensorSpec> specs;
  std::vector<void*> outputs;
  for (const Tensor& tensor : to) {
    specs.push_back(tensor.spec);
    outputs.push_back(tensor.data);
  }
  const void* inputs[] = {from.data};
  moves::split("split", from.spec, specs, axis)(inputs, outputs);
}

void slice(const ConstTensor& from, const Tensor& to, const Dims& start, const Dims& steps) {
  run(moves::slice("slice", from.spec, to.spec, start, steps), from, to);
}

void pad(const ConstTensor& from, const Tensor& to, const Dims& before, PadMode mode,
         const Scalar& value) {
  run(moves::pad("pad", from.spec, to.spec, mode, before, value), from, to);
}

void reverse_subsequences(const ConstTensor& from, const ConstTensor& lengths, const Tensor& to,
                          int64_t axis) {
  const void* inputs[] = {from.data, lengths.data};
  void* outputs[] = {to.data};
  moves::reverse_subsequences("reverse_subsequences", from.spec, lengths.spec, to.spec, axis)(
      inputs, outputs);
}

void one_hot(const ConstTensor& indices, const ConstTensor& off_on, const Tensor& to,
             int64_t axis) {
  const void* inputs[] = {indices.data, off_on.data};
  void* outputs[] = {to.data};
  moves::one_hot("one_hot", indices.spec, off_on.spec, to.spec, axis)(inputs, outputs);
}

int64_t nonzero(const ConstTensor& from, const Tensor& coordinates) {
  int64_t count = 0;
  const void* inputs[] = {from.data};
  void* outputs[] = {&count, coordinates.data};
  moves::nonzero("nonzero", from.spec, TensorSpec(i64, {}), coordinates.spec)(inputs, outputs);
  return count;
}

void top_k(const ConstTensor& from, const Tensor& values, const Tensor& indices, int64_t axis,
           bool largest) {
  const void* inputs[] = {from.data};
  void* outputs[] = {values.data, indices.data};
  moves::top_k("top_k", from.spec, values.spec, indices.spec, axis, largest)(inputs, outputs);
}

}  // namespace sheaf
