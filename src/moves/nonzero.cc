// SPDX-License-Identifier: MIT
//
// The coordinates of the elements that are not zero. Threads share the elements in parts: they
// count in each, which says where the rows of each part go, and then write them.
#include <algorithm>
#include <numeric>
#include <vector>

#include "execution/cancel.h"
#include "execution/ranges.h"
#include "moves/check.h"
#include "moves/convert.h"
#include "moves/moves.h"
#include "moves/rows.h"
#include "plan/byte_ranges.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// Smaller parts are not worth the second pass.
constexpr int64_t kPartElements = 1 << 16;

struct Search {
  DType type;
  Rows rows;  // of the input beside itself
  Parts parts;

  // Calls body(place) for each element of a part that is not zero. Stops if the scope says so.
  template <class Body>
  void find(const std::byte* read, int64_t part, const CancelScope* scope, Body body) const {
    const bool floats = wide_of(type) == Wide::kDouble;
    CancelPoint cancel(scope);
    for_pieces(rows, parts.begin(part), parts.end(part),
               [&](int64_t at, int64_t, int64_t place, int64_t count) {
                 WideNumber numbers[kBlock];
                 for (int64_t i = 0; i < count; ++i) {
                   if (i % kBlock == 0) {
                     if (cancel.before(kBlock * kElementCost) || cancel.stopped()) {
                       return;
                     }
                     load(type, read + at + i * rows.a_step(), rows.a_step(),
                          std::min(kBlock, count - i), numbers);
                   }
                   const WideNumber& number = numbers[i % kBlock];
                   if (floats ? number.number != 0 : number.unsigned_integer != 0) {
                     body(place + i);
                   }
                 }
               });
  }
};

// Where the rows of coordinates go.
struct Target {
  DType type;
  Dims sizes;  // of the dimensions that have a column
  int64_t row_bytes, column_bytes;

  void write(std::byte* row, int64_t place) const {
    for (int d = sizes.size() - 1; d >= 0; --d) {
      const WideNumber coordinate{.signed_integer = place % sizes[d]};
      place /= sizes[d];
      store(type, Wide::kSigned, &coordinate, row + d * column_bytes, 0, 1);
    }
  }
};

}  // namespace

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
  Target target{coordinates.dtype,
                {},
                coordinates.strides[rows] * coordinates.dtype.bytes(),
                coordinates.strides[columns] * coordinates.dtype.bytes()};
  for (int d = static_cast<int>(skipped); d < from.rank(); ++d) {
    target.sizes.push_back(from.sizes[d]);
  }
  const Search search{from.dtype,
                      rows_of(from, from),
                      {elements, std::clamp<int64_t>(elements / kPartElements, 1, kMostParts)}};
  return {[=](auto inputs, auto outputs, const Queue& queue) {
    check_apart(who, inputs[0], from, outputs[1], coordinates);
    const auto* read = static_cast<const std::byte*>(inputs[0]);
    auto* written = static_cast<std::byte*>(outputs[1]);
    // starts[p]: the row where part p starts to write; the last one: how many rows there are.
    std::vector<int64_t> starts(static_cast<size_t>(search.parts.count) + 1, 0);
    const CancelScope* scope = current_cancel_scope();  // of this thread, not of the pool's
    const auto for_parts = [&](const auto& work) {
      run_ranges(who, search.parts.count, elements * kElementCost, queue,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t part = begin; part < end; ++part) {
                     work(part);
                   }
                 });
    };
    if (search.parts.count > 1) {
      for_parts([&](int64_t part) {
        int64_t found = 0;
        search.find(read, part, scope, [&](int64_t) { ++found; });
        starts[static_cast<size_t>(part) + 1] = found;
      });
      std::partial_sum(starts.begin(), starts.end(), starts.begin());
    }
    for_parts([&](int64_t part) {
      int64_t next = starts[static_cast<size_t>(part)];
      search.find(read, part, scope, [&](int64_t place) {
        target.write(written + next * target.row_bytes, place);
        ++next;
      });
      if (part == search.parts.count - 1) {
        starts.back() = next;
      }
    });
    const WideNumber total{.signed_integer = starts.back()};
    store(count.dtype, Wide::kSigned, &total, static_cast<std::byte*>(outputs[0]), 0, 1);
  }};
}

}  // namespace sheaf::moves
