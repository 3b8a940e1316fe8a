// SPDX-License-Identifier: MIT
//
// A conformance case: one call of an operator as plain JSON, with the output it has to give.
// docs/cli.md describes the format. What is read here is structure only; nothing is computed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/request.h"

namespace sheaf::cli {

// A file that is not a list of cases. The text names the file and, where it helps, the position.
struct BadFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A case that does not follow the format: it fails.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A case about something that this version does not have: it is skipped, for this reason.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The values stay in the JSON, which outlives the case.
struct CaseTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  const nlohmann::json* values = nullptr;  // a list; null where the case has none
};

struct Case {
  Op op = Op::kGather;
  bool expect_error = false;
  bool shapes_only = false;
  CaseTensor data, indices;
  std::optional<CaseTensor> updates;  // of a scatter
  std::optional<CaseTensor> output;   // unless an error is expected
  const nlohmann::json* attributes = nullptr;
};

// The cases of a file, as a JSON list. Throws BadFile.
nlohmann::json load_cases(const std::string& path);

// Throws Malformed or Unsupported.
Case read_case(const nlohmann::json& json);

// The text of member `key`, or "" if it has none.
std::string text_member(const nlohmann::json& json, const char* key);

// The operators that cases may name.
bool is_case_op(const std::string& name);

// A whole number; throws Malformed, naming it `what`.
int64_t integer_value(const nlohmann::json& json, const std::string& what);
std::vector<int64_t> integer_list(const nlohmann::json& json, const std::string& what);

}  // namespace sheaf::cli
