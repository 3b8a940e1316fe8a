// SPDX-License-Identifier: MIT
#include "io/scratch.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "io/inflate.h"
#include "io/json_leaves.h"

Scratch::Scratch() {
  folder_ = testing::TempDir() + "sheaf_io_XXXXXX";
  if (mkdtemp(folder_.data()) == nullptr) {
    std::abort();
  }
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Scratch::write(const std::string& name, const std::string& bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::vector<std::string> Scratch::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += i < 8 ? static_cast<char>(value >> (8 * i)) : '\0';
  }
  return text;
}

std::string npy(const std::string& dictionary, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little(dictionary.size(), 2) + dictionary + data;
}

std::string error_of(const std::string& path) {
  try {
    const sheaf::File file(path);
    for (const sheaf::TableInfo& info : file.tensors()) {
      file.table(info.name).load();
    }
  } catch (const sheaf::FileError& error) {
    return error.what();
  }
  return "";
}

bool built_with(const std::string& library) {
  try {
    if (library == "zlib") {
      sheaf::io::crc32_of(0, "", 0);
    } else if (library == "json") {
      sheaf::io::json_text("");
    }
    return true;
  } catch (const sheaf::FileError&) {
    return false;
  }
}
