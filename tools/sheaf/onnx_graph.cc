// SPDX-License-Identifier: MIT
#include "onnx_graph.h"

#include <algorithm>

#include "support/text.h"
#include "terminal.h"

namespace sheaf::cli {
namespace {

[[noreturn]] void refuse(const io::OnnxNode& node, const std::string& what,
                         const std::string& next) {
  throw Error(ErrorCode::kUnsupported,
              cat("run: node \"", printable(node.name), "\" of type ", printable(node.op_type),
                  "\n  ", what, "\n  try: ", next));
}

Reduction reduction_of(const io::OnnxNode& node, const std::string& name) {
  for (const Reduction reduction :
       {Reduction::kNone, Reduction::kAdd, Reduction::kMul, Reduction::kMin, Reduction::kMax}) {
    if (to_string(reduction) == name) {
      return reduction;
    }
  }
  refuse(node, cat("reduction \"", printable(name), "\" is unknown"), "none, add, mul, min or max");
}

// A node's attributes and inputs, by name and number.
struct Call {
  const io::OnnxNode& node;
  Values& values;
  const FileOptions& options;

  Value& input(size_t number) const {
    const auto found =
        number < node.inputs.size() ? values.find(node.inputs[number]) : values.end();
    if (found == values.end()) {
      refuse(node,
             number < node.inputs.size()
                 ? cat("its input \"", printable(node.inputs[number]), "\" has no value")
                 : cat("it has ", node.inputs.size(), " inputs, but needs ", number + 1),
             "--input NAME=FILE");
    }
    return found->second;
  }
  ConstTensor tensor(size_t number) const { return input(number).array().tensor(); }
  int64_t number(const char* name, int64_t otherwise = 0) const {
    const io::OnnxAttribute* attribute = find(name);
    return attribute ? attribute->number : otherwise;
  }
  Reduction reduction() const {
    const io::OnnxAttribute* attribute = find("reduction");
    return attribute ? reduction_of(node, attribute->text) : Reduction::kNone;
  }
  const io::OnnxAttribute* find(const char* name) const {
    for (const io::OnnxAttribute& attribute : node.attributes) {
      if (attribute.name == name) {
        return &attribute;
      }
    }
    return nullptr;
  }
};

// Data that is still in its file stays there: rows are fetched.
template <class Options>
Value gathered(const Call& call, const Options& options,
               Array (*from_file)(const Table&, const ConstTensor&, const Options&,
                                  const FileOptions&),
               Array (*from_memory)(const ConstTensor&, const ConstTensor&, const Options&)) {
  const ConstTensor indices = call.tensor(1);
  if (const Table* table = call.input(0).table()) {
    return Value(from_file(*table, indices, options, call.options));
  }
  return Value(from_memory(call.tensor(0), indices, options));
}

Value run_gather(const Call& call) {
  return gathered<GatherOptions>(call, {.axis = call.number("axis")}, gather, gather);
}
Value run_gather_elements(const Call& call) {
  return gathered<GatherElementsOptions>(call, {.axis = call.number("axis")}, gather_elements,
                                         gather_elements);
}
Value run_gather_nd(const Call& call) {
  return gathered<GatherNdOptions>(call, {.batch_dims = call.number("batch_dims")}, gather_nd,
                                   gather_nd);
}
Value run_scatter_elements(const Call& call) {
  return Value(scatter_elements(call.tensor(0), call.tensor(1), call.tensor(2),
                                {.axis = call.number("axis"), .reduction = call.reduction()}));
}
Value run_scatter_nd(const Call& call) {
  return Value(
      scatter_nd(call.tensor(0), call.tensor(1), call.tensor(2), {.reduction = call.reduction()}));
}
Value run_identity(const Call& call) { return call.input(0); }
Value run_constant(const Call& call) {
  const io::OnnxAttribute* value = call.find("value");
  if (value == nullptr || !value->tensor || !value->tensor->info.unsupported.empty()) {
    refuse(call.node, "its value is not a tensor of a type that Sheaf has",
           "a Constant with the attribute `value`");
  }
  return Value(
      Table(value->tensor->info, std::make_shared<const TableSource>(value->tensor->source)));
}

struct Operator {
  const char* type;
  Value (*run)(const Call& call);
};
constexpr Operator kOperators[] = {
    {"Gather", run_gather},
    {"GatherElements", run_gather_elements},
    {"GatherND", run_gather_nd},
    {"ScatterElements", run_scatter_elements},
    {"Scatter", run_scatter_elements},  // the name before opset 11
    {"ScatterND", run_scatter_nd},
    {"Constant", run_constant},
    {"Identity", run_identity},
};

const Operator* operator_of(const io::OnnxNode& node) {
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const Operator& op) { return node.op_type == op.type; });
  const bool ours = node.domain.empty() || node.domain == "ai.onnx";
  return ours && found != std::end(kOperators) ? found : nullptr;
}

}  // namespace

const Array& Value::array() {
  if (!array_) {
    array_ = std::make_shared<const Array>(table_->load());
  }
  return *array_;
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
      refuse(node, "it is neither a gather nor a scatter",
             "a model of Gather, GatherElements, GatherND, ScatterElements, ScatterND, Constant "
             "and Identity nodes");
    }
  }
  for (const io::OnnxTensor& tensor : model.initializers) {
    if (tensor.info.unsupported.empty()) {
      values.try_emplace(tensor.info.name,
                         Table(tensor.info, std::make_shared<const TableSource>(tensor.source)));
    }
  }
  for (const io::OnnxNode& node : model.nodes) {
    if (node.outputs.size() != 1) {
      refuse(node, cat("it has ", node.outputs.size(), " outputs"), "one output");
    }
    values[node.outputs[0]] = operator_of(node)->run(Call{node, values, options});
  }
}

}  // namespace sheaf::cli
