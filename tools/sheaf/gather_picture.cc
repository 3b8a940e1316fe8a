// SPDX-License-Identifier: MIT
#include "gather_picture.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "element_text.h"
#include "plan/lower.h"
#include "plan/resolve.h"
#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

Dims position_of(int64_t element, const Dims& sizes) {
  Dims position(sizes.size(), 0);
  for (int d = sizes.size() - 1; d >= 0; --d) {
    position[d] = element % sizes[d];
    element /= sizes[d];
  }
  return position;
}

std::string named(const char* tensor, const Dims& position) {
  return position.empty() ? tensor : tensor + bracketed(position);
}

std::string value_text(const TensorSpec& spec, const Literal& values, int64_t element) {
  return element_text(spec.dtype, values.data() + element * spec.dtype.bytes());
}

// What stands in the cells of data: its values, or names for them.
class Labels {
 public:
  Labels(const TensorSpec& spec, const Literal* values, bool color)
      : spec_(spec), values_(values), count_(element_count(spec.sizes)) {
    // Without colours only the text tells elements apart, so equal values get their name too.
    named_ = values == nullptr || (!color && repeats());
  }

  std::string of(int64_t element) const {
    const std::string name = named_ ? name_of(element) : "";
    const std::string value = values_ == nullptr ? "" : value_text(spec_, *values_, element);
    return name + (name.empty() || value.empty() ? "" : ":") + value;
  }

 private:
  std::string name_of(int64_t element) const {
    constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return count_ <= 52 ? std::string(1, kLetters[element]) : cat("#", element);
  }

  bool repeats() const {
    std::set<std::string> seen;
    for (int64_t element = 0; element < count_; ++element) {
      if (!seen.insert(value_text(spec_, *values_, element)).second) {
        return true;
      }
    }
    return false;
  }

  const TensorSpec& spec_;
  const Literal* values_;
  int64_t count_;
  bool named_ = false;
};

// Elements that are picked by the same index have one colour: it counts the coordinates that
// indices (and batches) decide. The windows of XLA overlap, so there each element has its own.
class Colors {
 public:
  explicit Colors(const Request& r) : sizes_(r.data.sizes), decided_(r.data.rank(), 0) {
    const bool windows = r.op == Op::kXlaGather;
    const int64_t tuple = r.op == Op::kGatherNd ? r.indices.sizes.back() : 1;
    for (int d = 0; d < r.data.rank(); ++d) {
      const bool batch = d < r.batch_dims;
      const int64_t first = r.op == Op::kGatherNd ? r.batch_dims : r.axis;
      decided_[d] = windows || batch || (d >= first && d < first + tuple) ? 1 : 0;
    }
  }

  Color of(int64_t data_element) const {
    const Dims position = position_of(data_element, sizes_);
    Color color = 0;
    for (int d = 0; d < sizes_.size(); ++d) {
      color = decided_[d] != 0 ? color * sizes_[d] + position[d] : color;
    }
    return color;
  }

  // The colour of a coordinate, where one dimension alone decides.
  Color of_coordinate(int dim, int64_t coordinate) const {
    const bool alone = std::count(decided_.begin(), decided_.end(), 1) == 1;
    return alone && decided_[dim] != 0 ? coordinate : kPlain;
  }

 private:
  Dims sizes_;
  Dims decided_;  // 1 where the colour depends on the dimension
};

// The colours of the elements of data that are used (it may have very many others), and of indices.
struct Painted {
  std::unordered_map<int64_t, Color> data;
  std::set<Color> used;  // in data
  std::vector<Color> indices;
};

Painted paint_elements(const Scene& scene, const Colors& colors) {
  const Request& r = scene.plan.request();
  Painted painted;
  painted.indices.assign(static_cast<size_t>(element_count(r.indices.sizes)), kPlain);
  const int64_t tuple = r.op == Op::kGatherNd    ? r.indices.sizes.back()
                        : r.op == Op::kXlaGather ? 0  // an index has no colour of its own there
                                                 : 1;
  for (const ElementSource& source : scene.map) {
    const bool filled = source.data == kFilled;
    const Color color = filled ? kFill : colors.of(source.data);
    if (!filled) {
      painted.data[source.data] = color;
      painted.used.insert(color);
    }
    for (int64_t c = 0; source.index != kNoIndex && c < tuple; ++c) {
      painted.indices[static_cast<size_t>(source.index + c)] = color;
    }
  }
  return painted;
}

// Which way an index moves: the dimension before the last runs down, the last to the right.
std::string axis_text(const Request& r) {
  if (r.op != Op::kGather && r.op != Op::kGatherElements) {
    return "";
  }
  const int64_t from_last = r.data.rank() - 1 - r.axis;
  return cat(", axis ", r.axis, from_last == 0 ? " →" : from_last == 1 ? " ↓" : "");
}

