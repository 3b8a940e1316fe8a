// SPDX-License-Identifier: MIT
#include "conformance/request.h"

#include <nlohmann/json.hpp>
#include <span>

#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

using nlohmann::json;

// A request while it is read.
struct Draft {
  const Case& c;
  ValueReader& values;
  Request request;
};

bool flag_value(const json& value, const std::string& what) {
  if (!value.is_boolean() && value != 0 && value != 1) {
    throw Malformed(what + " is neither true nor false");
  }
  return value == true || value == 1;
}

template <Dims XlaGatherOptions::*kList>
void read_list(const json& value, const std::string& key, Draft& draft) {
  (*draft.request.xla).*kList = case_sizes(integer_list(value, key));
}

// The value whose word in case files is `word`.
template <class Table>
auto value_in_cases(const Table& table, const json& word, const std::string& key) {
  std::string words;
  for (const auto& row : table) {
    if (!row.in_cases.empty() && word == row.in_cases) {
      return row.value;
    }
    words += row.in_cases.empty() ? "" : cat(words.empty() ? "\"" : ", \"", row.in_cases, "\"");
  }
  throw Malformed(cat(key, " may be one of ", words));
}

void read_negative(const json& value, const std::string& key, Draft& draft) {
  draft.request.rule.negative = value_in_cases(kNegatives, value, key);
}

void read_out_of_range(const json& value, const std::string& key, Draft& draft) {
  draft.request.rule.out_of_range = value_in_cases(kOutOfRanges, value, key);
}

void read_fill_value(const json& value, const std::string&, Draft& draft) {
  draft.request.rule.fill_value = draft.values.read_fill_value(value, draft.c.data.dtype);
}

void read_axis(const json& value, const std::string& key, Draft& draft) {
  draft.request.axis = integer_value(value, key);
}

void read_batch_dims(const json& value, const std::string& key, Draft& draft) {
  draft.request.batch_dims = integer_value(value, key);
}

void read_reduction(const json& value, const std::string& key, Draft& draft) {
  const auto* row = value.is_string() ? find_named(kReductions, value.get<std::string>()) : nullptr;
  if (row == nullptr) {
    throw Malformed(cat(key, " may be one of ", names_of(kReductions)));
  }
  draft.request.reduction = row->value;
}

void read_use_init_val(const json& value, const std::string& key, Draft& draft) {
  draft.request.include_self = flag_value(value, key);
}

void read_window_oob(const json& value, const std::string& key, Draft& draft) {
  if (value != "skip_window" && value != "skip_element") {
    throw Malformed(key + " may be \"skip_window\" or \"skip_element\"");
  }
  draft.request.skip_whole_window = value == "skip_window";
}

void read_broadcast(const json& value, const std::string& key, Draft& draft) {
  draft.request.broadcast = flag_value(value, key);
}

void read_index_vector_dim(const json& value, const std::string& key, Draft& draft) {
  draft.request.xla->index_vector_dim = integer_value(value, key);
}

void read_promise(const json& value, const std::string& key, Draft&) { flag_value(value, key); }

struct Attribute {
  const char* key;
  void (*read)(const json& value, const std::string& key, Draft& draft);
};

using Xla = XlaGatherOptions;
constexpr Attribute kRule[] = {{"negative", read_negative},
                               {"out_of_range", read_out_of_range},
                               {"fill_value", read_fill_value}};
constexpr Attribute kGather[] = {{"axis", read_axis}, {"batch_dims", read_batch_dims}};
constexpr Attribute kGatherElements[] = {{"axis", read_axis}, {"broadcast", read_broadcast}};
constexpr Attribute kGatherNd[] = {{"batch_dims", read_batch_dims}};
constexpr Attribute kXlaGather[] = {
    {"offset_dims", read_list<&Xla::offset_dims>},
    {"collapsed_slice_dims", read_list<&Xla::collapsed_slice_dims>},
    {"operand_batching_dims", read_list<&Xla::operand_batching_dims>},
    {"start_indices_batching_dims", read_list<&Xla::start_indices_batching_dims>},
    {"start_index_map", read_list<&Xla::start_index_map>},
    {"index_vector_dim", read_index_vector_dim},
    {"slice_sizes", read_list<&Xla::slice_sizes>},
    // A promise that makes no difference to the result.
    {"indices_are_sorted", read_promise}};
