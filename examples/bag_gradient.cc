// SPDX-License-Identifier: MIT
//
// The gradient of embedding rows that were summed: the rows that take part, each once.
#include <sheaf/sheaf.h>

#include <iostream>
#include <vector>

int main() {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};  // 4 rows of 2
  const std::vector<int64_t> ids = {3, 0, 3, 2};
  const std::vector<int64_t> offsets = {0, 1};        // a bag of one row, a bag of three
  const std::vector<float> gradient = {1, 2, 6, 12};  // of the two means
  // [example bag-gradient]
  const sheaf::BagTensors tensors = {sheaf::view(table, {4, 2}), sheaf::view(ids),
                                     sheaf::view(offsets), std::nullopt};
  const sheaf::BagRowGradient rows =
      sheaf::bag_row_gradient(tensors, sheaf::view(gradient, {2, 2}), {.pool = sheaf::Pool::kMean});
  // [/example]
  const auto values = rows.values.elements<float>();
  size_t at = 0;
  for (const int64_t row : rows.rows.elements<int64_t>()) {
    std::cout << "row " << row << ": " << values[at] << ' ' << values[at + 1] << '\n';
    at += 2;
  }
}
