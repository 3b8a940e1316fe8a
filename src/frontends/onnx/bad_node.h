// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace sheaf::onnx {

// A node whose attributes and inputs do not fit each other. Whoever catches it knows which node.
class BadNode : public std::runtime_error {
 public:
  BadNode(const std::string& what, std::string next)
      : std::runtime_error(what), next_(std::move(next)) {}
  const std::string& next() const { return next_; }  // what would do

 private:
  std::string next_;
};

}  // namespace sheaf::onnx
