// SPDX-License-Identifier: MIT
#include "extents.h"

#include <algorithm>
#include <functional>

namespace sheaf::dml_com {

std::optional<std::pair<std::string, std::string>> find_overlap(std::vector<Extent> extents) {
  std::erase_if(extents, [](const Extent& e) { return e.begin == nullptr || e.bytes == 0; });
  std::stable_sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::less<>()(a.begin, b.begin);
  });
  // Those that start lower and end last: of all, and of the written ones.
  const Extent *last = nullptr, *last_written = nullptr;
  const auto ends_later = [](const Extent* e, const Extent& other) {
    return e == nullptr || e->begin + e->bytes < other.begin + other.bytes;
  };
  for (const Extent& e : extents) {
    const Extent* before = e.written ? last : last_written;
    if (before != nullptr && e.begin < before->begin + before->bytes) {
      return std::pair(*before->name, *e.name);
    }
    last = ends_later(last, e) ? &e : last;
    last_written = e.written && ends_later(last_written, e) ? &e : last_written;
  }
  return std::nullopt;
}

}  // namespace sheaf::dml_com
