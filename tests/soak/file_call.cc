// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "calls.h"
#include "sheaf/io.h"
#include "sheaf/sheaf.h"

namespace {

// A folder that goes with the process.
class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() / ("sheaf_soak_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(uint64_t number, const char* suffix) const {
    return path_ / (std::to_string(number) + suffix);
  }

 private:
  std::filesystem::path path_;
};

template <class T>
bool equal(const sheaf::Array& a, const std::vector<T>& b) {
  const auto elements = a.elements<T>();
  return std::equal(elements.begin(), elements.end(), b.begin(), b.end());
}

}  // namespace

int file_call(Rng& rng) {
  if (!rng.one_in(8)) {
    return 0;  // a file costs as much as hundreds of other calls
  }
  static const Scratch scratch;
  const int64_t rows = rng.from(1, 300), columns = rng.from(1, 20), count = rng.from(0, 60);
  std::vector<float> table(static_cast<size_t>(rows * columns));
  for (float& element : table) {
    element = static_cast<float>(rng.from(-50, 50));
  }
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t& index : indices) {
    index = rng.from(-rows, rows - 1);
  }
  const std::vector<float> updates(static_cast<size_t>(count * columns), 2);
  const auto ids = sheaf::view(indices);
  const auto memory = sheaf::view(table, {rows, columns});
  const std::string path = scratch.file(rng.next(), rng.one_in(2) ? ".npy" : ".safetensors");
  sheaf::save(path, "table", memory);
  std::vector<float> expected(static_cast<size_t>(count * columns));
  sheaf::gather(memory, ids, sheaf::view(expected, {count, columns}));
  bool right = equal(sheaf::gather(sheaf::open_table(path), ids), expected);

  const sheaf::ScatterOptions add{.reduction = sheaf::Reduction::kAdd};
  const auto rows_to_add = sheaf::view(updates, {count, columns});
  sheaf::scatter(sheaf::open_table(path), ids, rows_to_add, add);
  sheaf::scatter(memory, ids, rows_to_add, memory, add);
  std::vector<int64_t> all(static_cast<size_t>(rows));
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<int64_t>(i);
  }
  right = right && equal(sheaf::gather(sheaf::open_table(path), sheaf::view(all)), table);
  std::filesystem::remove(path);
  return right ? 3 : -1;
}
