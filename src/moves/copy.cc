// SPDX-License-Identifier: MIT
//
// Copies in one piece: broadcasting, constants, tiles and slices.
#include <utility>
#include <vector>

#include "moves/check.h"
#include "moves/moves.h"
#include "moves/pieces.h"
#include "plan/byte_ranges.h"
#include "plan/scalar.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

std::string both(const TensorSpec& from, const TensorSpec& to) {
  return described({{"from", from}, {"to", to}});
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

// Whether start, start + step, … are `count` different entries of a dimension.
bool window_fits(int64_t entries, int64_t count, int64_t start, int64_t step) {
  const auto taken = checked_mul(count - 1, step);
  const auto last = taken ? checked_add(start, *taken) : std::nullopt;
  return step != 0 && start >= 0 && start < entries && last && *last >= 0 && *last < entries;
}

// The elements start, start + step, … of a dimension, as many as the other tensor has.
void check_window(const char* who, const TensorSpec& whole, const TensorSpec& part,
                  const Dims& start, const Dims& steps) {
  for (int d = 0; d < whole.rank(); ++d) {
    if (part.sizes[d] > 0 && !window_fits(whole.sizes[d], part.sizes[d], start[d], steps[d])) {
      refuse({who, "slice outside the tensor",
              cat("dimension ", d, " takes ", part.sizes[d], " entries from ", start[d],
                  " on in steps of ", steps[d], ", but the tensor has ", whole.sizes[d],
                  " entries there"),
              both(whole, part), "a slice inside the tensor"});
    }
  }
}

TensorSpec sliced(const TensorSpec& whole, const TensorSpec& part, const Dims& steps) {
  Dims strides;
  for (int d = 0; d < whole.rank(); ++d) {
    // A step that is never taken may be anything.
    strides.push_back(part.sizes[d] > 1 ? used_stride(whole, d) * steps[d] : 0);
  }
  return {whole.dtype, part.sizes, strides};
}

Work one_piece(const char* who, const TensorSpec& from, const TensorSpec& to, Piece piece) {
  return checked(who, {{"from", from}}, {{"to", to}}, run_pieces({std::move(piece)}));
}

}  // namespace

Work copy(const char* who, const TensorSpec& from, const TensorSpec& to) {
  check_tensors(who, {{"from", from}, {"to", to}});
  check_types(who, from, to);
  const int missing = to.rank() - from.rank();
  if (missing < 0) {
    refuse({who, "shapes do not fit", "from has more dimensions than to", both(from, to),
            "reshape from"});
  }
  TensorSpec repeated(from.dtype, to.sizes, Dims(to.rank(), 0));
  for (int d = 0; d < to.rank(); ++d) {
    const int64_t size = d < missing ? 1 : from.sizes[d - missing];
    if (size != to.sizes[d] && size != 1) {
      refuse({who, "shapes do not fit",
              cat("dimension ", d, " has ", size, " entries in from, but ", to.sizes[d], " in to"),
              both(from, to), "equal sizes, or size 1 in from"});
    }
    repeated.strides[d] = size == to.sizes[d] && d >= missing ? from.strides[d - missing] : 0;
  }
  return one_piece(who, from, to, {copy_plan(who, repeated, to), 0, 0, 0, 0});
}

Work fill(const char* who, const TensorSpec& to, const Scalar& value) {
  check_tensor(who, "to", to);
  std::vector<std::byte> element(static_cast<size_t>(kMaxElementBytes));
  if (const auto reason = encode(value, to.dtype, element.data())) {
    refuse({who, "value does not fit", *reason, cat("to ", to.str()), "a value of that type"});
  }
  element.resize(static_cast<size_t>(to.dtype.bytes()));
  const TensorSpec one(to.dtype, to.sizes, Dims(to.rank(), 0));
  Work work = {[plan = copy_plan(who, one, to), element = std::move(element)](auto, auto outputs,
                                                                              const Queue& queue) {
                 if (queue.device.empty()) {
                   return run_copy(plan, element.data(), outputs[0], queue);
                 }
                 DeviceMemory there(queue.device, element.size());
                 there.upload(element.data(), element.size());
                 run_copy(plan, there.data(), outputs[0], queue);
               },
               true};
  return checked(who, {}, {{"to", to}}, std::move(work));
}

Work tile(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& repeats) {
  check_tensors(who, {{"from", from}, {"to", to}});
  check_types(who, from, to);
  check_ranks(who, from, to, repeats.size(), "repeats");
  // Every dimension becomes two: which copy, and where in it.
  TensorSpec read(from.dtype, {}), written(to.dtype, {});
  for (int d = 0; d < from.rank(); ++d) {
    const auto tiled = checked_mul(from.sizes[d], repeats[d]);
    if (repeats[d] < 1 || tiled != to.sizes[d]) {  // nothing is no size
      refuse(
          {who, "output has the wrong shape",
           cat("dimension ", d, " has ", to.sizes[d], " entries, but ", from.sizes[d], " repeated ",
               repeats[d], " times are ", tiled ? cat(*tiled) : "more than 2^63 - 1"),
           both(from, to), "sizes that are multiplied by the repeats"});
    }
    for (TensorSpec* spec : {&read, &written}) {
      spec->sizes.push_back(repeats[d]);
      spec->sizes.push_back(from.sizes[d]);
    }
    read.strides.push_back(0);
    read.strides.push_back(from.strides[d]);
    // A step that is never taken could overflow.
    written.strides.push_back(repeats[d] > 1 ? used_stride(to, d) * from.sizes[d] : 0);
    written.strides.push_back(to.strides[d]);
  }
  return one_piece(who, from, to, {copy_plan(who, read, written), 0, 0, 0, 0});
}

Work slice(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& start,
           const Dims& steps) {
  check_tensors(who, {{"from", from}, {"to", to}});
  check_types(who, from, to);
  check_ranks(who, from, to, start.size(), "start");
  check_ranks(who, from, to, steps.size(), "steps");
  check_window(who, from, to, start, steps);
  return one_piece(
      who, from, to,
      {copy_plan(who, sliced(from, to, steps), to), 0, 0, byte_offset(from, to, start), 0});
}

Work unslice(const char* who, const TensorSpec& from, const TensorSpec& to, const Dims& start,
             const Dims& steps, const Scalar& value) {
  check_tensors(who, {{"from", from}, {"to", to}});
  check_types(who, from, to);
  check_ranks(who, from, to, start.size(), "start");
  check_ranks(who, from, to, steps.size(), "steps");
  check_window(who, to, from, start, steps);
  Work background = fill(who, to, value);
  Work part = run_pieces(
      {{copy_plan(who, from, sliced(to, from, steps)), 0, 0, 0, byte_offset(to, from, start)}});
  return checked(who, {{"from", from}}, {{"to", to}},
                 in_order(std::move(background), std::move(part)));
}

}  // namespace sheaf::moves
