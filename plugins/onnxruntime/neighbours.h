// SPDX-License-Identifier: MIT
//
// Neighbours of gathers: Slice and OneHot, the two that Sheaf runs faster than the runtime's own
// kernels (docs/onnxruntime.md has the table). They are taken only between nodes that Sheaf has
// anyway: elsewhere the runtime may fuse them with nodes of its own.
#pragma once

#include <memory>

#include "kernel.h"
#include "operators.h"

namespace sheaf::ort {

bool takes_slice(const OfferedNode& node);
bool takes_one_hot(const OfferedNode& node);
std::unique_ptr<Kernel> make_slice(const MakeKernel& made);
std::unique_ptr<Kernel> make_one_hot(const MakeKernel& made);

}  // namespace sheaf::ort
