// SPDX-License-Identifier: MIT
//
// Adding gradients to the rows of a table that were looked up: the gradient of a gather.
#include <sheaf/sheaf.h>

#include <iostream>
#include <vector>

int main() {
  const std::vector<float> table = {0, 0, 10, 10, 20, 20};  // 3 rows of 2
  const std::vector<int64_t> rows = {2, 0, 2};              // row 2 twice
  const std::vector<float> gradients = {1, 2, 3, 4, 5, 6};  // one row for each index

  // Updates to the same row are added in their order: the same bits on every machine.
  const sheaf::Array sums =
      sheaf::scatter(sheaf::view(table, {3, 2}), sheaf::view(rows), sheaf::view(gradients, {3, 2}),
                     {.reduction = sheaf::Reduction::kAdd});
  for (const float value : sums.elements<float>()) {
    std::cout << value << ' ';
  }
  std::cout << '\n';  // 3 4 10 10 26 28
  return sums.elements<float>()[4] == 26.0F ? 0 : 1;
}
