// SPDX-License-Identifier: MIT
#include "io/npy.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "io/file_error.h"
#include "io/source.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

// NumPy's own limit is 10,000; structured types, which are refused anyway, are what makes headers
// long.
constexpr int64_t kMaxNpyHeader = 1 << 16;

struct NpyType {
  const char* code;
  DType type;
};
constexpr NpyType kNpyTypes[] = {
    {"b1", boolean}, {"i1", i8},  {"i2", i16}, {"i4", i32}, {"i8", i64}, {"u1", u8},  {"u2", u16},
    {"u4", u32},     {"u8", u64}, {"f2", f16}, {"f4", f32}, {"f8", f64}, {"c8", c64}, {"c16", c128},
};

// The dictionary's text, read from left to right.
class NpyLiteral {
 public:
  NpyLiteral(const std::string& path, const std::string& name, std::string text)
      : path_(path), name_(name), text_(std::move(text)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    refuse_file(path_, "malformed .npy header",
                cat(name_.empty() ? "" : cat("\"", name_, "\": "), what, " at column ",
                    static_cast<int64_t>(at_)),
                "a file written by numpy.save");
  }
  bool take(char c) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }
  void need(char c) {
    if (!take(c)) {
      refuse(cat("'", std::string(1, c), "' is missing"));
    }
  }
  std::string quoted() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') {
      need('"');
    }
    const size_t end = text_.find(quote, at_);
    if (end == std::string::npos) {
      refuse("a text does not end");
    }
    std::string value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }
  bool word(std::string_view word) {
    skip_space();
    if (text_.compare(at_, word.size(), word) != 0) {
      return false;
    }
    at_ += word.size();
    return true;
  }
  int64_t number() {
    skip_space();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) {
      refuse("a number of 64 bits is missing");
    }
    at_ += static_cast<size_t>(end - begin);
    take('L');  // as Python 2 wrote them
    return value;
  }
  bool at_list() {
    skip_space();
    return at_ < text_.size() && text_[at_] == '[';
  }
  void end() {
    skip_space();
    if (at_ != text_.size()) {
      refuse("something follows the dictionary");
    }
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  const std::string& path_;
  const std::string& name_;
  std::string text_;
  size_t at_ = 0;
};

struct Fields {
  std::optional<std::string> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

std::vector<int64_t> parse_shape(NpyLiteral& text) {
  std::vector<int64_t> shape;
  text.need('(');
  while (!text.take(')')) {
    shape.push_back(text.number());
    if (!text.take(',')) {
      text.need(')');
      break;
    }
  }
  return shape;
}

Fields parse_fields(NpyLiteral& text) {
  Fields fields;
  text.need('{');
  while (!text.take('}')) {
    const std::string key = text.quoted();
    text.need(':');
    if (key == "descr" && !fields.descr) {
      if (text.at_list()) {
        text.refuse("structured elements are not supported");
      }
      fields.descr = text.quoted();
    } else if (key == "fortran_order" && !fields.fortran) {
      fields.fortran = text.word("True");
      if (!*fields.fortran && !text.word("False")) {
        text.refuse("fortran_order is neither True nor False");
      }
    } else if (key == "shape" && !fields.shape) {
      fields.shape = parse_shape(text);
    } else {
      text.refuse(cat("unexpected key \"", key, "\""));
    }
    if (!text.take(',')) {
      text.need('}');
      break;
    }
  }
  text.end();
  if (!fields.descr || !fields.fortran || !fields.shape) {
    text.refuse("descr, fortran_order or shape is missing");
  }
  return fields;
}

DType parse_type(const NpyLiteral& text, const std::string& path, const std::string& descr) {
  const char order = descr.empty() ? '?' : descr[0];
  const std::string code = descr.empty() ? "" : descr.substr(1);
  if (code == "O") {
    refuse_file(path, "Python objects in .npy",
                "its elements are pickled objects, which can run "
                "code when they are loaded",
                "numpy.save of an array of numbers");
  }
  const auto* known = std::find_if(std::begin(kNpyTypes), std::end(kNpyTypes),
                                   [&](const NpyType& type) { return code == type.code; });
  const bool is_known = known != std::end(kNpyTypes);
  if (order == '>' && is_known && known->type.bytes() > 1) {
    refuse_file(path, "big-endian elements", cat("the type is '", descr, "'"),
                cat("numpy.save(path, array.astype('<", code, "'))"));
  }
  if (is_known && (order == '<' || order == '|' || order == '=' || order == '>')) {
    return known->type;
  }
  int64_t bytes = 0;
  if (code.size() > 1 && (code[0] == 'V' || code[0] == 'S')) {
    std::from_chars(code.data() + 1, code.data() + code.size(), bytes);
  }
  if (bytes < 1 || bytes > kMaxElementBytes) {
    text.refuse(cat("type '", descr, "' is not supported"));
  }
  return opaque(bytes);
}

std::string code_of(DType type) {
  for (const NpyType& known : kNpyTypes) {
    if (known.type == type) {
      return cat(type.bytes() == 1 ? "|" : "<", known.code);
    }
  }
  return cat("|V", type.bytes());  // bfloat16 and float8 too: NumPy has no name for them
}

}  // namespace

