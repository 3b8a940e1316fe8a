// SPDX-License-Identifier: MIT
//
// Cached rows that host threads look up: for devices without kernels for it.
#pragma once

#include <vector>

#include "tables/kept_rows.h"

namespace sheaf::tables {

class HostKeptRows final : public KeptRows {
 public:
  HostKeptRows(const Backend& device, int64_t row_bytes, const Places& places,
               std::span<const int64_t> given);

  FoundRows find(Lane& lane, const AskedRows& asked, bool protect) override;
  void claim(std::span<const int64_t> rows, bool surely, std::byte* here) override;
  const int32_t* claimed(Lane& lane, std::byte* there, int64_t count, bool surely) override;
  void drop(Lane& lane, std::span<const int64_t> rows) override;
  void clear(Lane& lane) override;

 private:
  FoundRows missed(Lane& lane, const AskedRows& asked, std::span<const int32_t> slots) const;
  int32_t slot_for(int64_t row, bool protect);
  int32_t claim_one(int64_t row, bool surely);

  std::vector<int64_t> rows_;
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> taken_;
  std::vector<int32_t> slot_of_;
  CacheSets view_;
};

}  // namespace sheaf::tables
