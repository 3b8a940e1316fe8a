// SPDX-License-Identifier: MIT
//
// Moves that are copies: a copy is a gather_nd whose tuples are empty, so that each point of the
// nest reads where its loops stand.
#include <algorithm>
#include <utility>
#include <vector>

#include "moves/moves.h"
#include "plan/request.h"
#include "plan/scalar.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// One copy: bytes from an input to an output.
struct Piece {
  Plan plan;
  size_t input, output;
  int64_t from_bytes, to_bytes;  // where they start
};

// Runs a copy. It has no indices; the address of the data stands for theirs.
void run_copy(const Plan& plan, const void* from, void* to, const Queue& queue) {
  run_plan(plan, from, from, to, queue);
}

Plan copy_plan(const char* who, const TensorSpec& from, const TensorSpec& to) {
  Request r;
  r.op = Op::kGatherNd;
  r.name = who;
  r.data = from;
  r.indices = TensorSpec(u8, {0});  // none; and any address is aligned for them
  r.output = to;
  r.output_given = true;
  r.rule = {.out_of_range = OutOfRange::kTrust};
  return make_plan(r);
}

Work run_pieces(std::vector<Piece> pieces) {
  const auto run = [pieces = std::move(pieces)](auto inputs, auto outputs, const Queue& queue) {
    for (const Piece& piece : pieces) {
      const auto* from = static_cast<const std::byte*>(inputs[piece.input]) + piece.from_bytes;
      auto* to = static_cast<std::byte*>(outputs[piece.output]) + piece.to_bytes;
      run_copy(piece.plan, from, to, queue);
    }
  };
  return {run, true};
}

// The first, then the second into the same output.
Work in_order(Work first, Work second) {
  const bool only_plans = first.only_plans && second.only_plans;
  return {[first = std::move(first), second = std::move(second)](auto inputs, auto outputs,
                                                                 const Queue& queue) {
            first(inputs, outputs, queue);
            second(inputs, outputs, queue);
          },
          only_plans};
}

// Calls start() with a queue that has the workspace of this plan, and waits.
template <class Start>
void on_queue(const Plan& plan, const Queue& queue, Start start) {
  if (queue.device.empty()) {
    return start(queue);
  }
  const DeviceMemory workspace(queue.device, workspace_bytes(plan, queue));
  Queue own = queue;
  own.workspace = workspace;
  start(own);
  finish(plan, own);
}

int64_t byte_offset(const TensorSpec& spec, const Dims& at) {
  int64_t elements = 0;
  for (int d = 0; d < spec.rank(); ++d) {
    elements += at[d] * spec.strides[d];
  }
  return elements * spec.dtype.bytes();
}

std::string both(const TensorSpec& from, const TensorSpec& to) {
  return cat("from ", from.str(), "   to ", to.str());
}

void check_types(const char* who, const TensorSpec& from, const TensorSpec& to) {
  if (from.dtype != to.dtype) {
    refuse({who, "types differ",
            cat("from is ", from.dtype.name(), ", but to is ", to.dtype.name()), both(from, to),
            "cast, which converts"});
  }
}

void check_ranks(const char* who, const TensorSpec& from, const TensorSpec& to, int count,
                 const char* name) {
  if (from.rank() != to.rank() || count != from.rank()) {
    refuse({who, "ranks differ",
            cat("from has ", from.rank(), " dimensions, to has ", to.rank(), " and ", name, " has ",
                count, " entries"),
            both(from, to), "one entry for each dimension"});
  }
}

// The elements start, start + step, … of a dimension, as many as the other tensor has.
void check_window(const char* who, const TensorSpec& whole, const TensorSpec& part,
                  const Dims& start, const Dims& steps) {
  for (int d = 0; d < whole.rank(); ++d) {
    const int64_t last = start[d] + (part.sizes[d] - 1) * steps[d];
    const bool inside =
        start[d] >= 0 && start[d] < whole.sizes[d] && last >= 0 && last < whole.sizes[d];
    if (part.sizes[d] > 0 && (!inside || steps[d] == 0)) {
      refuse({who, "slice outside the tensor",
              cat("dimension ", d, " goes from ", start[d], " to ", last, " in steps of ", steps[d],
                  ", but the tensor has ", whole.sizes[d], " entries there"),
              both(whole, part), "a slice inside the tensor"});
    }
  }
}

TensorSpec sliced(const TensorSpec& whole, const TensorSpec& part, const Dims& steps) {
  Dims strides;
  for (int d = 0; d < whole.rank(); ++d) {
    strides.push_back(whole.strides[d] * steps[d]);
  }
  return {whole.dtype, part.sizes, strides};
}

}  // namespace

