// SPDX-License-Identifier: MIT
#include "pictures/operator_picture.h"

#include <map>
#include <set>
#include <unordered_map>

#include "plan/lower.h"
#include "plan/resolve.h"
#include "plan/scalar.h"
#include "plan/vocabulary.h"
#include "sheaf/tensor.h"
#include "support/text.h"

namespace sheaf::pictures {
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
  return {cat("data ", shape_text(r.data), axis_text(r)), r.data.sizes,
          [&labels, color_of](int64_t e) {
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
  const Grid output{"output " + shape_text(r.output), r.output.sizes, [&](int64_t e) {
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

std::string draw_bad_indices(const Plan& plan, const void* data, const void* indices,
                             const Style& style) {
  const Request& r = plan.request();
  const Labels labels(r.data, data, style.color);
  const int dim = tuple_dim(r);
  const auto cell = [&](int64_t e) {
    const int component = dim < 0 ? 0 : static_cast<int>(position_of(e, r.indices.sizes)[dim]);
    const int64_t extent =
        r.data.sizes[coordinate_axis(r, component)] - coordinate_window(r, component) + 1;
    const bool wrong = with_index_type(r.indices.dtype, [&](auto zero) {
      const auto value = load_index<decltype(zero)>(static_cast<const std::byte*>(indices),
                                                    offset_of(e, r.indices));
      return in_range_or_outside(value, extent, r.rule.negative) == kOutside;
    });
    const std::string value = value_text(r.indices, indices, e);
    return Cell{wrong && !style.color ? cat("!", value) : value, wrong ? kWrong : kPlain};
  };
  return draw({data_grid(r, labels, [](int64_t) { return kPlain; }),
               {"indices " + shape_text(r.indices), r.indices.sizes, cell}},
              style);
}

namespace {

// The updates of each output element that has any, in order.
using Arrivals = std::map<int64_t, std::vector<int64_t>>;

Arrivals arrivals(const Scene& scene) {
  Arrivals all;
  for (int64_t e = 0; e < std::ssize(scene.map); ++e) {
    if (const int64_t target = scene.map[static_cast<size_t>(e)].data; target != kSkipped) {
      all[target].push_back(e);
    }
  }
  return all;
}

// Terms beyond this many do not fit into a cell.
constexpr size_t kMaxTerms = 4;

std::string_view sign_of(Reduction reduction) {
  const std::string_view sign = find_row(kReductions, reduction)->sign;
  return sign.empty() ? "," : sign;
}

// "10+a+c", "max(10,a,c)".
std::string joined(Reduction reduction, const std::vector<std::string>& terms) {
  std::string text;
  for (size_t i = 0; i < terms.size() && i < kMaxTerms; ++i) {
    text += cat(i == 0 ? "" : sign_of(reduction), terms[i]);
  }
  text += terms.size() > kMaxTerms ? cat(sign_of(reduction), "…") : "";
  const bool called = std::string_view(sign_of(reduction)) == ",";
  return called ? cat(to_string(reduction), "(", text, ")") : text;
}

class OutputCells {
 public:
  OutputCells(const Scene& scene, const Labels& updates) : scene_(scene), updates_(updates) {
    const Request& r = scene.plan.request();
    if (scene.updates != nullptr && (scene.data != nullptr || r.onto_zeros) &&
        element_count(r.output.sizes) <= kMostPictured) {
      Request contiguous = r;
      contiguous.set_output({r.output.dtype, r.output.sizes});
      result_.resize(static_cast<size_t>(element_count(r.output.sizes) * r.output.dtype.bytes()));
      make_plan(contiguous).run(scene.data, scene.indices, scene.updates, result_.data());
      has_result_ = true;
    }
  }

  std::string of(int64_t element, const std::vector<int64_t>* arrived) const {
    const Request& r = scene_.plan.request();
    if (has_result_) {
      return value_text({r.output.dtype, r.output.sizes}, result_.data(), element);
    }
    std::string old = r.onto_zeros             ? "0"
                      : scene_.data == nullptr ? "·"
                                               : value_text(r.data, scene_.data, element);
    if (arrived == nullptr) {
      return old;
    }
    if (r.reduction == Reduction::kNone) {
      return updates_.of(arrived->back());
    }
    std::vector<std::string> terms;
    if (r.include_self) {
      terms.push_back(old);
    } else if (r.reduction == Reduction::kSub) {
      terms.emplace_back("0");  // what differences without the old value start from
    }
    for (const int64_t update : *arrived) {
      terms.push_back(updates_.of(update));
    }
    return joined(r.reduction, terms);
  }

 private:
  const Scene& scene_;
  const Labels& updates_;
  std::vector<std::byte> result_;
  bool has_result_ = false;
};

// What happens where several updates meet, by the first element where they do.
std::string collision_text(const Scene& scene, const Arrivals& all) {
  const Request& r = scene.plan.request();
  for (const auto& [target, updates] : all) {
    if (updates.size() < 2) {
      continue;
    }
    const std::string last = named("updates", updates.back(), r.updates.sizes);
    return cat(updates.size(), " updates meet in ", named("output", target, r.output.sizes), ": ",
               r.reduction == Reduction::kNone ? cat("the last one, ", last, ", stays")
                                               : cat("reduction = ", to_string(r.reduction),
                                                     ", in row-major order, ", last, " last"));
  }
  return "";
}

}  // namespace

std::string draw_scatter(const Scene& scene, const Style& style) {
  const Request& r = scene.plan.request();
  const Labels labels(r.updates, scene.updates, style.color);
  const Colors colors(r);
  const Arrivals all = arrivals(scene);
  const OutputCells cells(scene, labels);
  const Grid updates{"updates " + shape_text(r.updates), r.updates.sizes, [&](int64_t e) {
                       const int64_t target = scene.map[static_cast<size_t>(e)].data;
                       return target == kSkipped ? Cell{cat("(", labels.of(e), ")"), kFill}
                                                 : Cell{labels.of(e), colors.of(target)};
                     }};
  const Grid output{
      cat("output ", shape_text(r.output), axis_text(r)), r.output.sizes, [&](int64_t e) {
        const auto found = all.find(e);
        const bool hit = found != all.end();
        return Cell{cells.of(e, hit ? &found->second : nullptr), hit ? colors.of(e) : kFaint};
      }};
  std::string text = draw({updates, indices_grid(scene, colors), output}, style);
  if (!scene.map.empty()) {
    text += cat("\nfor example  ", describe_element(scene, 0), "\n");
  }
  const std::string collision = collision_text(scene, all);
  return collision.empty() ? text : cat(text, "             ", collision, "\n");
}

std::string draw_scene(const Scene& scene, const Style& style) {
  return scene.plan.is_scatter() ? draw_scatter(scene, style) : draw_gather(scene, style);
}

}  // namespace sheaf::pictures
