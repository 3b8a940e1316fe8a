// SPDX-License-Identifier: MIT
#include "tables/costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "execution/registry.h"
#include "support/text.h"
#include "support/user_cache.h"

namespace sheaf {
namespace tables {
namespace {

constexpr const char* kTitle = "sheaf table costs 1";
constexpr int64_t kMostFileBytes = 16 << 10;
constexpr size_t kMostSizes = 64;
constexpr double kMostRate = 1e15;  // bytes per second: more is no measurement

struct KnownCosts {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const TableCosts>, std::less<>> devices;
};

KnownCosts& known() {
  static KnownCosts all;
  return all;
}

bool is_rate(double rate) { return std::isfinite(rate) && rate > 0 && rate < kMostRate; }

// One line of the file; false if it is none.
bool read_line(const std::string& line, TableCosts& costs) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word == "machine") {
    std::getline(words >> std::ws, costs.machine);
    return true;
  }
  if (word == "copy") {
    return static_cast<bool>(words >> costs.copy_rate) && is_rate(costs.copy_rate);
  }
  RowRates row;
  const bool read = word == "row" && words >> row.row_bytes >> row.mapped >> row.ring >> row.split;
  const bool ascends = costs.rows.empty() || costs.rows.back().row_bytes < row.row_bytes;
  if (!read || row.row_bytes < 1 || !ascends || !is_rate(row.mapped) || !is_rate(row.ring) ||
      !is_rate(row.split) || costs.rows.size() == kMostSizes) {
    return false;
  }
  costs.rows.push_back(row);
  return true;
}

TableCosts read_costs(std::string_view device) {
  const std::string path = table_costs_file(device);
  const std::optional<std::string> text =
      path.empty() ? std::nullopt : read_user_file(path, kMostFileBytes);
  if (!text) {
    TableCosts none;
    none.device = device;
    none.note = "nothing was measured here";
    return none;
  }
  TableCosts costs = costs_from(*text, device);
  if (!costs.note.empty()) {
    costs.note = cat(path, " ", costs.note);
  }
  return costs;
}

}  // namespace

std::string machine_of(std::string_view device) {
  std::string text = cat(device_description(device), "; ", std::thread::hardware_concurrency(),
                         " threads, ", host_backends().front()->describe());
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::string text_of(const TableCosts& costs) {
  std::ostringstream text;
  text << kTitle << "\nmachine " << costs.machine << "\ncopy " << costs.copy_rate << "\n";
  for (const RowRates& row : costs.rows) {
    text << "row " << row.row_bytes << " " << row.mapped << " " << row.ring << " " << row.split
         << "\n";
  }
  text << "end\n";
  return text.str();
}

TableCosts costs_from(const std::string& text, std::string_view device) {
  TableCosts costs;
  std::istringstream lines(text);
  std::string line;
  bool good = std::getline(lines, line) && line == kTitle;
  while (good && std::getline(lines, line) && line != "end") {
    good = read_line(line, costs);
  }
  TableCosts none;
  none.device = device;
  if (!good || line != "end" || costs.rows.empty()) {
    none.note = "was ignored: it has no costs of tables in it";
    return none;
  }
  if (costs.machine != machine_of(device)) {
    none.note = "was ignored: it was measured on another machine";
    return none;
  }
  costs.device = device;
  return costs;
}

RowRates rates_of(const TableCosts& costs, int64_t row_bytes) {
  if (costs.rows.empty()) {
    return {row_bytes, 0, 0, 0};
  }
  const auto behind = std::ranges::upper_bound(costs.rows, row_bytes, {}, &RowRates::row_bytes);
  if (behind == costs.rows.begin() || behind == costs.rows.end()) {
    const RowRates& end = behind == costs.rows.end() ? costs.rows.back() : costs.rows.front();
    return {row_bytes, end.mapped, end.ring, end.split};
  }
  const RowRates& before = *std::prev(behind);
  const double part =
      std::log(static_cast<double>(row_bytes) / static_cast<double>(before.row_bytes)) /
      std::log(static_cast<double>(behind->row_bytes) / static_cast<double>(before.row_bytes));
  return {row_bytes, std::lerp(before.mapped, behind->mapped, part),
          std::lerp(before.ring, behind->ring, part), std::lerp(before.split, behind->split, part)};
}

std::shared_ptr<const TableCosts> known_costs(std::string_view device) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().devices.find(device);
  if (found != known().devices.end()) {
    return found->second;
  }
  auto costs = std::make_shared<const TableCosts>(read_costs(device));
  return known().devices.emplace(device, std::move(costs)).first->second;
}

void set_known_costs(const TableCosts& costs) {
  const std::lock_guard lock(known().mutex);
  known().devices[costs.device] = std::make_shared<const TableCosts>(costs);
}

void forget_known_costs() {
  const std::lock_guard lock(known().mutex);
  known().devices.clear();
}

}  // namespace tables

std::string table_costs_file(std::string_view device) {
  const std::string folder = user_cache_folder();
  return folder.empty() ? "" : cat(folder, "/tables-", device);
}

TableCosts table_costs(std::string_view device) {
  static_cast<void>(device_backend(device));  // refuses names of none
  return *tables::known_costs(device);
}

}  // namespace sheaf