NpyHeader parse_npy(const std::string& path, const std::string& name, const ReadText& read) {
  const std::string head = read(0, 12);
  if (!head.starts_with("\x93NUMPY")) {
    refuse_file(path, "malformed .npy header", "it does not begin with \\x93NUMPY",
                "a file written by numpy.save");
  }
  const auto byte = [&](size_t i) { return int64_t{static_cast<unsigned char>(head[i])}; };
  const int64_t version = byte(6);
  if (version < 1 || version > 3) {
    refuse_file(path, "malformed .npy header",
                cat("version ", version, " is unknown; there are 1, 2 and 3"),
                "a file written by numpy.save");
  }
  const int64_t start = version == 1 ? 10 : 12;
  const int64_t length =
      byte(8) + (byte(9) << 8) + (version == 1 ? 0 : (byte(10) << 16) + (byte(11) << 24));
  if (length > kMaxNpyHeader) {
    refuse_file(path, "malformed .npy header",
                cat("its header has ", length, " bytes, at most ", kMaxNpyHeader, " are read"),
                "a file written by numpy.save");
  }
  NpyLiteral text(path, name, read(start, length));
  const Fields fields = parse_fields(text);
  NpyHeader header;
  const DType type = parse_type(text, path, *fields.descr);
  header.bytes = checked_bytes(path, name, type, *fields.shape);
  header.spec = TensorSpec(type, checked_sizes(path, name, *fields.shape));
  header.data_offset = start + length;
  if (*fields.fortran) {
    int64_t stride = 1;
    for (int d = 0; d < header.spec.rank(); ++d) {
      header.spec.strides[d] = stride;
      stride *= std::max<int64_t>(header.spec.sizes[d], 1);  // the product has been checked
    }
  }
  return header;
}

std::string npy_header(const TensorSpec& spec) {
  std::string shape;
  for (int d = 0; d < spec.rank(); ++d) {
    shape += cat(d == 0 ? "" : ", ", spec.sizes[d]);
  }
  std::string text =
      cat("{'descr': '", code_of(spec.dtype), "', 'fortran_order': False, 'shape': (", shape,
          spec.rank() == 1 ? ",), }" : "), }");
  constexpr size_t kStart = 10, kAlignment = 64;
  const size_t total = (kStart + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(total - kStart - 1, ' ');
  text += '\n';
  const auto length = static_cast<unsigned>(text.size());
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 0xff);
  header += static_cast<char>(length >> 8);
  return header + text;
}

void read_npy(File::Contents& contents, const FilePointer& file) {
  const NpyHeader header = parse_npy(
      file->path(), "", [&](int64_t offset, int64_t count) { return file->text(offset, count); });
  TableInfo info;
  info.name = "data";
  info.spec = header.spec;
  info.bytes = header.bytes;
  info.offset = header.data_offset;
  add_plain(contents, file, std::move(info));
}

}  // namespace sheaf::io
