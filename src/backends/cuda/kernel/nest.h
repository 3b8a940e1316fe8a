// SPDX-License-Identifier: MIT
//
// A Nest as kernels take it: by value, loops innermost first, divisions prepared.
#pragma once

#include <cstring>

#include "plan/resolve.h"
#include "sheaf/plan.h"
#include "support/divisor.h"

namespace sheaf::cuda {

struct DeviceLoop {
  Divisor divisor;  // by extent, where point numbers are small
  int64_t extent;
  int64_t data, index, output;
};

struct DeviceCoordinate {
  int64_t extent, stride, offset;
  // A scatter's window on this coordinate is at place (point / window_inner) % window_extent. 0: it
  // has none.
  int64_t window_inner, window_extent;
};

inline constexpr int64_t kSmallPoints = int64_t{1} << 31;

// With kLoops loops and kCoordinates coordinates, so that common shapes cost a kernel little; 0
// stands for any number.
template <int kLoops, int kCoordinates>
struct NestOf {
  DeviceLoop loops[size_t{kLoops != 0 ? kLoops : kMaxRank}];
  DeviceCoordinate coordinates[size_t{kCoordinates != 0 ? kCoordinates : kMaxRank}];
  int any_loops = 0;
  int any_coordinates = 0;
  int64_t points = 1;
  bool small = true;   // points < 2^31
  bool pairs = false;  // both indices of a tuple are one aligned read; the launch says so
  Kind index_kind = Kind::kInt64;
  Negative negative = Negative::kFromEnd;
  OutOfRange out_of_range = OutOfRange::kFail;
  int64_t row_bytes = 0;
  int64_t element_bytes = 1;
  std::byte fill_value[kMaxElementBytes] = {};

  constexpr int loop_count() const { return kLoops != 0 ? kLoops : any_loops; }
  constexpr int coordinate_count() const {
    return kCoordinates != 0 ? kCoordinates : any_coordinates;
  }
};
using AnyNest = NestOf<0, 0>;

// `nest` has as many loops and coordinates as DeviceNest wants.
template <class DeviceNest>
DeviceNest device_nest(const Nest& nest) {
  DeviceNest device;
  device.any_coordinates = nest.coordinates.size();
  for (int c = 0; c < nest.coordinates.size(); ++c) {
    const Coordinate& from = nest.coordinates[c];
    device.coordinates[c] = {from.extent, from.stride, from.offset, 0, 1};
  }
  device.any_loops = nest.loops.size();
  for (int l = 0; l < nest.loops.size(); ++l) {
    const Loop& from = nest.loops[nest.loops.size() - 1 - l];
    if (from.window != 0) {
      DeviceCoordinate& coordinate = device.coordinates[from.window - 1];
      coordinate.window_inner = device.points;
      coordinate.window_extent = from.extent;
    }
    const bool divisible = from.extent > 0 && from.extent < kSmallPoints;
    device.loops[l] = {Divisor(divisible ? static_cast<uint32_t>(from.extent) : 1), from.extent,
                       from.data, from.index, from.output};
    device.points *= from.extent;
  }
  device.small = device.points < kSmallPoints;
  device.row_bytes = nest.row_bytes;
  device.element_bytes = nest.element_bytes;
  device.index_kind = nest.index_type.kind();
  device.negative = nest.negative;
  device.out_of_range = nest.out_of_range;
  std::memcpy(device.fill_value, nest.fill_value, sizeof device.fill_value);
  return device;
}

// Where a point of the nest stands in the three tensors, before its indices are read.
struct Place {
  int64_t data = 0, index = 0, output = 0;
};

template <int kLoops, int kCoordinates>
constexpr Place locate(const NestOf<kLoops, kCoordinates>& nest, int64_t point) {
  Place place;
  const auto add = [&](const DeviceLoop& loop, auto at) {
    place.data += at * loop.data;
    place.index += at * loop.index;
    place.output += at * loop.output;
  };
  const int last = nest.loop_count() - 1;  // the outermost: it takes what is left
  if (nest.small) {
    auto rest = static_cast<uint32_t>(point);
    for (int l = 0; l < last; ++l) {
      const uint32_t outer = nest.loops[l].divisor.quotient(rest);
      add(nest.loops[l], rest - outer * nest.loops[l].divisor.divisor);
      rest = outer;
    }
    if (last >= 0) {
      add(nest.loops[last], rest);
    }
    return place;
  }
  for (int l = 0; l < last; ++l) {
    add(nest.loops[l], point % nest.loops[l].extent);
    point /= nest.loops[l].extent;
  }
  if (last >= 0) {
    add(nest.loops[last], point);
  }
  return place;
}

}  // namespace sheaf::cuda
