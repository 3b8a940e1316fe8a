// SPDX-License-Identifier: MIT
//
// The largest or smallest entries along an axis, and where they were.
#include <algorithm>
#include <numeric>
#include <vector>

#include "execution/cancel.h"
#include "moves/convert.h"
#include "moves/moves.h"
#include "plan/byte_ranges.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// NaN is larger than every number, as in NumPy's order.
bool number_less(double a, double b) { return a < b || (b != b && a == a); }

bool wide_less(Wide wide, const WideNumber& a, const WideNumber& b) {
  switch (wide) {
    case Wide::kSigned: return a.signed_integer < b.signed_integer;
    case Wide::kUnsigned: return a.unsigned_integer < b.unsigned_integer;
    case Wide::kDouble: return number_less(a.number, b.number);
  }
  return false;
}

void check_top_k(const char* who, const TensorSpec& from, const TensorSpec& values,
                 const TensorSpec& places, int64_t axis) {
  const std::string given =
      cat("from ", from.str(), "   values ", values.str(), "   indices ", places.str());
  if (axis < 0 || axis >= from.rank()) {
    refuse({who, "axis out of range", cat("axis = ", axis), given,
            cat("an axis from 0 to ", from.rank() - 1)});
  }
  if (!is_number(from.dtype) || values.dtype != from.dtype || !places.dtype.is_integer()) {
    refuse({who, "types do not fit",
            cat("from is ", from.dtype.name(), ", values ", values.dtype.name(), " and indices ",
                places.dtype.name()),
            given, "numbers, values of the same type, and indices of an integer type"});
  }
  Dims expected = from.sizes;
  const int along = static_cast<int>(axis);
  expected[along] = values.rank() == from.rank() ? values.sizes[along] : 0;
  if (values.sizes != expected || places.sizes != expected || expected[along] > from.sizes[along]) {
    refuse({who, "shapes do not fit",
            cat("values is ", bracketed(values.sizes), " and indices ", bracketed(places.sizes)),
            given, "equal shapes: that of from, with no more entries along the axis"});
  }
  const int64_t value_bits = 8 * places.dtype.bytes() - (places.dtype.is_signed_integer() ? 1 : 0);
  if (value_bits < 63 && from.sizes[along] > int64_t{1} << value_bits) {
    refuse({who, "indices are too narrow",
            cat(places.dtype.name(), " does not hold the place ", from.sizes[along] - 1), given,
            "indices of type i32 or i64"});
  }
  for (const TensorSpec* spec : {&values, &places}) {
    if (!byte_range(*spec) || !elements_disjoint(*spec)) {
      refuse({who, "output overlaps itself",
              cat("strides ", bracketed(spec->strides), " place several elements in one spot"),
              given, "strides that keep the elements apart"});
    }
  }
  if (!byte_range(from)) {
    refuse({who, "tensor too large", "its strides reach further than 2^63 - 1 bytes", given,
            "check the strides; they are in elements"});
  }
}

struct Offsets {
  int64_t from = 0, values = 0, places = 0;
};

// Calls body with the bytes at which each sequence along the axis starts.
template <class Body>
void for_sequences(const TensorSpec& from, const TensorSpec& values, const TensorSpec& places,
                   int axis, Body body) {
  Dims counts = from.sizes;
  counts[axis] = 1;
  const int64_t sequences = element_count(counts);
  CancelPoint cancel(current_cancel_scope());
  Dims at(from.rank(), 0);
  for (int64_t s = 0; s < sequences; ++s) {
    Offsets start;
    for (int d = 0; d < from.rank(); ++d) {
      start.from += at[d] * from.strides[d] * from.dtype.bytes();
      start.values += at[d] * values.strides[d] * values.dtype.bytes();
      start.places += at[d] * places.strides[d] * places.dtype.bytes();
    }
    if (cancel.before_rows(from.sizes[axis], 0)) {
      throw_if_cancelled(current_cancel_scope(), "top_k");
    }
    body(start);
    for (int d = from.rank() - 1; d >= 0 && ++at[d] == counts[d]; --d) {
      at[d] = 0;
    }
  }
}

}  // namespace

Work top_k(const char* who, const TensorSpec& from, const TensorSpec& values,
           const TensorSpec& places, int64_t axis, bool largest) {
  check_top_k(who, from, values, places, axis);
  const int along = static_cast<int>(axis);
  return {[=](auto inputs, auto outputs, const Queue&) {
    const auto* read = static_cast<const std::byte*>(inputs[0]);
    auto* values_to = static_cast<std::byte*>(outputs[0]);
    auto* places_to = static_cast<std::byte*>(outputs[1]);
    if ((read == nullptr || values_to == nullptr || places_to == nullptr) &&
        element_count(from.sizes) > 0) {
      refuse(
          {who, "null pointer", "a tensor has no memory", from.str(), "memory for every tensor"});
    }
    const ByteRange source = *byte_range(from);
    if (ranges_meet(read, source, values_to, *byte_range(values)) ||
        ranges_meet(read, source, places_to, *byte_range(places)) ||
        ranges_meet(values_to, *byte_range(values), places_to, *byte_range(places))) {
      refuse({who, "output overlaps", "two of the tensors share memory", from.str(),
              "memory of its own for each"});
    }
    const int64_t size = from.sizes[along], kept = values.sizes[along];
    if (kept == 0) {
      return;
    }
    const Wide wide = wide_of(from.dtype);
    std::vector<WideNumber> numbers(static_cast<size_t>(size));
    std::vector<int64_t> order(static_cast<size_t>(size));
    const auto comes_first = [&](int64_t a, int64_t b) {
      const WideNumber &x = numbers[static_cast<size_t>(a)], &y = numbers[static_cast<size_t>(b)];
      if (wide_less(wide, x, y)) {
        return !largest;
      }
      return wide_less(wide, y, x) ? largest : a < b;
    };
    for_sequences(from, values, places, along, [&](const Offsets& start) {
      load(from.dtype, read + start.from, from.strides[along] * from.dtype.bytes(), size,
           numbers.data());
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                        comes_first);
      for (int64_t i = 0; i < kept; ++i) {
        const int64_t place = order[static_cast<size_t>(i)];
        const WideNumber index{.signed_integer = place};
        store(from.dtype, wide, &numbers[static_cast<size_t>(place)],
              values_to + start.values + i * values.strides[along] * values.dtype.bytes(), 0, 1);
        store(places.dtype, Wide::kSigned, &index,
              places_to + start.places + i * places.strides[along] * places.dtype.bytes(), 0, 1);
      }
    });
  }};
}

}  // namespace sheaf::moves