constexpr Attribute kReduction[] = {{"reduction", read_reduction},
                                    {"use_init_val", read_use_init_val}};
constexpr Attribute kXlaScatter[] = {
    {"update_window_dims", read_list<&Xla::offset_dims>},
    {"inserted_window_dims", read_list<&Xla::collapsed_slice_dims>},
    {"input_batching_dims", read_list<&Xla::operand_batching_dims>},
    {"scatter_indices_batching_dims", read_list<&Xla::start_indices_batching_dims>},
    {"scatter_dims_to_operand_dims", read_list<&Xla::start_index_map>},
    {"index_vector_dim", read_index_vector_dim},
    {"window_oob", read_window_oob},
    {"indices_are_sorted", read_promise},
    {"unique_indices", read_promise}};

std::span<const Attribute> attributes_of(Op op) {
  switch (op) {
    case Op::kGather:
    case Op::kScatter: return kGather;
    case Op::kGatherElements: return kGatherElements;
    case Op::kScatterElements: return std::span(kGatherElements).first(1);  // the axis
    case Op::kGatherNd:
    case Op::kScatterNd: return kGatherNd;
    case Op::kXlaGather: return kXlaGather;
    case Op::kXlaScatter: return kXlaScatter;
  }
  return {};
}

const Attribute* find(std::span<const Attribute> attributes, const std::string& key) {
  for (const Attribute& attribute : attributes) {
    if (key == attribute.key) {
      return &attribute;
    }
  }
  return nullptr;
}

void read_attributes(Draft& draft) {
  if (draft.c.attributes == nullptr) {
    return;
  }
  for (const auto& [key, value] : draft.c.attributes->items()) {
    const Attribute* attribute = find(attributes_of(draft.c.op), key);
    attribute = attribute == nullptr ? find(kRule, key) : attribute;
    if (attribute == nullptr && is_scatter(draft.c.op)) {
      attribute = find(kReduction, key);
    }
    if (attribute == nullptr) {
      throw Malformed(cat("unknown attribute \"", key, "\" of ", to_string(draft.c.op)));
    }
    attribute->read(value, key, draft);
  }
}

// The format has no word for NumPy's rule that sizes of 1 stretch. The output shows it: a case has
// it where its output cannot come about without.
bool stretches(const Case& c, const Request& r) {
  const int64_t rank = r.data.rank();
  if (c.op != Op::kGatherElements || !c.output || r.indices.rank() != rank) {
    return false;
  }
  for (int d = 0; d < rank; ++d) {
    const bool on_axis = d == r.axis || d - rank == r.axis;  // no sum: the axis may be anything
    if (!on_axis && r.indices.sizes[d] > r.data.sizes[d]) {
      return true;
    }
  }
  return c.output->shape != c.indices.shape;
}

}  // namespace

Dims case_sizes(const std::vector<int64_t>& shape) { return Dims(std::span<const int64_t>(shape)); }

Request case_request(const Case& c, ValueReader& values) {
  Draft draft{c, values, request_from(c.op)};
  Request& r = draft.request;
  const DType data_type = ValueReader::dtype(c.data.dtype);
  const DType index_type = ValueReader::dtype(c.indices.dtype);
  read_attributes(draft);
  r.data = TensorSpec(data_type, case_sizes(c.data.shape));
  r.indices = TensorSpec(index_type, case_sizes(c.indices.shape));
  if (c.updates) {
    r.updates = TensorSpec(ValueReader::dtype(c.updates->dtype), case_sizes(c.updates->shape));
  }
  const bool given = c.attributes != nullptr && c.attributes->contains("broadcast");
  r.broadcast = given ? r.broadcast : stretches(c, r);
  return r;
}

}  // namespace sheaf::cli
