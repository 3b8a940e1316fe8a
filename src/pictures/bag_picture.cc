// SPDX-License-Identifier: MIT
#include "pictures/bag_picture.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_set>
#include <vector>

#include "pictures/element_text.h"
#include "pictures/scene.h"
#include "plan/resolve.h"
#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf::pictures {
namespace {

constexpr size_t kMostTerms = 4;  // of a cell

int64_t whole_number(DType type, const void* values, int64_t element) {
  return with_index_type(type, [&](auto zero) {
    return widen(load_index<decltype(zero)>(static_cast<const std::byte*>(values), element));
  });
}

// Where each bag begins, and the end of the last. The segments are sound.
std::vector<int64_t> bag_offsets(const BagScene& scene) {
  const BagNest& nest = scene.plan.nest();
  const auto segment = [&](int64_t e) {
    return whole_number(nest.segment_type, scene.memory.segments, e * nest.segment_stride);
  };
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (int64_t s = 0; s <= nest.bags; ++s) {
    if (nest.per_bag >= 0) {
      at = s * nest.per_bag;
    } else if (nest.form == SegmentForm::kOffsets) {
      at = s < nest.segments ? segment(s) : nest.entries;
    } else if (nest.form == SegmentForm::kLengths) {
      at = s == 0 ? 0 : at + segment(s - 1);
    } else {
      while (at < nest.entries && segment(at) < s) {
        ++at;
      }
    }
    offsets.push_back(at);
  }
  return offsets;
}

BagEntry entry_of(const BagScene& scene, int64_t p) {
  const BagNest& nest = scene.plan.nest();
  if (!nest.indexed) {
    return {p, cat(p), p, false};
  }
  const auto* const indices = static_cast<const std::byte*>(scene.memory.indices);
  const int64_t place = nest.indices.at(p);
  const int64_t row = with_index_type(nest.index_type, [&](auto zero) {
    const auto value = load_index<decltype(zero)>(indices, place);
    return nest.extent == 0 ? kOutside
                            : resolve(value, nest.extent, nest.negative, nest.out_of_range);
  });
  const bool padding = nest.padding >= 0 && row == nest.padding;
  const bool skipped = row == kOutside && nest.out_of_range == OutOfRange::kSkip;
  return {p, element_text(nest.index_type, indices + place * nest.index_type.bytes()),
          padding ? kOutside : row, padding || skipped};
}

// Tables of more elements are drawn without their values.
constexpr int64_t kMostDecoded = 1 << 20;

// What stands in the cells of data: its values, decoded, or none.
std::vector<float> decoded_values(const BagScene& scene) {
  const EncodedRows& rows = scene.plan.nest().rows;
  const int64_t count = element_count(scene.plan.request().specs.data.sizes);
  std::vector<float> values;
  if (rows.encoding == Encoding::kPlain || scene.memory.stored == nullptr || count > kMostDecoded) {
    return values;
  }
  const EncodedMemory memory{static_cast<const std::byte*>(scene.memory.stored),
                             static_cast<const std::byte*>(scene.memory.scales),
                             static_cast<const std::byte*>(scene.memory.zeros)};
  with_encoding(rows.encoding, [&]<Encoding kEncoding>() {
    for (int64_t e = 0; e < count; ++e) {
      values.push_back(decoded<kEncoding>(rows, memory, e / rows.elements, e % rows.elements));
    }
  });
  return values;
}

// Runs, where there are values: then the result is shown. Where there are none, on zeros, for what
// is wrong with segments and indices is said by the run itself.
std::vector<std::byte> bag_result(const BagScene& scene) {
  const BagSpecs& specs = scene.plan.request().specs;
  BagRequest contiguous = scene.plan.request();
  contiguous.options.output_type = scene.plan.output().dtype;
  contiguous.output.reset();
  BagMemory memory = scene.memory;
  std::vector<Zeros> zeros;
  const auto fill_in = [&](const void*& pointer, const std::optional<TensorSpec>& spec) {
    if (pointer == nullptr && spec) {
      zeros.emplace_back(*spec);
      pointer = zeros.back().first();
    }
  };
  fill_in(memory.stored, specs.data.stored);
  fill_in(memory.scales, specs.data.scales);
  fill_in(memory.zeros, specs.data.zeros);
  fill_in(memory.weights, specs.weights);
  const BagPlan plan = make_bag_plan(contiguous);
  const int64_t count = element_count(plan.output().sizes);
  std::vector<std::byte> output(static_cast<size_t>(count * plan.output().dtype.bytes()));
  memory.output = output.data();
  plan.run(memory);
  return output;
}

// "a+c", "max(a,c)", "(a+c)/2"; a weight stands before its row.
class BagTerms {
 public:
  BagTerms(const BagScene& scene, const Labels& labels) : scene_(scene), labels_(labels) {}

