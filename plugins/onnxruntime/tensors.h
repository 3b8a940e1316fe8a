// SPDX-License-Identifier: MIT
//
// What a node gets to see of the runtime: its attributes when it is made, its tensors when it runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api.h"
#include "sheaf/dtype.h"
#include "sheaf/tensor.h"

namespace sheaf::ort {

// Null for strings, and for elements of less than a byte.
std::optional<DType> dtype_of_element(ElementType type);

// An input of a running node. Its memory is the runtime's, and lies in the host's memory.
struct Input {
  ElementType type = kUndefined;
  Dims sizes = {};
  const void* data = nullptr;
  const Value* value = nullptr;

  TensorSpec spec() const;  // throws on a type without a DType
};

// A node that becomes a kernel.
class NodeInfo {
 public:
  NodeInfo(const Api& api, const KernelInfo* info) : api_(api), info_(info) {}

  const Api& api() const { return api_; }
  int64_t number(const char* attribute, int64_t otherwise) const;
  std::string text(const char* attribute, const char* otherwise) const;
  std::optional<std::vector<int64_t>> numbers(const char* attribute) const;  // a list
  bool is_constant(size_t input) const;  // an initializer that no caller can replace
  std::string output_name() const;

 private:
  const Api& api_;
  const KernelInfo* info_;
};

// A run of a node.
class Context {
 public:
  Context(const Api& api, KernelContext* context) : api_(api), context_(context) {}

  const Api& api() const { return api_; }
  KernelContext* handle() const { return context_; }
  Input input(size_t index) const;  // throws if it was left out
  std::optional<Input> optional_input(size_t index) const;
  void* output(const Dims& sizes) const;
  Value* output_value(const Dims& sizes) const;

 private:
  const Api& api_;
  KernelContext* context_;
};

// A node of a graph that the provider is offered.
struct NodeAttribute {
  std::string name;
  AttributeType type;
  std::optional<int64_t> number;
  std::optional<std::string> text;
};

struct NodeValue {
  std::string name = {};           // "" if it was left out
  ElementType type = kUndefined;   // unknown, or left out
  std::optional<Dims> sizes = {};  // negative: an extent that is not known yet
};

struct OfferedNode {
  std::string op, domain;
  std::vector<NodeAttribute> attributes;
  std::vector<NodeValue> inputs, outputs;
  std::vector<NodeValue> captured;  // what graphs inside the node read from around it

  int64_t number(const std::string& attribute, int64_t otherwise) const;
  std::string text(const std::string& attribute, const char* otherwise) const;
};

OfferedNode describe(const Api& api, const Node* node);

}  // namespace sheaf::ort
