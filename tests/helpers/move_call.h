// SPDX-License-Identifier: MIT
//
// Calls of the moves in sheaf/move.h as data: made at random, and run by the library or by plain
// loops over coordinates.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sheaf/move.h"

enum class MoveKind : uint8_t {
  kCopy,
  kCast,
  kFill,
  kSequence,
  kTile,
  kJoin,
  kSplit,
  kSlice,
  kPad,
  kReverse,
  kOneHot,
  kNonzero,
  kTopK,
};
inline constexpr int64_t kMoveKinds = 13;

struct MoveCall {
  MoveKind kind = MoveKind::kCopy;
  std::vector<sheaf::TensorSpec> inputs, outputs;
  sheaf::Dims at;     // repeats, start or before
  sheaf::Dims steps;  // of a slice
  int64_t axis = 0;
  sheaf::PadMode mode = sheaf::PadMode::kConstant;
  int64_t value = 0, delta = 0;
  bool largest = true;
};

// A number from [low, high].
using ChooseNumber = std::function<int64_t(int64_t low, int64_t high)>;

// A call that is sound: small tensors of any layout that the move allows.
MoveCall random_move(const ChooseNumber& choose);

// Both return what nonzero() returns, and 0 for other moves. The library's may throw.
int64_t run_move(const MoveCall& call, std::span<const void* const> inputs,
                 std::span<void* const> outputs);
int64_t move_by_loops(const MoveCall& call, std::span<const void* const> inputs,
                      std::span<void* const> outputs);

// A conversion may give a NaN any sign and payload. Makes all of them alike in the outputs of moves
// that convert, so that bytes can be compared.
void make_nans_alike(const MoveCall& call, std::span<void* const> outputs);
