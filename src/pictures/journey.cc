// SPDX-License-Identifier: MIT
#include "pictures/journey.h"

#include "support/text.h"

namespace sheaf::pictures {
namespace {

// From here on, kernels read rows of host memory as fast as the bus carries them (docs/tables.md).
constexpr int64_t kMappedFrom = 2048;

std::string runs_on(const Journey& j) {
  return j.to == kHostPlace ? std::string("the queue runs on the host")
                            : cat("the queue runs on device ", j.to);
}

std::string host_answer(const Journey& j, const std::string& elsewhere) {
  return j.from != kHostPlace ? elsewhere : j.to != kHostPlace ? runs_on(j) : std::string();
}

std::string device_answer(const Journey& j, const std::string& elsewhere) {
  return !is_device(j.from) ? elsewhere : j.from == j.to ? std::string() : runs_on(j);
}

// What keeps a device from reading host memory by itself, or from being left to do so.
std::string unmapped(const Journey& j, const std::string& elsewhere) {
  return j.from != kHostPlace     ? elsewhere
         : j.to == kHostPlace     ? runs_on(j)
         : !j.locked              ? "the table's memory is not locked"
         : !j.cached_rows.empty() ? "rows are cached as they come in pieces"
                                  : std::string();
}

std::string mapped_answer(const Journey& j, const std::string& elsewhere, int64_t row_bytes) {
  if (std::string why = unmapped(j, elsewhere); !why.empty()) {
    return why;
  }
  return row_bytes >= kMappedFrom ? std::string()
                                  : cat("rows of ", row_bytes, " bytes are faster in pieces");
}

// It is taken where it was measured to be the fastest, which a picture does not know.
std::string split_answer(const Journey& j, const std::string& elsewhere) {
  const std::string why = unmapped(j, elsewhere);
  return why.empty() ? "nothing was measured that speaks for it" : why;
}

std::string ring_answer(const Journey& j, const std::string& elsewhere) {
  return j.from != kHostPlace ? elsewhere : j.to == kHostPlace ? runs_on(j) : std::string();
}

std::string download_answer(const Journey& j, const std::string& elsewhere) {
  return !is_device(j.from) ? elsewhere : j.to != kHostPlace ? runs_on(j) : std::string();
}

}  // namespace

bool is_device(const std::string& place) { return place != kHostPlace && place != kFilePlace; }

std::string lies_in(const std::string& place) {
  return place == kFilePlace   ? "in a file"
         : place == kHostPlace ? "in host memory"
                               : cat("in memory of device ", place);
}

std::vector<WayAnswer> ways_of(const Journey& j, int64_t row_bytes) {
  const std::string elsewhere = cat("the table is ", lies_in(j.from));
  return {{"host", host_answer(j, elsewhere)},
          {"device", device_answer(j, elsewhere)},
          {"mapped", mapped_answer(j, elsewhere, row_bytes)},
          {"split", split_answer(j, elsewhere)},
          {"ring", ring_answer(j, elsewhere)},
          {"file", j.from == kFilePlace ? std::string() : elsewhere},
          {"download", download_answer(j, elsewhere)}};
}

std::string_view chosen_way(const Journey& j, int64_t row_bytes) {
  for (const WayAnswer& answer : ways_of(j, row_bytes)) {
    // A forced way may be slower than another; it is not asked whether it is worth it.
    const bool slower = answer.refusal.ends_with("in pieces");
    if (j.way.empty() ? answer.refusal.empty()
                      : answer.name == j.way && (answer.refusal.empty() || slower)) {
      return answer.name;
    }
  }
  return {};
}

std::string journey_text(const Journey& j, int64_t row_bytes) {
  return cat("from ", j.from == kFilePlace ? "a file" : j.from, " to ",
             j.to == kHostPlace ? "host memory" : j.to, ", by the way ", chosen_way(j, row_bytes));
}

}  // namespace sheaf::pictures
