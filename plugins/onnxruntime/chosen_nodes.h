// SPDX-License-Identifier: MIT
//
// Which nodes of a graph the provider takes: all that are Sheaf's, and those of their neighbours
// that lie between nodes that it takes.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "operators.h"

namespace sheaf::ort {

// A node of a graph; those of other operators are there for what they read.
struct GraphNode {
  OfferedNode node;
  const Operator* op = nullptr;  // null: not Sheaf's
};

// Whether each node is taken. `seen` are values that others read: the graph's outputs.
std::vector<bool> chosen_nodes(const std::vector<GraphNode>& nodes,
                               const std::unordered_set<std::string>& seen);

}  // namespace sheaf::ort
