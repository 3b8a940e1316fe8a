// SPDX-License-Identifier: MIT
//
// One node of a graph being run: its inputs and attributes, and the operators that take them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontends/onnx/bad_node.h"
#include "onnx/graph.h"

namespace sheaf::cli {

// Throws kUnsupported, naming the node.
[[noreturn]] void refuse_node(const io::OnnxNode& node, const std::string& what,
                              const std::string& next);

// Calls work(), which may find that the node is not as ONNX wants it.
template <class Work>
auto in_words_of_node(const io::OnnxNode& node, const Work& work) {
  try {
    return work();
  } catch (const onnx::BadNode& bad) {
    refuse_node(node, bad.what(), bad.next());
  }
}

using Integers = std::vector<int64_t>;

// A node's inputs by number, and its attributes by name. Each refuses what is missing.
struct Call {
  const io::OnnxNode& node;
  Values& values;
  const FileOptions& options;

  bool has(size_t number) const {
    return number < node.inputs.size() && !node.inputs[number].empty();
  }
  Value& input(size_t number) const;
  ConstTensor tensor(size_t number) const { return input(number).tensor(); }
  Integers integers(size_t number) const;  // a scalar or a list

  const io::OnnxAttribute* find(const char* name) const;
  int64_t number(const char* name, int64_t otherwise = 0) const;
  // A list that is an attribute in old models and an input in new ones; `otherwise` if neither.
  Integers list(const char* attribute, size_t input, const Integers& otherwise = {}) const;
  bool has_list(const char* attribute, size_t input) const {
    return find(attribute) != nullptr || has(input);
  }
};

// Sizes of an output. Refuses negative ones and more than kMaxRank.
Dims sizes_of(const Call& call, const Integers& sizes);

// An axis that may count from the end, in [0, rank).
int axis_of(const Call& call, int64_t axis, int rank);

using Outputs = std::vector<Value>;
struct Operator {
  const char* type;
  Outputs (*run)(const Call& call);
};
std::span<const Operator> move_operators();       // copies along fixed paths, and conversions
std::span<const Operator> shape_operators();      // shapes and constants: no data moves
std::span<const Operator> microsoft_operators();  // of the domain com.microsoft

}  // namespace sheaf::cli
