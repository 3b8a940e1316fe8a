// SPDX-License-Identifier: MIT
//
// An ONNX model: its nodes, and where its tensors are. For reading initialisers, and for running
// models whose nodes are all gathers and scatters.
#pragma once

#include <optional>

#include "io/onnx_tensor.h"

namespace sheaf::io {

struct OnnxAttribute {
  std::string name;
  int64_t number = 0;                // of an integer
  std::string text;                  // of a string
  std::optional<OnnxTensor> tensor;  // of a tensor
};

struct OnnxNode {
  std::string name, op_type, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<OnnxAttribute> attributes;
};

struct OnnxModel {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<std::string> inputs, outputs;  // inputs may name initialisers too
  std::map<std::string, int64_t> opsets;     // by domain
  std::map<std::string, std::string> metadata;
};

OnnxModel read_onnx_model(const FilePointer& file);

}  // namespace sheaf::io
