// SPDX-License-Identifier: MIT
//
// The nodes of a graph, the order in which they run, and where their tensors lie meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "program.h"

namespace sheaf::dml_com {

// Where a tensor comes from.
struct Source {
  enum Kind { kNowhere, kGraphInput, kNode } kind = kNowhere;
  size_t index = 0;   // of the input or the node
  size_t output = 0;  // of the node
};

// Where the output of a node is kept.
struct Storage {
  std::optional<size_t> graph_output;  // in this output's memory
  UINT64 offset = 0;                   // otherwise in the temporary resource
  UINT64 bytes = 0;
  size_t last_use = 0;  // position in the order
};

struct Node {
  GraphNode what;
  std::vector<Source> inputs;
  std::vector<Storage> outputs;

  bool is_constant() const { return what.program == nullptr; }
};

[[noreturn]] void refuse_graph(const std::string& what, const std::string& detail,
                               const std::string& next);

// Every node after those that it reads. Refuses a cycle.
std::vector<size_t> run_order(const std::vector<Node>& nodes);

// Gives intermediate tensors their places in the temporary resource, where memory is used again as
// soon as the last reader is done, and returns how many bytes that takes. A tensor that is needed
// longer than its readers run has its last_use already.
UINT64 place_temporaries(std::vector<Node>& nodes, const std::vector<size_t>& order);

}  // namespace sheaf::dml_com
