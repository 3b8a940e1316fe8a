// SPDX-License-Identifier: MIT
#include "tables/kept_rows.h"

#include <algorithm>

#include "tables/device_kept_rows.h"
#include "tables/host_kept_rows.h"

namespace sheaf::tables {
namespace {

// Of a set. Two lines of the host's caches hold the numbers of its rows.
constexpr int64_t kPlacesOfASet = 16;
// Of given rows: places per row. So few sets are full that rows without a place are very rare.
constexpr int64_t kPlacesPerGivenRow = 4;

}  // namespace

std::unique_ptr<KeptRows> KeptRows::make(const Backend& device, int64_t row_bytes, int64_t rows,
                                         int64_t slots, std::span<const int64_t> given) {
  given = given.first(static_cast<size_t>(std::min(std::ssize(given), slots)));
  Places places;
  if (!given.empty()) {
    slots = std::ssize(given);
  }
  const int64_t wanted =
      given.empty() || slots <= kPlacesOfASet ? slots : slots * kPlacesPerGivenRow;
  places.ways = static_cast<int32_t>(std::min(wanted, kPlacesOfASet));
  places.all_fit = given.empty() && slots >= rows;
  places.sets = places.all_fit ? (wanted - 1) / places.ways + 1 : wanted / places.ways;
  const StagingSteps* const steps = device.device->staging;
  if (steps != nullptr && steps->cache != nullptr) {
    return std::make_unique<DeviceKeptRows>(device, row_bytes, places, given);
  }
  return std::make_unique<HostKeptRows>(device, row_bytes, places, given);
}

KeptRows::KeptRows(const Backend& device, int64_t row_bytes, const Places& places,
                   std::span<const int64_t> given)
    : places_(places),
      given_(!given.empty()),
      given_rows_(given.begin(), given.end()),
      sorted_(given.begin(), given.end()),
      row_bytes_(row_bytes),
      slots_(given.empty() ? places.count() : std::ssize(given)),
      memory_(device.name, static_cast<size_t>(slots_ * row_bytes)) {
  std::ranges::sort(sorted_);
}

bool KeptRows::is_given(int64_t row) const { return std::ranges::binary_search(sorted_, row); }

void KeptRows::place_given(std::span<int64_t> rows, std::span<int32_t> slot_of) const {
  std::ranges::fill(rows, kNoCachedRow);
  const CacheSets view{.rows = rows.data(), .sets = places_.sets, .ways = places_.ways};
  for (size_t slot = 0; slot < given_rows_.size(); ++slot) {
    const auto first = static_cast<size_t>(first_place(view, given_rows_[slot]));
    for (size_t place = first; place < first + static_cast<size_t>(places_.ways); ++place) {
      if (rows[place] == kNoCachedRow) {
        rows[place] = given_rows_[slot];
        slot_of[place] = static_cast<int32_t>(slot);
        break;
      }
    }
  }
}

}  // namespace sheaf::tables
