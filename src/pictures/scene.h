// SPDX-License-Identifier: MIT
//
// What the pictures of gathers and scatters share: names and colours of elements, sentences about
// them, and indices for a plan that came without any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pictures/picture.h"
#include "plan/request.h"
#include "sheaf/explain.h"

namespace sheaf::pictures {

// Memory is laid out as the plan has it.
struct Scene {
  const Plan& plan;
  const void* data;  // null: the elements are called a, b, c, …
  const void* indices;
  const std::vector<ElementSource>& map;
  const void* updates = nullptr;  // of a scatter, as data
};

Dims position_of(int64_t element, const Dims& sizes);
// Where element number `element`, counted row-major, lies, in elements.
int64_t offset_of(int64_t element, const TensorSpec& spec);
std::string value_text(const TensorSpec& spec, const void* values, int64_t element);

// "f32[3, 5]", whatever the strides: a picture shows elements, not where they lie.
std::string shape_text(const TensorSpec& spec);

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
  Labels(const TensorSpec& spec, const void* values, bool color);
  std::string of(int64_t element) const;

 private:
  std::string name_of(int64_t element) const;
  bool repeats() const;

  TensorSpec spec_;
  const void* values_;
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

// What fits on a screen of text.
inline constexpr int64_t kMaxExampleElements = 128;
// Beyond this, what goes where is not computed: only a corner of it would be seen.
inline constexpr int64_t kMostPictured = 1 << 20;

// Indices in range for a plan that came without any, so that there is something to draw. Nothing
// for plans with a tensor of more than `max_elements`, and where an axis has no entries. In the
// layout of the plan's indices, which must be the contiguous one.
std::optional<std::vector<std::byte>> example_indices(const Plan& plan,
                                                      int64_t max_elements = kMaxExampleElements);

}  // namespace sheaf::pictures
