// SPDX-License-Identifier: MIT
#include "helpers/scatter_check.h"

#include <algorithm>

#include "helpers/random_problem.h"

void ScatterCheck::run(const std::string& what, const Machine& machine) const {
  ASSERT_FALSE(machine.kernels(plan).empty());
  const auto index_bytes = element_count(plan.indices().sizes) * plan.indices().dtype.bytes();
  bool in_place = false;
  for (const std::string& kernel : machine.kernels(plan)) {
    for (const int threads : machine.threads()) {
      oracle::Bytes output = in_place ? data : oracle::Bytes(expected.size(), std::byte{0xEE});
      const Memory written{output.data(), output};
      machine.run(plan,
                  {in_place ? written : readable(data.data(), data.size()),
                   readable(indices, static_cast<size_t>(index_bytes)), written,
                   readable(updates.data(), updates.size())},
                  {.threads = threads, .kernel = kernel});
      const auto wrong = std::mismatch(output.begin(), output.end(), expected.begin()).first;
      EXPECT_TRUE(wrong == output.end())
          << what << ": " << kernel << " on " << threads << " threads"
          << (in_place ? ", in place" : "") << " differs at byte " << wrong - output.begin() << "\n"
          << plan.str();
      in_place = !in_place;
    }
  }
}

oracle::Bytes random_elements(Rng& rng, sheaf::DType type, int64_t count, bool tame) {
  oracle::Bytes bytes(static_cast<size_t>(count * type.bytes()));
  for (int64_t e = 0; e < count; ++e) {
    write_random_element(rng, type, tame, bytes.data() + e * type.bytes());
  }
  return bytes;
}

std::vector<int64_t> row_targets(const std::vector<int64_t>& rows, int64_t row_elements) {
  std::vector<int64_t> targets;
  targets.reserve(rows.size() * static_cast<size_t>(row_elements));
  for (const int64_t row : rows) {
    for (int64_t e = 0; e < row_elements; ++e) {
      targets.push_back(row < 0 ? -1 : row * row_elements + e);
    }
  }
  return targets;
}
