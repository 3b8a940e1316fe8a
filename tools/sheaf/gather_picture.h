// SPDX-License-Identifier: MIT
//
// A gather as a picture: data, indices and output, where equal colours (and equal labels) show
// which element went where.
#pragma once

#include <string>
#include <vector>

#include "frontends/problem/problem.h"
#include "picture.h"
#include "sheaf/explain.h"

namespace sheaf::cli {

struct Scene {
  const Plan& plan;
  const Literal* data;     // null: the elements are called a, b, c, …
  const Literal& indices;  // packed, as the plan has them
  const std::vector<ElementSource>& map;
};

// Data, indices and output, and a sentence that reads one output element aloud.
std::string draw_gather(const Scene& scene, const Style& style);

// Data and indices with the indices that are out of range marked, for a gather that fails.
std::string draw_bad_indices(const Plan& plan, const Literal* data, const Literal& indices,
                             const Style& style);

// "output[0, 1] = data[2, 1]   indices[0, 1] = 2"
std::string describe_element(const Scene& scene, int64_t output_element);

}  // namespace sheaf::cli
