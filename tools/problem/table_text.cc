// SPDX-License-Identifier: MIT
#include "problem/table_text.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "problem/parts.h"
#include "sheaf/error.h"

namespace sheaf {
namespace {

struct TableAttribute {
  std::string_view key;
  void (*read)(Cursor& cursor, TableText& text);
};

std::string place_word(Cursor& cursor, bool may_be_file) {
  cursor.skip_spaces();
  const Span span = cursor.token();
  std::string word(cursor.text(span));
  if (word.empty() || (word == pictures::kFilePlace && !may_be_file)) {
    cursor.fail(
        {span.begin, std::max(span.end, span.begin + 1)},
        {"unknown place", "is no place for rows",
         may_be_file ? "host, file, or a device as in gpu" : "host, or a device as in gpu"});
  }
  return word;
}

void read_way(Cursor& cursor, TableText& text) {
  cursor.skip_spaces();
  const Span span = cursor.token();
  const std::vector<pictures::WayAnswer> ways = pictures::ways_of({}, 1);
  const auto known = std::find_if(ways.begin(), ways.end(),
                                  [&](const auto& way) { return way.name == cursor.text(span); });
  if (known == ways.end()) {
    cursor.fail({span.begin, std::max(span.end, span.begin + 1)},
                {"unknown way", "names no way", "host, device, mapped, ring, file or download"});
  }
  text.journey.way = known->name;
}

void read_cached(Cursor& cursor, TableText& text) {
  std::optional<Literal> values;
  const size_t begin = cursor.position();
  const TensorSpec spec = parse_tensor(cursor, "cached", values);
  const int64_t rows =
      text.problem.request.data.rank() > 0 ? text.problem.request.data.sizes[0] : 0;
  if (spec.dtype != i64 || spec.rank() != 1 || !values) {
    cursor.fail({begin, cursor.position()},
                {"no rows", "is no list of rows", "as in cached=i64[2]={4,0}"});
  }
  text.journey.cached_rows.resize(static_cast<size_t>(spec.sizes[0]));
  std::memcpy(text.journey.cached_rows.data(), values->data(), values->size());
  for (const int64_t row : text.journey.cached_rows) {
    if (row < 0 || row >= rows) {
      cursor.fail({begin, cursor.position()},
                  {"no such row", cat("holds ", row, ", but the table has ", rows, " rows"),
                   "rows of the table"});
    }
  }
}

constexpr TableAttribute kTableAttributes[] = {
    {"from", [](Cursor& c, TableText& t) { t.journey.from = place_word(c, true); }},
    {"to", [](Cursor& c, TableText& t) { t.journey.to = place_word(c, false); }},
    {"way", read_way},
    {"locked", [](Cursor& c, TableText& t) { t.journey.locked = parse_flag(c); }},
    {"piece_rows",
     [](Cursor& c, TableText& t) {
       const size_t begin = c.position();
       t.journey.piece_rows = c.integer("a number of rows");
       if (t.journey.piece_rows < 1) {
         c.fail({begin, c.position()}, {"no piece", "is no number of rows", "1 or more"});
       }
     }},
    {"cached", read_cached},
    {"negative",
     [](Cursor& c, TableText& t) {
       t.problem.request.rule.negative = parse_name(c, "negative", kNegatives);
     }},
    {"out_of_range",
     [](Cursor& c, TableText& t) {
       t.problem.request.rule.out_of_range = parse_name(c, "out_of_range", kOutOfRanges);
     }},
    {"fill_value",
     [](Cursor& c, TableText& t) {
       c.skip_spaces();
       t.problem.request.rule.fill_value = c.number();
     }},
};

const TableAttribute& parse_table_key(Cursor& cursor, std::vector<std::string_view>& seen) {
  const Span span = cursor.token();
  std::vector<std::string_view> names;
  for (const TableAttribute& attribute : kTableAttributes) {
    if (cursor.text(span) == attribute.key) {
      if (std::find(seen.begin(), seen.end(), attribute.key) != seen.end()) {
        cursor.fail(span, {"attribute given twice", "has a value already", "one of the two"});
      }
      seen.push_back(attribute.key);
      return attribute;
    }
    names.push_back(attribute.key);
  }
  const Complaint complaint = unknown_attribute(cursor.text(span), "table", names);
  if (span.begin == span.end) {
    cursor.fail_here(complaint);
  }
  cursor.fail(span, complaint);
}

// Neither the first way nor the one that is forced.
[[noreturn]] void refuse_journey(const pictures::Journey& journey, int64_t row_bytes) {
  std::string refusals;
  for (const pictures::WayAnswer& answer : pictures::ways_of(journey, row_bytes)) {
    if (journey.way.empty() || answer.name == journey.way) {
      refusals += cat(refusals.empty() ? "" : "; ", answer.name, ": ", answer.refusal);
    }
  }
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .who = "table",
                      .what = "no way to the rows",
                      .detail = refusals,
                      .next = "other places, or no way=, which takes the first that can"});
}

}  // namespace

bool is_table_text(std::string_view text) {
  Cursor cursor(text);
  cursor.skip_spaces();
  return cursor.text(cursor.token()) == "table";
}

TableText parse_table(std::string_view text) {
  Cursor cursor(text);
  cursor.skip_spaces();
  cursor.token();  // "table"
  // Of the operator all but its tensors and its rule.
  TableText table{parse_problem("gather f32[1,1] i64[1]"), {}};
  Request& r = table.problem.request;
  r.data = parse_tensor(cursor, "data", table.problem.data);
  r.indices = parse_tensor(cursor, "indices", table.problem.indices);
  std::vector<std::string_view> seen;
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const TableAttribute& attribute = parse_table_key(cursor, seen);
    cursor.expect('=', "and a value after the attribute");
    attribute.read(cursor, table);
    cursor.end_item();
  }
  const int64_t rows = r.data.rank() > 0 ? r.data.sizes[0] : 0;
  const int64_t row_bytes =
      rows == 0 ? 0 : element_count(r.data.sizes) / rows * r.data.dtype.bytes();
  if (pictures::chosen_way(table.journey, row_bytes).empty()) {
    refuse_journey(table.journey, row_bytes);
  }
  return table;
}

}  // namespace sheaf
