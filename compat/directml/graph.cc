// SPDX-License-Identifier: MIT
//
// DML_GRAPH_DESC into a program: edges are checked, nodes put in an order in which they can run,
// and intermediate tensors placed in one temporary resource.
#include <algorithm>
#include <utility>

#include "constants.h"
#include "graph_layout.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

// More than this is a mistake, or an attack.
constexpr UINT kMost = 1u << 20;

// A tensor that is wanted at a second place too.
struct ExtraOutput {
  size_t graph_output;
  Source source;
  moves::Work copy;
};

const DML_GRAPH_EDGE_DESC* checked_list(const DML_GRAPH_EDGE_DESC* list, UINT count,
                                        const char* name) {
  if (count > kMost || (count > 0 && list == nullptr)) {
    refuse_graph("bad list of edges",
                 cat(name, " has ", count, " edges", list == nullptr ? ", but is null" : ""),
                 "a list of as many edges");
  }
  return list;
}

template <class Desc>
const Desc& edge_desc(const DML_GRAPH_EDGE_DESC& edge, DML_GRAPH_EDGE_TYPE type, const char* name) {
  if (edge.Type != type || edge.Desc == nullptr) {
    refuse_graph("wrong kind of edge",
                 cat("an edge of ", name, " has Type ", static_cast<int>(edge.Type),
                     edge.Desc == nullptr ? " and a null Desc" : ""),
                 cat("Type ", static_cast<int>(type), " and its descriptor"));
  }
  return *static_cast<const Desc*>(edge.Desc);
}

class Graph final : public Program {
 public:
  Graph(const DML_GRAPH_DESC& desc, std::vector<GraphNode> nodes) : Program("DML_GRAPH_DESC") {
    for (GraphNode& node : nodes) {
      Node made{std::move(node), {}, {}};
      made.inputs.resize(made.is_constant() ? 0 : made.what.program->inputs().size());
      made.outputs.resize(made.is_constant() ? 1 : made.what.program->outputs().size());
      for (size_t i = 0; i < made.outputs.size(); ++i) {
        made.outputs[i].bytes = made.is_constant() ? made.what.constant.size()
                                                   : made.what.program->outputs()[i].total_bytes;
      }
      nodes_.push_back(std::move(made));
    }
    for (const Node& node : nodes_) {
      constants_.add(node.what.constant);
    }
    inputs_.resize(desc.InputCount);
    for (UINT i = 0; i < desc.InputCount; ++i) {
      inputs_[i].name = cat("graph input ", i);
      inputs_[i].used = false;
    }
    outputs_.resize(desc.OutputCount);
    output_sources_.resize(desc.OutputCount);
    connect_inputs(desc);
    connect_nodes(desc);
    connect_outputs(desc);
    check_connected();
    ask_for_readers();
    decide_sharing();
    order_ = run_order(nodes_);
    for (const ExtraOutput& extra : extra_outputs_) {
      nodes_[extra.source.index].outputs[extra.source.output].last_use = order_.size();
    }
    temporary_bytes_ = place_temporaries(nodes_, order_);
    place_owned();
  }

  void run(std::span<const void* const> inputs, std::span<void* const> outputs,
           std::byte* temporary, const Queue& queue) const override {
    const std::vector<const std::byte*> constants = constants_.on(queue);
    const auto address = [&](const Source& source) -> const void* {
      if (source.kind == Source::kGraphInput) {
        return inputs[source.index];
      }
      const Node& node = nodes_[source.index];
      if (node.is_constant()) {
        return constants[source.index];
      }
      const Storage& storage = node.outputs[source.output];
      return storage.graph_output ? outputs[*storage.graph_output] : temporary + storage.offset;
    };
    for (const size_t index : order_) {
      const Node& node = nodes_[index];
      if (node.is_constant()) {
        continue;
      }
      std::vector<const void*> from;
      for (const Source& source : node.inputs) {
        from.push_back(address(source));
      }
      std::vector<void*> to;
      for (const Storage& storage : node.outputs) {
        to.push_back(storage.graph_output ? outputs[*storage.graph_output]
                                          : temporary + storage.offset);
      }
      // A graph's node needs no temporary memory of its own: it is a single operator.
      node.what.program->run(from, to, nullptr, queue);
    }
    for (const ExtraOutput& extra : extra_outputs_) {
      const void* from[] = {address(extra.source)};
      extra.copy(from, outputs.subspan(extra.graph_output, 1), queue);
    }
  }