  std::string of(const std::vector<BagEntry>& bag, int64_t element) const {
    const BagNest& nest = scene_.plan.nest();
    const BagOptions& options = scene_.plan.request().options;
    std::vector<std::string> terms;
    for (const BagEntry& entry : bag) {
      if (entry.row != kOutside) {
        terms.push_back(weight(entry.number) + labels_.of(entry.row * nest.elements + element));
      } else if (!entry.left_out) {
        terms.push_back(weight(entry.number) + to_string(options.rule.fill_value));
      }
    }
    if (terms.empty()) {
      return to_string(options.empty_value);
    }
    const bool called = nest.pool == Pool::kMax || nest.pool == Pool::kMin;
    const char* const sign = called ? "," : nest.pool == Pool::kMul ? "*" : "+";
    std::string joined;
    for (size_t i = 0; i < std::min(terms.size(), kMostTerms); ++i) {
      joined += (i == 0 ? "" : sign) + terms[i];
    }
    joined += terms.size() > kMostTerms ? cat(sign, "…") : "";
    const auto count = static_cast<int64_t>(terms.size());
    if (count == 1) {
      return joined;
    }
    return called                      ? cat(to_string(nest.pool), "(", joined, ")")
           : nest.pool == Pool::kMean  ? cat("(", joined, ")/", count)
           : nest.pool == Pool::kSqrtN ? cat("(", joined, ")/√", count)
                                       : joined;
  }

 private:
  std::string weight(int64_t p) const {
    const BagNest& nest = scene_.plan.nest();
    if (!nest.weighted) {
      return "";
    }
    const auto* const weights = static_cast<const std::byte*>(scene_.memory.weights);
    const int64_t at = nest.weights.at(p) * nest.weight_type.bytes();
    return weights == nullptr ? cat("w", p, "·")
                              : cat(element_text(nest.weight_type, weights + at), "·");
  }

  const BagScene& scene_;
  const Labels& labels_;
};

// The indices, a row of them for each bag.
Grid entries_grid(const BagNest& nest, const Bags& bags, const std::string& title) {
  size_t longest = 0;
  for (const auto& bag : bags) {
    longest = std::max(longest, bag.size());
  }
  const auto columns = static_cast<int64_t>(longest);
  return {title, {nest.bags, columns}, [&bags, columns](int64_t e) {
            const auto& bag = bags[static_cast<size_t>(e / columns)];
            const auto at = static_cast<size_t>(e % columns);
            if (at >= bag.size()) {
              return Cell{"", kPlain};
            }
            return bag[at].row == kOutside ? Cell{cat("(", bag[at].index, ")"), kFill}
                                           : Cell{bag[at].index, bag[at].row};
          }};
}

// A cell has the colour of its row if that is the only one.
Color color_of(const std::vector<BagEntry>& bag) {
  Color color = kFill;
  for (const BagEntry& entry : bag) {
    if (entry.row != kOutside) {
      color = color == kFill || color == entry.row ? entry.row : kPlain;
    }
    if (color == kPlain) {
      return color;
    }
  }
  return color;
}

}  // namespace

Zeros::Zeros(const TensorSpec& spec) {
  int64_t first = 0;
  int64_t last = element_count(spec.sizes) == 0 ? -1 : 0;
  for (int d = 0; d < spec.rank() && last >= 0; ++d) {
    (spec.strides[d] < 0 ? first : last) += (spec.sizes[d] - 1) * spec.strides[d];
  }
  bytes_.resize(static_cast<size_t>((last - first + 1) * spec.dtype.bytes()));
  first_ = static_cast<size_t>(-first * spec.dtype.bytes());
}

std::string bag_formula(const BagPlan& plan) {
  const BagNest& nest = plan.nest();
  const std::string row = nest.indexed ? "indices[p]" : "p";
  const std::string where = nest.per_bag >= 0 ? cat("s*", nest.per_bag, "..(s + 1)*", nest.per_bag)
                            : nest.form == SegmentForm::kOffsets ? "offsets[s]..offsets[s + 1]"
                            : nest.form == SegmentForm::kLengths ? "the next lengths[s]"
                                                                 : "those with ids[p] = s";
  const std::string rest = plan.output().rank() > 1 ? ", …]" : "]";
  return cat("output[s", rest, " = ", to_string(nest.pool), " of data[", row, rest,
             nest.weighted ? " * weights[p]" : "", " for p in ", where);
}