void run_plan(const Plan& plan, const void* data, const void* indices, void* output,
              const Queue& queue) {
  on_queue(plan, queue, [&](const Queue& own) { run(plan, data, indices, output, own); });
}

void run_plan(const Plan& plan, const void* data, const void* indices, const void* updates,
              void* output, const Queue& queue) {
  on_queue(plan, queue, [&](const Queue& own) { run(plan, data, indices, updates, output, own); });
}

void refuse(const Problem& p) {
  throw Error(
      Refusal{.who = p.who, .what = p.what, .detail = p.detail, .given = p.given, .next = p.next});
}

Work copy(const char* who, const TensorSpec& from, const TensorSpec& to) {
  check_types(who, from, to);
  TensorSpec repeated(from.dtype, to.sizes, Dims(to.rank(), 0));
  const int missing = to.rank() - from.rank();
  for (int d = 0; d < to.rank(); ++d) {
    const int64_t size = d < missing ? 1 : from.sizes[d - missing];
    if (size != to.sizes[d] && size != 1) {
      refuse({who, "shapes do not fit",
              cat("dimension ", d, " has ", size, " entries in from, but ", to.sizes[d], " in to"),
              both(from, to), "equal sizes, or size 1 in from"});
    }
    repeated.strides[d] = size == to.sizes[d] && d >= missing ? from.strides[d - missing] : 0;
  }
  if (missing < 0) {
    refuse({who, "shapes do not fit", "from has more dimensions than to", both(from, to),
            "reshape from"});
  }
  return run_pieces({{copy_plan(who, repeated, to), 0, 0, 0, 0}});
}

Work fill(const char* who, const TensorSpec& to, const Scalar& value) {
  std::vector<std::byte> element(static_cast<size_t>(kMaxElementBytes));
  if (const auto reason = encode(value, to.dtype, element.data())) {
    refuse({who, "value does not fit", *reason, cat("to ", to.str()), "a value of that type"});
  }
  element.resize(static_cast<size_t>(to.dtype.bytes()));
  const TensorSpec one(to.dtype, to.sizes, Dims(to.rank(), 0));
  return {[plan = copy_plan(who, one, to), element = std::move(element)](auto, auto outputs,
                                                                         const Queue& queue) {
            if (queue.device.empty()) {
              return run_copy(plan, element.data(), outputs[0], queue);
            }
            DeviceMemory there(queue.device, element.size());
            there.upload(element.data(), element.size());
            run_copy(plan, there.data(), outputs[0], queue);
          },
          true};
}

Work tile(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& repeats) {
  check_types(who, from, to);
  check_ranks(who, from, to, repeats.size(), "repeats");
  // Every dimension becomes two: which copy, and where in it.
  TensorSpec read(from.dtype, {}), written(to.dtype, {});
  for (int d = 0; d < from.rank(); ++d) {
    if (repeats[d] < 1 || to.sizes[d] != from.sizes[d] * repeats[d]) {
      refuse({who, "output has the wrong shape",
              cat("dimension ", d, " has ", to.sizes[d], " entries, but ", from.sizes[d],
                  " repeated ", repeats[d], " times are ", from.sizes[d] * repeats[d]),
              both(from, to), "sizes that are multiplied by the repeats"});
    }
    for (TensorSpec* spec : {&read, &written}) {
      spec->sizes.push_back(repeats[d]);
      spec->sizes.push_back(from.sizes[d]);
    }
    read.strides.push_back(0);
    read.strides.push_back(from.strides[d]);
    written.strides.push_back(to.strides[d] * from.sizes[d]);
    written.strides.push_back(to.strides[d]);
  }
  return run_pieces({{copy_plan(who, read, written), 0, 0, 0, 0}});
}

Work slice(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& start,
           const Dims& steps) {
  check_types(who, from, to);
  check_ranks(who, from, to, start.size(), "start");
  check_ranks(who, from, to, steps.size(), "steps");
  check_window(who, from, to, start, steps);
  return run_pieces(
      {{copy_plan(who, sliced(from, to, steps), to), 0, 0, byte_offset(from, start), 0}});
}

Work unslice(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& start,
             const Dims& steps, const Scalar& value) {
  check_types(who, from, to);
  check_ranks(who, from, to, start.size(), "start");
  check_ranks(who, from, to, steps.size(), "steps");
  check_window(who, to, from, start, steps);
  Work background = fill(who, to, value);
  Work part = run_pieces(
      {{copy_plan(who, from, sliced(to, from, steps)), 0, 0, 0, byte_offset(to, start)}});
  return in_order(std::move(background), std::move(part));
}

