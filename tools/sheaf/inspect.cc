// SPDX-License-Identifier: MIT
//
// sheaf inspect: which tensors a file holds, and where; sheaf head: the first rows of one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command.h"
#include "element_text.h"
#include "options.h"
#include "sheaf/sheaf.h"
#include "support/text.h"
#include "tensor_argument.h"
#include "tensor_stats.h"

namespace sheaf::cli {
namespace {

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

nlohmann::ordered_json info_json(const TableInfo& info) {
  nlohmann::ordered_json json = {
      {"name", info.name},
      {"dtype", info.spec.dtype.name()},
      {"shape", std::vector<int64_t>(info.spec.sizes.begin(), info.spec.sizes.end())},
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
void print_table(const std::vector<std::vector<std::string>>& rows, const Style& style) {
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
    std::cout << (r == 0 ? paint(style, kFaint, line) : line) << "\n";
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
      std::cout << printable(table.info().name) << "  " << table.spec().str() << "\n";
      print_stats(stats);
      return kSuccess;
    }
    json["stats"] = stats_json(stats);
  }
  if (options.json) {
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cout << printable(table.info().name) << "  " << table.spec().str() << "  "
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
    rows.push_back({printable(info.name), known ? info.spec.dtype.name() : "?",
                    known ? bracketed(info.spec.sizes) : "", grouped(info.bytes),
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
    text += cat(e == 0 ? "" : "  ", element_text(type, row + e * type.bytes()));
  }
  return elements > shown ? cat(text, "  … ", grouped(elements - shown), " more") : text;
}

int head(const InspectOptions& options) {
  const Table table = table_argument(options.tensor);
  const TensorSpec& spec = table.spec();
  std::cout << printable(table.info().name) << "  " << spec.str() << "\n";
  if (spec.rank() == 0) {
    const Array all = table.load();
    std::cout << element_text(spec.dtype, static_cast<const std::byte*>(all.tensor().data)) << "\n";
    return kSuccess;
  }
  const int64_t rows = std::min(options.rows, spec.sizes[0]);
  std::vector<int64_t> ids(static_cast<size_t>(rows));
  std::iota(ids.begin(), ids.end(), 0);
  if (rows == 0) {
    return kSuccess;
  }
  const Array picked = gather(table, view(ids));
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
