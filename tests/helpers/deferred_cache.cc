// SPDX-License-Identifier: MIT
#include "helpers/deferred_cache.h"

#include <algorithm>
#include <cstring>

#include "plan/resolve.h"

namespace sheaf {
namespace {

// One row after the other, by the same rules as a device's many threads.
struct Cache {
  static void find(const CacheSets& cache, const CacheLookUp& asked, void* stream) {
    enqueue_on(stream, [=] {
      for (int64_t point = 0; point < asked.count; ++point) {
        const int64_t row = with_index_type(DType(asked.index_kind, 1), [&](auto zero) {
          return resolve(load_index<decltype(zero)>(asked.indices, point), asked.extent,
                         asked.negative, asked.out_of_range);
        });
        asked.slots[point] = row == kOutside ? kNoSlot : slot_for(cache, asked, row);
        if (row == kOutside) {
          ++asked.counts->outside;
          asked.counts->bad += asked.out_of_range == OutOfRange::kFail ? 1 : 0;
        } else if (asked.slots[point] == kNoSlot) {
          asked.missed_rows[asked.counts->missed] = row;
          asked.missed_points[asked.counts->missed++] = static_cast<int32_t>(point);
        }
      }
    });
  }

  static int32_t slot_for(const CacheSets& cache, const CacheLookUp& asked, int64_t row) {
    const int64_t place = place_of(cache, row);
    if (place < 0) {
      return kNoSlot;
    }
    cache.uses[place] = std::min(cache.uses[place] + 1, kMostUses);
    if (asked.protect) {
      cache.taken[place] = asked.round;
    }
    return slot_at(cache, place);
  }

  static void claim(const CacheSets& cache, const CacheClaims& claims, void* stream) {
    enqueue_on(stream, [=] {
      for (int64_t i = 0; i < claims.count; ++i) {
        claims.slots[i] = claim_one(cache, claims, claims.rows[i]);
      }
    });
  }

  static int32_t claim_one(const CacheSets& cache, const CacheClaims& claims, int64_t row) {
    if (place_of(cache, row) >= 0) {
      return kNoSlot;
    }
    const int64_t first = first_place(cache, row);
    const auto uses = [&](int64_t place) {
      return cache.rows[place] == kNoCachedRow ? -1 : static_cast<int>(cache.uses[place]);
    };
    int64_t best = -1;
    for (int64_t place = first; place < first + cache.ways; ++place) {
      if (cache.taken[place] != claims.round && (best < 0 || uses(place) < uses(best))) {
        best = place;
      }
    }
    if (best < 0) {
      return kNoSlot;
    }
    if (!claims.surely && uses(best) > 0) {
      --cache.uses[best];
      return kNoSlot;
    }
    cache.rows[best] = row;
    cache.uses[best] = 1;
    cache.taken[best] = claims.round;
    return static_cast<int32_t>(best);
  }

  static void drop(const CacheSets& cache, const int64_t* rows, int64_t count, void* stream) {
    enqueue_on(stream, [=] {
      for (int64_t i = 0; i < count; ++i) {
        if (const int64_t place = place_of(cache, rows[i]); place >= 0) {
          cache.rows[place] = kNoCachedRow;
        }
      }
    });
  }
};

}  // namespace

const CacheSteps kDeferredCache{.find = Cache::find, .claim = Cache::claim, .drop = Cache::drop};

void move_deferred_rows(const NumberedRows& rows, void* stream) {
  enqueue_on(stream, [=] {
    const auto number = [](const int32_t* numbers, int64_t i) {
      return numbers == nullptr ? i : int64_t{numbers[i]};
    };
    for (int64_t i = 0; i < rows.count; ++i) {
      const int64_t from = number(rows.from_numbers, i), to = number(rows.to_numbers, i);
      if (from >= 0 && to >= 0) {
        std::memcpy(rows.to + to * rows.row_bytes, rows.from + from * rows.row_bytes,
                    static_cast<size_t>(rows.row_bytes));
      }
    }
  });
}

}  // namespace sheaf
