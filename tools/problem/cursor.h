// SPDX-License-Identifier: MIT
//
// A place in a problem string, and errors that point at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sheaf/index_rule.h"

namespace sheaf {

// What to say about a token that is wrong.
struct Complaint {
  std::string what;    // the class of the error
  std::string detail;  // follows the token: "… at column 8 <detail>"
  std::string next;    // what to try
};

// For a word that is no attribute of `owner`: the attributes, and which of them was meant.
Complaint unknown_attribute(std::string_view word, std::string_view owner,
                            const std::vector<std::string_view>& attributes);

// Characters [begin, end) of the text.
struct Span {
  size_t begin, end;
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_spaces();
  bool at_end() const { return at_ == text_.size(); }
  bool next_is(char c) const { return !at_end() && text_[at_] == c; }
  bool take(char c);  // steps over `c` if it is next

  // Steps over `c`, after spaces; `where` says what it belongs to.
  void expect(char c, const char* where);

  // Refuses to go on unless a space, or the end, is next.
  void end_item();

  // The longest run of characters that are neither space nor one of "[]{}(),=". May be empty.
  Span token();

  // What has not been read, and a step over the first characters of it.
  std::string_view rest() const { return text_.substr(at_); }
  void skip(size_t characters) { at_ += characters; }

  size_t position() const { return at_; }
  std::string_view text(Span span) const { return text_.substr(span.begin, span.end - span.begin); }

  // A whole number; `what` names it in the error.
  int64_t integer(const char* what);

  // A number, true, false, nan, inf, or a complex number "(1,2)".
  Scalar number();

  // Throws kInvalidArgument with the text and a caret below `span`.
  [[noreturn]] void fail(Span span, const Complaint& complaint) const;

  // The same for whatever stands at the cursor.
  [[noreturn]] void fail_here(const Complaint& complaint);

 private:
  double real_number();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace sheaf
