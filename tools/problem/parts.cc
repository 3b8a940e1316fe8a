// SPDX-License-Identifier: MIT
#include "problem/parts.h"

#include <string>

#include "problem/literal.h"
#include "sheaf/error.h"

namespace sheaf {

Dims parse_dims(Cursor& cursor, const char* what) {
  const size_t begin = cursor.position();
  cursor.expect('[', "before a list");
  Dims dims;
  cursor.skip_spaces();
  if (!cursor.next_is(']')) {
    do {
      const int64_t entry = cursor.integer(what);
      if (dims.size() == kMaxRank) {
        cursor.fail({begin, cursor.position()},
                    {"too many dimensions", cat("has more than ", kMaxRank, " entries"),
                     cat("at most ", kMaxRank)});
      }
      dims.push_back(entry);
      cursor.skip_spaces();
    } while (cursor.take(','));
  }
  cursor.expect(']', "after a list, or ',' between its entries");
  return dims;
}

namespace {

DType parse_dtype(Cursor& cursor, const char* tensor) {
  cursor.skip_spaces();
  const Span span = cursor.token();
  const std::string types = cat(kTypeNames, ", opaque1 to opaque64");
  if (span.begin == span.end) {
    cursor.fail_here({cat(tensor, " is missing"),
                      cat("stands where ", tensor, " belongs, as in f32[3,5]"), types});
  }
  try {
    return dtype_from_name(std::string(cursor.text(span)));
  } catch (const Error&) {
    cursor.fail(span, {"unknown element type", "names no type", types});
  }
}

}  // namespace

TensorSpec parse_tensor(Cursor& cursor, const char* tensor, std::optional<Literal>& literal) {
  const DType dtype = parse_dtype(cursor, tensor);
  const size_t begin = cursor.position();
  const Dims sizes = parse_dims(cursor, "a size");
  const Span span{begin, cursor.position()};
  for (const int64_t size : sizes) {
    if (size < 0) {
      cursor.fail(span, {"negative size", cat("holds ", size), "sizes of 0 or more"});
    }
  }
  TensorSpec spec;
  try {
    spec = TensorSpec(dtype, sizes);
  } catch (const Error&) {
    cursor.fail(span, {"tensor too large", "multiplies to more than 2^63 - 1", "smaller sizes"});
  }
  if (cursor.take('=')) {
    literal = parse_literal(cursor, spec);
  }
  cursor.end_item();
  return spec;
}

bool parse_flag(Cursor& cursor) {
  cursor.skip_spaces();
  const Span span = cursor.token();
  const std::string_view word = cursor.text(span);
  if (word != "0" && word != "1" && word != "true" && word != "false") {
    cursor.fail(span, {"not a switch", "is neither on nor off", "1 or 0"});
  }
  return word == "1" || word == "true";
}

bool tensor_follows(Cursor cursor) {
  cursor.skip_spaces();
  cursor.token();
  return cursor.next_is('[');
}

}  // namespace sheaf
