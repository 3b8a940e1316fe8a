// SPDX-License-Identifier: MIT
//
// A stable sort of entries by a key: those of a bag by the row that they name, those of a mixture
// of experts by their expert.
#pragma once

#include <cstdint>
#include <string_view>

#include "sheaf/queue.h"

namespace sheaf {

struct KeyedEntry {
  int64_t key, entry;
};

// Sorts entries[0, count) by keys of [0, extent), equal ones in the order in which they are.
// `spare` has room for as many. Returns which of the two holds the result. The same on any number
// of threads; throws kCancelled in the name of `who`.
KeyedEntry* sort_by_key(std::string_view who, KeyedEntry* entries, KeyedEntry* spare, int64_t count,
                        int64_t extent, const Queue& queue);

}  // namespace sheaf
