// SPDX-License-Identifier: MIT
#include "open_bytes.h"

#include <sheaf/sheaf.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "input.h"

namespace fuzz {
namespace {

// Larger tensors are described, but not read: an input of bytes must not cost seconds.
constexpr int64_t kMaxRead = 1 << 20;

// A folder in memory, where there is one, that goes with the process.
class Folder {
 public:
  Folder() {
    path_ = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    path_ += "/sheaf_fuzz_XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      abort();
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void look_at(const sheaf::File& file, const sheaf::TableInfo& info) {
  if (!info.unsupported.empty() || info.bytes > kMaxRead) {
    return;
  }
  const sheaf::Table table = file.table(info.name);
  table.load();
  if (table.spec().rank() > 0 && table.spec().sizes[0] > 0) {
    const int64_t rows[] = {0, -1, table.spec().sizes[0] / 2, 0};
    try {
      sheaf::gather(table, sheaf::view(rows));
    } catch (const sheaf::FileError&) {
      throw;
    } catch (const sheaf::Error& error) {
      // The file is sound; four rows of it may be more than a tensor can have.
      require(error.refusal().cause.reason == sheaf::Reason::kTooLarge, "a sound file is read");
    }
  }
}

}  // namespace

void open_bytes(const char* name, const uint8_t* bytes, size_t count) {
  static const Folder folder;
  const std::string path = folder.file(name);
  std::FILE* out = std::fopen(path.c_str(), "wb");
  if (out == nullptr) {
    abort();
  }
  std::fwrite(bytes, 1, count, out);
  std::fclose(out);
  try {
    const sheaf::File file(path);
    for (const sheaf::TableInfo& info : file.tensors()) {
      try {
        look_at(file, info);
      } catch (const sheaf::FileError&) {
        // Another tensor of the same file may be whole.
      }
    }
  } catch (const sheaf::FileError&) {
  }
}

}  // namespace fuzz
