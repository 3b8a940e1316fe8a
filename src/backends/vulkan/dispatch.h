// SPDX-License-Identifier: MIT
//
// From rows of pieces to dispatches: a shader runs one invocation, or a few, per piece. What one
// dispatch cannot number is cut.
#pragma once

#include "backends/vulkan/nest.h"
#include "backends/vulkan/recorder.h"
#include "backends/vulkan/tuning.h"

namespace sheaf::vulkan {

// A call with the addresses and the verdict of a launch, and nothing else.
ShaderCall shader_call(const Launch& launch);
void set_fill(ShaderCall& call, const std::byte* element, int64_t bytes);

// `rows` rows of `columns` pieces each. `each`: pieces of one invocation.
struct Pieces {
  int64_t rows, columns, each = 1, first_row = 0;
};
void dispatch_pieces(Recording& recording, const Pipeline& pipeline, Push push,
                     const Pieces& pieces);
inline void dispatch_pieces(Recording& recording, const Pipeline& pipeline, Address call,
                            const Pieces& pieces) {
  Push push{};
  push.call = call;
  dispatch_pieces(recording, pipeline, push, pieces);
}

// The divisor of Push.
void set_columns(Push& push, int64_t columns);

inline int64_t groups_of(int64_t pieces, int64_t each) {
  return (pieces - 1) / (tuning::kGroup * each) + 1;
}

}  // namespace sheaf::vulkan
