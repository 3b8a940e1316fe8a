// SPDX-License-Identifier: MIT
#include "helpers/move_call.h"

#include <algorithm>
#include <cstdio>

#include "calls.h"
#include "helpers/random_problem.h"
#include "plan/byte_ranges.h"
#include "sheaf/error.h"

namespace {

using Bytes = std::vector<std::byte>;

// The memory of some tensors, and where the first element of each is.
struct MoveTensors {
  std::vector<Bytes> memory;
  std::vector<void*> first;

  explicit MoveTensors(const std::vector<sheaf::TensorSpec>& specs) {
    for (const sheaf::TensorSpec& spec : specs) {
      const sheaf::ByteRange range = *sheaf::byte_range(spec);
      memory.emplace_back(static_cast<size_t>(range.hi - range.lo), std::byte{0xEE});
      first.push_back(memory.back().data() - range.lo);
    }
  }
};

}  // namespace

int move_call(Rng& rng) {
  const MoveCall call = random_move([&](int64_t low, int64_t high) { return rng.from(low, high); });
  MoveTensors inputs(call.inputs), got(call.outputs), expected(call.outputs);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const auto step = static_cast<size_t>(call.inputs[i].dtype.bytes());
    Bytes& bytes = inputs.memory[i];
    for (size_t at = 0; at + step <= bytes.size(); at += step) {
      if (call.kind == MoveKind::kReverse || call.kind == MoveKind::kOneHot) {
        bytes[at] = static_cast<std::byte>(rng.from(0, 6));  // lengths and indices near the sizes
      } else {
        write_random_element(rng, call.inputs[i].dtype, true, bytes.data() + at);
      }
    }
  }
  const std::vector<const void*> read(inputs.first.begin(), inputs.first.end());
  try {
    const int64_t found = run_move(call, read, got.first);
    const bool same = move_by_loops(call, read, expected.first) == found;
    make_nans_alike(call, got.first);
    make_nans_alike(call, expected.first);
    if (same && got.memory == expected.memory) {
      return 1;
    }
    std::fprintf(stderr, "soak: move %d differs\n", static_cast<int>(call.kind));
  } catch (const sheaf::Error& error) {
    std::fprintf(stderr, "soak: a sound move was refused: %s\n", error.what());
  }
  return -1;
}
