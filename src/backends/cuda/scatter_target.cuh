// SPDX-License-Identifier: MIT
//
// Where a point of a scatter's nest leads to.
#pragma once

#include "backends/cuda/device_memory.cuh"

namespace sheaf::cuda {

// The entry of a scatter's window that has come `window` places beyond its index.
__device__ inline int64_t window_entry(const AnyNest& nest, int64_t raw, int64_t window,
                                       int64_t extent) {
  return nest.index_kind == Kind::kUInt64
             ? in_range_or_outside(static_cast<uint64_t>(raw), window, extent, nest.negative)
             : in_range_or_outside(raw, window, extent, nest.negative);
}

// The data offset of a point, or kNowhere if it is skipped. `place` is that of the point.
__device__ inline int64_t target_of(const AnyNest& nest, const std::byte* indices, int64_t point,
                                    const Place& place) {
  int64_t at = place.data;
  for (int c = 0; c < nest.any_coordinates; ++c) {
    const DeviceCoordinate& coordinate = nest.coordinates[c];
    const int64_t raw =
        load_raw<Indices::kAnyType>(nest.index_kind, indices, place.index + coordinate.offset);
    const int64_t window = coordinate.window_inner == 0
                               ? 0
                               : point / coordinate.window_inner % coordinate.window_extent;
    const int64_t entry = window != 0 ? window_entry(nest, raw, window, coordinate.extent)
                                      : entry_of(nest, raw, coordinate.extent);
    if (entry == kOutside) {
      return kNowhere;
    }
    at += entry * coordinate.stride;
  }
  return at;
}

}  // namespace sheaf::cuda
