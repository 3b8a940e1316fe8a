// SPDX-License-Identifier: MIT
//
// One case of a conformance file, in JSON: it passes, fails or is skipped, and nothing else
// happens.
#include <nlohmann/json.hpp>

#include "conformance/run_case.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  const nlohmann::json json =
      nlohmann::json::parse(bytes, bytes + count, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) {
    const sheaf::cli::Outcome outcome = sheaf::cli::run_case(json, {});
    fuzz::require(outcome.verdict == sheaf::cli::Verdict::kPassed || !outcome.text.empty(),
                  "a failed or skipped case says why");
  }
  return 0;
}
