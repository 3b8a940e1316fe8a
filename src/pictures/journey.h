// SPDX-License-Identifier: MIT
//
// Where a table lies, where its rows go, and which of the ways of docs/tables.md they take: the
// rules of src/tables, for devices that are not there too. tests/tables holds one against the
// other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::pictures {

inline constexpr std::string_view kHostPlace = "host", kFilePlace = "file";

// Where a table lies and where its rows go. Anything but kHostPlace and kFilePlace is the name of a
// device, which need not be there.
struct Journey {
  std::string from{kHostPlace}, to{kHostPlace};
  std::string way = {};                   // empty: the first that takes it
  bool locked = false;                    // the device reads the table's memory by itself
  int64_t piece_rows = 0;                 // rows of a piece; 0: all
  std::vector<int64_t> cached_rows = {};  // that the device keeps
};

bool is_device(const std::string& place);

// "in a file", "in host memory", "in memory of device gpu"
std::string lies_in(const std::string& place);

struct WayAnswer {
  std::string_view name;
  std::string refusal;  // empty: it takes the call
};

// What each way says to a gather of rows of `row_bytes`, in the order in which they are asked:
// table_ways() of sheaf/table.h, for devices that are not there too.
std::vector<WayAnswer> ways_of(const Journey& journey, int64_t row_bytes);

// The first that takes the call, or the one that is forced; empty where that refuses.
std::string_view chosen_way(const Journey& journey, int64_t row_bytes);

// "from a file to gpu, by the way file"
std::string journey_text(const Journey& journey, int64_t row_bytes);

}  // namespace sheaf::pictures
