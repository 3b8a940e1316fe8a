// SPDX-License-Identifier: MIT
//
// Numbers that shaders and their launches share, and limits.
#pragma once

#include <cstdint>

namespace sheaf::vulkan::tuning {

// Invocations of a group: what every Vulkan device has.
inline constexpr int64_t kGroup = 128;

// Pieces that one invocation of gather_words and check has in flight.
inline constexpr int64_t kInFlight = 4;
inline constexpr int64_t kLinesInFlight = 4;  // of gather_lines

// Tuples of one block of the sort, and the bits of a digit.
inline constexpr int64_t kSortBlock = 1024;
inline constexpr int kDigitBits = 4;

// Pieces of one dispatch, and points that are numbered in 32 bits. Tests lower it, so that small
// tensors are cut as large ones are.
inline int64_t most_pieces = int64_t{1} << 30;

// Updates of one cell that an invocation reduces before another dispatch goes on: drivers stop what
// runs for seconds. Tests lower it.
inline int64_t most_in_order = int64_t{1} << 20;

// Mesa's lavapipe leaves all loops of an invocation, and says nothing, once they have gone round
// 65,535 times together. An update takes up to 42 rounds, the scan of a sort one per 4096 tuples.
inline constexpr int64_t kInOrderOfShortLoops = 1024;
inline constexpr int64_t kTuplesOfShortLoops = int64_t{1} << 27;

// An entry of a bag takes up to 600 rounds: every size above 2^32 is divided bit by bit.
inline constexpr int64_t kEntriesOfShortLoops = 64;

// Segments that one dispatch checks: a search for the first entry of a bag takes up to 64 rounds,
// and an invocation does up to 512 of them. Tests lower it.
inline int64_t most_segments = int64_t{1} << 22;

// Sums of floats by the hardware's own where a device promises their rounding. Tests turn it off.
inline bool native_floats = true;

// Marking the last update of each cell takes a word per cell; sorting takes no more than a few
// words per update. Up to this many cells per update, marking is taken.
inline constexpr int64_t kMarkedCellsPerUpdate = 32;
inline constexpr int64_t kFewCells = int64_t{1} << 20;

// Memory that a stream keeps for the arguments of a batch of dispatches, and how many batches may
// wait for the device.
inline constexpr int64_t kArgumentBytes = int64_t{1} << 17;
inline constexpr int64_t kArgumentsOfOneStep = int64_t{1} << 14;
inline constexpr int kBatches = 8;

// Transfers go through a buffer of this size.
inline constexpr int64_t kStagingBytes = int64_t{1} << 22;

}  // namespace sheaf::vulkan::tuning
