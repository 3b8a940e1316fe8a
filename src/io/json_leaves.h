// SPDX-License-Identifier: MIT
//
// JSON from a file, as a stream of its numbers and texts: headers may be large, and hostile ones
// deep, so no tree is built.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sheaf::io {

struct JsonLeaf {
  const std::vector<std::string>& keys;  // from the outermost object to the innermost
  int64_t position;                      // in the array that holds it; -1: in none
  const std::string* text;               // null: a number
  int64_t number;
};

// Calls `leaf` for each text and each 64-bit integer; other numbers and words come as texts. Throws
// FileError for what is not JSON, for keys that occur twice and for nesting deeper than 4. Calls
// `empty` for each empty array or object.
void parse_json(const std::string& path, const std::string& json,
                const std::function<void(const JsonLeaf&)>& leaf,
                const std::function<void(const std::vector<std::string>& keys)>& empty);

// `text` as a JSON text, with its quotes.
std::string json_text(const std::string& text);

}  // namespace sheaf::io
