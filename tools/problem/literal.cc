// SPDX-License-Identifier: MIT
#include "problem/literal.h"

#include <string>
#include <variant>

#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf {
namespace {

class LiteralReader {
 public:
  LiteralReader(Cursor& cursor, const TensorSpec& spec) : cursor_(cursor), spec_(spec) {}

  Literal read() {
    const size_t begin = cursor_.position();
    read_list(0);
    if (!nested_ && values_ != element_count(spec_.sizes)) {
      fail_count(begin, values_, element_count(spec_.sizes));
    }
    return std::move(literal_);
  }

 private:
  // One pair of braces. The first list shows which of the two ways of writing is meant: with braces
  // inside, every level has to be as long as its dimension.
  void read_list(int depth) {
    const size_t begin = cursor_.position();
    cursor_.expect('{', "before the values");
    cursor_.skip_spaces();
    if (depth == 0) {
      nested_ = spec_.rank() > 1 && cursor_.next_is('{');
    }
    int64_t items = 0;
    if (!cursor_.next_is('}')) {
      do {
        read_item(depth);
        ++items;
        cursor_.skip_spaces();
      } while (cursor_.take(','));
    }
    cursor_.expect('}', "after the values, or ',' between them");
    if (nested_ && items != spec_.sizes[depth]) {
      fail_count(begin, items, spec_.sizes[depth]);
    }
  }

  void read_item(int depth) {
    cursor_.skip_spaces();
    const bool list = cursor_.next_is('{');
    const bool list_belongs = nested_ && depth < spec_.rank() - 1;
    if (list != list_belongs) {
      cursor_.fail_here({"braces do not match the shape",
                         list_belongs
                             ? cat("stands where the braces of dimension ", depth + 1, " belong")
                             : cat("opens one brace too many for ", spec_.str()),
                         "one pair of braces around all values, or one for each dimension"});
    }
    if (list) {
      read_list(depth + 1);
    } else {
      read_value();
    }
  }

  void read_value() {
    const size_t begin = cursor_.position();
    const Scalar value = cursor_.number();
    const Span span{begin, cursor_.position()};
    if (spec_.dtype == boolean && !is_bit(value)) {
      cursor_.fail(span, {"value does not fit the type", "is neither true nor false",
                          "true, false, 1 or 0"});
    }
    const size_t bytes = static_cast<size_t>(spec_.dtype.bytes());
    literal_.resize(literal_.size() + bytes);
    if (const auto reason = encode(value, spec_.dtype, literal_.data() + literal_.size() - bytes)) {
      cursor_.fail(span, {"value does not fit the type", cat("does not fit: ", *reason),
                          cat("values of type ", spec_.dtype.name())});
    }
    ++values_;
  }

  static bool is_bit(const Scalar& value) {
    const auto* number = std::get_if<int64_t>(&value.value());
    return number != nullptr && (*number == 0 || *number == 1);
  }

  [[noreturn]] void fail_count(size_t begin, int64_t got, int64_t needed) {
    cursor_.fail({begin, cursor_.position()},
                 {"wrong number of values",
                  cat("holds ", counted(got, "value", "values"), ", but ", spec_.str(), " needs ",
                      needed, nested_ ? " there" : ""),
                  counted(needed, "value", "values")});
  }

  Cursor& cursor_;
  const TensorSpec& spec_;
  Literal literal_;
  int64_t values_ = 0;
  bool nested_ = false;
};

}  // namespace

Literal parse_literal(Cursor& cursor, const TensorSpec& spec) {
  return LiteralReader(cursor, spec).read();
}

}  // namespace sheaf
