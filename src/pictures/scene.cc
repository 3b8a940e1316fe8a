// SPDX-License-Identifier: MIT
#include "pictures/scene.h"

#include <algorithm>
#include <set>

#include "pictures/element_text.h"
#include "plan/lower.h"
#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf::pictures {
namespace {

// The gather that visits the same elements.
Op kind_of(const Request& r) { return is_scatter(r.op) ? inverse_of(r.op) : r.op; }

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

// The colours of all indices. Each index of a tuple has that of the tuple; XLA's have none, for
// their windows overlap.
std::vector<Color> index_colors(const Scene& scene, const Colors& colors) {
  const Request& r = scene.plan.request();
  std::vector<Color> painted(static_cast<size_t>(element_count(r.indices.sizes)), kPlain);
  const int64_t tuple = kind_of(r) == Op::kGatherNd    ? r.indices.sizes.back()
                        : kind_of(r) == Op::kXlaGather ? 0
                                                       : 1;
  for (const ElementSource& source : scene.map) {
    for (int64_t c = 0; source.index != kNoIndex && c < tuple; ++c) {
      painted[static_cast<size_t>(source.index + c)] =
          source.data == kFilled ? kFill : colors.of(source.data);
    }
  }
  return painted;
}

}  // namespace

Dims position_of(int64_t element, const Dims& sizes) {
  Dims position(sizes.size(), 0);
  for (int d = sizes.size() - 1; d >= 0; --d) {
    position[d] = element % sizes[d];
    element /= sizes[d];
  }
  return position;
}

std::string named(const char* tensor, int64_t element, const Dims& sizes) {
  return sizes.empty() ? tensor : tensor + bracketed(position_of(element, sizes));
}

int64_t offset_of(int64_t element, const TensorSpec& spec) {
  int64_t offset = 0;
  for (int d = spec.rank() - 1; d >= 0; --d) {
    offset += element % spec.sizes[d] * spec.strides[d];
    element /= spec.sizes[d];
  }
  return offset;
}

std::string value_text(const TensorSpec& spec, const void* values, int64_t element) {
  const auto* const bytes = static_cast<const std::byte*>(values);
  return element_text(spec.dtype, bytes + offset_of(element, spec) * spec.dtype.bytes());
}

std::string shape_text(const TensorSpec& spec) { return TensorSpec(spec.dtype, spec.sizes).str(); }

std::string axis_text(const Request& r) {
  if (kind_of(r) != Op::kGather && kind_of(r) != Op::kGatherElements) {
    return "";
  }
  const int64_t from_last = r.data.rank() - 1 - r.axis;
  return cat(", axis ", r.axis, from_last == 0 ? " →" : from_last == 1 ? " ↓" : "");
}

std::string describe_element(const Scene& scene, int64_t grid_element) {
  const Request& r = scene.plan.request();
  const ElementSource& source = scene.map[static_cast<size_t>(grid_element)];
  const bool nowhere = source.data == kFilled;
  std::string text;
  if (is_scatter(r.op)) {
    text = named("updates", grid_element, r.updates.sizes) +
           (nowhere ? " is skipped" : " goes to " + named("output", source.data, r.output.sizes));
  } else {
    text = named("output", grid_element, r.output.sizes) + " = " +
           (nowhere ? cat("fill_value ", to_string(r.rule.fill_value))
                    : named("data", source.data, r.data.sizes));
  }
  return source.index == kNoIndex ? text : text + "   because " + index_text(scene, source.index);
}

Labels::Labels(const TensorSpec& spec, const void* values, bool color)
    : spec_(spec), values_(values), count_(element_count(spec.sizes)) {
  // Without colours only the text tells elements apart, so equal values get their name too.
  named_ = values == nullptr || (!color && repeats());
}

std::string Labels::of(int64_t element) const {
  const std::string name = named_ ? name_of(element) : "";
  const std::string value = values_ == nullptr ? "" : value_text(spec_, values_, element);
  return name + (name.empty() || value.empty() ? "" : ":") + value;
}

std::string Labels::name_of(int64_t element) const {
  constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return count_ <= 52 ? std::string(1, kLetters[element]) : cat("#", element);
}

bool Labels::repeats() const {
  std::set<std::string> seen;
  for (int64_t element = 0; element < count_; ++element) {
    if (!seen.insert(value_text(spec_, values_, element)).second) {
      return true;
    }
  }
  return false;
}

Colors::Colors(const Request& r) : sizes_(r.data.sizes), decided_(r.data.rank(), 0) {
  const Op kind = kind_of(r);
  const int64_t tuple = kind == Op::kGatherNd ? r.indices.sizes.back() : 1;
  const int64_t first = kind == Op::kGatherNd ? r.batch_dims : r.axis;
  for (int d = 0; d < r.data.rank(); ++d) {
    const bool indexed = d >= first && d < first + tuple;
    decided_[d] = kind == Op::kXlaGather || d < r.batch_dims || indexed ? 1 : 0;
  }
}

Color Colors::of(int64_t data_element) const {
  const Dims position = position_of(data_element, sizes_);
  Color color = 0;
  for (int d = 0; d < sizes_.size(); ++d) {
    color = decided_[d] != 0 ? color * sizes_[d] + position[d] : color;
  }
  return color;
}

Color Colors::of_coordinate(int dim, int64_t coordinate) const {
  const bool alone = std::count(decided_.begin(), decided_.end(), 1) == 1;
  return alone && decided_[dim] != 0 ? coordinate : kPlain;
}

Grid indices_grid(const Scene& scene, const Colors& colors) {
  const TensorSpec& spec = scene.plan.indices();
  return {"indices " + shape_text(spec), spec.sizes,
          [&spec, &scene, painted = index_colors(scene, colors)](int64_t e) {
            return Cell{value_text(spec, scene.indices, e), painted[static_cast<size_t>(e)]};
          }};
}

std::optional<std::vector<std::byte>> example_indices(const Plan& plan, int64_t max_elements) {
  const Request& r = plan.request();
  for (const TensorSpec* spec : {&r.data, &r.indices, &r.grid()}) {
    if (element_count(spec->sizes) > max_elements) {
      return std::nullopt;
    }
  }
  const int dim = tuple_dim(r);
  const int64_t count = element_count(r.indices.sizes);
  const int64_t step = dim < 0 ? 1 : contiguous_strides(r.indices.sizes)[dim];
  const int64_t tuple = dim < 0 ? 1 : r.indices.sizes[dim];
  const auto bytes = static_cast<size_t>(r.indices.dtype.bytes());
  std::vector<std::byte> indices(static_cast<size_t>(count) * bytes);
  for (int64_t e = 0; e < count; ++e) {
    const int component = static_cast<int>(e / step % tuple);
    const int64_t extent =
        r.data.sizes[coordinate_axis(r, component)] - coordinate_window(r, component) + 1;
    if (extent <= 0) {
      return std::nullopt;  // an axis without entries, whose updates are skipped
    }
    // Looks irregular, repeats some entries, and is the same every time. Every index type holds
    // values below 128.
    const int64_t value = (e * 5 + e / 3 + 1 + component) % std::min(extent, kMaxExampleElements);
    encode(value, r.indices.dtype, indices.data() + static_cast<size_t>(e) * bytes);
  }
  return indices;
}

}  // namespace sheaf::pictures
