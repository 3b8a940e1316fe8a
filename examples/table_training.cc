// SPDX-License-Identifier: MIT
//
// A recommender's table is trained where it lies, in host memory: each step gathers the rows of its
// ids, and scatters what is to be added to them. Ids repeat; updates of one row are added in order.
#include <sheaf/sheaf.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int64_t kItems = 1000, kWidth = 16;

// Every element of the rows that are asked for is to become 1.
std::vector<float> steps_to_one(const std::vector<float>& rows) {
  std::vector<float> steps;
  for (const float value : rows) {
    steps.push_back(0.1F * (1 - value));
  }
  return steps;
}

}  // namespace

int main() {
  std::vector<float> memory(kItems * kWidth, 0);
  const std::vector<int64_t> ids = {3, 17, 3, 999};
  std::vector<float> rows(ids.size() * kWidth);
  // [example tables-scatter]
  const sheaf::Table table =
      sheaf::Table::host_writable(sheaf::view(memory, {kItems, kWidth}), nullptr);
  const sheaf::TensorSpec batch(sheaf::f32, {std::ssize(ids), kWidth});
  const sheaf::Plan look_up = sheaf::plan_gather(table.spec(), sheaf::view(ids).spec);
  const sheaf::Plan add = sheaf::plan_scatter(table.spec(), sheaf::view(ids).spec, batch,
                                              {.reduction = sheaf::Reduction::kAdd});
  for (int step = 0; step < 50; ++step) {
    sheaf::run(look_up, table, ids.data(), rows.data(), {});
    sheaf::run_scatter(add, table, ids.data(), steps_to_one(rows).data(), {});
  }
  // [/example]
  bool good = memory[0] == 0;
  for (const int64_t id : ids) {
    good = good && std::abs(memory[static_cast<size_t>(id * kWidth)] - 1) < 0.01F;
  }
  std::printf("%lld rows were updated\n",
              static_cast<long long>(sheaf::stats(table).rows_scattered));
  return good ? 0 : 1;
}
