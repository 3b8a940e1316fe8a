// SPDX-License-Identifier: MIT
//
// A move with some of its numbers replaced by hostile ones, between guard pages: it does what plain
// loops over the coordinates do, or it is refused and nothing is written.
#include <algorithm>
#include <cstring>
#include <vector>

#include "helpers/move_call.h"
#include "input.h"
#include "plan/byte_ranges.h"
#include "sheaf/error.h"

namespace {

using sheaf::Dims;
using sheaf::TensorSpec;

// One number in twenty; half of those are any number.
void damage(fuzz::Input& input, int64_t& number) {
  if (input.one_in(20)) {
    number = input.number(-3, 9);
  }
}

void damage(fuzz::Input& input, Dims& numbers) {
  for (int64_t& number : numbers) {
    damage(input, number);
  }
  if (input.one_in(60) && !numbers.empty()) {
    numbers.pop_back();
  } else if (input.one_in(60)) {
    numbers.push_back(input.number(0, 3));
  }
}

MoveCall hostile_move(fuzz::Input& input) {
  MoveCall call =
      random_move([&](int64_t low, int64_t high) { return low + input.below(high - low + 1); });
  if (input.one_in(3)) {
    return call;  // sound
  }
  for (auto* specs : {&call.inputs, &call.outputs}) {
    for (TensorSpec& spec : *specs) {
      damage(input, spec.sizes);
      damage(input, spec.strides);
      if (input.one_in(40)) {
        spec.dtype = input.one_in(2) ? sheaf::i8 : sheaf::opaque(5);
      }
    }
  }
  damage(input, call.at);
  damage(input, call.steps);
  damage(input, call.axis);
  if (input.one_in(20)) {
    call.mode = input.enumerator<sheaf::PadMode>(4);
  }
  return call;
}

constexpr int kMostTensors = 6;  // of one call
constexpr int64_t kMostElements = 4096;

bool is_described(const TensorSpec& spec) {
  return spec.strides.size() == spec.sizes.size() &&
         std::all_of(spec.sizes.begin(), spec.sizes.end(), [](int64_t size) { return size >= 0; });
}

// Where the tensor lies in memory of its own, right before or behind a page that may not be
// touched. Null if it is larger than that memory: such a call has to be refused. A tensor that
// describes no memory gets some all the same.
struct Memory {
  std::span<std::byte> bytes;
  std::byte* origin = nullptr;
};

Memory memory_of(int which, const TensorSpec& spec, Flush flush) {
  static const GuardedMemory memory[kMostTensors] = {
      GuardedMemory(fuzz::kMostBytes), GuardedMemory(fuzz::kMostBytes),
      GuardedMemory(fuzz::kMostBytes), GuardedMemory(fuzz::kMostBytes),
      GuardedMemory(fuzz::kMostBytes), GuardedMemory(fuzz::kMostBytes)};
  const auto range = is_described(spec) ? sheaf::byte_range(spec) : std::nullopt;
  if (!range) {
    const auto bytes = memory[which].part(16, flush);
    return {bytes, bytes.data()};
  }
  __int128 elements = 1;
  for (const int64_t size : spec.sizes) {
    elements = std::min<__int128>(elements * size, kMostElements + 1);
  }
  if (range->hi - range->lo > fuzz::kMostBytes || elements > kMostElements) {
    return {};
  }
  const auto bytes = memory[which].part(static_cast<size_t>(range->hi - range->lo), flush);
  return {bytes, bytes.data() - range->lo};
}

using Snapshot = std::vector<std::vector<std::byte>>;

Snapshot snapshot(const std::vector<Memory>& memory) {
  Snapshot all;
  for (const Memory& one : memory) {
    all.emplace_back(one.bytes.begin(), one.bytes.end());
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::Input input(bytes, count);
  const MoveCall call = hostile_move(input);
  if (call.inputs.size() + call.outputs.size() > kMostTensors) {
    return 0;
  }
  std::vector<Memory> in, out;
  std::vector<const void*> read;
  std::vector<void*> written;
  const Flush flush = input.one_in(2) ? Flush::kFront : Flush::kBack;
  int which = 0;
  for (const TensorSpec& spec : call.inputs) {
    in.push_back(memory_of(which++, spec, flush));
    input.fill(in.back().bytes);
    read.push_back(in.back().origin);
  }
  for (const TensorSpec& spec : call.outputs) {
    out.push_back(memory_of(which++, spec, flush));
    std::fill(out.back().bytes.begin(), out.back().bytes.end(), std::byte{0xEE});
    written.push_back(out.back().origin);
  }
  const Snapshot before = snapshot(out);
  int64_t found = 0;
  try {
    found = run_move(call, read, written);
  } catch (const sheaf::Error& error) {
    fuzz::require(std::strstr(error.what(), "\n  try: ") != nullptr, "a refusal says what to try");
    fuzz::require(snapshot(out) == before, "a refused move has written");
    return 0;
  }
  make_nans_alike(call, written);
  const Snapshot after = snapshot(out);
  for (const Memory& one : out) {
    std::fill(one.bytes.begin(), one.bytes.end(), std::byte{0xEE});
  }
  fuzz::require(move_by_loops(call, read, written) == found, "another number of elements");
  make_nans_alike(call, written);
  fuzz::require(snapshot(out) == after, "another result");
  return 0;
}