 private:
  Source& node_input(UINT node, UINT input) {
    if (node >= nodes_.size() || input >= nodes_[node].inputs.size()) {
      refuse_graph(
          "no such input",
          cat("an edge leads to input ", input, " of node ", node, ", but there are ",
              nodes_.size(), " nodes",
              node < nodes_.size() ? cat(" and it has ", nodes_[node].inputs.size(), " inputs")
                                   : std::string()),
          "an input that the node's operator has");
    }
    Source& source = nodes_[node].inputs[input];
    if (source.kind != Source::kNowhere) {
      refuse_graph("input connected twice",
                   cat("two edges lead to input ", input, " of node ", node),
                   "one edge for each input");
    }
    return source;
  }

  const Storage& node_output(UINT node, UINT output) const {
    if (node >= nodes_.size() || output >= nodes_[node].outputs.size()) {
      refuse_graph(
          "no such output",
          cat("an edge comes from output ", output, " of node ", node, ", which does not exist"),
          "an output that the node's operator has");
    }
    return nodes_[node].outputs[output];
  }

  void connect_inputs(const DML_GRAPH_DESC& desc) {
    const auto* edges = checked_list(desc.InputEdges, desc.InputEdgeCount, "InputEdges");
    for (UINT i = 0; i < desc.InputEdgeCount; ++i) {
      const auto& edge =
          edge_desc<DML_INPUT_GRAPH_EDGE_DESC>(edges[i], DML_GRAPH_EDGE_TYPE_INPUT, "InputEdges");
      if (edge.GraphInputIndex >= inputs_.size()) {
        refuse_graph(
            "no such graph input",
            cat("GraphInputIndex = ", edge.GraphInputIndex, ", but InputCount is ", inputs_.size()),
            "an index below InputCount");
      }
      node_input(edge.ToNodeIndex, edge.ToNodeInputIndex) = {Source::kGraphInput,
                                                             edge.GraphInputIndex, 0};
      const Slot& wanted = nodes_[edge.ToNodeIndex].what.program->inputs()[edge.ToNodeInputIndex];
      Slot& slot = inputs_[edge.GraphInputIndex];
      slot.used = true;
      slot.owned = slot.owned || wanted.owned;
      slot.total_bytes = std::max(slot.total_bytes, wanted.total_bytes);
      slot.required_bytes = std::max(slot.required_bytes, wanted.required_bytes);
      slot.alignment = std::max(slot.alignment, wanted.alignment);
    }
  }

  void connect_nodes(const DML_GRAPH_DESC& desc) {
    const auto* edges =
        checked_list(desc.IntermediateEdges, desc.IntermediateEdgeCount, "IntermediateEdges");
    for (UINT i = 0; i < desc.IntermediateEdgeCount; ++i) {
      const auto& edge = edge_desc<DML_INTERMEDIATE_GRAPH_EDGE_DESC>(
          edges[i], DML_GRAPH_EDGE_TYPE_INTERMEDIATE, "IntermediateEdges");
      const Storage& from = node_output(edge.FromNodeIndex, edge.FromNodeOutputIndex);
      node_input(edge.ToNodeIndex, edge.ToNodeInputIndex) = {Source::kNode, edge.FromNodeIndex,
                                                             edge.FromNodeOutputIndex};
      const Slot& wanted = nodes_[edge.ToNodeIndex].what.program->inputs()[edge.ToNodeInputIndex];
      // Types and shapes may differ (a reinterpretation), the memory may not. Constant data need
      // not be rounded up to 4 bytes.
      const bool fits = nodes_[edge.FromNodeIndex].is_constant()
                            ? from.bytes >= wanted.required_bytes
                            : from.bytes == wanted.total_bytes;
      if (!fits || wanted.owned) {
        refuse_graph(
            wanted.owned ? "owned tensor inside a graph" : "tensors differ",
            cat("output ", edge.FromNodeOutputIndex, " of node ", edge.FromNodeIndex, " has ",
                from.bytes, " bytes, but ", wanted.name, " of node ", edge.ToNodeIndex, " has ",
                wanted.total_bytes, wanted.owned ? " and is OWNED_BY_DML" : ""),
            "tensors of one TotalTensorSizeInBytes at both ends, and OWNED_BY_DML only on inputs "
            "of the graph");
      }
    }
  }

