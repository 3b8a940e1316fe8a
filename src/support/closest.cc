// SPDX-License-Identifier: MIT
#include "support/closest.h"

#include <algorithm>

#include "support/text.h"

namespace sheaf {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Keystrokes from `a` to `b`; three rows of the usual table, the last two for swapped neighbours.
size_t keystrokes(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view closest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongest = 64;  // no name is longer, and the table stays small
  std::string_view best;
  size_t fewest = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (word.size() <= kLongest && candidate.size() <= kLongest) {
      const size_t needed = keystrokes(word, candidate);
      if (needed < fewest) {
        fewest = needed;
        best = candidate;
      }
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view meant = closest(word, candidates);
  return meant.empty() ? "" : cat("did you mean ", meant, "?");
}

}  // namespace sheaf
