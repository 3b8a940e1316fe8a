// SPDX-License-Identifier: MIT
//
// sheaf inspect: which tensors a file holds, and where; sheaf head: the first rows of one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "command.h"
#include "files/encoded_run.h"
#include "files/loaded.h"
#include "files/tensor_argument.h"
#include "options.h"
#include "pictures/element_text.h"
#include "plan/decode.h"
#include "sheaf/sheaf.h"
#include "support/float_bits.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

struct TensorStats {
  int64_t count = 0, nans = 0;
  double min = 0, max = 0, mean = 0;  // of what is not NaN; 0 if there is nothing else
};

constexpr int64_t kPiece = int64_t{4} << 20;

template <class T>
T load_number(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

struct Running {
  TensorStats stats;
  double sum = 0, lost = 0;  // Kahan's: a mean of a billion floats has all its digits

  void add(double value) {
    ++stats.count;
    if (std::isnan(value)) {
      ++stats.nans;
      return;
    }
    const bool first = stats.count - stats.nans == 1;
    stats.min = first ? value : std::min(stats.min, value);
    stats.max = first ? value : std::max(stats.max, value);
    const double next = value - lost;
    const double total = sum + next;
    lost = std::isfinite(total) ? (total - sum) - next : 0;
    sum = total;
  }
  TensorStats done() {
    const int64_t numbers = stats.count - stats.nans;
    stats.mean = numbers > 0 ? sum / static_cast<double>(numbers) : 0;
    return stats;
  }
};

// A number as double: the nearest, for 64-bit integers.
double element_value(DType type, const std::byte* element) {
  switch (type.kind()) {
    case Kind::kBool:
    case Kind::kUInt8: return load_number<uint8_t>(element);
    case Kind::kInt8: return load_number<int8_t>(element);
    case Kind::kInt16: return load_number<int16_t>(element);
    case Kind::kInt32: return load_number<int32_t>(element);
    case Kind::kInt64: return static_cast<double>(load_number<int64_t>(element));
    case Kind::kUInt16: return load_number<uint16_t>(element);
    case Kind::kUInt32: return load_number<uint32_t>(element);
    case Kind::kUInt64: return static_cast<double>(load_number<uint64_t>(element));
    case Kind::kFloat8E4M3: return from_float_bits(kFormatF8E4M3, load_number<uint8_t>(element));
    case Kind::kFloat8E5M2: return from_float_bits(kFormatF8E5M2, load_number<uint8_t>(element));
    case Kind::kFloat16: return from_float_bits(kFormatF16, load_number<uint16_t>(element));
    case Kind::kBFloat16: return from_float_bits(kFormatBF16, load_number<uint16_t>(element));
    case Kind::kFloat32: return static_cast<double>(load_number<float>(element));
    case Kind::kFloat64: return load_number<double>(element);
    case Kind::kInt4: return signed_code<4>(load_number<uint8_t>(element) & 15U);
    case Kind::kUInt4: return load_number<uint8_t>(element) & 15U;
    case Kind::kInt2: return signed_code<2>(load_number<uint8_t>(element) & 3U);
    case Kind::kUInt2: return load_number<uint8_t>(element) & 3U;
    default: break;
  }
  throw Error(Refusal{.cause = {.reason = Reason::kType},
                      .who = "inspect",
                      .what = "no statistics",
                      .detail = cat("elements of type ", type.name(), " have no order"),
                      .next = "a tensor of numbers"});
}

// Rows of an encoded tensor, decoded a piece at a time.
TensorStats stats_of_encoded(const Table& table) {
  Running running;
  const Dims& sizes = table.info().encoded.sizes;
  const int64_t row = element_count(sizes) == 0 ? 0 : sizes.back();
  const int64_t rows = row == 0 ? 0 : element_count(sizes) / row;
  TableInfo flat = table.info();  // the same bytes as a matrix
  flat.encoded = encoded_rows(flat.encoded.encoding, {rows, row});
  flat.spec = flat.encoded.stored;
  const Table matrix(flat, table.source());
  const int64_t step = std::max<int64_t>(kPiece / 4 / std::max<int64_t>(row, 1), 1);
  const int64_t row_bytes = rows == 0 ? 0 : table.info().bytes / rows;
  Progress bar("reading", table.info().bytes, Progress::kBytes);
  for (int64_t first = 0; first < rows; first += step) {
    bar.at(first * row_bytes);
    std::vector<int64_t> ids(static_cast<size_t>(std::min(step, rows - first)));
    std::iota(ids.begin(), ids.end(), first);
    const Array decoded = gather_encoded(matrix, view(ids));
    for (const float value : decoded.elements<float>()) {
      running.add(static_cast<double>(value));
    }
  }
  return running.done();
}

// Reads the tensor once, in pieces where its storage allows it. Complex and opaque elements are
// refused: they have no order.
TensorStats stats_of(const Table& table) {
  if (table.info().encoded.encoding != Encoding::kPlain) {
    return stats_of_encoded(table);
  }
  Running running;
  const DType type = table.spec().dtype;
  const auto add = [&](const std::byte* bytes, int64_t count) {
    for (int64_t at = 0; at < count; at += type.bytes()) {
      running.add(element_value(type, bytes + at));
    }
  };
  const int64_t bytes = table.info().bytes;
  if (table.info().storage != "plain") {  // from front to back only
    const Array all = loaded(table, "reading");
    add(static_cast<const std::byte*>(all.tensor().data), bytes);
    return running.done();
  }
  std::vector<std::byte> piece(static_cast<size_t>(kPiece / type.bytes() * type.bytes()));
  Progress bar("reading", bytes, Progress::kBytes);
  for (int64_t at = 0; at < bytes;) {
    bar.at(at);
    const int64_t count = std::min(std::ssize(piece), bytes - at);
    table.read(at, piece.data(), count);
    add(piece.data(), count);
    at += count;
  }
  return running.done();
}

struct InspectOptions {
  std::string tensor;
  int64_t rows = 5;
  bool stats = false, json = false;
  ColorChoice color = ColorChoice::kAuto;
};

std::string order_of(const TensorSpec& spec) {
  return spec == TensorSpec(spec.dtype, spec.sizes) ? "C" : "Fortran";
}

nlohmann::ordered_json stats_json(const TensorStats& stats) {
  return {{"count", stats.count},
          {"nan", stats.nans},
          {"min", stats.min},
          {"max", stats.max},
          {"mean", stats.mean}};
}

// Of an encoded tensor: its encoding, and the sizes that it has when it is decoded.
std::string type_name(const TableInfo& info) {
  return is_encoded(info) ? std::string(to_string(info.encoded.encoding)) : info.spec.dtype.name();
}
const Dims& sizes_of(const TableInfo& info) {
  return is_encoded(info) ? info.encoded.sizes : info.spec.sizes;
}

nlohmann::ordered_json info_json(const TableInfo& info) {
  nlohmann::ordered_json json = {
      {"name", info.name},
      {"dtype", type_name(info)},
      {"shape", std::vector<int64_t>(sizes_of(info).begin(), sizes_of(info).end())},
      {"bytes", info.bytes},
      {"offset", info.offset},
      {"order", order_of(info.spec)},
      {"storage", info.storage},
      {"path", info.path}};
  if (!info.unsupported.empty()) {
    json["unsupported"] = info.unsupported;
  }
  return json;
}

// Columns as wide as their widest text; all but the first are numbers or short words.
void print_table(const std::vector<std::vector<std::string>>& rows, const pictures::Style& style) {
  std::vector<int> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], text_width(row[c]));
    }
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const std::string gap(static_cast<size_t>(widths[c] - text_width(rows[r][c])), ' ');
      const bool right = c == 3 || c == 4;
      line += cat(c == 0 ? "" : "  ", right ? cat(gap, rows[r][c]) : cat(rows[r][c], gap));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::cout << (r == 0 ? pictures::paint(style, pictures::kFaint, line) : line) << "\n";
  }
}

