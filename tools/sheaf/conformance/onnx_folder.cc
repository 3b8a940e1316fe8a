// SPDX-License-Identifier: MIT
#include "conformance/onnx_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "onnx/graph.h"
#include "pictures/element_text.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

namespace fs = std::filesystem;

// Tensors "input_0.pb", "input_1.pb", … of a data set.
std::vector<Table> tensors_of(const fs::path& set, const char* kind) {
  std::vector<Table> tables;
  for (int number = 0;; ++number) {
    const fs::path path = set / cat(kind, "_", number, ".pb");
    if (!fs::exists(path)) {
      return tables;
    }
    tables.push_back(open_table(path.string()));
  }
}

// ONNX's own tests keep bfloat16 as uint16; the model says which it is.
Table as_declared(const io::OnnxModel& model, const std::string& name, const Table& table) {
  const auto declared = model.element_types.find(name);
  TableInfo info = table.info();
  if (declared != model.element_types.end() && declared->second == io::onnx_type(bf16) &&
      info.spec.dtype == u16) {
    info.spec.dtype = bf16;
  }
  return {info, table.source()};
}

// Inputs of the graph that no initialiser gives.
std::vector<std::string> open_inputs(const io::OnnxModel& model) {
  std::set<std::string> given;
  for (const io::OnnxTensor& tensor : model.initializers) {
    given.insert(tensor.info.name);
  }
  std::vector<std::string> names;
  std::copy_if(model.inputs.begin(), model.inputs.end(), std::back_inserter(names),
               [&](const std::string& name) { return !given.contains(name); });
  return names;
}

// What differs; empty: nothing.
std::string difference(const std::string& name, const ConstTensor& got, const Array& expected) {
  if (got.spec != expected.spec()) {
    return cat("output ", name, " is ", got.spec.str(), ", expected ", expected.spec().str());
  }
  const DType type = got.spec.dtype;
  const auto* a = static_cast<const std::byte*>(got.data);
  const auto* b = static_cast<const std::byte*>(expected.tensor().data);
  for (int64_t e = 0; e < element_count(got.spec.sizes); ++e) {
    if (!pictures::same_element(type, a + e * type.bytes(), b + e * type.bytes())) {
      return cat("element ", e, " of output ", name, " is ",
                 pictures::element_text(type, a + e * type.bytes()), ", expected ",
                 pictures::element_text(type, b + e * type.bytes()));
    }
  }
  return "";
}

std::string run_set(const io::OnnxModel& model, const fs::path& set) {
  const std::vector<Table> inputs = tensors_of(set, "input");
  const std::vector<Table> outputs = tensors_of(set, "output");
  const std::vector<std::string> names = open_inputs(model);
  if (inputs.size() != names.size() || outputs.size() != model.outputs.size()) {
    return cat(set.string(), " has ", inputs.size(), " inputs and ", outputs.size(),
               " outputs, the model ", names.size(), " and ", model.outputs.size());
  }
  Values values;
  for (size_t i = 0; i < names.size(); ++i) {
    values[names[i]] = Value(as_declared(model, names[i], inputs[i]));
  }
  run_graph(model, values, {});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = model.outputs[i];
    if (!values.contains(name)) {
      return cat("output ", name, " is not computed by the model");
    }
    std::string text =
        difference(name, values[name].tensor(), as_declared(model, name, outputs[i]).load());
    if (!text.empty()) {
      return text;
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> onnx_folders(const std::string& path) {
  std::vector<std::string> folders;
  if (fs::exists(fs::path(path) / "model.onnx")) {
    folders.push_back(path);
  }
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_directory() && fs::exists(entry.path() / "model.onnx")) {
      folders.push_back(entry.path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

Outcome run_onnx_folder(const std::string& folder) {
  try {
    const auto file = std::make_shared<io::OpenFile>(folder + "/model.onnx");
    const io::OnnxModel model = io::read_onnx_model(file);
    const std::string refusal = refusal_of(model);
    if (!refusal.empty()) {
      return {Verdict::kSkipped, refusal + " is none of ours"};
    }
    for (const auto& [name, type] : model.element_types) {
      if (type == io::OnnxModel::kNotATensor) {
        return {Verdict::kSkipped, "an input or output is not a tensor"};
      }
    }
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set")) {
        const std::string text = run_set(model, entry.path());
        if (!text.empty()) {
          return {Verdict::kFailed, text};
        }
      }
    }
  } catch (const Error& error) {
    const bool unknown = std::string(error.what()).find("ONNX type") != std::string::npos;
    return {unknown ? Verdict::kSkipped : Verdict::kFailed,
            unknown ? "a tensor has a type that is not supported" : error.what()};
  }
  return {Verdict::kPassed, ""};
}

}  // namespace sheaf::cli
