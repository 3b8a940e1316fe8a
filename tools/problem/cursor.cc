// SPDX-License-Identifier: MIT
#include "problem/cursor.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <optional>
#include <system_error>

#include "sheaf/error.h"
#include "support/closest.h"
#include "support/number_text.h"
#include "support/text.h"

namespace sheaf {
namespace {

// A line of the terminal: longer problems are shown around the error only.
constexpr size_t kShownColumns = 96;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool ends_token(char c) {
  return is_space(c) || std::string_view("[]{}(),=").find(c) != std::string_view::npos;
}

// UTF-8: the bytes after the first of a character do not take a column.
bool takes_column(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), takes_column));
}

// Control characters would move the caret, or worse.
std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      c = is_space(c) ? ' ' : '?';
    }
  }
  return shown;
}

struct Excerpt {
  std::string text;
  size_t caret;  // columns before the caret
};

// The part of `text` around `span` that fits on a line.
Excerpt excerpt_of(std::string_view text, Span span) {
  size_t begin = 0;
  if (text.size() > kShownColumns && span.begin > kShownColumns / 2) {
    begin = std::min(span.begin - kShownColumns / 2, text.size() - kShownColumns);
    while (!takes_column(text[begin])) {
      --begin;
    }
  }
  size_t end = std::min(text.size(), begin + kShownColumns);
  while (end < text.size() && !takes_column(text[end])) {
    ++end;
  }
  const std::string lead = begin > 0 ? "... " : "";
  return {lead + printable(text.substr(begin, end - begin)) + (end < text.size() ? " ..." : ""),
          lead.size() + columns(text.substr(begin, span.begin - begin))};
}

enum class Digits { kFits, kTooLarge, kNotOne };

// All of `token` as a T.
template <class T>
Digits read(std::string_view token, T& value) {
  const auto [end, error] = read_number(token, value);
  if (error == std::errc::result_out_of_range) {
    return Digits::kTooLarge;
  }
  const bool all = error == std::errc() && end == token.data() + token.size();
  return all ? Digits::kFits : Digits::kNotOne;
}

std::optional<Scalar> read_word(std::string_view token) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    std::string_view word;
    Scalar value;
  } words[] = {{"true", 1},     {"false", 0},       {"nan", kNan},
               {"-nan", -kNan}, {"inf", kInfinity}, {"-inf", -kInfinity}};
  for (const auto& known : words) {
    if (token == known.word) {
      return known.value;
    }
  }
  return std::nullopt;
}

const Complaint kTooLarge{"number out of range", "is more than any type holds",
                          "a number from -2^63 to 2^64 - 1, or a float that a double holds"};
const Complaint kNoNumber{"not a number", "is not a number",
                          "digits, with a point or exponent for floats; true, false, nan, inf"};

}  // namespace

Complaint unknown_attribute(std::string_view word, std::string_view owner,
                            const std::vector<std::string_view>& attributes) {
  std::string names;
  for (const std::string_view attribute : attributes) {
    names += cat(names.empty() ? "" : ", ", attribute);
  }
  const std::string meant = did_you_mean(word, attributes);
  return {"unknown attribute", cat("is no attribute of ", owner, meant.empty() ? "" : "; ", meant),
          names};
}

void Cursor::skip_spaces() {
  while (!at_end() && is_space(text_[at_])) {
    ++at_;
  }
}

bool Cursor::take(char c) {
  if (!next_is(c)) {
    return false;
  }
  ++at_;
  return true;
}

void Cursor::expect(char c, const char* where) {
  skip_spaces();
  if (!take(c)) {
    fail_here({cat("'", c, "' is missing"), cat("stands where '", c, "' belongs"),
               cat("'", c, "' ", where)});
  }
}

void Cursor::end_item() {
  if (!at_end() && !is_space(text_[at_])) {
    fail_here({"a space is missing", "follows without a space", "a space before it"});
  }
}

