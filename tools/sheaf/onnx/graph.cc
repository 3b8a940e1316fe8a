// SPDX-License-Identifier: MIT
#include "onnx/graph.h"

#include <algorithm>
#include <array>

#include "machine/terminal.h"
#include "onnx/call.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

Reduction reduction_of(const io::OnnxNode& node, const std::string& name) {
  for (const Reduction reduction :
       {Reduction::kNone, Reduction::kAdd, Reduction::kMul, Reduction::kMin, Reduction::kMax}) {
    if (to_string(reduction) == name) {
      return reduction;
    }
  }
  refuse_node(node, cat("reduction \"", printable(name), "\" is unknown"),
              "none, add, mul, min or max");
}

Reduction reduction_of(const Call& call) {
  const io::OnnxAttribute* attribute = call.find("reduction");
  return attribute ? reduction_of(call.node, attribute->text) : Reduction::kNone;
}

// Data that is still in its file stays there: rows are fetched.
template <class Options>
Outputs gathered(const Call& call, const Options& options,
                 Array (*from_file)(const Table&, const ConstTensor&, const Options&,
                                    const FileOptions&),
                 Array (*from_memory)(const ConstTensor&, const ConstTensor&, const Options&)) {
  const ConstTensor indices = call.tensor(1);
  if (const Table* table = call.input(0).table()) {
    return {Value(from_file(*table, indices, options, call.options))};
  }
  return {Value(from_memory(call.tensor(0), indices, options))};
}

Outputs run_gather(const Call& call) {
  return gathered<GatherOptions>(call, {.axis = call.number("axis")}, gather, gather);
}
Outputs run_gather_elements(const Call& call) {
  return gathered<GatherElementsOptions>(call, {.axis = call.number("axis")}, gather_elements,
                                         gather_elements);
}
Outputs run_gather_nd(const Call& call) {
  return gathered<GatherNdOptions>(call, {.batch_dims = call.number("batch_dims")}, gather_nd,
                                   gather_nd);
}
Outputs run_scatter_elements(const Call& call) {
  return {Value(scatter_elements(call.tensor(0), call.tensor(1), call.tensor(2),
                                 {.axis = call.number("axis"), .reduction = reduction_of(call)}))};
}
Outputs run_scatter_nd(const Call& call) {
  return {Value(scatter_nd(call.tensor(0), call.tensor(1), call.tensor(2),
                           {.reduction = reduction_of(call)}))};
}

constexpr Operator kGathersAndScatters[] = {
    {"Gather", run_gather},
    {"GatherElements", run_gather_elements},
    {"GatherND", run_gather_nd},
    {"ScatterElements", run_scatter_elements},
    {"Scatter", run_scatter_elements},  // the name before opset 11
    {"ScatterND", run_scatter_nd},
};

std::array<std::span<const Operator>, 3> all_operators() {
  return {kGathersAndScatters, move_operators(), shape_operators()};
}

const Operator* find_operator(std::span<const Operator> operators, const std::string& type) {
  for (const Operator& op : operators) {
    if (type == op.type) {
      return &op;
    }
  }
  return nullptr;
}

const Operator* operator_of(const io::OnnxNode& node) {
  if (node.domain == "com.microsoft") {
    return find_operator(microsoft_operators(), node.op_type);
  }
  if (!node.domain.empty() && node.domain != "ai.onnx") {
    return nullptr;
  }
  for (const std::span<const Operator> operators : all_operators()) {
    if (const Operator* op = find_operator(operators, node.op_type)) {
      return op;
    }
  }
  return nullptr;
}

// "Gather, GatherElements, …"
std::string operator_names() {
  std::string names;
  for (const std::span<const Operator> operators : all_operators()) {
    for (const Operator& op : operators) {
      names += cat(names.empty() ? "" : ", ", op.type);
    }
  }
  for (const Operator& op : microsoft_operators()) {
    names += cat(", com.microsoft.", op.type);
  }
  return names;
}

std::string name_of(const io::OnnxNode& node) {
  return cat("node \"", printable(node.name), "\" of type ", printable(node.op_type));
}

