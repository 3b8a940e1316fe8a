// SPDX-License-Identifier: MIT
#include "tensor_argument.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "io/own_input.h"
#include "problem/problem.h"
#include "support/text.h"
#include "terminal.h"

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
         text.find_first_not_of("0123456789-+.,; \t\r\ninfaeE") == std::string::npos;
}

// Rows of integers; commas, spaces and tabs separate them, ';' and line ends end a row.
Array parse_indices(const std::string& text) {
  std::vector<int64_t> values;
  int64_t rows = 0, columns = -1, in_row = 0;
  const auto end_row = [&] {
    if (in_row > 0) {
      if (columns >= 0 && columns != in_row) {
        refuse("rows of different lengths",
               cat("row ", rows, " has ", in_row, " numbers, the one before ", columns),
               "as many numbers in every row");
      }
      columns = in_row;
      ++rows;
      in_row = 0;
    }
  };
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n' || c == ';') {
      end_row();
      ++at;
    } else if (c == ',' || c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else {
      int64_t value = 0;
      const char* begin = text.data() + at + (c == '+' ? 1 : 0);
      const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
      if (error != std::errc()) {
        refuse("not an index", cat("\"", text.substr(at, 20), "\" is not a 64-bit integer"),
               "integers separated by commas, or a file");
      }
      values.push_back(value);
      ++in_row;
      at = static_cast<size_t>(end - text.data());
    }
  }
  end_row();
  const auto count = std::ssize(values);
  const bool flat = rows <= 1 || columns == 1;
  Array indices(TensorSpec(i64, flat ? Dims{count} : Dims{rows, columns}));
  std::copy(values.begin(), values.end(), indices.elements<int64_t>().begin());
  return indices;
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
    return parse_indices(all_of(std::cin));
  }
  if (is_text_file(text)) {
    std::ifstream file(text);
    return parse_indices(all_of(file));
  }
  return !exists(text) && looks_like_numbers(text) ? parse_indices(text)
                                                   : table_argument(text).load();
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
    return table_argument(text).load();
  }
  std::string sizes, values = text;
  for (const int64_t size : spec.sizes) {
    sizes += cat(sizes.empty() ? "" : ",", size);
  }
  std::replace(values.begin(), values.end(), ';', ',');
  const Problem problem =
      parse_problem(cat("gather ", spec.dtype.name(), "[", sizes, "]={", values, "} i64[0]"));
  Array updates(TensorSpec(spec.dtype, spec.sizes));
  std::memcpy(updates.tensor().data, problem.data->data(), problem.data->size());
  return updates;
}

}  // namespace sheaf::cli
