// SPDX-License-Identifier: MIT
//
// Cached rows that the device looks up by itself: indices do not travel, and of the rows that it
// lacks only their numbers do.
#pragma once

#include "tables/kept_rows.h"

namespace sheaf::tables {

class DeviceKeptRows final : public KeptRows {
 public:
  DeviceKeptRows(const Backend& device, int64_t row_bytes, const Places& places,
                 std::span<const int64_t> given);

  FoundRows find(Lane& lane, const AskedRows& asked, bool protect) override;
  void claim(std::span<const int64_t> rows, bool surely, std::byte* here) override;
  const int32_t* claimed(Lane& lane, std::byte* there, int64_t count, bool surely) override;
  void drop(Lane& lane, std::span<const int64_t> rows) override;
  void clear(Lane& lane) override;

 private:
  CacheLookUp look_up_in(Lane& lane, const AskedRows& asked);

  const CacheSteps& steps_;
  DeviceMemory rows_, uses_, taken_, slot_of_;
  CacheSets view_;
};

}  // namespace sheaf::tables
