// SPDX-License-Identifier: MIT
//
// Embedding rows by number: the example of the README.
// [example readme-gather]
#include <sheaf/sheaf.h>

#include <iostream>
#include <vector>

int main() {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};  // 4 rows of 2
  const std::vector<int64_t> rows = {3, 0, -1};                     // -1 is the last row
  sheaf::Array picked = sheaf::gather(sheaf::view(table, {4, 2}), sheaf::view(rows));
  for (float value : picked.elements<float>()) std::cout << value << ' ';
  std::cout << "\n\n";

  const std::vector<int64_t> wrong = {3, 0, 7};
  try {
    sheaf::gather(sheaf::view(table, {4, 2}), sheaf::view(wrong));
  } catch (const sheaf::IndexError& error) {
    std::cout << error.what() << "\n";
  }
}
// [/example]
