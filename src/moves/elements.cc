// SPDX-License-Identifier: MIT
//
// Moves that look at values: conversions, sequences, one-hot rows, reversed sequences and the
// coordinates of what is not zero.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "execution/cancel.h"
#include "moves/convert.h"
#include "moves/moves.h"
#include "plan/byte_ranges.h"
#include "plan/request.h"
#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// Asks the caller now and then whether to go on, and throws kCancelled if not.
class Asking {
 public:
  explicit Asking(const char* who) : who_(who), cancel_(current_cancel_scope()) {}

  // Before `elements` more of them.
  void before(int64_t elements) {
    if (cancel_.before(elements * kElementCost)) {
      throw_if_cancelled(current_cancel_scope(), who_);
    }
  }
  // Before element i of a long row, of which every 2^16th is enough.
  void at(int64_t i) {
    if (i % kStep == 0) {
      before(kStep);
    }
  }

 private:
  static constexpr int64_t kElementCost =
      16;  // of a load, a conversion and a store, in bytes copied
  static constexpr int64_t kStep = 1 << 16;
  const char* who_;
  CancelPoint cancel_;
};

// Calls row(offset of a, offset of b, count) for each row of the last dimension, in row-major
// order. Offsets are in bytes; b may be a tensor of the same shape, or a itself.
template <class Row>
void for_rows(const TensorSpec& a, const TensorSpec& b, Row row) {
  const int last = a.rank() - 1;
  const int64_t count = last < 0 ? 1 : a.sizes[last];
  for (const int64_t size : a.sizes) {
    if (size == 0) {
      return;
    }
  }
  Dims at(std::max(last, 0), 0);
  int64_t offset_a = 0, offset_b = 0;
  while (true) {
    row(offset_a * a.dtype.bytes(), offset_b * b.dtype.bytes(), count);
    int d = last - 1;
    for (; d >= 0; --d) {
      offset_a += a.strides[d];
      offset_b += b.strides[d];
      if (++at[d] < a.sizes[d]) {
        break;
      }
      offset_a -= a.strides[d] * a.sizes[d];
      offset_b -= b.strides[d] * b.sizes[d];
      at[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

int64_t last_step(const TensorSpec& spec) {
  return spec.rank() == 0 ? 0 : spec.strides.back() * spec.dtype.bytes();
}

void check_numbers(const char* who, const TensorSpec& spec) {
  if (!is_number(spec.dtype)) {
    refuse({who, "not a number", cat(spec.dtype.name(), " has no value to convert"), spec.str(),
            "an integer, a float or a bool"});
  }
}

void check_written(const char* who, const TensorSpec& to) {
  if (!byte_range(to) || !elements_disjoint(to)) {
    refuse({who, "output overlaps itself",
            cat("strides ", bracketed(to.strides), " place several elements in one spot"), to.str(),
            "an output whose strides keep its elements apart"});
  }
}

void check_same_sizes(const char* who, const TensorSpec& from, const TensorSpec& to) {
  if (from.sizes != to.sizes) {
    refuse({who, "shapes differ",
            cat("from is ", bracketed(from.sizes), ", but to is ", bracketed(to.sizes)),
            cat("from ", from.str(), "   to ", to.str()), "equal shapes"});
  }
}

// Memory that is read while other memory is written must be apart from it.
void check_apart(const char* who, const void* from, const TensorSpec& from_spec, const void* to,
                 const TensorSpec& to_spec) {
  const auto read = byte_range(from_spec), written = byte_range(to_spec);
  if (from == nullptr || to == nullptr) {
    refuse({who, "null pointer", "a tensor has no memory",
            cat("from ", from_spec.str(), "   to ", to_spec.str()), "memory for every tensor"});
  }
  if (ranges_meet(from, *read, to, *written)) {
    refuse({who, "output overlaps an input", "the two share memory",
            cat("from ", from_spec.str(), "   to ", to_spec.str()), "memory of its own"});
  }
}

// Loads, changes and stores `from` block by block. change(numbers, count) returns which of the
// three kinds they are then.
template <class Change>
Work convert(const char* who, const TensorSpec& from, const TensorSpec& to, Change change) {
  check_numbers(who, from);
  check_numbers(who, to);
  check_same_sizes(who, from, to);
  check_written(who, to);
  if (!byte_range(from)) {
    refuse({who, "tensor too large", "its strides reach further than 2^63 - 1 bytes", from.str(),
            "check the strides; they are in elements"});
  }
  return {[=](auto inputs, auto outputs, const Queue&) {
    // In place is safe where both walk through the same addresses.
    const bool in_place = inputs[0] == outputs[0] && from == to;
    if (!in_place) {
      check_apart(who, inputs[0], from, outputs[0], to);
    }
    const auto* read = static_cast<const std::byte*>(inputs[0]);
    auto* written = static_cast<std::byte*>(outputs[0]);
    Asking asking(who);
    for_rows(from, to, [&](int64_t from_at, int64_t to_at, int64_t count) {
      WideNumber numbers[kBlock];
      for (int64_t i = 0; i < count; i += kBlock) {
        const int64_t block = std::min(kBlock, count - i);
        asking.before(block);
        load(from.dtype, read + from_at + i * last_step(from), last_step(from), block, numbers);
        const Wide wide = change(wide_of(from.dtype), numbers, block);
        store(to.dtype, wide, numbers, written + to_at + i * last_step(to), last_step(to), block);
      }
    });
  }};
}

double as_double(Wide wide, const WideNumber& number) {
  switch (wide) {
    case Wide::kSigned: return static_cast<double>(number.signed_integer);
    case Wide::kUnsigned: return static_cast<double>(number.unsigned_integer);
    case Wide::kDouble: return number.number;
  }
  return 0;
}

}  // namespace

Work cast(const char* who, const TensorSpec& from, const TensorSpec& to) {
  return convert(who, from, to, [](Wide wide, WideNumber*, int64_t) { return wide; });
}

Work scale(const char* who, const TensorSpec& from, const TensorSpec& to, double factor,
           double bias) {
  return convert(who, from, to, [=](Wide wide, WideNumber* numbers, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      numbers[i].number = as_double(wide, numbers[i]) * factor + bias;
    }
    return Wide::kDouble;
  });
}

Work sequence(const char* who, const TensorSpec& to, const Scalar& start, const Scalar& delta) {
  check_numbers(who, to);
  check_written(who, to);
  std::byte elements[2][kMaxElementBytes] = {};
  for (int i = 0; i < 2; ++i) {
    if (const auto reason = encode(i == 0 ? start : delta, to.dtype, elements[i])) {
      refuse({who, "value does not fit", *reason, to.str(), "values of that type"});
    }
  }
  WideNumber first, step;
  load(to.dtype, elements[0], 0, 1, &first);
  load(to.dtype, elements[1], 0, 1, &step);
  return {[=](auto, auto outputs, const Queue&) {
    auto* written = static_cast<std::byte*>(outputs[0]);
    const Wide wide = wide_of(to.dtype);
    uint64_t done = 0;
    Asking asking(who);
    for_rows(to, to, [&](int64_t at, int64_t, int64_t count) {
      for (int64_t i = 0; i < count; ++i, ++done) {
        asking.at(static_cast<int64_t>(done));
        WideNumber number;
        if (wide == Wide::kDouble) {
          number.number = first.number + static_cast<double>(done) * step.number;
        } else {  // unsigned arithmetic: it wraps, as the type does
          number.unsigned_integer = first.unsigned_integer + done * step.unsigned_integer;
        }
        store(to.dtype, wide, &number, written + at + i * last_step(to), 0, 1);
      }
    });
  }};
}

namespace {

// Refuses a tensor that is not `whole` with size 1 at the axis.
void check_reduced(const char* who, const char* name, const TensorSpec& spec,
                   const TensorSpec& whole, int64_t axis) {
  if (axis < 0 || axis >= whole.rank()) {
    refuse({who, "axis out of range", cat("axis = ", axis), whole.str(),
            cat("an axis from 0 to ", whole.rank() - 1)});
  }
  Dims sizes = whole.sizes;
  sizes[static_cast<int>(axis)] = 1;
  if (spec.sizes != sizes || !spec.dtype.is_integer()) {
    refuse(
        {who, cat(name, " does not fit"),
         cat(name, " is ", spec.str(), ", but integers of shape ", bracketed(sizes), " are needed"),
         whole.str(), cat(name, " of size 1 along the axis")});
  }
}

}  // namespace

Work reverse_subsequences(const char* who, const TensorSpec& from, const TensorSpec& lengths,
                          const TensorSpec& to, int64_t axis) {
  check_reduced(who, "lengths", lengths, from, axis);
  const int along = static_cast<int>(axis);
  // The indices of a gather_elements. Dimensions along which the lengths repeat need none of their
  // own.
  TensorSpec indices(i64, from.sizes);
  Dims kept = from.sizes;
  for (int d = 0; d < from.rank(); ++d) {
    if (d != along && (lengths.strides[d] == 0 || from.sizes[d] == 1)) {
      kept[d] = 1;
    }
  }
  const TensorSpec stored(i64, kept);
  for (int d = 0; d < from.rank(); ++d) {
    indices.strides[d] = kept[d] == 1 && d != along ? 0 : stored.strides[d];
  }
  Request r;
  r.op = Op::kGatherElements;
  r.name = who;
  r.data = from;
  r.indices = indices;
  r.output = to;
  r.output_given = true;
  r.axis = axis;
  r.rule = {.out_of_range = OutOfRange::kTrust};
  const int64_t size = from.sizes[along];
  const int64_t count = element_count(kept);
  return {[plan = make_plan(r), stored, lengths, along, size, count](auto inputs, auto outputs,
                                                                     const Queue&) {
    std::vector<int64_t> places(static_cast<size_t>(count));
    TensorSpec read(lengths.dtype, stored.sizes, lengths.strides);
    read.strides[along] = 0;
    // Row by row of the stored indices; which entry along the axis it is follows from the offset.
    Asking asking("reverse_subsequences");
    for_rows(stored, read, [&](int64_t at, int64_t length_at, int64_t row) {
      for (int64_t i = 0; i < row; ++i) {
        const int64_t place = at / 8 + i;
        asking.at(place);
        const int64_t entry = place / stored.strides[along] % size;
        WideNumber length;
        load(read.dtype, static_cast<const std::byte*>(inputs[1]) + length_at + i * last_step(read),
             0, 1, &length);
        const int64_t reversed = wide_of(read.dtype) == Wide::kSigned
                                     ? std::clamp<int64_t>(length.signed_integer, 0, size)
                                     : static_cast<int64_t>(std::min<uint64_t>(
                                           length.unsigned_integer, static_cast<uint64_t>(size)));
        places[static_cast<size_t>(place)] = entry < reversed ? reversed - 1 - entry : entry;
      }
    });
    plan.run(inputs[0], places.data(), outputs[0]);
  }};
}

Work one_hot(const char* who, const TensorSpec& indices, const TensorSpec& off_on,
             const TensorSpec& to, int64_t axis) {
  check_reduced(who, "indices", indices, to, axis);
  // The on value is the next element along the fastest dimension that has one.
  int64_t on_stride = 0;
  bool found = false;
  for (int d = off_on.rank() - 1; d >= 0 && !found; --d) {
    found = off_on.sizes[d] > 1;
    on_stride = found ? off_on.strides[d] : 0;
  }
  if (!found || element_count(off_on.sizes) == 0 || off_on.dtype != to.dtype) {
    refuse({who, "values do not fit",
            cat("values is ", off_on.str(), ", but two elements of type ", to.dtype.name(),
                " are needed"),
            to.str(), "two values of the output's type: off and on"});
  }
  const TensorSpec repeated(to.dtype, to.sizes, Dims(to.rank(), 0));
  Work off = copy(who, repeated, to);
  Request r;
  r.op = Op::kScatterElements;
  r.name = who;
  r.data = to;
  r.indices = indices;
  r.updates = TensorSpec(to.dtype, indices.sizes, Dims(to.rank(), 0));
  r.output = to;
  r.output_given = true;
  r.axis = axis;
  r.rule = {.negative = Negative::kFromEnd, .out_of_range = OutOfRange::kSkip};
  return {[off = std::move(off), on = make_plan(r), on_bytes = on_stride * to.dtype.bytes()](
              auto inputs, auto outputs, const Queue& queue) {
            const auto* values = static_cast<const std::byte*>(inputs[1]);
            const void* source[] = {values};
            off(source, outputs, queue);
            run_plan(on, outputs[0], inputs[0], values + on_bytes, outputs[0], queue);
          },
          true};
}

Work nonzero(const char* who, const TensorSpec& from, const TensorSpec& count,
             const TensorSpec& coordinates) {
  check_numbers(who, from);
  check_written(who, coordinates);
  const int64_t elements = element_count(from.sizes);
  const int rows = coordinates.rank() - 2, columns = coordinates.rank() - 1;
  const bool shaped = coordinates.rank() >= 2 && coordinates.sizes[rows] == elements &&
                      coordinates.sizes[columns] <= from.rank() &&
                      element_count(coordinates.sizes) == elements * coordinates.sizes[columns];
  int64_t skipped = shaped ? from.rank() - coordinates.sizes[columns] : 0;
  bool droppable = true;
  for (int d = 0; d < skipped; ++d) {
    droppable = droppable && from.sizes[d] == 1;
  }
  if (!shaped || !droppable || !coordinates.dtype.is_integer() || !count.dtype.is_integer() ||
      element_count(count.sizes) != 1) {
    refuse({who, "coordinates do not fit",
            cat("coordinates is ", coordinates.str(), ", but integers of shape [", elements,
                ", rank] are needed"),
            cat("from ", from.str(), "   count ", count.str()),
            "one row for each element and one column for each dimension"});
  }
  return {[=](auto inputs, auto outputs, const Queue&) {
    check_apart(who, inputs[0], from, outputs[1], coordinates);
    const auto* read = static_cast<const std::byte*>(inputs[0]);
    auto* written = static_cast<std::byte*>(outputs[1]);
    const int64_t row_bytes = coordinates.strides[rows] * coordinates.dtype.bytes();
    const int64_t column_bytes = coordinates.strides[columns] * coordinates.dtype.bytes();
    const int64_t width = from.rank() == 0 ? 1 : from.sizes.back();
    WideNumber found{.signed_integer = 0};
    int64_t row_number = 0;
    Asking asking(who);
    for_rows(from, from, [&](int64_t at, int64_t, int64_t row) {
      for (int64_t i = 0; i < row; ++i) {
        asking.at(row_number * width + i);
        WideNumber number;
        load(from.dtype, read + at + i * last_step(from), 0, 1, &number);
        const bool zero = wide_of(from.dtype) == Wide::kDouble ? number.number == 0
                                                               : number.unsigned_integer == 0;
        if (zero) {
          continue;
        }
        int64_t place = row_number * width + i;
        for (int d = from.rank() - 1; d >= skipped; --d) {
          const WideNumber coordinate{.signed_integer = place % from.sizes[d]};
          place /= from.sizes[d];
          store(coordinates.dtype, Wide::kSigned, &coordinate,
                written + found.signed_integer * row_bytes + (d - skipped) * column_bytes, 0, 1);
        }
        ++found.signed_integer;
      }
      ++row_number;
    });
    store(count.dtype, Wide::kSigned, &found, static_cast<std::byte*>(outputs[0]), 0, 1);
  }};
}

}  // namespace sheaf::moves