  void connect_outputs(const DML_GRAPH_DESC& desc) {
    const auto* edges = checked_list(desc.OutputEdges, desc.OutputEdgeCount, "OutputEdges");
    for (UINT i = 0; i < desc.OutputEdgeCount; ++i) {
      const auto& edge = edge_desc<DML_OUTPUT_GRAPH_EDGE_DESC>(edges[i], DML_GRAPH_EDGE_TYPE_OUTPUT,
                                                               "OutputEdges");
      const UINT index = edge.GraphOutputIndex;
      const Storage& from = node_output(edge.FromNodeIndex, edge.FromNodeOutputIndex);
      if (index >= outputs_.size() || output_sources_[index].kind != Source::kNowhere) {
        refuse_graph(index >= outputs_.size() ? "no such graph output" : "output connected twice",
                     cat("GraphOutputIndex = ", index, ", and OutputCount is ", outputs_.size()),
                     "one edge for each output of the graph");
      }
      const Source source{Source::kNode, edge.FromNodeIndex, edge.FromNodeOutputIndex};
      output_sources_[index] = source;
      Node& node = nodes_[edge.FromNodeIndex];
      Slot& slot = outputs_[index];
      slot.name = cat("graph output ", index);
      slot.total_bytes = slot.required_bytes = from.bytes;
      if (!node.is_constant()) {
        const Slot& made = node.what.program->outputs()[edge.FromNodeOutputIndex];
        slot.required_bytes = made.required_bytes;
        slot.alignment = made.alignment;
      }
      Storage& storage = node.outputs[edge.FromNodeOutputIndex];
      if (node.is_constant() || storage.graph_output) {
        const auto bytes = static_cast<int64_t>(slot.required_bytes);
        const TensorSpec all(u8, {bytes});
        extra_outputs_.push_back({index, source, moves::copy("CompileGraph", all, all)});
      } else {
        storage.graph_output = index;
      }
    }
  }

  // An output that a node reads too must have what that node reads: of the bytes that its size was
  // rounded up by, too.
  void ask_for_readers() {
    for (const Node& node : nodes_) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const Source& source = node.inputs[i];
        if (source.kind != Source::kNode) {
          continue;
        }
        if (const auto output = nodes_[source.index].outputs[source.output].graph_output) {
          UINT64& required = outputs_[*output].required_bytes;
          required = std::max(required, node.what.program->inputs()[i].required_bytes);
        }
      }
    }
  }

  // A graph of one operator does what that operator does. Copies to further outputs come last; with
  // them, the output that is in place need not be the first.
  void decide_sharing() {
    const Node* only = nullptr;
    for (const Node& node : nodes_) {
      if (!node.is_constant() && only != nullptr) {
        return;
      }
      only = node.is_constant() ? only : &node;
    }
    const Sharing of_node = only != nullptr ? only->what.program->sharing() : Sharing::kRefused;
    sharing_ = of_node == Sharing::kInPlace && outputs_.size() > 1 ? Sharing::kRefused : of_node;
  }

  void check_connected() const {
    for (size_t n = 0; n < nodes_.size(); ++n) {
      for (size_t i = 0; i < nodes_[n].inputs.size(); ++i) {
        if (nodes_[n].inputs[i].kind == Source::kNowhere) {
          refuse_graph("input not connected",
                       cat(nodes_[n].what.program->inputs()[i].name, " of node ", n, " (",
                           nodes_[n].what.program->name(), ") has no edge"),
                       "an edge for each input of each node");
        }
      }
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (output_sources_[i].kind == Source::kNowhere) {
        refuse_graph("output not connected", cat("graph output ", i, " has no edge"),
                     "an edge for each output of the graph");
      }
    }
  }

  std::vector<Node> nodes_;
  std::vector<Source> output_sources_;
  std::vector<ExtraOutput> extra_outputs_;
  std::vector<size_t> order_;
  Constants constants_;
};

}  // namespace

std::shared_ptr<const Program> make_graph(const DML_GRAPH_DESC& desc,
                                          std::vector<GraphNode> nodes) {
  if (desc.InputCount > kMost || desc.OutputCount > kMost || desc.OutputCount == 0) {
    refuse_graph("bad counts",
                 cat("InputCount = ", desc.InputCount, ", OutputCount = ", desc.OutputCount),
                 "at least one output");
  }
  return std::make_shared<const Graph>(desc, std::move(nodes));
}

}  // namespace sheaf::dml_com
