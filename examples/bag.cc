// SPDX-License-Identifier: MIT
//
// Sums of embedding rows, from a plain table and from one of int8 rows.
#include <sheaf/sheaf.h>

#include <cstring>
#include <iostream>
#include <vector>

namespace {

void print(const sheaf::Array& array) {
  for (const float value : array.elements<float>()) {
    std::cout << value << ' ';
  }
  std::cout << '\n';
}

}  // namespace

int main() {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};  // 4 rows of 2
  const std::vector<int64_t> ids = {3, 0, 1, 2};
  const std::vector<int64_t> offsets = {0, 1};  // a bag of one row, a bag of three
  // [example bag]
  sheaf::Array sums = sheaf::bag(
      {sheaf::view(table, {4, 2}), sheaf::view(ids), sheaf::view(offsets), std::nullopt});
  // [/example]
  print(sums);  // 30 31 30 33

  // [example bag-weighted]
  const std::vector<float> weights = {0.5, 1, 2, 3};
  sheaf::Array means = sheaf::bag(
      {sheaf::view(table, {4, 2}), sheaf::view(ids), sheaf::view(offsets), sheaf::view(weights)},
      {.pool = sheaf::Pool::kMean});
  // [/example]
  print(means);  // 15 15.5 26.6667 28.6667

  // [example bag-int8]
  const sheaf::EncodedSpec int8 = sheaf::encoded_rows(sheaf::Encoding::kRowU8F32, {2, 4});
  std::vector<std::byte> stored(2 * 12);  // per row: 4 codes, an f32 scale and an f32 bias
  // [/example]
  const float scale_and_bias[] = {0.5F, -1.0F};
  for (size_t row = 0; row < 2; ++row) {
    for (size_t code = 0; code < 4; ++code) {
      stored[row * 12 + code] = static_cast<std::byte>(4 * row + code);
    }
    std::memcpy(&stored[row * 12 + 4], scale_and_bias, sizeof scale_and_bias);
  }
  const std::vector<int64_t> rows = {1, 0, 1};
  // [example encoded-gather]
  const sheaf::Encoded encoded(int8, stored.data());
  sheaf::Array decoded = sheaf::gather_encoded(encoded, sheaf::view(rows));
  // [/example]
  print(decoded);  // 1 1.5 2 2.5 -1 -0.5 0 0.5 1 1.5 2 2.5
}
