// SPDX-License-Identifier: MIT
#include "problem/problem.h"

#include <string>
#include <vector>

#include "plan/vocabulary.h"
#include "problem/cursor.h"
#include "problem/parts.h"
#include "sheaf/error.h"
#include "support/closest.h"
#include "support/text.h"

namespace sheaf {
namespace {

// A problem while it is read.
struct Draft {
  Problem problem;
  Span fill_value = {0, 0};  // where it stands, if it does

  // Also by the words of the name's own library.
  bool is_called(std::string_view key, std::string_view word) const {
    const pictures::Name* const name = problem.name;
    return word == key || (name != nullptr && word == pictures::own_word(*name, key));
  }
  Request& request() { return problem.request; }
};

// One bit for each operator, in the order of Op; a scatter has the attributes of its gather.
constexpr unsigned bit(Op op) { return 1U << static_cast<unsigned>(op); }
constexpr unsigned kSlices = bit(Op::kGather) | bit(Op::kScatter);
constexpr unsigned kElements = bit(Op::kGatherElements) | bit(Op::kScatterElements);
constexpr unsigned kNd = bit(Op::kGatherNd) | bit(Op::kScatterNd);
constexpr unsigned kGathers = 15, kScatters = 240, kEvery = 255;
constexpr unsigned kXlaGathers = bit(Op::kXlaGather), kXlaScatters = bit(Op::kXlaScatter);

struct Attribute {
  std::string_view key;
  unsigned ops;  // the operators that have it
  void (*read)(Cursor& cursor, Draft& draft);
};

template <Dims XlaGatherOptions::*kList>
void read_list(Cursor& cursor, Draft& draft) {
  cursor.skip_spaces();
  (*draft.request().xla).*kList = parse_dims(cursor, "a dimension or size");
}

void read_negative(Cursor& cursor, Draft& draft) {
  draft.request().rule.negative = parse_name(cursor, "negative", kNegatives);
}

// fill and skip each belong to one kind; make_plan says so better than a list of names.
void read_out_of_range(Cursor& cursor, Draft& draft) {
  draft.request().rule.out_of_range = parse_name(cursor, "out_of_range", kOutOfRanges);
}

void read_reduction(Cursor& cursor, Draft& draft) {
  if (draft.problem.name != nullptr) {
    Cursor ahead = cursor;
    ahead.skip_spaces();
    const std::string_view own =
        pictures::reduction_from_own_word(*draft.problem.name, ahead.text(ahead.token()));
    if (const auto* row = find_named(kReductions, own)) {
      draft.request().reduction = row->value;
      cursor = ahead;
      return;
    }
  }
  draft.request().reduction = parse_name(cursor, "reduction", kReductions);
}

template <bool Request::*kFlag>
void read_flag(Cursor& cursor, Draft& draft) {
  draft.request().*kFlag = parse_flag(cursor);
}

void read_fill_value(Cursor& cursor, Draft& draft) {
  cursor.skip_spaces();
  draft.fill_value.begin = cursor.position();
  draft.request().rule.fill_value = cursor.number();
  draft.fill_value.end = cursor.position();
}

using Xla = XlaGatherOptions;
constexpr Attribute kAttributes[] = {
    {"axis", kSlices | kElements,
     [](Cursor& c, Draft& d) { d.request().axis = c.integer("an axis"); }},
    {"batch_dims", kSlices | kNd,
     [](Cursor& c, Draft& d) { d.request().batch_dims = c.integer("a number of dimensions"); }},
    {"broadcast", bit(Op::kGatherElements), read_flag<&Request::broadcast>},
    {"offset_dims", kXlaGathers, read_list<&Xla::offset_dims>},
    {"collapsed_slice_dims", kXlaGathers, read_list<&Xla::collapsed_slice_dims>},
    {"operand_batching_dims", kXlaGathers, read_list<&Xla::operand_batching_dims>},
    {"start_indices_batching_dims", kXlaGathers, read_list<&Xla::start_indices_batching_dims>},
    {"start_index_map", kXlaGathers, read_list<&Xla::start_index_map>},
    {"update_window_dims", kXlaScatters, read_list<&Xla::offset_dims>},
    {"inserted_window_dims", kXlaScatters, read_list<&Xla::collapsed_slice_dims>},
    {"input_batching_dims", kXlaScatters, read_list<&Xla::operand_batching_dims>},
    {"scatter_indices_batching_dims", kXlaScatters, read_list<&Xla::start_indices_batching_dims>},
    {"scatter_dims_to_operand_dims", kXlaScatters, read_list<&Xla::start_index_map>},
    {"index_vector_dim", kXlaGathers | kXlaScatters,
     [](Cursor& c, Draft& d) { d.request().xla->index_vector_dim = c.integer("a dimension"); }},
    {"slice_sizes", kXlaGathers, read_list<&Xla::slice_sizes>},
    {"skip_whole_window", kXlaScatters, read_flag<&Request::skip_whole_window>},
    {"reduction", kScatters, read_reduction},
    {"include_self", kScatters, read_flag<&Request::include_self>},
    {"onto_zeros", kScatters, read_flag<&Request::onto_zeros>},
    {"accumulate_f32", kScatters, read_flag<&Request::accumulate_f32>},
    {"negative", kEvery, read_negative},
    {"out_of_range", kEvery, read_out_of_range},
    {"fill_value", kGathers, read_fill_value},
};

bool belongs_to(const Attribute& attribute, Op op) { return (attribute.ops & bit(op)) != 0; }

// The attribute at the cursor; marks it in `seen`.
const Attribute& parse_key(Cursor& cursor, const Draft& draft, unsigned& seen) {
  const Op op = draft.problem.request.op;
  const Span span = cursor.token();
  std::vector<std::string_view> names;
  unsigned mark = 1;
  for (const Attribute& attribute : kAttributes) {
    if (belongs_to(attribute, op)) {
      if (draft.is_called(attribute.key, cursor.text(span))) {
        if ((seen & mark) != 0) {
          cursor.fail(span, {"attribute given twice", "has a value already", "one of the two"});
        }
        seen |= mark;
        return attribute;
      }
      names.push_back(attribute.key);
    }
    mark <<= 1U;
  }
  const Complaint complaint = unknown_attribute(cursor.text(span), to_string(op), names);
  if (span.begin == span.end) {
    cursor.fail_here(complaint);
  }
  cursor.fail(span, complaint);
}

void parse_attributes(Cursor& cursor, Draft& draft) {
  unsigned seen = 0;
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const Attribute& attribute = parse_key(cursor, draft, seen);
    cursor.expect('=', "and a value after the attribute");
    attribute.read(cursor, draft);
    cursor.end_item();
  }
  const bool has_fill_value = draft.fill_value.end != 0;
  if (has_fill_value && draft.request().rule.out_of_range != OutOfRange::kFill) {
    cursor.fail(draft.fill_value, {"fill_value is never used", "is only read by out_of_range=fill",
                                   "out_of_range=fill beside it"});
  }
}

// The operator, by its own name or by that of another library.
Op parse_operator(Cursor& cursor, const pictures::Name*& name) {
  cursor.skip_spaces();
  const Span span = Cursor(cursor).token();
  if (find_named(kOps, cursor.text(span)) == nullptr) {
    const pictures::LeadingName leading = pictures::leading_name(cursor.rest());
    const auto* row = leading.name == nullptr ? nullptr : find_named(kOps, leading.name->op);
    if (row != nullptr) {
      name = leading.name;
      cursor.skip(leading.length);
      return row->value;
    }
    std::vector<std::string_view> words;
    for (const pictures::Name& other : pictures::names()) {
      words.push_back(other.slug);
    }
    for (const auto& op : kOps) {
      words.push_back(op.name);
    }
    const std::string meant = did_you_mean(cursor.text(span), words);
    const Complaint complaint{
        "unknown operator", cat("names no operator", meant.empty() ? "" : "; ", meant),
        cat(names_of(kOps), ", or another library's name, as in torch.gather")};
    if (span.begin == span.end) {
      cursor.fail_here(complaint);
    }
    cursor.fail(span, complaint);
  }
  return parse_name(cursor, "operator", kOps);
}

}  // namespace

Problem parse_problem(std::string_view text) {
  Cursor cursor(text);
  Draft draft;
  Request& r = draft.request();
  r = request_from(parse_operator(cursor, draft.problem.name));
  r.data = parse_tensor(cursor, "data", draft.problem.data);
  r.indices = parse_tensor(cursor, "indices", draft.problem.indices);
  r.updates_given = r.op == Op::kXlaScatter || (is_scatter(r.op) && tensor_follows(cursor));
  if (r.updates_given) {
    r.updates = parse_tensor(cursor, "updates", draft.problem.updates);
  }
  if (draft.problem.name != nullptr) {
    pictures::apply_name(*draft.problem.name, r);
  }
  parse_attributes(cursor, draft);
  if (r.xla) {
    r.xla->rule = r.rule;
  }
  return std::move(draft.problem);
}

}  // namespace sheaf
