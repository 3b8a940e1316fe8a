// SPDX-License-Identifier: MIT
//
// A bag as a picture: data, the indices with one row of them for each bag, and the output. Equal
// colours show which row of data goes into which bag.
#pragma once

#include <string>
#include <vector>

#include "pictures/picture.h"
#include "plan/bag.h"

namespace sheaf::pictures {

// "output[s, j] = sum of data[indices[p], j] for p in offsets[s]..offsets[s + 1]"
std::string bag_formula(const BagPlan& plan);

// A plan and what there is of its memory. Without `stored` the rows' elements are called a, b, c;
// without `weights` the weights w0, w1.
struct BagScene {
  const BagPlan& plan;
  BagMemory memory;
};

// One entry of a bag: its number, what its index says, and the row that it names.
struct BagEntry {
  int64_t number;
  std::string index;
  int64_t row;    // kOutside: it is left out, or filled
  bool left_out;  // by padding_index, or out of range under kSkip
};
using Bags = std::vector<std::vector<BagEntry>>;

// The entries of each bag. Segments and indices are sound.
Bags entries_by_bag(const BagScene& scene);

// Zeros laid out as `spec` has them.
class Zeros {
 public:
  explicit Zeros(const TensorSpec& spec);
  std::byte* first() { return bytes_.data() + first_; }  // the element at index 0 throughout

 private:
  std::vector<std::byte> bytes_;
  size_t first_;
};

// Points `memory` at made-up indices and segments, which `made` then owns, where it has none: so
// that there is something to draw. False where there are more entries or elements than a picture
// takes.
bool make_up_entries(const BagPlan& plan, BagMemory& memory, std::vector<Zeros>& made);

// Throws as a run does if segments or indices are wrong.
std::string draw_bag(const BagScene& scene, const Style& style);

}  // namespace sheaf::pictures
