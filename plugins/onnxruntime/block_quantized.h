// SPDX-License-Identifier: MIT
//
// GatherBlockQuantized of ONNX Runtime's own operators (domain com.microsoft): rows of 2, 4 or 8
// bits, with a scale and a zero point per block, decoded while they are gathered.
#pragma once

#include <memory>

#include "kernel.h"
#include "operators.h"

namespace sheaf::ort {

extern const std::span<const int> kBlockQuantizedVersions;
extern const std::span<const Constraint> kBlockQuantizedConstraints;
extern const std::span<const KnownAttribute> kBlockQuantizedAttributes;
bool takes_block_quantized(const OfferedNode& node);
std::unique_ptr<Kernel> make_block_quantized(const MakeKernel& made);

}  // namespace sheaf::ort
