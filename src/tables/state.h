// SPDX-License-Identifier: MIT
//
// What a table keeps from one call on a queue to the next.
#pragma once

#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "tables/lane.h"

namespace sheaf {

struct TableState {
  // A device, its number among those of its kind, and a stream of it.
  using LaneKey = std::tuple<std::string, int, void*>;

  TableState() = default;
  ~TableState();
  TableState(const TableState&) = delete;
  TableState& operator=(const TableState&) = delete;

  // The lane of a device's queue, made when it is first asked for. Throws if the process is a fork
  // of the one that made lanes: devices do not survive it.
  tables::Lane& lane(const Plan& plan, const Backend& device, const Queue& queue);
  tables::Lane* known_lane(const Backend& device, const Queue& queue);

  // The address by which kernels of `device` read the table's host memory; nothing if they cannot.
  std::optional<const void*> seen_by_device(const Table& table, const Backend& device);

  void add(const TableStats& call);

  TableOptions options;
  std::atomic<uint64_t> forgotten = 0;  // how often cached rows were
  std::mutex mutex;                     // of all below
  std::map<LaneKey, std::unique_ptr<tables::Lane>> lanes;
  pid_t process = 0;  // that made them
  // Host memory that was locked for this table, by device.
  struct Locked {
    const Backend* device = nullptr;  // null: nothing was tried yet
    const void* memory = nullptr;     // null: it could not be locked
  };
  std::map<std::string, Locked, std::less<>> locked;
  TableStats totals;
};

}  // namespace sheaf
