// SPDX-License-Identifier: MIT
//
// com.microsoft.GatherBlockQuantized: what its attributes and the types and sizes of its inputs say
// about the table that it gathers from.
#pragma once

#include <cstdint>

#include "sheaf/encoding.h"

namespace sheaf::onnx {

// The operator's attributes. By its description an index out of range gives zeros.
struct BlockQuantized {
  int64_t gather_axis = 0;
  int64_t quantize_axis = 1;
  int64_t block_size = 128;
  int64_t bits = 4;
};

struct QuantizedTable {
  DType type = u8;  // of the codes, and of zero points
  Encoding encoding = Encoding::kU8;
  int64_t per_byte = 1;  // codes in an element of u8 data
  int64_t usual_zero = 0;
  int64_t block = 0;
  int gather_axis = 0, axis = 0;  // of the blocks
  Dims sizes = {};                // of the decoded data
  Dims scales = {};               // sizes that scales have
  Dims zeros = {};                // sizes that zero points have, as a model states them
};

// Data of u8, u4, i4, f8e4m3 or f8e5m2, in the sizes that the model states. Throws BadNode.
// Negative sizes are such that are not known yet; those of the table that depend on them mean
// nothing.
QuantizedTable quantized_table(const BlockQuantized& node, DType type, const Dims& stored);

// Throw BadNode where scales or zero points are not as the table needs them. Scales of floats may
// have size 1 off the blocks' axis.
void check_scales(const QuantizedTable& table, const TensorSpec& scales);
void check_zeros(const QuantizedTable& table, DType type, const Dims& sizes);

}  // namespace sheaf::onnx
