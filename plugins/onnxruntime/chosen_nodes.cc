// SPDX-License-Identifier: MIT
#include "chosen_nodes.h"

#include <algorithm>
#include <unordered_map>

namespace sheaf::ort {
namespace {

using Readers = std::unordered_map<std::string, std::vector<size_t>>;
using Writers = std::unordered_map<std::string, size_t>;

// A neighbour's data comes from a node that is taken, and all that read its output are taken.
class Between {
 public:
  Between(const std::vector<GraphNode>& nodes, const std::unordered_set<std::string>& seen)
      : seen_(seen) {
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (const NodeValue& input : nodes[n].node.inputs) {
        readers_[input.name].push_back(n);
      }
      for (const NodeValue& output : nodes[n].node.outputs) {
        if (!output.name.empty()) {  // one that was left out
          writers_[output.name] = n;
        }
      }
      for (const NodeValue& value : nodes[n].node.captured) {
        captured_.insert(value.name);
      }
    }
  }

  bool holds(const OfferedNode& node, const std::vector<bool>& taken) const {
    const auto writer = node.inputs.empty() ? writers_.end() : writers_.find(node.inputs[0].name);
    return writer != writers_.end() && taken[writer->second] &&
           std::all_of(node.outputs.begin(), node.outputs.end(),
                       [&](const NodeValue& output) { return all_taken(output.name, taken); });
  }

 private:
  bool all_taken(const std::string& value, const std::vector<bool>& taken) const {
    const auto readers = readers_.find(value);
    return readers != readers_.end() && !seen_.contains(value) && !captured_.contains(value) &&
           std::all_of(readers->second.begin(), readers->second.end(),
                       [&](size_t reader) { return taken[reader]; });
  }

  const std::unordered_set<std::string>& seen_;
  std::unordered_set<std::string> captured_;
  Readers readers_;
  Writers writers_;
};

}  // namespace

std::vector<bool> chosen_nodes(const std::vector<GraphNode>& nodes,
                               const std::unordered_set<std::string>& seen) {
  std::vector<bool> taken(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    taken[n] = nodes[n].op != nullptr;
  }
  // A neighbour that is dropped may leave another one at the border: until none is.
  const Between between(nodes, seen);
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (size_t n = 0; n < nodes.size(); ++n) {
      if (taken[n] && nodes[n].op->is_neighbour && !between.holds(nodes[n].node, taken)) {
        taken[n] = false;
        dropped = true;
      }
    }
  }
  return taken;
}

}  // namespace sheaf::ort
