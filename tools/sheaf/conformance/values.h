// SPDX-License-Identifier: MIT
//
// The values of a case: JSON numbers and texts into the bytes of elements, and back to text.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "conformance/case.h"
#include "problem/problem.h"

namespace sheaf::cli {

// Reads all tensors of one case. Texts become numbers, equal ones equal, since a gather moves
// elements without looking at them.
class ValueReader {
 public:
  // The element type that a case calls `name`. Throws Malformed or Unsupported.
  static DType dtype(const std::string& name);

  // The packed elements of a tensor. Throws Malformed.
  Literal read(const CaseTensor& tensor, const TensorSpec& spec, const char* name);

  // fill_value for elements of type `dtype`. Texts are filled with a text; to be called first, as
  // opaque elements can only be filled with zeros, and that is then what this text becomes.
  Scalar read_fill_value(const nlohmann::json& value, const std::string& dtype);

  // "{1, 2, 3, … 7 more}"
  std::string text(const TensorSpec& spec, const std::string& dtype, const Literal& values) const;
  std::string element_text(DType type, const std::string& dtype, const std::byte* element) const;

 private:
  void store_text(const nlohmann::json& value, const std::string& what, std::byte* element);
  uint64_t number_of(const std::string& text);

  std::map<std::string, uint64_t> numbers_;
  std::vector<std::string> texts_;  // by number
};

}  // namespace sheaf::cli
