// SPDX-License-Identifier: MIT
#include "pictures/names.h"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>

#include "plan/scalar.h"
#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf::pictures {
namespace {

// How people shorten the names of modules.
constexpr std::array<std::array<std::string_view, 2>, 7> kShort = {
    {{"np.", "numpy."},
     {"F.", "torch.nn.functional."},
     {"torch.Tensor.", "Tensor."},
     {"jax.numpy.", "jnp."},
     {"tensorflow.", "tf."},
     {"torch.scatter", "Tensor.scatter"},
     {"torch.index_", "Tensor.index_"}}};

const Name* exactly(std::string_view text) {
  for (const Name& name : names()) {
    if (name.id == text || name.slug == text) {
      return &name;
    }
  }
  return nullptr;
}

// The next word of a list, which it is taken from.
std::string_view next_word(std::string_view& list) {
  const size_t end = std::min(list.find(' '), list.size());
  const std::string_view word = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return word;
}

bool has_word(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    if (next_word(list) == wanted) {
      return true;
    }
  }
  return false;
}

// The value of a key in a list of "key=value"; empty where it is not there.
std::string_view value_of(std::string_view list, std::string_view key) {
  while (!list.empty()) {
    const std::string_view word = next_word(list);
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') {
      return word.substr(key.size() + 1);
    }
  }
  return {};
}

// What JAX writes where an index leads nowhere: not a number, or the integer farthest from use.
Scalar lost_value(DType type) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Kind kind = type.kind();
  if (kind >= Kind::kInt8 && kind <= Kind::kInt64) {
    return {INT64_MIN >> (64 - 8 * type.bytes())};
  }
  if (kind >= Kind::kUInt8 && kind <= Kind::kUInt64) {
    return {UINT64_MAX >> (64 - 8 * type.bytes())};
  }
  if (kind >= Kind::kFloat8E4M3 && kind <= Kind::kFloat64) {
    return {kNan};
  }
  if (kind == Kind::kComplex64 || kind == Kind::kComplex128) {
    return {std::complex<double>(kNan, kNan)};
  }
  return {kind == Kind::kBool ? 1 : 0};
}

template <class Table, class Value>
void set_named(const Table& table, std::string_view word, Value& value) {
  if (const auto* row = find_named(table, word)) {
    value = row->value;
  }
}

}  // namespace

const Name* find_name(std::string_view text) {
  if (const Name* name = exactly(text)) {
    return name;
  }
  for (const auto& [from, to] : kShort) {
    if (text.starts_with(from)) {
      if (const Name* name = exactly(cat(to, text.substr(from.size())))) {
        return name;
      }
    }
  }
  return nullptr;
}

LeadingName leading_name(std::string_view text) {
  constexpr size_t kLongest = 64;  // no name is longer; values may be
  LeadingName found;
  for (size_t end = 0; end <= std::min(text.size(), kLongest); ++end) {
    if (end == text.size() || text[end] == ' ') {
      if (const Name* name = find_name(text.substr(0, end))) {
        found = {name, end};
      }
    }
  }
  return found;
}

void apply_name(const Name& name, Request& r) {
  set_named(kNegatives, name.negative, r.rule.negative);
  set_named(kOutOfRanges, name.out_of_range, r.rule.out_of_range);
  set_named(kReductions, value_of(name.fixed, "reduction"), r.reduction);
  r.broadcast = value_of(name.fixed, "broadcast") == "1";
  r.onto_zeros = value_of(name.fixed, "onto_zeros") == "1";
  r.skip_whole_window = value_of(name.fixed, "skip_whole_window") == "1";
  if (value_of(name.fixed, "fill_value") == "lost") {
    r.rule.fill_value = lost_value(r.data.dtype);
  }
  if (!name.words.empty() && value_of(name.words, to_string(r.reduction)).empty()) {
    set_named(kReductions, name.words.substr(0, name.words.find('=')), r.reduction);
  }
}

std::string_view own_word(const Name& name, std::string_view attribute) {
  const size_t at = name.call.find(cat("={", attribute, "}"));
  const size_t quoted = name.call.find(cat("=\"{", attribute, "}"));
  const size_t end = std::min(at, quoted);
  if (end == std::string_view::npos) {
    return {};
  }
  const size_t begin = name.call.find_last_of(" (,", end) + 1;
  return name.call.substr(begin, end - begin);
}

