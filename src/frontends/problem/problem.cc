// SPDX-License-Identifier: MIT
#include "frontends/problem/problem.h"

#include <string>

#include "frontends/problem/cursor.h"
#include "frontends/problem/literal.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf {
namespace {

constexpr Op kOps[] = {Op::kGather, Op::kGatherElements, Op::kGatherNd, Op::kXlaGather};

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
  constexpr const char* kTypes =
      "bool, i8 to i64, u8 to u64, f8e4m3, f8e5m2, f16, bf16, f32, f64, c64, c128, opaque1 to "
      "opaque64";
  if (span.begin == span.end) {
    cursor.fail_here({cat(tensor, " is missing"),
                      cat("stands where ", tensor, " belongs, as in f32[3,5]"), kTypes});
  }
  try {
    return dtype_from_name(std::string(cursor.text(span)));
  } catch (const Error&) {
    cursor.fail(span, {"unknown element type", "names no type", kTypes});
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

// The value of `word` in a list of names; `to_string` gives them.
template <class Enum, size_t kCount>
Enum parse_name(Cursor& cursor, const char* what, const Enum (&values)[kCount]) {
  cursor.skip_spaces();
  const Span span = cursor.token();
  std::string names;
  for (const Enum value : values) {
    if (cursor.text(span) == to_string(value)) {
      return value;
    }
    names += cat(names.empty() ? "" : ", ", to_string(value));
  }
  const Complaint complaint{cat("unknown ", what), cat("names no ", what), names};
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

// One bit for each operator, in the order of kOps.
constexpr unsigned kGatherBit = 1, kElementsBit = 2, kNdBit = 4, kXlaBit = 8, kEveryBit = 15;

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
  draft.request().rule.negative =
      parse_name(cursor, "negative", {Negative::kFromEnd, Negative::kOutOfRange});
}

void read_out_of_range(Cursor& cursor, Draft& draft) {
  draft.request().rule.out_of_range =
      parse_name(cursor, "out_of_range",
                 {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap,
                  OutOfRange::kTrust});
}

void read_fill_value(Cursor& cursor, Draft& draft) {
  cursor.skip_spaces();
  draft.fill_value.begin = cursor.position();
  draft.request().rule.fill_value = cursor.number();
  draft.fill_value.end = cursor.position();
}

using Xla = XlaGatherOptions;
constexpr Attribute kAttributes[] = {
    {"axis", kGatherBit | kElementsBit,
     [](Cursor& c, Draft& d) { d.request().axis = c.integer("an axis"); }},
    {"batch_dims", kGatherBit | kNdBit,
     [](Cursor& c, Draft& d) { d.request().batch_dims = c.integer("a number of dimensions"); }},
    {"broadcast", kElementsBit, [](Cursor& c, Draft& d) { d.request().broadcast = parse_flag(c); }},
    {"offset_dims", kXlaBit, read_list<&Xla::offset_dims>},
    {"collapsed_slice_dims", kXlaBit, read_list<&Xla::collapsed_slice_dims>},
    {"operand_batching_dims", kXlaBit, read_list<&Xla::operand_batching_dims>},
    {"start_indices_batching_dims", kXlaBit, read_list<&Xla::start_indices_batching_dims>},
    {"start_index_map", kXlaBit, read_list<&Xla::start_index_map>},
    {"index_vector_dim", kXlaBit,
     [](Cursor& c, Draft& d) { d.xla.index_vector_dim = c.integer("a dimension"); }},
    {"slice_sizes", kXlaBit, read_list<&Xla::slice_sizes>},
    {"negative", kEveryBit, read_negative},
    {"out_of_range", kEveryBit, read_out_of_range},
    {"fill_value", kEveryBit, read_fill_value},
};

bool belongs_to(const Attribute& attribute, Op op) {
  return (attribute.ops & (1U << static_cast<unsigned>(op))) != 0;
}

// The attribute at the cursor; marks it in `seen`.
const Attribute& parse_key(Cursor& cursor, Op op, unsigned& seen) {
  const Span span = cursor.token();
  std::string names;
  unsigned bit = 1;
  for (const Attribute& attribute : kAttributes) {
    if (belongs_to(attribute, op)) {
      if (cursor.text(span) == attribute.key) {
        if ((seen & bit) != 0) {
          cursor.fail(span, {"attribute given twice", "has a value already", "one of the two"});
        }
        seen |= bit;
        return attribute;
      }
      names += cat(names.empty() ? "" : ", ", attribute.key);
    }
    bit <<= 1U;
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

}  // namespace

Problem parse_problem(std::string_view text) {
  Cursor cursor(text);
  Draft draft;
  Request& r = draft.request();
  r.op = parse_name(cursor, "operator", kOps);
  r.name = to_string(r.op);
  if (r.op == Op::kXlaGather) {
    r.rule = draft.xla.rule;
  }
  r.data = parse_tensor(cursor, "data", draft.problem.data);
  r.indices = parse_tensor(cursor, "indices", draft.problem.indices);
  parse_attributes(cursor, draft);
  if (r.op == Op::kXlaGather) {
    draft.xla.rule = r.rule;
    r.xla = std::make_shared<const XlaGatherOptions>(draft.xla);
  }
  return std::move(draft.problem);
}

}  // namespace sheaf