template <class ColorOf>
Grid data_grid(const Request& r, const Labels& labels, ColorOf color_of) {
  return {cat("data ", r.data.str(), axis_text(r)), r.data.sizes, [&labels, color_of](int64_t e) {
            return Cell{labels.of(e), color_of(e)};
          }};
}

// The values of the tuple whose first component is index element `first`: "2" or "(1, 0)".
std::string tuple_text(const Scene& scene, int64_t first) {
  const Request& r = scene.plan.request();
  const int dim = tuple_dim(r);
  if (dim < 0) {
    return value_text(r.indices, scene.indices, first);
  }
  const int64_t step = contiguous_strides(r.indices.sizes)[dim];
  std::string text;
  for (int64_t c = 0; c < r.indices.sizes[dim]; ++c) {
    text += cat(c == 0 ? "" : ", ", value_text(r.indices, scene.indices, first + c * step));
  }
  return r.indices.sizes[dim] == 1 ? text : cat("(", text, ")");
}

// "indices[0, 1] = 2"; of a tuple the whole: "indices[0, :] = (1, 0)".
std::string index_text(const Scene& scene, int64_t first) {
  const Request& r = scene.plan.request();
  const Dims position = position_of(first, r.indices.sizes);
  const int dim = tuple_dim(r);
  std::string place;
  for (int d = 0; d < position.size(); ++d) {
    const bool whole = d == dim && r.indices.sizes[d] > 1;
    place += (d == 0 ? "" : ", ") + (whole ? ":" : std::to_string(position[d]));
  }
  return cat(position.empty() ? "indices" : cat("indices[", place, "]"), " = ",
             tuple_text(scene, first));
}

// The element that shows most: one that does not stay where it was.
int64_t telling_element(const Scene& scene) {
  for (int64_t e = 0; e < std::ssize(scene.map); ++e) {
    const int64_t from = scene.map[static_cast<size_t>(e)].data;
    if (from != kFilled && from != e) {
      return e;
    }
  }
  return 0;
}

}  // namespace

std::string describe_element(const Scene& scene, int64_t output_element) {
  const Request& r = scene.plan.request();
  const ElementSource& source = scene.map[static_cast<size_t>(output_element)];
  std::string text = named("output", position_of(output_element, r.output.sizes)) + " = ";
  text += source.data == kFilled ? cat("fill_value ", to_string(r.rule.fill_value))
                                 : named("data", position_of(source.data, r.data.sizes));
  return source.index == kNoIndex ? text : text + "   because " + index_text(scene, source.index);
}

std::string draw_gather(const Scene& scene, const Style& style) {
  const Request& r = scene.plan.request();
  const Labels labels(r.data, scene.data, style.color);
  const Colors colors(r);
  const Painted painted = paint_elements(scene, colors);
  Grid data = data_grid(r, labels, [&](int64_t e) {
    const auto used = painted.data.find(e);
    return used == painted.data.end() ? kFaint : used->second;
  });
  data.header = [&](int dim, int64_t coordinate) {
    const Color color = colors.of_coordinate(dim, coordinate);
    return painted.used.contains(color) ? color : kPlain;
  };
  const Grid indices{"indices " + r.indices.str(), r.indices.sizes, [&](int64_t e) {
                       return Cell{value_text(r.indices, scene.indices, e),
                                   painted.indices[static_cast<size_t>(e)]};
                     }};
  const Grid output{"output " + r.output.str(), r.output.sizes, [&](int64_t e) {
                      const ElementSource& source = scene.map[static_cast<size_t>(e)];
                      return source.data == kFilled
                                 ? Cell{to_string(r.rule.fill_value), kFill}
                                 : Cell{labels.of(source.data), colors.of(source.data)};
                    }};
  std::string text = draw({data, indices, output}, style);
  if (!scene.map.empty()) {
    text += cat("\nfor example  ", describe_element(scene, telling_element(scene)), "\n");
  }
  return text;
}

std::string draw_bad_indices(const Plan& plan, const Literal* data, const Literal& indices,
                             const Style& style) {
  const Request& r = plan.request();
  const Labels labels(r.data, data, style.color);
  const int dim = tuple_dim(r);
  const auto cell = [&](int64_t e) {
    const int component = dim < 0 ? 0 : static_cast<int>(position_of(e, r.indices.sizes)[dim]);
    const int64_t extent =
        r.data.sizes[coordinate_axis(r, component)] - coordinate_window(r, component) + 1;
    const bool wrong = with_index_type(r.indices.dtype, [&](auto zero) {
      const auto value = load_index<decltype(zero)>(indices.data(), e);
      return in_range_or_outside(value, extent, r.rule.negative) == kOutside;
    });
    const std::string value = value_text(r.indices, indices, e);
    return Cell{wrong && !style.color ? cat("!", value) : value, wrong ? kWrong : kPlain};
  };
  return draw({data_grid(r, labels, [](int64_t) { return kPlain; }),
               {"indices " + r.indices.str(), r.indices.sizes, cell}},
              style);
}

}  // namespace sheaf::cli
