// SPDX-License-Identifier: MIT
//
// sheaf run: an ONNX model of gathers, scatters and their neighbours.
#include <CLI/CLI.hpp>
#include <iostream>

#include "command.h"
#include "files/encoded_run.h"
#include "files/tensor_argument.h"
#include "io/own_input.h"
#include "machine/terminal.h"
#include "onnx/graph.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

struct RunModelOptions {
  std::string model;
  std::vector<std::string> inputs, outputs;
  FileOptions file;
  bool quiet = false;
};

// "x=a.npy"; a name alone stands for the only input or output that there is.
std::pair<std::string, std::string> assignment(const std::string& text,
                                               const std::vector<std::string>& names) {
  const size_t at = text.find('=');
  if (at != std::string::npos) {
    return {text.substr(0, at), text.substr(at + 1)};
  }
  if (names.size() != 1) {
    throw Error(Refusal{.who = "run",
                        .what = cat("whose file is \"", printable(text), "\"?"),
                        .detail = cat("the model has ", names.size(), " of them"),
                        .next = "NAME=FILE"});
  }
  return {names[0], text};
}

// Initialisers stay in their files while the model runs.
void refuse_inputs_as_output(const RunModelOptions& options, const io::OnnxModel& model,
                             const std::string& path) {
  io::refuse_own_input(options.model, path);
  for (const std::string& text : options.inputs) {
    refuse_input_argument(assignment(text, model.inputs).second, path);
  }
  for (const io::OnnxTensor& tensor : model.initializers) {
    if (tensor.source.file) {
      io::refuse_own_input(tensor.source.file->path(), path);
    }
  }
}

int run_model(const RunModelOptions& options) {
  leave_nothing_on_interrupt();
  const auto file = std::make_shared<io::OpenFile>(options.model);
  const io::OnnxModel model = io::read_onnx_model(file);
  Values values;
  for (const std::string& text : options.inputs) {
    const auto [name, path] = assignment(text, model.inputs);
    values[name] = Value(plain_table(table_argument(path)));
  }
  std::vector<std::pair<std::string, std::string>> outputs;
  for (const std::string& text : options.outputs) {
    outputs.push_back(assignment(text, model.outputs));
    refuse_inputs_as_output(options, model, outputs.back().second);
  }
  run_graph(model, values, options.file);
  for (const auto& [name, path] : outputs) {  // all are there before one is written
    if (!values.contains(name)) {
      throw Error(Refusal{.who = "run",
                          .what = "no such output",
                          .detail = cat("\"", printable(name), "\" is not computed by the model"),
                          .next = "sheaf inspect, or another name"});
    }
  }
  for (const auto& [name, path] : outputs) {
    const ConstTensor tensor = values.at(name).tensor();
    save(path, name, tensor);
    if (!options.quiet) {
      std::cout << printable(name) << "  " << tensor.spec.str() << " to " << printable(path)
                << "\n";
    }
  }
  return kSuccess;
}

}  // namespace

void add_run(CLI::App& app, Command& chosen) {
  static RunModelOptions options;
  CLI::App* command = app.add_subcommand("run", "Run an ONNX model that only moves data");
  command->footer(
      "Gathers (com.microsoft.GatherBlockQuantized too), scatters, and nodes that copy, cut, join, "
      "pad,\n"
      "reshape or convert. Any other node is refused by name. Initialisers and inputs of gathers "
      "stay in their files: only the rows that "
      "they name are read.\n\n"
      "Examples:\n  sheaf run lookup.onnx --input ids=ids.npy -o rows=rows.npy");
  command->add_option("model", options.model, "The model")->required()->option_text("MODEL.onnx");
  command->add_option("--input", options.inputs, "A graph input; may be given several times")
      ->option_text("NAME=FILE");
  command->add_option("-o,--output", options.outputs, "A result; may be given several times")
      ->required()
      ->option_text("NAME=FILE");
  command->add_option("--memory", options.file.memory, "Memory for rows on their way (256M)")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->option_text("SIZE");
  command->add_flag("--quiet", options.quiet, "No summary");
  command->callback([&chosen] { chosen = [] { return run_model(options); }; });
}

}  // namespace sheaf::cli
