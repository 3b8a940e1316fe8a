// SPDX-License-Identifier: MIT
#include "problem/bag_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "problem/parts.h"
#include "sheaf/error.h"

namespace sheaf {
namespace {

// A bag while it is read.
struct BagDraft {
  BagText text;
  std::string element;  // the word before data's sizes
  bool has_fill_value = false;

  BagSpecs& specs() { return text.request.specs; }
  BagOptions& options() { return text.request.options; }
};

struct BagAttribute {
  std::string_view key;
  void (*read)(Cursor& cursor, BagDraft& draft);
};

template <SegmentForm kForm>
void read_segments(Cursor& cursor, BagDraft& draft) {
  const size_t begin = cursor.position();
  if (draft.specs().segments) {
    cursor.fail({begin, begin + 1}, {"segments given twice", "begins a second list of segments",
                                     "one of offsets, lengths and ids"});
  }
  draft.options().segments = kForm;
  draft.specs().segments = parse_tensor(cursor, "segments", draft.text.segments);
}

// Values of scales are of no use: an encoded table has none.
std::optional<TensorSpec> without_values(Cursor& cursor, const char* tensor) {
  std::optional<Literal> ignored;
  const size_t begin = cursor.position();
  const TensorSpec spec = parse_tensor(cursor, tensor, ignored);
  if (ignored) {
    cursor.fail({begin, cursor.position()},
                {"values of an encoded table", "has values, but only shapes of encodings are read",
                 "the type and the sizes alone"});
  }
  return spec;
}

constexpr BagAttribute kBagAttributes[] = {
    {"offsets", read_segments<SegmentForm::kOffsets>},
    {"lengths", read_segments<SegmentForm::kLengths>},
    {"ids", read_segments<SegmentForm::kIds>},
    {"last_offset", [](Cursor& c, BagDraft& d) { d.options().last_offset = parse_flag(c); }},
    {"bags", [](Cursor& c, BagDraft& d) { d.options().bags = c.integer("a number of bags"); }},
    {"weights",
     [](Cursor& c, BagDraft& d) {
       d.specs().weights = parse_tensor(c, "weights", d.text.weights);
     }},
    {"pool", [](Cursor& c, BagDraft& d) { d.options().pool = parse_name(c, "pool", kPools); }},
    {"padding_index",
     [](Cursor& c, BagDraft& d) { d.options().padding_index = c.integer("a row"); }},
    {"empty_value",
     [](Cursor& c, BagDraft& d) {
       c.skip_spaces();
       d.options().empty_value = c.number();
     }},
    {"output",
     [](Cursor& c, BagDraft& d) {
       c.skip_spaces();
       const Span span = c.token();
       try {
         d.options().output_type = dtype_from_name(std::string(c.text(span)));
       } catch (const Error&) {
         c.fail(span, {"unknown element type", "names no type", kTypeNames});
       }
     }},
    {"accumulate_f32", [](Cursor& c, BagDraft& d) { d.options().accumulate_f32 = parse_flag(c); }},
    {"scales", [](Cursor& c, BagDraft& d) { d.specs().data.scales = without_values(c, "scales"); }},
    {"zeros", [](Cursor& c, BagDraft& d) { d.specs().data.zeros = without_values(c, "zeros"); }},
    {"block",
     [](Cursor& c, BagDraft& d) { d.specs().data.block = c.integer("a number of elements"); }},
    {"block_axis", [](Cursor& c, BagDraft& d) { d.specs().data.axis = c.integer("an axis"); }},
    {"negative",
     [](Cursor& c, BagDraft& d) {
       d.options().rule.negative = parse_name(c, "negative", kNegatives);
     }},
    {"out_of_range",
     [](Cursor& c, BagDraft& d) {
       d.options().rule.out_of_range = parse_name(c, "out_of_range", kOutOfRanges);
     }},
    {"fill_value",
     [](Cursor& c, BagDraft& d) {
       c.skip_spaces();
       d.options().rule.fill_value = c.number();
       d.has_fill_value = true;
     }},
};

const BagAttribute& parse_bag_key(Cursor& cursor, std::vector<std::string_view>& seen) {
  const Span span = cursor.token();
  std::vector<std::string_view> names;
  for (const BagAttribute& attribute : kBagAttributes) {
    if (cursor.text(span) == attribute.key) {
      if (std::find(seen.begin(), seen.end(), attribute.key) != seen.end()) {
        cursor.fail(span, {"attribute given twice", "has a value already", "one of the two"});
      }
      seen.push_back(attribute.key);
      return attribute;
    }
    names.push_back(attribute.key);
  }
  const Complaint complaint = unknown_attribute(cursor.text(span), "bag", names);
  if (span.begin == span.end) {
    cursor.fail_here(complaint);
  }
  cursor.fail(span, complaint);
}

bool names_a_type(const std::string& word) {
  try {
    dtype_from_name(word);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Data in the words of a type, or of an encoding; which of the two u8 is, its scales say.
void parse_data(Cursor& cursor, BagDraft& draft) {
  cursor.skip_spaces();
  Cursor ahead = cursor;
  const Span span = ahead.token();
  draft.element = std::string(ahead.text(span));
  if (draft.element.empty() || names_a_type(draft.element)) {
    draft.specs().data = parse_tensor(cursor, "data", draft.text.data);
    return;
  }
  EncodedSpec& data = draft.specs().data;
  try {
    data.encoding = encoding_from_name(draft.element);
  } catch (const Error&) {
    cursor.fail(span, {"unknown element type", "names no type and no encoding", kTypeNames});
  }
  cursor = ahead;
  data.sizes = parse_dims(cursor, "a size");
  cursor.end_item();
}

void finish_data(BagDraft& draft) {
  EncodedSpec& data = draft.specs().data;
  if (data.scales && data.encoding == Encoding::kPlain) {
    data.encoding = encoding_from_name(draft.element);
    data.sizes = data.stored.sizes;
  }
  if (data.encoding != Encoding::kPlain) {
    data.stored = encoded_rows(data.encoding, data.sizes).stored;
  }
}

}  // namespace

bool is_bag_text(std::string_view text) {
  Cursor cursor(text);
  cursor.skip_spaces();
  return cursor.text(cursor.token()) == "bag";
}

BagText parse_bag(std::string_view text) {
  Cursor cursor(text);
  BagDraft draft;
  cursor.skip_spaces();
  cursor.token();  // "bag"
  parse_data(cursor, draft);
  if (tensor_follows(cursor)) {
    draft.specs().indices = parse_tensor(cursor, "indices", draft.text.indices);
  }
  std::vector<std::string_view> seen;
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const BagAttribute& attribute = parse_bag_key(cursor, seen);
    cursor.expect('=', "and a value after the attribute");
    attribute.read(cursor, draft);
    cursor.end_item();
  }
  if (draft.has_fill_value && draft.options().rule.out_of_range != OutOfRange::kFill) {
    cursor.fail_here({"fill_value is never used", "ends a bag without out_of_range=fill",
                      "out_of_range=fill beside it"});
  }
  finish_data(draft);
  return std::move(draft.text);
}

}  // namespace sheaf
