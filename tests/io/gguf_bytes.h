// SPDX-License-Identifier: MIT
//
// .gguf files by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/scratch.h"

inline std::string gguf_text(const std::string& text) { return little(text.size(), 8) + text; }

inline std::string gguf_pair(const std::string& key, uint32_t type, const std::string& value) {
  return gguf_text(key) + little(type, 4) + value;
}

// `ne` as it stands in the file: the innermost size first.
inline std::string gguf_tensor(const std::string& name, const std::vector<uint64_t>& ne,
                               uint32_t type, uint64_t offset) {
  std::string out = gguf_text(name) + little(ne.size(), 4);
  for (const uint64_t size : ne) {
    out += little(size, 8);
  }
  return out + little(type, 4) + little(offset, 8);
}

struct GgufParts {
  std::vector<std::string> pairs, tensors;
  std::string data;
  uint32_t version = 3;
  size_t alignment = 32;
};

inline std::string gguf_file(const GgufParts& parts) {
  std::string out = "GGUF" + little(parts.version, 4) + little(parts.tensors.size(), 8) +
                    little(parts.pairs.size(), 8);
  for (const std::string& pair : parts.pairs) {
    out += pair;
  }
  for (const std::string& tensor : parts.tensors) {
    out += tensor;
  }
  out.resize((out.size() + parts.alignment - 1) / parts.alignment * parts.alignment);
  return out + parts.data;
}

// Numbers of types.
inline constexpr uint32_t kGgufF32 = 0, kGgufQ8_0 = 8, kGgufQ4K = 12, kGgufI32 = 26;
