// SPDX-License-Identifier: MIT
#include "scatter_picture.h"

#include <map>

#include "gather_picture.h"
#include "plan/vocabulary.h"
#include "sheaf/tensor.h"
#include "support/text.h"

namespace sheaf::cli {
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

// Results are computed for outputs up to this size.
constexpr int64_t kMaxResult = 1 << 20;

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
        element_count(r.output.sizes) <= kMaxResult) {
      result_.resize(static_cast<size_t>(element_count(r.output.sizes) * r.output.dtype.bytes()));
      scene.plan.run(scene.data == nullptr ? nullptr : scene.data->data(), scene.indices.data(),
                     scene.updates->data(), result_.data());
      has_result_ = true;
    }
  }

  std::string of(int64_t element, const std::vector<int64_t>* arrived) const {
    const Request& r = scene_.plan.request();
    if (has_result_) {
      return value_text(r.output, result_, element);
    }
    std::string old = r.onto_zeros             ? "0"
                      : scene_.data == nullptr ? "·"
                                               : value_text(r.data, *scene_.data, element);
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
  Literal result_;
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
  const Grid updates{"updates " + r.updates.str(), r.updates.sizes, [&](int64_t e) {
                       const int64_t target = scene.map[static_cast<size_t>(e)].data;
                       return target == kSkipped ? Cell{cat("(", labels.of(e), ")"), kFill}
                                                 : Cell{labels.of(e), colors.of(target)};
                     }};
  const Grid output{
      cat("output ", r.output.str(), axis_text(r)), r.output.sizes, [&](int64_t e) {
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

}  // namespace sheaf::cli