void print_stats(const TensorStats& stats) {
  std::cout << "count " << grouped(stats.count) << "   NaN " << grouped(stats.nans) << "   min "
            << stats.min << "   max " << stats.max << "   mean " << stats.mean << "\n";
}

int inspect_one(const InspectOptions& options, const Table& table) {
  nlohmann::ordered_json json = info_json(table.info());
  if (options.stats) {
    const TensorStats stats = stats_of(table);
    if (!options.json) {
      std::cout << printable(table.info().name) << "  " << described(table.info()) << "\n";
      print_stats(stats);
      return kSuccess;
    }
    json["stats"] = stats_json(stats);
  }
  if (options.json) {
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cout << printable(table.info().name) << "  " << described(table.info()) << "  "
              << grouped(table.info().bytes) << " bytes at " << grouped(table.info().offset) << "  "
              << order_of(table.spec()) << "  " << table.info().storage << "\n";
  }
  return kSuccess;
}

int inspect(const InspectOptions& options) {
  const auto [path, name] = split_name(options.tensor);
  if (!name.empty()) {
    return inspect_one(options, table_argument(options.tensor));
  }
  const File file(path);
  if (options.stats) {
    return inspect_one(options, file.table());
  }
  if (options.json) {
    nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
    for (const TableInfo& info : file.tensors()) {
      tensors.push_back(info_json(info));
    }
    const nlohmann::ordered_json json = {
        {"format", to_string(file.format())}, {"metadata", file.metadata()}, {"tensors", tensors}};
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return kSuccess;
  }
  std::vector<std::vector<std::string>> rows = {
      {"name", "type", "shape", "bytes", "offset", "order", ""}};
  for (const TableInfo& info : file.tensors()) {
    const bool known = info.unsupported.empty();
    rows.push_back({printable(info.name), known ? type_name(info) : "?",
                    known ? bracketed(sizes_of(info)) : "", grouped(info.bytes),
                    grouped(info.offset), known ? order_of(info.spec) : "",
                    known ? (info.storage == "plain" ? "" : info.storage)
                          : cat("not supported: ", info.unsupported)});
  }
  print_table(rows, style_for(options.color));
  for (const auto& [key, value] : file.metadata()) {
    std::cout << printable(key) << " = " << printable(value.substr(0, 200)) << "\n";
  }
  return kSuccess;
}