Outputs run_node(const io::OnnxNode& node, const Call& call) {
  try {
    return operator_of(node)->run(call);
  } catch (const FileError&) {
    throw;  // it names the file
  } catch (const Error& error) {
    const std::string text = error.what();
    throw text.starts_with("run: ")
        ? error
        : Error(error.code(), cat("run: ", name_of(node), "\n  ", text));
  }
}

}  // namespace

void refuse_node(const io::OnnxNode& node, const std::string& what, const std::string& next) {
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .who = "run",
                      .what = name_of(node),
                      .detail = what,
                      .next = next});
}

Value& Call::input(size_t number) const {
  const auto found = has(number) ? values.find(node.inputs[number]) : values.end();
  if (found == values.end()) {
    refuse_node(node,
                has(number) ? cat("its input \"", printable(node.inputs[number]), "\" has no value")
                            : cat("it has no input ", number),
                "--input NAME=FILE");
  }
  return found->second;
}

Integers Call::integers(size_t number) const {
  const ConstTensor given = tensor(number);
  const int64_t count = element_count(given.spec.sizes);
  if (!given.spec.dtype.is_integer() || given.spec.rank() > 1) {
    refuse_node(
        node,
        cat("its input ", number, " is ", given.spec.str(), ", but a list of integers is needed"),
        "another input");
  }
  Integers list(static_cast<size_t>(count));
  cast({given.data, TensorSpec(given.spec.dtype, {count})}, view(list));
  return list;
}

const io::OnnxAttribute* Call::find(const char* name) const {
  for (const io::OnnxAttribute& attribute : node.attributes) {
    if (attribute.name == name) {
      return &attribute;
    }
  }
  return nullptr;
}

int64_t Call::number(const char* name, int64_t otherwise) const {
  const io::OnnxAttribute* attribute = find(name);
  return attribute ? attribute->number : otherwise;
}

Integers Call::list(const char* attribute, size_t input, const Integers& otherwise) const {
  if (const io::OnnxAttribute* found = find(attribute)) {
    return found->numbers;
  }
  return has(input) ? integers(input) : otherwise;
}

Dims sizes_of(const Call& call, const Integers& sizes) {
  const bool negative = std::any_of(sizes.begin(), sizes.end(), [](int64_t n) { return n < 0; });
  if (negative || sizes.size() > static_cast<size_t>(kMaxRank)) {
    refuse_node(call.node, "its shape has a negative size, or too many dimensions",
                cat("at most ", kMaxRank, " sizes of 0 or more"));
  }
  return Dims(sizes);
}

int axis_of(const Call& call, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    refuse_node(call.node, cat("axis ", axis, " of a tensor of rank ", rank),
                cat("an axis from ", -rank, " to ", rank - 1));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

ConstTensor Value::tensor() {
  if (!array_) {
    array_ = std::make_shared<const Array>(table_->load());
    spec_ = array_->spec();
  }
  return {array_->tensor().data, spec_};
}

Value Value::reshaped(const Dims& sizes) {
  Value other;
  other.spec_ = TensorSpec(tensor().spec.dtype, sizes);
  other.array_ = array_;
  return other;
}

std::string refusal_of(const io::OnnxModel& model) {
  for (const io::OnnxNode& node : model.nodes) {
    if (operator_of(node) == nullptr) {
      return cat("node type ", node.domain.empty() ? "" : node.domain + ".", node.op_type);
    }
  }
  return "";
}

void run_graph(const io::OnnxModel& model, Values& values, const FileOptions& options) {
  for (const io::OnnxNode& node : model.nodes) {
    if (operator_of(node) == nullptr) {
      refuse_node(node, "it neither moves data nor changes its shape or type",
                  cat("a model of these nodes: ", operator_names()));
    }
  }
  for (const io::OnnxTensor& tensor : model.initializers) {
    if (tensor.info.unsupported.empty()) {
      values.try_emplace(tensor.info.name,
                         Table(tensor.info, std::make_shared<const TableSource>(tensor.source)));
    }
  }
  for (const io::OnnxNode& node : model.nodes) {
    const Outputs outputs = run_node(node, Call{node, values, options});
    if (node.outputs.size() != outputs.size()) {
      refuse_node(node, cat("it has ", node.outputs.size(), " outputs"),
                  cat("outputs: ", outputs.size()));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      values[node.outputs[i]] = outputs[i];
    }
  }
}

}  // namespace sheaf::cli