std::string_view reduction_from_own_word(const Name& name, std::string_view word) {
  std::string_view list = name.words;
  while (!list.empty()) {
    const std::string_view pair = next_word(list);
    if (pair.substr(pair.find('=') + 1) == word) {
      return pair.substr(0, pair.find('='));
    }
  }
  return {};
}

namespace {

// An attribute of a request as a problem string has it, and what it is when left out.
struct AttributeText {
  std::string_view key;
  std::string got, usual;
};

std::vector<AttributeText> attributes_of(const Request& r) {
  const Request usual = request_from(r.op);
  std::vector<AttributeText> all;
  const auto add = [&](std::string_view key, auto text) {
    all.push_back({key, std::string(text(r)), std::string(text(usual))});
  };
  const auto flag = [](bool on) { return on ? "1" : "0"; };
  add("axis", [](const Request& x) { return std::to_string(x.axis); });
  add("batch_dims", [](const Request& x) { return std::to_string(x.batch_dims); });
  add("broadcast", [&](const Request& x) { return flag(x.broadcast); });
  add("reduction", [](const Request& x) { return to_string(x.reduction); });
  add("include_self", [&](const Request& x) { return flag(x.include_self); });
  add("onto_zeros", [&](const Request& x) { return flag(x.onto_zeros); });
  add("skip_whole_window", [&](const Request& x) { return flag(x.skip_whole_window); });
  add("negative", [](const Request& x) { return to_string(x.rule.negative); });
  add("out_of_range", [](const Request& x) { return to_string(x.rule.out_of_range); });
  if (r.rule.out_of_range == OutOfRange::kFill) {
    add("fill_value", [](const Request& x) { return to_string(x.rule.fill_value); });
  }
  return all;
}

std::string in_words(std::string_view value) {
  std::string text(value);
  for (char& c : text) {
    c = c == '_' ? ' ' : c;
  }
  return text;
}

std::string dimensions(int count) { return counted(count, "dimension", "dimensions"); }

std::string ranks(int least, int most) {
  return least == most ? dimensions(least)
                       : cat(least, most - least == 1 ? " or " : " to ", most, " dimensions");
}

// "i32, i64 and u32"
std::string listed(std::string_view words) {
  std::string text;
  while (!words.empty()) {
    const std::string_view word = next_word(words);
    const std::string_view key = word.substr(0, word.find('='));
    text += cat(text.empty() ? "" : words.empty() ? " and " : ", ", key);
  }
  return text;
}

struct Filling {
  std::string_view key;
  std::string value;
};

// The sentence `key`, with what stands in braces filled in.
std::string sentence(std::string_view key, const std::vector<Filling>& fillings) {
  std::string text;
  for (const Sentence& candidate : sentences()) {
    text = candidate.key == key ? std::string(candidate.text) : text;
  }
  for (const Filling& filling : fillings) {
    const std::string place = cat("{", filling.key, "}");
    for (size_t at = text.find(place); at != std::string::npos;
         at = text.find(place, at + filling.value.size())) {
      text.replace(at, place.size(), filling.value);
    }
  }
  return text;
}

class Objecting {
 public:
  Objecting(const Name& name, const Request& request, int64_t given_axis)
      : name_(name), r_(request), given_axis_(given_axis) {}

  std::vector<Objection> all() {
    types_and_ranks();
    if (name_.unsigned_axis && given_axis_ < 0) {
      add(true, "unsigned_axis", {{"got", std::to_string(given_axis_)}});
    }
    off_axis();
    if (name_.scalar_is_vector && r_.indices.rank() == 0) {
      add(false, "scalar_is_vector", {});
    }
    attributes();
    std::stable_partition(found_.begin(), found_.end(),
                          [](const Objection& objection) { return objection.refuses; });
    return std::move(found_);
  }

 private:
  void add(bool refuses, std::string_view key, const std::vector<Filling>& fillings) {
    found_.push_back({refuses, sentence(refuses ? "refuses" : "differs",
                                        {{"name", std::string(name_.id)},
                                         {"reason", sentence(key, fillings)}})});
  }

