// SPDX-License-Identifier: MIT
#include "files/tensor_argument.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include "files/encoded_run.h"
#include "files/loaded.h"
#include "io/own_input.h"
#include "machine/terminal.h"
#include "problem/problem.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

bool exists(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0;
}

[[noreturn]] void refuse(const std::string& what, const std::string& detail,
                         const std::string& next) {
  throw Error(Refusal{.who = "argument", .what = what, .detail = printable(detail), .next = next});
}

bool looks_like_numbers(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789-+.,:; \t\r\ninfaeE") == std::string::npos;
}

// Rows of integers and ranges (0:10, 0:10:2); commas, spaces and tabs separate them, ';' and line
// ends end a row.
class IndexText {
 public:
  // `source` is a file, or standard input; empty: the command line, which has no lines.
  IndexText(const std::string& text, std::string source)
      : text_(text), source_(std::move(source)) {}

  Array read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' || c == ';') {
        end_row();
        line_ += c == '\n' ? 1 : 0;
        ++at_;
      } else if (c == ',' || c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        read_item();
      }
    }
    end_row();
    const bool flat = rows_ <= 1 || columns_ == 1;
    const auto count = std::ssize(values_);
    Array indices(TensorSpec(i64, flat ? Dims{count} : Dims{rows_, columns_}));
    std::copy(values_.begin(), values_.end(), indices.elements<int64_t>().begin());
    return indices;
  }

 private:
  static constexpr int64_t kMostOfRange = int64_t{1} << 30;  // 8 GiB of indices

  [[noreturn]] void fail(const std::string& what, const std::string& detail,
                         const std::string& next) const {
    refuse(what, source_.empty() ? detail : cat("line ", line_, " of ", source_, ": ", detail),
           next);
  }

  // The characters up to the next separator, for an error.
  std::string word_at(size_t begin) const {
    return text_.substr(begin,
                        std::min<size_t>(text_.find_first_of(",; \t\r\n", begin) - begin, 20));
  }

  int64_t number(size_t begin_of_item) {
    at_ += at_ < text_.size() && text_[at_] == '+' ? size_t{1} : 0;
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) {
      const bool first = values_.empty() && !source_.empty();
      fail("not an index", cat("\"", word_at(begin_of_item), "\" is not a 64-bit integer"),
           first ? "a file without a header: tail -n +2 FILE, and - for INDICES"
                 : "integers separated by commas, ranges as in 0:10, or a file");
    }
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  bool take_colon() {
    const bool taken = at_ < text_.size() && text_[at_] == ':';
    at_ += taken ? size_t{1} : 0;
    return taken;
  }

  void read_item() {
    const size_t begin = at_;
    const int64_t first = number(begin);
    if (!take_colon()) {
      values_.push_back(first);
      ++in_row_;
      return;
    }
    const int64_t end = number(begin);
    const int64_t step = take_colon() ? number(begin) : 1;
    add_range(begin, first, end, step);
  }

  // From `first` to before `end`, as Python's range.
  void add_range(size_t begin, int64_t first, int64_t end, int64_t step) {
    if (step == 0) {
      fail("not a range", cat("\"", word_at(begin), "\" has steps of 0"), "0:10 or 0:10:2");
    }
    // In unsigned numbers, which hold the distance of any two.
    const bool up = step > 0;
    const bool empty = up ? first >= end : first <= end;
    const uint64_t from = static_cast<uint64_t>(first), to = static_cast<uint64_t>(end);
    const uint64_t distance = empty ? 0 : up ? to - from : from - to;
    const uint64_t stride = up ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    const uint64_t count = distance / stride + (distance % stride != 0 ? 1 : 0);
    if (count > static_cast<uint64_t>(kMostOfRange)) {
      fail("range too long",
           cat("\"", word_at(begin), "\" has ", count, " indices, more than ", kMostOfRange),
           "a file of indices, or several calls");
    }
    for (uint64_t i = 0; i < count; ++i) {
      values_.push_back(static_cast<int64_t>(from + i * static_cast<uint64_t>(step)));
    }
    in_row_ += static_cast<int64_t>(count);
  }

  void end_row() {
    if (in_row_ == 0) {
      return;
    }
    if (columns_ >= 0 && columns_ != in_row_) {
      fail("rows of different lengths",
           cat("row ", rows_, " has ", in_row_, " numbers, the one before ", columns_),
           "as many numbers in every row");
    }
    columns_ = in_row_;
    ++rows_;
    in_row_ = 0;
  }

  const std::string& text_;
  std::string source_;
  size_t at_ = 0;
  int64_t line_ = 1, rows_ = 0, columns_ = -1, in_row_ = 0;
  std::vector<int64_t> values_;
};

