// SPDX-License-Identifier: MIT
//
// How a plan runs: which kernel runs it, which kernels refused and why, and which element goes
// where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sheaf/bag.h"
#include "sheaf/plan.h"
#include "sheaf/queue.h"
#include "sheaf/tensor.h"

#pragma GCC visibility push(default)

namespace sheaf {

// A kernel's answer to a plan, in the order in which kernels are asked: the first without a
// refusal runs. A kernel that accepts and has several ways to move rows answers once for each, as
// "KERNEL/MOVER".
struct KernelReport {
  std::string name;
  std::string refusal;   // empty: accepts
  bool can_run = false;  // if it is asked for by name: a mover may refuse because another is faster
};
std::vector<KernelReport> kernels_for(const Plan& plan, const RunOptions& = {});

// The same on a queue. Empty where its device is not available: what fits depends on it.
std::vector<KernelReport> kernels_for(const Plan& plan, const Queue& queue, const RunOptions& = {});

// The name of the kernel that Plan::run takes, on aligned memory.
std::string kernel_name(const Plan& plan, const RunOptions& = {});

// The backends of this build that run on host memory, fastest first ("reference" is the last).
std::vector<std::string> backend_names();

// Where each output element of a gather comes from, or each update of a scatter goes to. Positions
// are row-major element numbers of the tensors' sizes, whatever their strides.
struct ElementSource {
  int64_t data;   // element of data, or kFilled; of a scatter: of the output, or kSkipped
  int64_t index;  // element of indices that holds the first component of its tuple, or kNoIndex
};
inline constexpr int64_t kFilled = -1;
inline constexpr int64_t kSkipped = -1;
inline constexpr int64_t kNoIndex = -1;  // zero-length tuples

// One entry per output element, or per update, in row-major order. Throws IndexError as a run
// would.
std::vector<ElementSource> element_map(const Plan& plan, const ConstTensor& indices);

// What there is of a call's memory, laid out as its plan has it. Null: none.
struct PictureMemory {
  const void* data = nullptr;
  const void* indices = nullptr;
  const void* updates = nullptr;
};

// The call as an SVG document: data, indices and output (of a scatter: updates, indices and
// output), in which equal colours show which element goes where. Elements without values are called
// a, b, c; indices of small calls are made up where there are none. Large tensors are cut. Follows
// the light or dark page that it stands on. `title` stands before the formula in place of the
// operator. Throws Error where there is nothing to draw, and IndexError as a run would.
std::string svg_picture(const Plan& plan, const PictureMemory& memory = {},
                        const std::string& title = {});

// The same of a bag: which rows of data go into which bag. The output of `memory` is not used.
std::string svg_picture(const BagPlan& plan, const BagMemory& memory = {});

}  // namespace sheaf

#pragma GCC visibility pop
