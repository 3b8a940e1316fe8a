// SPDX-License-Identifier: MIT
#include "io/wire.h"

#include <algorithm>
#include <bit>

#include "io/file_error.h"
#include "support/text.h"
#include "support/utf8.h"

namespace sheaf::io {
namespace {
constexpr int64_t kWindow = 1 << 14;
constexpr int64_t kMaxText = 1 << 20;
}  // namespace

void malformed_wire(const OpenFile& file, const std::string& detail) {
  refuse_file(file.path(), "malformed .onnx", detail, "a file that onnx.checker accepts");
}

uint8_t WireBytes::at(int64_t offset) {
  if (offset < start_ || offset >= start_ + std::ssize(window_)) {
    window_.resize(static_cast<size_t>(std::min(kWindow, file_.size() - offset)));
    file_.read(offset, window_.data(), std::ssize(window_));
    start_ = offset;
  }
  return window_[static_cast<size_t>(offset - start_)];
}

uint64_t Wire::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ >= end_) {
      malformed_wire(bytes_->file(), cat("a number is cut short at ", at_));
    }
    const uint8_t byte = bytes_->at(at_++);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  malformed_wire(bytes_->file(), cat("a number has more than 64 bits at ", at_));
}

bool Wire::next(WireField& field) {
  if (at_ >= end_) {
    return false;
  }
  const uint64_t tag = varint();
  field.number = static_cast<int>(tag >> 3 & 0x1fffffff);
  field.type = static_cast<WireField::Type>(tag & 7);
  const auto need = [&](uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(end_ - at_)) {
      malformed_wire(bytes_->file(), cat("field ", field.number, " has ", bytes, " bytes at ", at_,
                                         ", but its message ends at ", end_));
    }
  };
  switch (field.type) {
    case WireField::kVarint: field.value = varint(); return true;
    case WireField::kBytes: {
      const uint64_t length = varint();
      need(length);
      field.offset = at_;
      field.length = static_cast<int64_t>(length);
      at_ += field.length;
      return true;
    }
    case WireField::kFixed64:
    case WireField::kFixed32: {
      const int count = field.type == WireField::kFixed64 ? 8 : 4;
      need(static_cast<uint64_t>(count));
      field.value = 0;
      for (int i = 0; i < count; ++i) {
        field.value |= uint64_t{bytes_->at(at_++)} << (8 * i);
      }
      return true;
    }
  }
  malformed_wire(bytes_->file(), cat("unknown kind of field at ", at_));
}

std::string wire_text(WireBytes& bytes, const WireField& field) {
  if (field.type != WireField::kBytes || field.length > kMaxText) {
    malformed_wire(bytes.file(),
                   cat("field ", field.number, " is not a text of at most ", kMaxText, " bytes"));
  }
  std::string text = bytes.file().text(field.offset, field.length);
  if (!is_utf8(text)) {
    malformed_wire(bytes.file(), cat("field ", field.number, " is not UTF-8: \"", text, "\""));
  }
  return text;
}

void append_varints(WireBytes& bytes, const WireField& field, std::vector<int64_t>& values) {
  if (field.type == WireField::kVarint) {
    values.push_back(static_cast<int64_t>(field.value));
  } else if (field.type == WireField::kBytes) {
    for (Wire packed(bytes, field); !packed.done();) {
      values.push_back(static_cast<int64_t>(packed.varint()));
    }
  } else {
    malformed_wire(bytes.file(), cat("field ", field.number, " is not a list of integers"));
  }
}

float wire_float(WireBytes& bytes, const WireField& field) {
  if (field.type != WireField::kFixed32) {
    malformed_wire(bytes.file(), cat("field ", field.number, " is not a float"));
  }
  return std::bit_cast<float>(static_cast<uint32_t>(field.value));
}

void append_floats(WireBytes& bytes, const WireField& field, std::vector<float>& values) {
  if (field.type != WireField::kBytes) {
    return values.push_back(wire_float(bytes, field));
  }
  if (field.length % 4 != 0) {
    malformed_wire(bytes.file(), cat("field ", field.number, " is not a list of floats"));
  }
  for (int64_t at = field.offset; at < field.offset + field.length; at += 4) {
    uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) {
      bits |= uint32_t{bytes.at(at + i)} << (8 * i);
    }
    values.push_back(std::bit_cast<float>(bits));
  }
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}

void put_number(std::string& out, int field, uint64_t value) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | WireField::kVarint);
  put_varint(out, value);
}

void put_bytes(std::string& out, int field, const std::string& bytes) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | WireField::kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

}  // namespace sheaf::io
