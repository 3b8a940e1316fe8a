// SPDX-License-Identifier: MIT
#include "gather_picture.h"

#include <set>
#include <unordered_map>

#include "plan/lower.h"
#include "plan/resolve.h"
#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

// The colours of the elements of data that are used (it may have very many others).
struct Painted {
  std::unordered_map<int64_t, Color> data;
  std::set<Color> used;
};

Painted paint_elements(const Scene& scene, const Colors& colors) {
  Painted painted;
  for (const ElementSource& source : scene.map) {
    if (source.data != kFilled) {
      const Color color = colors.of(source.data);
      painted.data[source.data] = color;
      painted.used.insert(color);
    }
  }
  return painted;
}

template <class ColorOf>
Grid data_grid(const Request& r, const Labels& labels, ColorOf color_of) {
  return {cat("data ", r.data.str(), axis_text(r)), r.data.sizes, [&labels, color_of](int64_t e) {
            return Cell{labels.of(e), color_of(e)};
          }};
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
  const Grid indices = indices_grid(scene, colors);
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
