// SPDX-License-Identifier: MIT
//
// A table of numbers, and calls on it whose indices and output are on the device.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "helpers/rng.h"
#include "sheaf/sheaf.h"
#include "tables/table_device.h"

inline constexpr int64_t kRows = 1000, kColumns = 16;  // 64 bytes each

// Indices and output in memory of the device, and what came out.
struct DeviceCall {
  std::vector<int64_t> ids;
  sheaf::Plan plan;
  sheaf::DeviceMemory indices, output;

  DeviceCall(const sheaf::Table& table, std::vector<int64_t> rows,
             const sheaf::GatherOptions& options = {})
      : ids(std::move(rows)),
        plan(sheaf::plan_gather(table.spec(), sheaf::view(ids).spec, options)),
        indices(table_device(), ids.size() * 8),
        output(table_device(), bytes()) {
    indices.upload(ids.data(), ids.size() * 8);
    output.fill(std::byte{0xEE}, bytes());
  }
  size_t bytes() const {
    return static_cast<size_t>(sheaf::element_count(plan.output().sizes) *
                               plan.output().dtype.bytes());
  }
  void start(const sheaf::Table& table, void* stream = nullptr) const {
    sheaf::run(plan, table, indices.data(), output.data(), queue(stream));
  }
  static sheaf::Queue queue(void* stream = nullptr) {
    return {.device = table_device(), .stream = stream};
  }
  std::string result() const {
    std::string text(bytes(), '\0');
    output.download(text.data(), bytes());
    return text;
  }
};

inline std::string expected(const std::vector<int32_t>& table, const DeviceCall& call) {
  std::string result(call.bytes(), '\0');
  call.plan.run(table.data(), call.ids.data(), result.data());
  return result;
}

class Tables : public TableTest {
 protected:
  sheaf::Table host(const sheaf::TableOptions& options = {}) const {
    return sheaf::Table::host(sheaf::view(values_, {kRows, kColumns}), nullptr).with(options);
  }
  void expect_rows(const sheaf::Table& table, const std::vector<int64_t>& ids,
                   const sheaf::GatherOptions& options = {}) const {
    const DeviceCall call(table, ids, options);
    call.start(table);
    sheaf::finish(call.plan, table, call.queue());
    EXPECT_EQ(call.result(), expected(values_, call));
  }
  static std::vector<int64_t> zipf(int64_t count) {
    Rng rng(11);
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < count; ++i) {
      const double u = static_cast<double>(rng.from(1, 1 << 20)) / (1 << 20);
      ids.push_back(std::min<int64_t>(kRows - 1, static_cast<int64_t>(std::pow(u, -1.2)) - 1));
    }
    return ids;
  }

  static std::vector<int32_t> numbers() {
    std::vector<int32_t> values(static_cast<size_t>(kRows * kColumns));
    std::iota(values.begin(), values.end(), 0);
    return values;
  }

  std::vector<int32_t> values_ = numbers();
};
