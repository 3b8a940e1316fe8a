// SPDX-License-Identifier: MIT
//
// The picture of a call, with its formula above: the one that the command line, Python and the
// documents show.
#include <optional>
#include <string>
#include <vector>

#include "pictures/bag_picture.h"
#include "pictures/formula.h"
#include "pictures/operator_picture.h"
#include "pictures/svg.h"
#include "plan/request.h"
#include "sheaf/error.h"
#include "sheaf/explain.h"
#include "support/number_text.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Wide enough for three tensors of a few columns, narrow enough for a page.
constexpr pictures::Style kSvgStyle{true, 120};

[[noreturn]] void refuse_picture(const std::string& why) {
  throw Error(Refusal{.who = "explain",
                      .what = "no picture",
                      .detail = why,
                      .next = "a smaller shape, with indices as in i64[4]={3,1,0,2}"});
}

bool is_contiguous(const TensorSpec& spec) {
  return spec.strides == contiguous_strides(spec.sizes);
}

}  // namespace

std::string svg_picture(const Plan& plan, const PictureMemory& memory, const std::string& title) {
  const Request& r = plan.request();
  if (element_count(r.grid().sizes) > pictures::kMostPictured) {
    refuse_picture(cat("the ", plan.is_scatter() ? "updates have " : "output has ",
                       grouped(element_count(r.grid().sizes)), " elements, more than ",
                       grouped(pictures::kMostPictured)));
  }
  std::optional<std::vector<std::byte>> made_up;
  const void* indices = memory.indices;
  if (indices == nullptr) {
    made_up = is_contiguous(r.indices) ? pictures::example_indices(plan) : std::nullopt;
    if (!made_up) {
      refuse_picture("there are no indices, or too many");
    }
    indices = made_up->data();
  }
  const void* const data = r.encoded ? nullptr : memory.data;  // decoded elements lie nowhere
  const std::vector<ElementSource> map = element_map(plan, {indices, plan.indices()});
  return pictures::svg_of(
      cat(title.empty() ? std::string(to_string(r.op)) : title, "   ", pictures::formula(r), "\n\n",
          pictures::draw_scene({plan, data, indices, map, memory.updates}, kSvgStyle)));
}

std::string svg_picture(const BagPlan& plan, const BagMemory& memory) {
  std::vector<pictures::Zeros> made;
  BagMemory filled = memory;
  if (!pictures::make_up_entries(plan, filled, made)) {
    refuse_picture("a tensor has more elements than a picture takes");
  }
  return pictures::svg_of(cat("bag   ", pictures::bag_formula(plan), "\n\n",
                              pictures::draw_bag({plan, filled}, kSvgStyle)));
}

}  // namespace sheaf
