// SPDX-License-Identifier: MIT
//
// What problem strings of every operator are made of: tensors, lists, names and switches.
#pragma once

#include <optional>

#include "plan/vocabulary.h"
#include "problem/cursor.h"
#include "problem/problem.h"
#include "support/text.h"

namespace sheaf {

// "[3,5]"; `what` names an entry in errors.
Dims parse_dims(Cursor& cursor, const char* what);

// "f32[3,5]", and its values if they follow; `tensor` names it in errors.
TensorSpec parse_tensor(Cursor& cursor, const char* tensor, std::optional<Literal>& literal);

// A tensor is next, and not an attribute.
bool tensor_follows(Cursor cursor);

// "1", "0", "true" or "false".
bool parse_flag(Cursor& cursor);

// The value whose name in `table` is the next word.
template <class Table>
auto parse_name(Cursor& cursor, const char* what, const Table& table) {
  cursor.skip_spaces();
  const Span span = cursor.token();
  if (const auto* row = find_named(table, cursor.text(span))) {
    return row->value;
  }
  const Complaint complaint{cat("unknown ", what), cat("names no ", what), names_of(table)};
  if (span.begin == span.end) {
    cursor.fail_here(complaint);
  }
  cursor.fail(span, complaint);
}

}  // namespace sheaf
