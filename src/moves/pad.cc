// SPDX-License-Identifier: MIT
//
// Padding: along each dimension, runs that are read forwards, backwards or over and over; one copy
// for each combination of runs.
#include <algorithm>
#include <utility>
#include <vector>

#include "moves/check.h"
#include "moves/moves.h"
#include "moves/pieces.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// Entries [to, to + count) of a padded dimension, read at from, from + step, …
struct Run {
  int64_t to, count, from, step;
};

// Sizes up to this have a period, there and back, that can be computed with.
constexpr int64_t kMostMirrored = int64_t{1} << 61;

// The run that starts at entry `at` of a dimension that is repeated for ever in both directions, in
// the way of `mode`; the tensor itself has [0, size).
Run repeated_run(PadMode mode, int64_t at, int64_t size) {
  if (size == 1) {
    return {0, INT64_MAX, 0, 0};
  }
  // A mirror image joins the tensor: there and back is one period.
  const int64_t period = mode == PadMode::kWrap        ? size
                         : mode == PadMode::kSymmetric ? 2 * size
                                                       : 2 * (size - 1);
  const int64_t place = (at % period + period) % period;
  const int64_t turn = mode == PadMode::kReflect ? size - 1 : size;  // the way back starts there
  if (place < turn) {
    return {0, turn - place, place, 1};
  }
  const int64_t back = mode == PadMode::kReflect ? period - place : period - 1 - place;
  return {0, period - place, back, -1};
}

// More copies than this would be no way to pad.
constexpr size_t kMostPieces = 100000;

// A padded dimension as runs: `before` entries, the tensor, and padding up to `padded`. Stops after
// kMostPieces.
std::vector<Run> runs_of(PadMode mode, int64_t before, int64_t padded, int64_t size) {
  const int64_t after = before + size;  // at most `padded`
  std::vector<Run> runs;
  if (mode == PadMode::kConstant || mode == PadMode::kEdge) {
    runs.push_back({before, size, 0, 1});
    if (mode == PadMode::kEdge && before > 0) {
      runs.push_back({0, before, 0, 0});
    }
    if (mode == PadMode::kEdge && padded > after) {
      runs.push_back({after, padded - after, size - 1, 0});
    }
    return runs;
  }
  for (int64_t to = 0; to < padded && runs.size() <= kMostPieces;) {
    Run run = repeated_run(mode, to - before, size);
    run.to = to;
    run.count = std::min(run.count, padded - to);
    runs.push_back(run);
    to += run.count;
  }
  return runs;
}

void check_padding(const char* who, const TensorSpec& from, const TensorSpec& to, PadMode mode,
                   const Dims& before) {
  const std::string given = described({{"from", from}, {"to", to}});
  if (mode > PadMode::kWrap) {
    refuse({who, "unknown mode",
            cat("mode = ", static_cast<int>(mode), ", but 0..4 have a meaning"), given,
            "one of the named modes"});
  }
  if (from.rank() != to.rank() || before.size() != from.rank()) {
    refuse({who, "ranks differ",
            cat("from has ", from.rank(), " dimensions, to has ", to.rank(), " and before has ",
                before.size(), " entries"),
            given, "one entry for each dimension"});
  }
  for (int d = 0; d < from.rank(); ++d) {
    // A difference of numbers that are not negative, where a sum could overflow.
    if (from.sizes[d] < 1 || before[d] < 0 || to.sizes[d] - before[d] < from.sizes[d]) {
      refuse({who, "padding does not fit",
              cat("dimension ", d, " has ", from.sizes[d], " entries after ", before[d],
                  " of padding, but to has ", to.sizes[d]),
              given, "a tensor that is not empty, and an output that holds it"});
    }
    if (from.sizes[d] > kMostMirrored) {
      refuse({who, "tensor too large",
              cat("dimension ", d, " has ", from.sizes[d], " entries, but at most ", kMostMirrored,
                  " can be mirrored"),
              given, "check how the shape was computed"});
    }
  }
}

// The copy of one combination of runs, one for each dimension.
Piece piece_of(const char* who, const TensorSpec& from, const TensorSpec& to,
               const std::vector<std::vector<Run>>& runs, size_t combination) {
  TensorSpec read(from.dtype, {}), written(to.dtype, {});
  Dims first, target;
  for (int d = 0; d < from.rank(); ++d) {
    const auto& all = runs[static_cast<size_t>(d)];
    const Run& run = all[combination % all.size()];
    combination /= all.size();
    read.sizes.push_back(run.count);
    read.strides.push_back(from.strides[d] * run.step);
    written.sizes.push_back(run.count);
    written.strides.push_back(to.strides[d]);
    first.push_back(run.from);
    target.push_back(run.to);
  }
  return {copy_plan(who, read, written), 0, 0, byte_offset(from, read, first),
          byte_offset(to, written, target)};
}

}  // namespace

Work pad(const char* who, const TensorSpec& from, const TensorSpec& to, PadMode mode,
         const Dims& before, const Scalar& value) {
  check_tensors(who, {{"from", from}, {"to", to}});
  check_types(who, from, to);
  check_written(who, to);
  check_padding(who, from, to, mode, before);
  std::vector<std::vector<Run>> runs;
  size_t count = 1;
  for (int d = 0; d < from.rank(); ++d) {
    runs.push_back(runs_of(mode, before[d], to.sizes[d], from.sizes[d]));
    count *= runs.back().size();
    if (count > kMostPieces) {
      refuse({who, "too much padding",
              cat("the padding repeats the tensor in more than ", kMostPieces, " pieces"),
              described({{"from", from}, {"to", to}}), "less padding, or tile"});
    }
  }
  std::vector<Piece> pieces;
  for (size_t i = 0; i < count; ++i) {
    pieces.push_back(piece_of(who, from, to, runs, i));
  }
  Work work = run_pieces(std::move(pieces));
  if (mode == PadMode::kConstant) {
    work = in_order(fill(who, to, value), std::move(work));
  }
  return checked(who, {{"from", from}}, {{"to", to}}, std::move(work));
}

}  // namespace sheaf::moves
