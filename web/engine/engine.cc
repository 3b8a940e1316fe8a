// SPDX-License-Identifier: MIT
//
// The surface of the WebAssembly module: problem strings in, JSON out. Each answer stays valid
// until the next call.
#include <exception>
#include <string>

#include "answers.h"
#include "sheaf/version.h"

namespace {

const char* keep(const sheaf::web::Json& json) {
  static std::string text;
  // A problem may hold bytes that are no UTF-8; an error text quotes them.
  text = json.dump(-1, ' ', false, sheaf::web::Json::error_handler_t::replace);
  return text.c_str();
}

template <class Answer>
const char* answer(Answer make) {
  try {
    return keep(make());
  } catch (const std::exception& error) {
    return keep({{"error", sheaf::web::error_json(error)}});
  }
}

}  // namespace

extern "C" {

const char* sheaf_explain(const char* problem) {
  return answer([&] { return sheaf::web::explain_json(problem); });
}

const char* sheaf_compare(const char* a, const char* b) {
  return answer([&] { return sheaf::web::compare_json(a, b); });
}

const char* sheaf_version() { return SHEAF_VERSION; }

}  // extern "C"
