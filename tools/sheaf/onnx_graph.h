// SPDX-License-Identifier: MIT
//
// Models whose nodes are all gathers and scatters, run node by node.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "io/onnx_model.h"
#include "sheaf/sheaf.h"

namespace sheaf::cli {

// A tensor on its way through a graph: in memory, or still in its file.
class Value {
 public:
  Value() = default;
  explicit Value(Array array) : array_(std::make_shared<const Array>(std::move(array))) {}
  explicit Value(Table table) : table_(std::make_shared<const Table>(std::move(table))) {}

  const Table* table() const { return table_.get(); }
  const Array& array();  // loads it, once

 private:
  std::shared_ptr<const Array> array_;
  std::shared_ptr<const Table> table_;
};

using Values = std::map<std::string, Value>;

// Why this model cannot be run: its first node that is none of ours, by name. Empty: it can.
std::string refusal_of(const io::OnnxModel& model);

// Runs all nodes in order; `values` has the inputs and receives everything else. Throws Error,
// naming a node that cannot be run or a value that is missing.
void run_graph(const io::OnnxModel& model, Values& values, const FileOptions& options);

}  // namespace sheaf::cli
