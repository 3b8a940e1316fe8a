// SPDX-License-Identifier: MIT
//
// A language model's embeddings stay in their file; each step fetches the rows of its tokens to the
// device, and those that come often stay there. Without a device, the same calls run on the host.
#include <sheaf/sheaf.h>

#include <cstdio>
#include <filesystem>
#include <numeric>

namespace {

// A file as a model would have it: row r holds the numbers from 64 r on.
std::string write_model() {
  std::vector<float> weights(1000 * 64);
  std::iota(weights.begin(), weights.end(), 0.0F);
  const std::string path = (std::filesystem::temp_directory_path() / "sheaf_example.npy").string();
  sheaf::save(path, "embed", sheaf::view(weights, {1000, 64}));
  return path;
}

std::string first_device() {
  for (const std::string& name : sheaf::device_names()) {
    if (sheaf::device_available(name)) {
      return name;
    }
  }
  return {};
}

std::vector<float> on_host(const sheaf::Table& table, const std::vector<int64_t>& ids) {
  const sheaf::Plan plan = sheaf::plan_gather(table.spec(), sheaf::view(ids).spec);
  std::vector<float> rows(ids.size() * 64);
  sheaf::run(plan, table, ids.data(), rows.data(), {.threads = 2});
  return rows;
}

std::vector<float> on_device(const sheaf::Table& table, const std::vector<int64_t>& ids,
                             std::string_view device) {
  // [example tables-cpp]
  const sheaf::Queue queue{.device = device};
  const sheaf::Plan plan = sheaf::plan_gather(table.spec(), sheaf::view(ids).spec);
  sheaf::DeviceMemory indices(device, ids.size() * sizeof(int64_t));
  const sheaf::DeviceMemory rows(device, ids.size() * 64 * sizeof(float));
  indices.upload(ids.data(), indices.bytes());
  sheaf::run(plan, table, indices.data(), rows.data(), queue);  // waits for indices, not for rows
  sheaf::finish(plan, table, queue);
  // [/example]
  std::vector<float> result(ids.size() * 64);
  rows.download(result.data(), rows.bytes());
  return result;
}

}  // namespace

int main() {
  const std::string path = write_model();
  // [example tables-open]
  const sheaf::Table table = sheaf::open_table(path).with({.cache_bytes = 1 << 20});
  // [/example]
  const std::string device = first_device();
  bool good = true;
  for (const std::vector<int64_t>& ids :
       {std::vector<int64_t>{17, 3, 17, 999}, std::vector<int64_t>{3, 17, 4}}) {
    const std::vector<float> rows =
        device.empty() ? on_host(table, ids) : on_device(table, ids, device);
    for (size_t i = 0; i < ids.size(); ++i) {
      good = good && rows[i * 64 + 1] == static_cast<float>(ids[i] * 64 + 1);
    }
  }
  const sheaf::TableStats stats = sheaf::stats(table);
  std::printf("by the way \"%s\": %lld rows, %lld of them from the cache\n", stats.way.c_str(),
              static_cast<long long>(stats.rows), static_cast<long long>(stats.cache_hits));
  std::filesystem::remove(path);
  return good ? 0 : 1;
}
