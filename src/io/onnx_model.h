// SPDX-License-Identifier: MIT
//
// An ONNX model: its nodes, and where its tensors are. For reading initialisers, and for running
// models whose nodes only move data.
#pragma once

#include <optional>

#include "io/onnx_tensor.h"

namespace sheaf::io {

struct OnnxAttribute {
  std::string name;
  int64_t number = 0;                // of an integer
  float real = 0;                    // of a float
  std::vector<int64_t> numbers;      // of a list of integers
  std::vector<float> reals;          // of a list of floats
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
  // ONNX's number for the elements of an input or output that is said to be a tensor, and
  // kNotATensor for a sequence, map or optional.
  std::map<std::string, int64_t> element_types;
  static constexpr int64_t kNotATensor = -1;
  std::map<std::string, int64_t> opsets;  // by domain
  std::map<std::string, std::string> metadata;
};

OnnxModel read_onnx_model(const FilePointer& file);

}  // namespace sheaf::io