bool make_up_entries(const BagPlan& plan, BagMemory& memory, std::vector<Zeros>& made) {
  const BagSpecs& specs = plan.request().specs;
  const BagNest& nest = plan.nest();
  const bool needs_indices = specs.indices && memory.indices == nullptr;
  const bool needs_segments = specs.segments && memory.segments == nullptr;
  const int64_t most = needs_indices || needs_segments ? kMaxExampleElements : kMostPictured;
  if (nest.entries > most || element_count(plan.output().sizes) > most) {
    return false;
  }
  const auto fill_in = [&](const TensorSpec& spec, auto value) {
    made.push_back(Zeros(spec));
    for (int64_t e = 0; e < element_count(spec.sizes); ++e) {
      encode(value(e), spec.dtype, made.back().first() + offset_of(e, spec) * spec.dtype.bytes());
    }
    return made.back().first();
  };
  if (needs_indices) {
    const int64_t extent = std::max<int64_t>(nest.extent, 1);
    memory.indices =
        fill_in(*specs.indices, [&](int64_t e) { return (e * 5 + e / 3 + 1) % extent; });
  }
  if (needs_segments) {
    // Bags of about the same size.
    const auto begin = [&](int64_t s) {
      return s * nest.entries / std::max<int64_t>(nest.bags, 1);
    };
    memory.segments = fill_in(*specs.segments, [&](int64_t e) {
      switch (nest.form) {
        case SegmentForm::kOffsets: return begin(e);
        case SegmentForm::kLengths: return begin(e + 1) - begin(e);
        case SegmentForm::kIds: break;
      }
      return e * nest.bags / std::max<int64_t>(nest.entries, 1);
    });
  }
  return true;
}

Bags entries_by_bag(const BagScene& scene) {
  const std::vector<int64_t> offsets = bag_offsets(scene);
  Bags bags(static_cast<size_t>(scene.plan.nest().bags));
  for (size_t s = 0; s < bags.size(); ++s) {
    for (int64_t p = offsets[s]; p < offsets[s + 1]; ++p) {
      bags[s].push_back(entry_of(scene, p));
    }
  }
  return bags;
}

std::string draw_bag(const BagScene& scene, const Style& style) {
  const BagPlan& plan = scene.plan;
  const BagNest& nest = plan.nest();
  const std::vector<std::byte> result = bag_result(scene);
  const Bags bags = entries_by_bag(scene);
  std::unordered_set<int64_t> used;
  for (const auto& bag : bags) {
    for (const BagEntry& entry : bag) {
      used.insert(entry.row);
    }
  }
  const EncodedSpec& data = plan.request().specs.data;
  const bool plain = data.encoding == Encoding::kPlain;
  const std::vector<float> decoded = decoded_values(scene);
  const Labels labels =
      plain ? Labels(data.stored, scene.memory.stored, style.color)
            : Labels({f32, data.sizes}, decoded.empty() ? nullptr : decoded.data(), style.color);
  const BagTerms terms(scene, labels);
  const Grid data_grid{cat("data ", plain ? shape_text(data.stored) : data.str()), data.sizes,
                       [&](int64_t e) {
                         const int64_t row = e / nest.elements;
                         return Cell{labels.of(e), used.contains(row) ? row : kFaint};
                       }};
  const std::string title =
      nest.indexed ? cat("indices ", shape_text(*plan.request().specs.indices), ", by bag")
                   : "rows, by bag";
  const TensorSpec output_spec(plan.output().dtype, plan.output().sizes);
  const bool valued =
      scene.memory.stored != nullptr && (!nest.weighted || scene.memory.weights != nullptr);
  const Grid output{cat("output ", output_spec.str()), output_spec.sizes, [&](int64_t e) {
                      const auto& bag = bags[static_cast<size_t>(e / nest.elements)];
                      return Cell{valued ? value_text(output_spec, result.data(), e)
                                         : terms.of(bag, e % nest.elements),
                                  color_of(bag)};
                    }};
  return draw({data_grid, entries_grid(nest, bags, title), output}, style);
}

}  // namespace sheaf::pictures