// A row of at most 12 elements.
std::string row_text(DType type, const std::byte* row, int64_t elements) {
  std::string text;
  const int64_t shown = std::min<int64_t>(elements, 12);
  for (int64_t e = 0; e < shown; ++e) {
    text += cat(e == 0 ? "" : "  ", pictures::element_text(type, row + e * type.bytes()));
  }
  return elements > shown ? cat(text, "  … ", grouped(elements - shown), " more") : text;
}

// Rank 1 has its elements for rows: of an encoded table they are taken from the whole of it.
Array first_rows(const Table& table, const std::vector<int64_t>& ids) {
  return is_encoded(table.info()) ? gather_encoded(table, view(ids)) : gather(table, view(ids));
}

int head(const InspectOptions& options) {
  const Table table = table_argument(options.tensor);
  const bool encoded = is_encoded(table.info());
  const TensorSpec spec = encoded ? TensorSpec(f32, table.info().encoded.sizes) : table.spec();
  std::cout << printable(table.info().name) << "  " << described(table.info()) << "\n";
  if (spec.rank() == 0) {
    const Array all = table.load();
    std::cout << pictures::element_text(spec.dtype,
                                        static_cast<const std::byte*>(all.tensor().data))
              << "\n";
    return kSuccess;
  }
  const int64_t rows = std::min(options.rows, spec.sizes[0]);
  std::vector<int64_t> ids(static_cast<size_t>(rows));
  std::iota(ids.begin(), ids.end(), 0);
  if (rows == 0) {
    return kSuccess;
  }
  const Array picked = first_rows(table, ids);
  const int64_t elements = element_count(picked.sizes()) / rows;
  const auto* bytes = static_cast<const std::byte*>(picked.tensor().data);
  for (int64_t row = 0; row < rows; ++row) {
    const std::byte* at = bytes + row * elements * spec.dtype.bytes();
    std::cout << "[" << row << "]  " << row_text(spec.dtype, at, elements) << "\n";
  }
  if (spec.sizes[0] > rows) {
    std::cout << "… " << grouped(spec.sizes[0] - rows) << " more\n";
  }
  return kSuccess;
}

}  // namespace

void add_inspect(CLI::App& app, Command& chosen) {
  static InspectOptions options;
  CLI::App* command =
      app.add_subcommand("inspect", "List the tensors of a file: type, shape, bytes, offset");
  command->footer(
      "Examples:\n  sheaf inspect model.safetensors\n"
      "  sheaf inspect model.safetensors.index.json --json\n"
      "  sheaf inspect model.gguf\n"
      "  sheaf inspect model.onnx:weight --stats");
  command->add_option("file", options.tensor, "A file, or one tensor of it")
      ->required()
      ->option_text("FILE[:NAME]");
  command->add_flag("--stats", options.stats, "Read one tensor: min, max, mean, NaN count");
  command->add_flag("--json", options.json, "Print a JSON object instead");
  add_color_option(*command, options.color);
  command->callback([&chosen] { chosen = [] { return inspect(options); }; });
}

void add_head(CLI::App& app, Command& chosen) {
  static InspectOptions options;
  CLI::App* command = app.add_subcommand("head", "Print the first rows of a tensor in a file");
  command->footer("Examples:\n  sheaf head model.safetensors:embed 3\n  sheaf head table.npy");
  command->add_option("tensor", options.tensor, "The tensor")
      ->required()
      ->option_text("FILE[:NAME]");
  command->add_option("rows", options.rows, "How many (5)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40).description(""))
      ->option_text("ROWS");
  command->callback([&chosen] { chosen = [] { return head(options); }; });
}

}  // namespace sheaf::cli
