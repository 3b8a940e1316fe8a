// SPDX-License-Identifier: MIT
//
// Models for tests, byte by byte; the field numbers are those of onnx.proto.
#pragma once

#include <string>
#include <vector>

#include "io/wire.h"

inline std::string field(int number, const std::string& bytes) {
  std::string out;
  sheaf::io::put_bytes(out, number, bytes);
  return out;
}
inline std::string field(int number, uint64_t value) {
  std::string out;
  sheaf::io::put_number(out, number, value);
  return out;
}

inline std::string node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::string& output, const std::string& attributes = "") {
  std::string text;
  for (const std::string& input : inputs) {
    text += field(1, input);
  }
  return field(1, text + field(2, output) + field(3, "n_" + type) + field(4, type) + attributes);
}

inline std::string tensor(const std::string& name, uint64_t type, uint64_t size,
                          const std::string& raw) {
  return field(1, size) + field(2, type) + field(8, name) + field(9, raw);
}

// Attributes of a node.
inline std::string number(const std::string& name, int64_t value) {
  return field(5, field(1, name) + field(3, static_cast<uint64_t>(value)));
}
inline std::string text(const std::string& name, const std::string& value) {
  return field(5, field(1, name) + field(4, value));
}
inline std::string numbers(const std::string& name, const std::vector<int64_t>& values) {
  std::string list;
  for (const int64_t value : values) {
    list += field(8, static_cast<uint64_t>(value));
  }
  return field(5, field(1, name) + list);
}

// A node whose output is a list of integers.
inline std::string list_node(const std::string& output, const std::vector<int64_t>& values) {
  return node("Constant", {}, output, numbers("value_ints", values));
}