Array parse_indices(const std::string& text, const std::string& source = {}) {
  return IndexText(text, source).read();
}

std::string all_of(std::istream& stream) { return {std::istreambuf_iterator<char>(stream), {}}; }

bool is_text_file(const std::string& path) {
  return (path.ends_with(".csv") || path.ends_with(".txt")) && exists(path);
}

// "f32[1000,64]@128", read by the parser of problem strings.
Table open_described(const std::string& path, const std::string& description) {
  const size_t at = description.rfind('@');
  int64_t offset = 0;
  if (at != std::string::npos) {
    const char* end = description.data() + description.size();
    const auto result = std::from_chars(description.data() + at + 1, end, offset);
    if (result.ec != std::errc() || result.ptr != end) {
      refuse("not an offset", description.substr(at), "FILE:f32[1000,64]@128");
    }
  }
  const std::string spec = description.substr(0, at);
  return open_raw(path, parse_problem(cat("gather ", spec, " i64[0]")).request.data, offset);
}

}  // namespace

TensorName split_name(const std::string& text) {
  if (exists(text)) {
    return {text, ""};
  }
  for (size_t at = text.rfind(':'); at != std::string::npos && at > 0;
       at = text.rfind(':', at - 1)) {
    if (exists(text.substr(0, at))) {
      return {text.substr(0, at), text.substr(at + 1)};
    }
  }
  return {text, ""};  // opening it says that it does not exist
}

Table table_argument(const std::string& text) {
  const auto [path, name] = split_name(text);
  const size_t bracket = name.find('[');
  if (bracket != std::string::npos && bracket > 0 && name.find(']') != std::string::npos) {
    try {
      const File file(path);
      return file.table(name);  // a tensor may have such a name
    } catch (const FileError&) {
      return open_described(path, name);
    }
  }
  return open_table(path, name);
}

Array indices_argument(const std::string& text) {
  if (text == "-") {
    return parse_indices(all_of(std::cin), "standard input");
  }
  if (is_text_file(text)) {
    std::ifstream file(text);
    return parse_indices(all_of(file), text);
  }
  return !exists(text) && looks_like_numbers(text)
             ? parse_indices(text)
             : loaded(plain_table(table_argument(text)), "reading");
}

void refuse_input_argument(const std::string& text, const std::string& output) {
  io::refuse_own_input(split_name(text).path, output);
}

std::optional<FileFormat> format_argument(const std::string& name) {
  for (const FileFormat format : {FileFormat::kNpy, FileFormat::kNpz, FileFormat::kSafetensors,
                                  FileFormat::kOnnx, FileFormat::kRaw}) {
    if (to_string(format) == name) {
      return format;
    }
  }
  return std::nullopt;
}

Array updates_argument(const std::string& text, const TensorSpec& spec) {
  if (exists(text) || !looks_like_numbers(text)) {
    return loaded(plain_table(table_argument(text)), "reading");
  }
  std::string values = text;
  std::replace(values.begin(), values.end(), ';', ',');
  // One number stands for all.
  const int64_t count = element_count(spec.sizes);
  const int64_t given = 1 + std::count(values.begin(), values.end(), ',');
  const bool one = given == 1;
  if (!one && given != count) {
    refuse("wrong number of updates",
           cat("UPDATES holds ", given, " values, but ", spec.str(), " needs ", count),
           cat(counted(count, "value", "values"), ", one value for all of them, or a file"));
  }
  const Problem problem =
      parse_problem(cat("gather ", spec.dtype.name(), "[", given, "]={", values, "} i64[0]"));
  Array updates(TensorSpec(spec.dtype, spec.sizes));
  auto* const elements = static_cast<std::byte*>(updates.tensor().data);
  for (int64_t e = 0; one && e < count; ++e) {
    std::copy(problem.data->begin(), problem.data->end(), elements + e * spec.dtype.bytes());
  }
  if (!one) {
    std::copy(problem.data->begin(), problem.data->end(), elements);
  }
  return updates;
}

}  // namespace sheaf::cli
