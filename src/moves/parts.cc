// SPDX-License-Identifier: MIT
//
// Tensors one after the other along an axis: join and split.
#include <utility>
#include <vector>

#include "moves/check.h"
#include "moves/moves.h"
#include "moves/pieces.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// The parts of `whole` along an axis, one after the other: where each starts, in bytes.
std::vector<int64_t> part_offsets(const char* who, const TensorSpec& whole,
                                  std::span<const TensorSpec> parts, int64_t axis) {
  check_axis(who, whole, axis);
  const int along = static_cast<int>(axis);
  std::vector<int64_t> offsets;
  Dims start(whole.rank(), 0);
  for (const TensorSpec& part : parts) {
    check_types(who, part, whole);
    bool fits = part.rank() == whole.rank();
    for (int d = 0; fits && d < whole.rank(); ++d) {
      fits =
          d == along ? part.sizes[d] <= whole.sizes[d] - start[d] : part.sizes[d] == whole.sizes[d];
    }
    if (!fits) {
      refuse({who, "shapes do not fit",
              cat("part ", offsets.size(), " is ", bracketed(part.sizes),
                  ", which does not fit beside the others into ", bracketed(whole.sizes),
                  " along axis ", axis),
              described({{"part", part}, {"whole", whole}}),
              "equal sizes off the axis, which add up along it"});
    }
    offsets.push_back(byte_offset(whole, part, start));
    start[along] += part.sizes[along];
  }
  if (start[along] != whole.sizes[along]) {
    refuse({who, "shapes do not fit",
            cat("the parts have ", start[along], " entries along axis ", axis,
                ", but the whole has ", whole.sizes[along]),
            whole.str(), "parts that add up along the axis"});
  }
  return offsets;
}

// `part` seen inside `whole`.
TensorSpec inside(const TensorSpec& whole, const TensorSpec& part) {
  return {whole.dtype, part.sizes, whole.strides};
}

std::vector<Named> named(const char* name, std::span<const TensorSpec> parts) {
  std::vector<Named> all;
  for (const TensorSpec& part : parts) {
    all.push_back({name, part});
  }
  return all;
}

void check_all(const char* who, const char* whole_name, const TensorSpec& whole,
               const char* part_name, std::span<const TensorSpec> parts) {
  check_tensor(who, whole_name, whole);
  for (const TensorSpec& part : parts) {
    check_tensor(who, part_name, part);
  }
}

}  // namespace

Work join(const char* who, std::span<const TensorSpec> from, const TensorSpec& to, int64_t axis) {
  check_all(who, "to", to, "from", from);
  check_written(who, to);  // all of it: a plan sees its own part only
  const std::vector<int64_t> offsets = part_offsets(who, to, from, axis);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < from.size(); ++i) {
    pieces.push_back({copy_plan(who, from[i], inside(to, from[i])), i, 0, 0, offsets[i]});
  }
  return checked(who, named("from", from), {{"to", to}}, run_pieces(std::move(pieces)));
}

Work split(const char* who, const TensorSpec& from, std::span<const TensorSpec> to, int64_t axis) {
  check_all(who, "from", from, "to", to);
  const std::vector<int64_t> offsets = part_offsets(who, from, to, axis);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < to.size(); ++i) {
    pieces.push_back({copy_plan(who, inside(from, to[i]), to[i]), 0, i, offsets[i], 0});
  }
  return checked(who, {{"from", from}}, named("to", to), run_pieces(std::move(pieces)));
}

}  // namespace sheaf::moves
