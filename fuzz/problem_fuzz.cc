// SPDX-License-Identifier: MIT
//
// A problem string, as a user of the command line types it: parsed and planned, or refused.
#include "problem/problem.h"

#include <cstring>
#include <string_view>

#include "input.h"
#include "sheaf/error.h"
#include "sheaf/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  try {
    const sheaf::Problem problem =
        sheaf::parse_problem({reinterpret_cast<const char*>(bytes), count});
    const sheaf::Plan plan = sheaf::make_plan(problem.request);
    fuzz::require(!plan.str().empty(), "a plan describes itself");
  } catch (const sheaf::Error& error) {
    fuzz::require(std::strstr(error.what(), "\n  try: ") != nullptr, "a refusal says what to try");
  }
  return 0;
}
