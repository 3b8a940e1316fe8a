// SPDX-License-Identifier: MIT
//
// One conformance case, run and judged.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sheaf::cli {

struct CaseOptions {
  std::string backend;   // a backend, a kernel or a device; empty: whichever the library takes
  bool strided = false;  // also with padded, reversed and transposed tensors
};

enum class Verdict { kPassed, kFailed, kSkipped };

struct Outcome {
  Verdict verdict;
  std::string text;  // failed: what was expected and what came, in lines; skipped: the reason
};

Outcome run_case(const nlohmann::json& json, const CaseOptions& options);

}  // namespace sheaf::cli
