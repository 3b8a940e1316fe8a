// SPDX-License-Identifier: MIT
//
// The moves of sheaf/move.h.
#include <array>

#include "faults/each_allocation.h"
#include "sheaf/sheaf.h"

namespace sheaf::faults {
namespace {

const std::vector<float> kFrom = {5, 1, 4, 0, 2, 3};
const std::vector<int64_t> kIndices = {1, 0};
const std::vector<int64_t> kLengths = {2, 3};
const std::vector<float> kOffOn = {0, 1};

ConstTensor source() { return view(kFrom, {2, 3}); }
Tensor target(Output& output, const Dims& sizes) { return {output, {f32, sizes}}; }

TEST(OutOfMemoryEverywhere, Moves) {
  fail_each_allocation("copy", [](Output& o) { copy(source(), target(o, {2, 3})); });
  fail_each_allocation("cast", [](Output& o) { cast(source(), {o, {i32, {2, 3}}}); });
  fail_each_allocation("fill", [](Output& o) { fill(target(o, {2, 3}), 7); });
  fail_each_allocation("fill_sequence", [](Output& o) {
    fill_sequence(target(o, {2, 3}), 1.0, 2.0);
  });
  fail_each_allocation("tile", [](Output& o) { tile(source(), target(o, {4, 6}), {2, 2}); });
  fail_each_allocation("join", [](Output& o) {
    const std::array<ConstTensor, 2> both = {source(), source()};
    join(both, 0, target(o, {4, 3}));
  });
  fail_each_allocation("split", [](Output& o) {
    const std::array<Tensor, 2> parts = {target(o, {1, 3}), Tensor{o + 3, {f32, {1, 3}}}};
    split(source(), 0, parts);
  });
  fail_each_allocation("slice", [](Output& o) {
    slice(source(), target(o, {2, 2}), {0, 2}, {1, -2});
  });
  for (const PadMode mode : {PadMode::kConstant, PadMode::kEdge, PadMode::kReflect,
                             PadMode::kSymmetric, PadMode::kWrap}) {
    fail_each_allocation("pad", [&](Output& o) {
      pad(source(), target(o, {4, 6}), {1, 2}, mode, 9);
    });
  }
  fail_each_allocation("reverse_subsequences", [](Output& o) {
    reverse_subsequences(source(), view(kLengths, {2, 1}), target(o, {2, 3}), 1);
  });
  fail_each_allocation("one_hot", [](Output& o) {
    one_hot(view(kIndices, {2, 1}), view(kOffOn), target(o, {2, 3}), 1);
  });
  fail_each_allocation("nonzero", [](Output& o) { nonzero(source(), {o, {i32, {6, 2}}}); });
  fail_each_allocation("top_k", [](Output& o) {
    top_k(source(), target(o, {2, 2}), {o + 8, {i32, {2, 2}}}, 1);
  });
}

}  // namespace
}  // namespace sheaf::faults
