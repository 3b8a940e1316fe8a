// SPDX-License-Identifier: MIT
#include "problem/problem.h"

#include <string>

#include "plan/vocabulary.h"
#include "problem/cursor.h"
#include "problem/literal.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf {
namespace {

// A problem while it is read.
struct Draft {
  Problem problem;
  XlaGatherOptions xla;
  Span fill_value = {0, 0};  // where it stands, if it does

  Request& request() { return problem.request; }
};

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

bool parse_flag(Cursor& cursor) {
  cursor.skip_spaces();
  const Span span = cursor.token();
  const std::string_view word = cursor.text(span);
  if (word != "0" && word != "1" && word != "true" && word != "false") {
    cursor.fail(span, {"not a switch", "is neither on nor off", "1 or 0"});
  }
  return word == "1" || word == "true";
}

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
  draft.xla.*kList = parse_dims(cursor, "a dimension or size");
}

void read_negative(Cursor& cursor, Draft& draft) {
  draft.request().rule.negative = parse_name(cursor, "negative", kNegatives);
}

// fill and skip each belong to one kind; make_plan says so better than a list of names.
void read_out_of_range(Cursor& cursor, Draft& draft) {
  draft.request().rule.out_of_range = parse_name(cursor, "out_of_range", kOutOfRanges);
}

void read_reduction(Cursor& cursor, Draft& draft) {
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
     [](Cursor& c, Draft& d) { d.xla.index_vector_dim = c.integer("a dimension"); }},
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
const Attribute& parse_key(Cursor& cursor, Op op, unsigned& seen) {
  const Span span = cursor.token();
  std::string names;
  unsigned mark = 1;
  for (const Attribute& attribute : kAttributes) {
    if (belongs_to(attribute, op)) {
      if (cursor.text(span) == attribute.key) {
        if ((seen & mark) != 0) {
          cursor.fail(span, {"attribute given twice", "has a value already", "one of the two"});
        }
        seen |= mark;
        return attribute;
      }
      names += cat(names.empty() ? "" : ", ", attribute.key);
    }
    mark <<= 1U;
  }
  const Complaint complaint{"unknown attribute", cat("is no attribute of ", to_string(op)), names};
  if (span.begin == span.end) {
    cursor.fail_here(complaint);
  }
  cursor.fail(span, complaint);
}

void parse_attributes(Cursor& cursor, Draft& draft) {
  unsigned seen = 0;
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const Attribute& attribute = parse_key(cursor, draft.request().op, seen);
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

// A tensor is next, and not an attribute.
bool tensor_follows(Cursor cursor) {
  cursor.skip_spaces();
  cursor.token();
  return cursor.next_is('[');
}

}  // namespace

Problem parse_problem(std::string_view text) {
  Cursor cursor(text);
  Draft draft;
  Request& r = draft.request();
  r.op = parse_name(cursor, "operator", kOps);
  r.name = to_string(r.op);
  r.rule = usual_rule(r.op);
  r.data = parse_tensor(cursor, "data", draft.problem.data);
  r.indices = parse_tensor(cursor, "indices", draft.problem.indices);
  r.updates_given = r.op == Op::kXlaScatter || (is_scatter(r.op) && tensor_follows(cursor));
  if (r.updates_given) {
    r.updates = parse_tensor(cursor, "updates", draft.problem.updates);
  }
  parse_attributes(cursor, draft);
  if (r.op == Op::kXlaGather || r.op == Op::kXlaScatter) {
    draft.xla.rule = r.rule;
    r.xla = std::make_shared<const XlaGatherOptions>(draft.xla);
  }
  return std::move(draft.problem);
}

}  // namespace sheaf
