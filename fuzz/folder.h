// SPDX-License-Identifier: MIT
//
// Files for a fuzz target: a folder in memory, where there is one, that is gone afterwards.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace fuzz {

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
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Empty if there is no such file.
inline std::string read_file(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  std::string text(error ? 0 : bytes, '\0');
  std::ifstream(path, std::ios::binary)
      .read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

}  // namespace fuzz