namespace {

void check_axis(const char* who, const TensorSpec& whole, int64_t axis) {
  if (axis < 0 || axis >= whole.rank()) {
    refuse({who, "axis out of range",
            cat("axis = ", axis, ", but there are ", whole.rank(), " dimensions"), whole.str(),
            cat("an axis from 0 to ", whole.rank() - 1)});
  }
}

// The parts of `whole` along an axis, one after the other: where each starts, in bytes.
std::vector<int64_t> part_offsets(const char* who, const TensorSpec& whole,
                                  std::span<const TensorSpec> parts, int64_t axis) {
  check_axis(who, whole, axis);
  const int along = static_cast<int>(axis);
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (const TensorSpec& part : parts) {
    check_types(who, part, whole);
    bool fits = part.rank() == whole.rank();
    for (int d = 0; fits && d < whole.rank(); ++d) {
      fits = d == along ? part.sizes[d] <= whole.sizes[d] - at : part.sizes[d] == whole.sizes[d];
    }
    if (!fits) {
      refuse({who, "shapes do not fit",
              cat("part ", offsets.size(), " is ", bracketed(part.sizes),
                  ", which does not fit beside the others into ", bracketed(whole.sizes),
                  " along axis ", axis),
              both(part, whole), "equal sizes off the axis, which add up along it"});
    }
    offsets.push_back(at * whole.strides[along] * whole.dtype.bytes());
    at += part.sizes[along];
  }
  if (at != whole.sizes[along]) {
    refuse({who, "shapes do not fit",
            cat("the parts have ", at, " entries along axis ", axis, ", but the whole has ",
                whole.sizes[along]),
            whole.str(), "parts that add up along the axis"});
  }
  return offsets;
}

// `part` seen inside `whole`.
TensorSpec inside(const TensorSpec& whole, const TensorSpec& part) {
  return {whole.dtype, part.sizes, whole.strides};
}

}  // namespace

Work join(const char* who, std::span<const TensorSpec> from, const TensorSpec& to, int64_t axis) {
  const std::vector<int64_t> offsets = part_offsets(who, to, from, axis);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < from.size(); ++i) {
    pieces.push_back({copy_plan(who, from[i], inside(to, from[i])), i, 0, 0, offsets[i]});
  }
  return run_pieces(std::move(pieces));
}

Work split(const char* who, const TensorSpec& from, std::span<const TensorSpec> to, int64_t axis) {
  const std::vector<int64_t> offsets = part_offsets(who, from, to, axis);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < to.size(); ++i) {
    pieces.push_back({copy_plan(who, inside(from, to[i]), to[i]), 0, i, offsets[i], 0});
  }
  return run_pieces(std::move(pieces));
}

namespace {

// Entries [to, to + count) of a padded dimension, read at from, from + step, …
struct Run {
  int64_t to, count, from, step;
};

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
  const int64_t after = before + size;
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

}  // namespace

Work pad(const char* who, const TensorSpec& from, const TensorSpec& to, PadMode mode,
         const Dims& before, const Scalar& value) {
  check_types(who, from, to);
  check_ranks(who, from, to, before.size(), "before");
  std::vector<std::vector<Run>> runs;
  size_t count = 1;
  for (int d = 0; d < from.rank(); ++d) {
    if (from.sizes[d] < 1 || before[d] < 0 || to.sizes[d] < before[d] + from.sizes[d]) {
      refuse({who, "padding does not fit",
              cat("dimension ", d, " has ", from.sizes[d], " entries after ", before[d],
                  " of padding, but to has ", to.sizes[d]),
              both(from, to), "a tensor that is not empty, and an output that holds it"});
    }
    runs.push_back(runs_of(mode, before[d], to.sizes[d], from.sizes[d]));
    count *= runs.back().size();
    if (count > kMostPieces) {
      refuse({who, "too much padding",
              cat("the padding repeats the tensor in more than ", kMostPieces, " pieces"),
              both(from, to), "less padding, or tile"});
    }
  }
  std::vector<Piece> pieces;
  for (size_t i = 0; i < count; ++i) {  // one copy for each combination of runs
    TensorSpec read(from.dtype, {}), written(to.dtype, {});
    Dims first, target;
    size_t rest = i;
    for (int d = 0; d < from.rank(); ++d) {
      const auto& all = runs[static_cast<size_t>(d)];
      const Run& run = all[rest % all.size()];
      rest /= all.size();
      read.sizes.push_back(run.count);
      read.strides.push_back(from.strides[d] * run.step);
      written.sizes.push_back(run.count);
      written.strides.push_back(to.strides[d]);
      first.push_back(run.from);
      target.push_back(run.to);
    }
    pieces.push_back(
        {copy_plan(who, read, written), 0, 0, byte_offset(from, first), byte_offset(to, target)});
  }
  Work copies = run_pieces(std::move(pieces));
  if (mode != PadMode::kConstant) {
    return copies;
  }
  return in_order(fill(who, to, value), std::move(copies));
}

}  // namespace sheaf::moves
