// SPDX-License-Identifier: MIT
//
// Files for tests: a folder that is gone afterwards, and bytes by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sheaf/sheaf.h"

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;
  std::vector<std::string> names() const;  // of all files, hidden ones too

 private:
  std::string folder_;
};

std::string read_all(const std::string& path);

// Numbers, little-endian.
std::string little(uint64_t value, int bytes);
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A .npy of version 1 with this dictionary.
std::string npy(const std::string& dictionary, const std::string& data);

// The text of the FileError that opening and loading every tensor of the file throws; "" if none.
std::string error_of(const std::string& path);

// Whether the library was built with "zlib" or "json"; true for any other name.
bool built_with(const std::string& library);
#define SKIP_WITHOUT(library)                     \
  do {                                            \
    const std::string needed = library;           \
    if (!built_with(needed)) {                    \
      GTEST_SKIP() << "built without " << needed; \
    }                                             \
  } while (false)
