// SPDX-License-Identifier: MIT
//
// Protocol buffers, field by field, from a file. Written by hand: libprotobuf reads a whole message
// into memory, at most 2 GiB, and does not say where in the file a field lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/open_file.h"

namespace sheaf::io {

// The bytes of a file through a window, for many small reads in order.
class WireBytes {
 public:
  explicit WireBytes(const OpenFile& file) : file_(file) {}
  const OpenFile& file() const { return file_; }
  uint8_t at(int64_t offset);

 private:
  const OpenFile& file_;
  std::vector<unsigned char> window_;
  int64_t start_ = 0;
};

struct WireField {
  enum Type { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  int number = 0;
  Type type = kVarint;
  uint64_t value = 0;              // of a number
  int64_t offset = 0, length = 0;  // of bytes, in the file
};

// The fields of one message: [begin, end) of the file.
class Wire {
 public:
  Wire(WireBytes& bytes, int64_t begin, int64_t end) : bytes_(&bytes), at_(begin), end_(end) {}
  Wire(WireBytes& bytes, const WireField& field)
      : Wire(bytes, field.offset, field.offset + field.length) {}

  bool next(WireField& field);  // false at the end; throws on anything malformed
  uint64_t varint();            // the elements of a packed field
  bool done() const { return at_ == end_; }

 private:
  WireBytes* bytes_;
  int64_t at_, end_;
};

// A field that must be bytes, as text of at most 1 MiB.
std::string wire_text(WireBytes& bytes, const WireField& field);

// Appends the numbers of a repeated field, packed or not.
void append_varints(WireBytes& bytes, const WireField& field, std::vector<int64_t>& values);

// The same for floats; and a field that must be one float.
void append_floats(WireBytes& bytes, const WireField& field, std::vector<float>& values);
float wire_float(WireBytes& bytes, const WireField& field);

[[noreturn]] void malformed_wire(const OpenFile& file, const std::string& detail);

// Writing: appends to `out`.
void put_varint(std::string& out, uint64_t value);
void put_number(std::string& out, int field, uint64_t value);
void put_bytes(std::string& out, int field, const std::string& bytes);

}  // namespace sheaf::io
