// SPDX-License-Identifier: MIT
//
// The coordinates of the elements that are not zero. Threads share the elements in parts: they
// count in each, which says where the rows of each part go, and then write them.
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
#include "plan/byte_ranges.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// Smaller parts are not worth the second pass.
constexpr int64_t kPartElements = 1 << 16;

struct Search {
  DType type;
  Rows rows;  // of the input beside itself
  Parts parts;

  // Calls body(place) for each element of a part that is not zero. Stops if the scope says so, and
  // returns false.
  template <class Body>
  bool find(const std::byte* read, int64_t part, const CancelScope* scope, Body body) const {
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
    return !cancel.stopped();
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

// Refuses what does not fit, and returns how many leading dimensions, of size 1, have no column.
int check_coordinates(const char* who, const TensorSpec& from, const TensorSpec& count,
                      const TensorSpec& coordinates) {
  check_tensors(who, {{"from", from}, {"count", count}, {"coordinates", coordinates}});
  check_numbers(who, from);
  check_written(who, coordinates);
  const int64_t elements = element_count(from.sizes);
  const int rows = coordinates.rank() - 2, columns = coordinates.rank() - 1;
  bool fits = coordinates.rank() >= 2 && coordinates.sizes[rows] == elements &&
              coordinates.sizes[columns] <= from.rank();
  for (int d = 0; d < rows; ++d) {
    fits = fits && coordinates.sizes[d] == 1;
  }
  const int skipped = fits ? from.rank() - static_cast<int>(coordinates.sizes[columns]) : 0;
  for (int d = 0; d < skipped; ++d) {
    fits = fits && from.sizes[d] == 1;
  }
  if (!fits || !coordinates.dtype.is_integer() || !count.dtype.is_integer() ||
      element_count(count.sizes) != 1) {
    refuse({who, "coordinates do not fit",
            cat("coordinates is ", coordinates.str(), ", but integers of shape [", elements,
                ", rank] are needed"),
            described({{"from", from}, {"count", count}}),
            "one row for each element and one column for each dimension"});
  }
  check_holds(who, "count is", count.dtype, elements, described({{"from", from}, {"count", count}}),
              "a count of type i32 or i64");
  for (int d = skipped; d < from.rank() && elements > 0; ++d) {
    check_holds(who, "coordinates are", coordinates.dtype, from.sizes[d] - 1,
                described({{"from", from}, {"coordinates", coordinates}}),
                "coordinates of type i32 or i64");
  }
  return skipped;
}

}  // namespace

Work nonzero(const char* who, const TensorSpec& from, const TensorSpec& count,
             const TensorSpec& coordinates) {
  const int skipped = check_coordinates(who, from, count, coordinates);
  const int64_t elements = element_count(from.sizes);
  Target target{coordinates.dtype,
                {},
                used_byte_stride(coordinates, coordinates.rank() - 2),
                used_byte_stride(coordinates, coordinates.rank() - 1)};
  for (int d = skipped; d < from.rank(); ++d) {
    target.sizes.push_back(from.sizes[d]);
  }
  const Search search{from.dtype,
                      rows_of(from, from),
                      {elements, std::clamp<int64_t>(elements / kPartElements, 1, kMostParts)}};
  Work work{[=](auto inputs, auto outputs, const Queue& queue) {
    const auto* read = static_cast<const std::byte*>(inputs[0]);
    auto* written = static_cast<std::byte*>(outputs[1]);
    const size_t last = static_cast<size_t>(search.parts.count);
    // Part p writes rows [starts[p], starts[p + 1]).
    std::vector<int64_t> starts(last + 1, 0);
    const CancelScope* scope = current_cancel_scope();  // of this thread, not of the pool's
    const auto for_parts = [&](const auto& part_work) {
      run_ranges(who, search.parts.count, saturating_mul(elements, kElementCost), queue,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t part = begin; part < end; ++part) {
                     part_work(part);
                   }
                 });
    };
    if (last > 1) {
      for_parts([&](int64_t part) {
        int64_t found = 0;
        search.find(read, part, scope, [&](int64_t) { ++found; });
        starts[static_cast<size_t>(part) + 1] = found;
      });
      std::partial_sum(starts.begin(), starts.end(), starts.begin());
    } else {
      starts[last] = elements;  // not counted: the most there can be
    }
    for_parts([&](int64_t part) {
      int64_t next = starts[static_cast<size_t>(part)];
      const int64_t end = starts[static_cast<size_t>(part) + 1];
      // Elements that have changed since they were counted: those too many have no row, and rows
      // that are left name the part's first element, so that every row names one.
      const auto write = [&](int64_t place) {
        if (next < end) {
          target.write(written + next * target.row_bytes, place);
          ++next;
        }
      };
      const bool complete = search.find(read, part, scope, write);
      if (last == 1) {
        starts[last] = next;
      }
      for (; complete && last > 1 && next < end; ++next) {
        target.write(written + next * target.row_bytes, search.parts.begin(part));
      }
    });
    const WideNumber total{.signed_integer = starts[last]};
    store(count.dtype, Wide::kSigned, &total, static_cast<std::byte*>(outputs[0]), 0, 1);
  }};
  return checked(who, {{"from", from}}, {{"count", count}, {"coordinates", coordinates}},
                 std::move(work));
}

}  // namespace sheaf::moves