Span Cursor::token() {
  const size_t begin = at_;
  while (!at_end() && !ends_token(text_[at_])) {
    ++at_;
  }
  return {begin, at_};
}

int64_t Cursor::integer(const char* what) {
  skip_spaces();
  const Span span = token();
  int64_t value = 0;
  switch (read(text(span), value)) {
    case Digits::kFits: return value;
    case Digits::kTooLarge:
      fail(span, {"number out of range", cat("does not fit ", what),
                  "a whole number from -2^63 to 2^63 - 1"});
    case Digits::kNotOne: break;
  }
  if (span.begin == span.end) {
    at_ = span.begin;
    fail_here({"a number is missing", cat("stands where ", what, " belongs"), "a whole number"});
  }
  fail(span, {"not a whole number", cat("cannot be ", what), "digits, with a '-' where it may be"});
}

double Cursor::real_number() {
  skip_spaces();
  const Span span = token();
  if (const auto word = read_word(text(span)); word) {
    if (const auto* real = std::get_if<double>(&word->value())) {
      return *real;
    }
  }
  double value = 0;
  switch (read(text(span), value)) {
    case Digits::kFits: return value;
    case Digits::kTooLarge: fail(span, kTooLarge);
    case Digits::kNotOne: break;
  }
  fail(span, kNoNumber);
}

Scalar Cursor::number() {
  skip_spaces();
  if (take('(')) {
    const double real = real_number();
    expect(',', "between the parts of a complex number: (real,imaginary)");
    const double imaginary = real_number();
    expect(')', "after the parts of a complex number: (real,imaginary)");
    return std::complex<double>(real, imaginary);
  }
  const Span span = token();
  const std::string_view digits = text(span);
  if (const auto word = read_word(digits); word) {
    return *word;
  }
  int64_t with_sign = 0;
  uint64_t without_sign = 0;
  double real = 0;
  const Digits integer = read(digits, with_sign);
  if (integer == Digits::kFits) {
    // Floats know a negative zero, integers do not mind it.
    return with_sign == 0 && digits.front() == '-' ? Scalar(-0.0) : Scalar(with_sign);
  }
  if (read(digits, without_sign) == Digits::kFits) {
    return without_sign;
  }
  // "18446744073709551616" is a whole number that no type holds, not a float.
  const bool whole = digits.find_first_not_of("-0123456789") == std::string_view::npos;
  const Digits floating = read(digits, real);
  if (floating == Digits::kFits && !whole) {
    return real;
  }
  if (span.begin == span.end) {
    at_ = span.begin;
    fail_here({"a number is missing", "stands where a number belongs", kNoNumber.next});
  }
  fail(span, floating == Digits::kNotOne ? kNoNumber : kTooLarge);
}

void Cursor::fail(Span span, const Complaint& complaint) const {
  const Excerpt excerpt = excerpt_of(text_, span);
  const std::string_view wrong = text(span);
  const std::string name =
      wrong.empty() ? "the end" : cat("\"", excerpt_of(wrong, {0, 0}).text, "\"");
  const size_t column = columns(text_.substr(0, span.begin)) + 1;
  const size_t room = std::max(columns(excerpt.text), excerpt.caret + 1) - excerpt.caret;
  const std::string marks(std::clamp<size_t>(columns(wrong), 1, room), '^');
  throw Error(Refusal{.who = "problem",
                      .what = std::string(complaint.what),
                      .detail = cat(name, " at column ", column, " ", complaint.detail),
                      .given = cat(excerpt.text, "\n  ", std::string(excerpt.caret, ' '), marks),
                      .next = std::string(complaint.next)});
}

void Cursor::fail_here(const Complaint& complaint) {
  skip_spaces();
  const size_t begin = at_;
  Span span = token();
  if (span.begin == span.end && !at_end()) {
    span.end = begin + 1;
  }
  fail(span, complaint);
}

}  // namespace sheaf
