// SPDX-License-Identifier: MIT
//
// Moves that are plans run where their tensors are: on a device, the host sees none of them.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "helpers/deferred_device.h"
#include "moves/moves.h"

namespace sheaf::moves {
namespace {

struct Case {
  const char* name;
  Work work;
  size_t inputs = 1, outputs = 1;  // each of 24 elements at most
  int64_t host_bytes = 0;          // that may go between host and device
};

class MovesOnDevice : public testing::Test {
 protected:
  MovesOnDevice() { add_deferred_device(); }

  // The outputs, which start as -1.
  static std::vector<std::vector<int32_t>> run(const Case& c, const Queue& queue) {
    std::vector<std::vector<int32_t>> all(c.inputs + c.outputs, std::vector<int32_t>(96, -1));
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i < c.inputs) {
        std::iota(all[i].begin(), all[i].end(), static_cast<int32_t>(i));
        inputs.push_back(all[i].data());
      } else {
        outputs.push_back(all[i].data());
      }
    }
    c.work(inputs, outputs, queue);  // the device's memory is the host's
    return {all.begin() + static_cast<ptrdiff_t>(c.inputs), all.end()};
  }
};

TEST_F(MovesOnDevice, PlansDoNotLeaveIt) {
  const TensorSpec m(i32, {4, 6}), transposed(i32, {4, 6}, {1, 4}), half(i32, {4, 3});
  const TensorSpec twice(i32, {8, 6}), wide(i32, {4, 12}), padded(i32, {7, 9}), part(i32, {2, 3});
  const TensorSpec halves[] = {half, half};
  const TensorSpec lengths(i32, {4, 1}), picks(i32, {4, 1}), off_on(i32, {2});
  constexpr int64_t kElement = 4;  // the value that a fill repeats
  constexpr int64_t kLengths = 4 * 4, kPlaces = 4 * 6 * 8;
  const Case cases[] = {
      {"copy", copy("copy", transposed, m)},
      {"broadcast", copy("copy", TensorSpec(i32, {6}), m)},
      {"tile", tile("tile", m, twice, {2, 1})},
      {"slice", slice("slice", m, part, {3, 5}, {-2, -2})},
      {"join", join("join", halves, m, 1), 2},
      {"split", split("split", m, halves, 1), 1, 2},
      {"edge", pad("pad", m, padded, PadMode::kEdge, {1, 2}, 0)},
      {"reflect", pad("pad", m, padded, PadMode::kReflect, {1, 2}, 0)},
      {"wrap", pad("pad", m, padded, PadMode::kWrap, {1, 2}, 0)},
      {"one hot", one_hot("one_hot", picks, off_on, m, 1), 2},
      {"fill", fill("fill", wide, 7), 0, 1, kElement},
      {"constant", pad("pad", m, padded, PadMode::kConstant, {1, 2}, 7), 1, 1, kElement},
      {"unslice", unslice("unslice", part, m, {0, 0}, {2, 2}, 0), 1, 1, kElement},
      {"reverse", reverse_subsequences("reverse", m, lengths, m, 1), 2, 1, kLengths + kPlaces},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(c.work.only_plans);
    const int64_t before = transferred_bytes();
    const auto there = run(c, {.device = kDeferred});
    EXPECT_LE(transferred_bytes() - before, c.host_bytes);
    EXPECT_EQ(steps_waiting(), 0) << "done when it returns";
    EXPECT_EQ(there, run(c, {}));
    EXPECT_NE(there[0][0], -1) << "something was written";
  }
}

TEST_F(MovesOnDevice, OthersSayThatTheyNeedTheHost) {
  const TensorSpec from(i32, {4, 6}), to(f32, {4, 6}), top(i32, {4, 1});
  EXPECT_FALSE(cast("cast", from, to).only_plans);
  EXPECT_FALSE(scale("scale", to, to, 2, 1).only_plans);
  EXPECT_FALSE(sequence("sequence", to, 0, 1).only_plans);
  EXPECT_FALSE(nonzero("nonzero", from, TensorSpec(i32, {}), TensorSpec(i32, {24, 2})).only_plans);
  EXPECT_FALSE(top_k("top_k", from, top, top, 1, true).only_plans);
}

}  // namespace
}  // namespace sheaf::moves
