// SPDX-License-Identifier: MIT
//
// sheaf convert: tensors from one file format to another.
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>

#include "command.h"
#include "files/tensor_argument.h"
#include "machine/terminal.h"
#include "options.h"
#include "sheaf/sheaf.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

struct ConvertOptions {
  std::string from, to, format;
  FileOptions file;
  bool quiet = false;
};

int convert(ConvertOptions& options) {
  leave_nothing_on_interrupt();
  options.file.format = format_argument(options.format);
  const auto [path, name] = split_name(options.from);
  std::vector<NamedTable> tensors;
  std::map<std::string, std::string> metadata;
  if (name.empty()) {
    const File file(path);
    metadata = file.metadata();
    for (const TableInfo& info : file.tensors()) {
      tensors.push_back({info.name, file.table(info.name)});
    }
  } else {
    const Table table = table_argument(options.from);
    tensors.push_back({table.info().name.empty() ? "data" : table.info().name, table});
  }
  std::optional<Progress> bar;
  if (!options.quiet) {
    options.file.progress = [&](int64_t done, int64_t total) {
      if (!bar || done == 0) {
        bar.emplace("convert", total, Progress::kBytes);
      }
      bar->at(done);
    };
  }
  save(options.to, tensors, metadata, options.file);
  bar.reset();
  if (!options.quiet) {
    std::cout << tensors.size() << (tensors.size() == 1 ? " tensor to " : " tensors to ")
              << printable(options.to) << "\n";
  }
  return kSuccess;
}

}  // namespace

void add_convert(CLI::App& app, Command& chosen) {
  static ConvertOptions options;
  CLI::App* command = app.add_subcommand("convert", "Write tensors in another file format");
  command->footer(
      "The format of OUT follows its suffix: .npy, .npz, .safetensors, .onnx; .bin and .raw are "
      "raw "
      "bytes.\n.npy and raw hold one tensor.\n\nExamples:\n"
      "  sheaf convert model.onnx model.safetensors\n"
      "  sheaf convert arrays.npz:weight weight.npy\n"
      "  sheaf convert 'dump.bin:f32[1000,64]@128' table.npy");
  command->add_option("from", options.from, "A file, or one tensor of it")
      ->required()
      ->option_text("FILE[:NAME]");
  command->add_option("to", options.to, "The new file")->required()->option_text("OUT");
  command->add_option("--memory", options.file.memory, "Memory for data on its way (256M)")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->option_text("SIZE");
  add_format_option(*command, options.format);
  command->add_flag("--quiet", options.quiet, "No progress bar and no summary");
  command->callback([&chosen] { chosen = [] { return convert(options); }; });
}

}  // namespace sheaf::cli
