// SPDX-License-Identifier: MIT
//
// The largest or smallest entries along an axis, and where they were.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "execution/cancel.h"
#include "execution/host_steps.h"
#include "moves/check.h"
#include "moves/convert.h"
#include "moves/moves.h"
#include "moves/rows.h"
#include "support/checked.h"
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

// More than any memory holds, and few enough to be counted in bytes.
constexpr int64_t kMostEntries = int64_t{1} << 48;

void check_top_k(const char* who, const TensorSpec& from, const TensorSpec& values,
                 const TensorSpec& places, int64_t axis) {
  check_tensors(who, {{"from", from}, {"values", values}, {"indices", places}});
  check_axis(who, from, axis);
  const std::string given = described({{"from", from}, {"values", values}, {"indices", places}});
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
  check_written(who, values);
  check_written(who, places);
  check_holds(who, "indices are", places.dtype, from.sizes[along] - 1, given,
              "indices of type i32 or i64");
  if (from.sizes[along] > kMostEntries) {
    refuse({who, "tensor too large",
            cat(from.sizes[along], " entries along the axis, but at most ", kMostEntries,
                " are sorted"),
            given, "check how the shape was computed"});
  }
}

// One sequence's numbers, and their places in the order that is asked for.
struct Scratch {
  std::vector<WideNumber> numbers;
  std::vector<int64_t> order;
};

struct Memory {
  const std::byte* from;
  std::byte *values, *places;
};

struct Sorter {
  TensorSpec from, values, places;
  int along;
  bool largest;

  int64_t size() const { return from.sizes[along]; }
  int64_t kept() const { return values.sizes[along]; }
  int64_t sequences() const {
    Dims others = from.sizes;
    others[along] = 1;
    return element_count(others);
  }

  // Where sequence number `s` along the axis starts in each tensor.
  Memory sequence(Memory memory, int64_t s) const {
    for (int d = from.rank() - 1; d >= 0; --d) {
      if (d != along) {
        const int64_t at = s % from.sizes[d];
        s /= from.sizes[d];
        memory.from += at * from.strides[d] * from.dtype.bytes();
        memory.values += at * values.strides[d] * values.dtype.bytes();
        memory.places += at * places.strides[d] * places.dtype.bytes();
      }
    }
    return memory;
  }

  void sort(const Memory& memory, Scratch& scratch) const {
    auto& numbers = scratch.numbers;
    auto& order = scratch.order;
    const Wide wide = wide_of(from.dtype);
    load(from.dtype, memory.from, from.strides[along] * from.dtype.bytes(), size(), numbers.data());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept()), order.end(),
                      [&](int64_t a, int64_t b) {
                        const WideNumber &x = numbers[static_cast<size_t>(a)],
                                         &y = numbers[static_cast<size_t>(b)];
                        if (wide_less(wide, x, y)) {
                          return !largest;
                        }
                        return wide_less(wide, y, x) ? largest : a < b;
                      });
    for (int64_t i = 0; i < kept(); ++i) {
      const int64_t place = order[static_cast<size_t>(i)];
      const WideNumber index{.signed_integer = place};
      store(from.dtype, wide, &numbers[static_cast<size_t>(place)],
            memory.values + i * values.strides[along] * values.dtype.bytes(), 0, 1);
      store(places.dtype, Wide::kSigned, &index,
            memory.places + i * places.strides[along] * places.dtype.bytes(), 0, 1);
    }
  }
};

// Entries that a part of the work has at least, what sorting one of them costs as bytes moved, and
// how much memory all parts together may take.
constexpr int64_t kPartEntries = 1 << 14;
constexpr int64_t kEntryCost = 64;
constexpr int64_t kMostScratchBytes = int64_t{64} << 20;

// In how many parts `sequences` of `size` entries are sorted.
int64_t part_count(int64_t sequences, int64_t size) {
  const int64_t worth = sequences / std::max<int64_t>(1, kPartEntries / size);
  const int64_t fitting = kMostScratchBytes / static_cast<int64_t>(sizeof(WideNumber) * 2) / size;
  return std::clamp<int64_t>(std::min(worth, fitting), 1, kMostParts);
}

}  // namespace

Work top_k(const char* who, const TensorSpec& from, const TensorSpec& values,
           const TensorSpec& places, int64_t axis, bool largest) {
  check_top_k(who, from, values, places, axis);
  Work work{[=, sorter = Sorter{from, values, places, static_cast<int>(axis), largest}](
                auto inputs, auto outputs, const Queue& queue) {
    const Memory memory{static_cast<const std::byte*>(inputs[0]),
                        static_cast<std::byte*>(outputs[0]), static_cast<std::byte*>(outputs[1])};
    if (sorter.kept() == 0) {
      return;
    }
    // All memory first, so that nothing is written if there is none.
    const Parts parts{sorter.sequences(), part_count(sorter.sequences(), sorter.size())};
    std::vector<Scratch> scratch(static_cast<size_t>(parts.count));
    for (Scratch& part : scratch) {
      part.numbers.resize(static_cast<size_t>(sorter.size()));
      part.order.resize(static_cast<size_t>(sorter.size()));
    }
    const CancelScope* scope = current_cancel_scope();  // of this thread, not of the pool's
    run_ranges(who, parts.count, saturating_mul(element_count(from.sizes), kEntryCost), queue,
               [&](int64_t begin, int64_t end) {
                 CancelPoint cancel(scope);
                 for (int64_t part = begin; part < end; ++part) {
                   for (int64_t s = parts.begin(part); s < parts.end(part); ++s) {
                     if (cancel.before(sorter.size() * kEntryCost)) {
                       return;
                     }
                     sorter.sort(sorter.sequence(memory, s), scratch[static_cast<size_t>(part)]);
                   }
                 }
               });
  }};
  return checked(who, {{"from", from}}, {{"values", values}, {"indices", places}}, std::move(work));
}

}  // namespace sheaf::moves