  void types_and_ranks() {
    if (!name_.index_types.empty() && !has_word(name_.index_types, r_.indices.dtype.name())) {
      add(true, "index_types",
          {{"got", r_.indices.dtype.name()}, {"wanted", listed(name_.index_types)}});
    }
    rank("index_rank", r_.indices.rank(), name_.least_index_rank, name_.most_index_rank);
    rank("data_rank", r_.data.rank(), name_.least_data_rank, name_.most_data_rank);
  }

  void rank(std::string_view key, int got, int least, int most) {
    if (least >= 0 && (got < least || got > most)) {
      add(true, key, {{"got", dimensions(got)}, {"wanted", ranks(least, most)}});
    }
  }

  void off_axis() {
    int unequal = 0, ones = 0;
    for (int d = 0; !name_.off_axis.empty() && d < r_.indices.rank(); ++d) {
      const int64_t index = r_.indices.sizes[d], data = r_.data.sizes[d];
      const bool differ = d != r_.axis && index != data;
      unequal += differ ? 1 : 0;
      ones += differ && (index == 1 || data == 1) ? 1 : 0;
    }
    const std::vector<Filling> fillings = {{"indices", bracketed(r_.indices.sizes)},
                                           {"data", bracketed(r_.data.sizes)},
                                           {"axis", std::to_string(r_.axis)}};
    if (name_.off_axis == "equal" && unequal > 0) {
      add(true, "equal", fillings);
    } else if (ones < unequal) {
      add(true, "equal_or_1", fillings);
    } else if (name_.off_axis == "stretches" && ones > 0) {
      add(false, "stretches", fillings);
    }
  }

  // Attributes that its call has no place for, and an index rule that is not its own.
  void attributes() {
    Request own = request_from(r_.op);
    own.data = r_.data;
    apply_name(name_, own);
    own.rule.fill_value =
        own.rule.out_of_range == OutOfRange::kFill ? own.rule.fill_value : r_.rule.fill_value;
    const std::vector<AttributeText> wanted = attributes_like(own);
    const std::vector<AttributeText> got = attributes_of(r_);
    for (size_t i = 0; i < got.size(); ++i) {
      const std::string_view key = got[i].key;
      const bool free = has_word(name_.takes, key) || has_word(name_.may, key) ||
                        (key == "broadcast" && !name_.off_axis.empty());
      if (free || got[i].got == wanted[i].got) {
        continue;
      }
      const std::vector<Filling> fillings = {{"attribute", std::string(key)},
                                             {"got", in_words(got[i].got)},
                                             {"wanted", in_words(wanted[i].got)}};
      if (key == "negative" || key == "out_of_range" || key == "fill_value") {
        add(false, key, fillings);
      } else {
        add(true, value_of(name_.fixed, key).empty() ? "no_attribute" : "fixed_attribute",
            fillings);
      }
    }
    if (!name_.words.empty() && value_of(name_.words, to_string(r_.reduction)).empty()) {
      add(true, "reduction",
          {{"got", std::string(to_string(r_.reduction))}, {"wanted", listed(name_.words)}});
    }
  }

  // With a fill value where the request has one, so that the two lists have the same length.
  std::vector<AttributeText> attributes_like(const Request& own) const {
    std::vector<AttributeText> all = attributes_of(own);
    if (r_.rule.out_of_range == OutOfRange::kFill && own.rule.out_of_range != OutOfRange::kFill) {
      all.push_back({"fill_value", to_string(r_.rule.fill_value), ""});
    }
    return all;
  }

  const Name& name_;
  const Request& r_;
  int64_t given_axis_;
  std::vector<Objection> found_;
};

}  // namespace

std::string call_text(const Name& name, const Request& r) {
  std::string text(name.call);
  for (const AttributeText& attribute : attributes_of(r)) {
    const std::string place = cat("{", attribute.key, "}");
    const size_t at = text.find(place);
    if (at != std::string::npos) {
      const std::string_view own =
          attribute.key == "reduction" ? value_of(name.words, attribute.got) : "";
      text.replace(at, place.size(), own.empty() ? attribute.got : std::string(own));
    }
  }
  return text;
}

std::vector<Objection> objections(const Name& name, const Request& request, int64_t given_axis) {
  return Objecting(name, request, given_axis).all();
}

}  // namespace sheaf::pictures
