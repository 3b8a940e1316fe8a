// SPDX-License-Identifier: MIT
//
// What the pictures of gathers and scatters share: names and colours of elements, and sentences
// about them.
#pragma once

#include <string>
#include <vector>

#include "picture.h"
#include "problem/problem.h"
#include "sheaf/explain.h"

namespace sheaf::cli {

struct Scene {
  const Plan& plan;
  const Literal* data;     // null: the elements are called a, b, c, …
  const Literal& indices;  // packed, as the plan has them
  const std::vector<ElementSource>& map;
  const Literal* updates = nullptr;  // of a scatter, as data
};

Dims position_of(int64_t element, const Dims& sizes);
std::string value_text(const TensorSpec& spec, const Literal& values, int64_t element);

// "output[2, 1]"
std::string named(const char* tensor, int64_t element, const Dims& sizes);

// ", axis 1 →": which way an index moves. The dimension before the last runs down, the last to the
// right.
std::string axis_text(const Request& request);

// "output[0, 1] = data[2, 1]   because indices[0, 1] = 2", and of a scatter "updates[0, 1] goes to
// output[2, 1]   because …".
std::string describe_element(const Scene& scene, int64_t grid_element);

// What stands in the cells of a tensor: its values, or names for them.
class Labels {
 public:
  Labels(const TensorSpec& spec, const Literal* values, bool color);
  std::string of(int64_t element) const;

 private:
  std::string name_of(int64_t element) const;
  bool repeats() const;

  const TensorSpec& spec_;
  const Literal* values_;
  int64_t count_;
  bool named_ = false;
};

// Elements of data that are picked by the same index have one colour: it counts the coordinates
// that indices (and batches) decide. The windows of XLA overlap, so there each element has its own.
class Colors {
 public:
  explicit Colors(const Request& request);
  Color of(int64_t data_element) const;

  // The colour of a coordinate, where one dimension alone decides.
  Color of_coordinate(int dim, int64_t coordinate) const;

 private:
  Dims sizes_;
  Dims decided_;  // 1 where the colour depends on the dimension
};

// The indices, each in the colour of what it picks.
Grid indices_grid(const Scene& scene, const Colors& colors);

}  // namespace sheaf::cli
