// SPDX-License-Identifier: MIT
//
// Models whose nodes are gathers, scatters and their neighbours, run node by node.
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
  explicit Value(Array array)
      : array_(std::make_shared<const Array>(std::move(array))), spec_(array_->spec()) {}
  explicit Value(Table table)
      : table_(std::make_shared<const Table>(std::move(table))), spec_(table_->spec()) {}

  const Table* table() const { return table_.get(); }
  DType dtype() const { return spec_.dtype; }
  const Dims& sizes() const { return spec_.sizes; }
  ConstTensor tensor();  // row-major; loads it, once

  // The same elements in other sizes, whose product must be the same.
  Value reshaped(const Dims& sizes);

 private:
  std::shared_ptr<const Array> array_;
  std::shared_ptr<const Table> table_;
  TensorSpec spec_;
};

using Values = std::map<std::string, Value>;

// Why this model cannot be run: its first node that is none of ours, by name. Empty: it can.
std::string refusal_of(const io::OnnxModel& model);

// Runs all nodes in order; `values` has the inputs and receives everything else. Throws Error,
// naming a node that cannot be run or a value that is missing.
void run_graph(const io::OnnxModel& model, Values& values, const FileOptions& options);

}  // namespace sheaf::cli
