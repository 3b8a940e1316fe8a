// SPDX-License-Identifier: MIT
//
// A mixture of experts: tokens ordered by expert, and back.
#include <sheaf/sheaf.h>

#include <iostream>
#include <vector>

int main() {
  const std::vector<float> tokens = {1, 10, 2, 20, 3, 30};  // 3 tokens of 2
  const std::vector<int64_t> experts = {2, 0, 2, 1, 0, 2};  // each goes to two experts
  const std::vector<float> weights = {0.5, 0.5, 0.75, 0.25, 0.5, 0.5};
  // [example experts]
  sheaf::MoePermuted sent =
      sheaf::moe_permute(sheaf::view(tokens, {3, 2}), sheaf::view(experts, {3, 2}), {.experts = 4});
  // … expert e works on rows offsets[e] .. offsets[e + 1], in place or into another array
  sheaf::Array back =
      sheaf::moe_unpermute(sent.rows.tensor(), sent.inverse.tensor(), sheaf::view(weights, {3, 2}));
  // [/example]
  std::cout << "experts begin at";
  for (const int64_t offset : sent.offsets.elements<int64_t>()) {
    std::cout << ' ' << offset;
  }
  std::cout << "\ntokens";
  for (const float value : back.elements<float>()) {
    std::cout << ' ' << value;
  }
  std::cout << '\n';
}
