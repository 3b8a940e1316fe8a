// SPDX-License-Identifier: MIT
//
// What other libraries call the operators, and what those libraries refuse that this one takes. The
// table is web/model/names.json, which says what its fields are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/request.h"

namespace sheaf::pictures {

// Lists are words with a space between them; fixed and words hold "key=value".
struct Name {
  std::string_view id, slug, op, call, dialect;
  std::string_view negative, out_of_range;
  std::string_view takes, may, fixed, words;
  std::string_view index_types, off_axis;
  int least_index_rank, most_index_rank, least_data_rank, most_data_rank;  // -1: any
  bool unsigned_axis, scalar_is_vector;
};

std::span<const Name> names();

// What is said about calls, by what is said; {words in braces} are to be filled in.
struct Sentence {
  std::string_view key, text;
};
std::span<const Sentence> sentences();

// By id or slug; "np." is "numpy.", "F." is "torch.nn.functional." and the like. Null: none.
const Name* find_name(std::string_view text);

// The longest name at the beginning of a problem string, and how many characters it takes there.
struct LeadingName {
  const Name* name = nullptr;
  size_t length = 0;
};
LeadingName leading_name(std::string_view text);

// Sets what the name says without being told: the index rule and what it cannot change. The data's
// type must be there. Everything else of `request` stays as it is.
void apply_name(const Name& name, Request& request);

// The name's own word for an attribute: "dim" for the axis of torch.gather.
std::string_view own_word(const Name& name, std::string_view attribute);

// The library's word for the name's own value of `reduction`: "add" for "sum". Empty: none.
std::string_view reduction_from_own_word(const Name& name, std::string_view word);

// How the name's library writes the call: "torch.gather(data, dim=1, index=indices)".
std::string call_text(const Name& name, const Request& request);

// What the name's library would refuse, or do in another way: "torch.index_select refuses this:
// indices have 2 dimensions, and it takes 0 or 1 dimensions." Refusals first. `request` is that of
// a plan; `given_axis` is the axis as the caller wrote it.
struct Objection {
  bool refuses;
  std::string text;
};
std::vector<Objection> objections(const Name& name, const Request& request, int64_t given_axis);

}  // namespace sheaf::pictures
