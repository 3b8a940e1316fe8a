// SPDX-License-Identifier: MIT
#include "frontends/onnx/block_quantized.h"

#include <algorithm>

#include "frontends/onnx/bad_node.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::onnx {
namespace {

bool is_float(DType type) { return type == f8e4m3 || type == f8e5m2; }

void set_encoding(const BlockQuantized& node, QuantizedTable& table) {
  const DType type = table.type;
  if (is_float(type)) {
    table.encoding = type == f8e4m3 ? Encoding::kF8E4M3 : Encoding::kF8E5M2;
    return;
  }
  if (type != u8 && type != u4 && type != i4) {
    throw BadNode(cat("its data is of type ", type.name()), "u8, u4, i4, f8e4m3 or f8e5m2");
  }
  const int64_t bits = node.bits;
  if (type == u8 ? bits != 2 && bits != 4 && bits != 8 : bits != 4) {
    throw BadNode(cat("bits = ", bits, " with data of type ", type.name()),
                  type == u8 ? "bits of 2, 4 or 8" : "bits of 4");
  }
  if (type == u8) {
    table.encoding = bits == 2 ? Encoding::kU2 : bits == 4 ? Encoding::kU4 : Encoding::kU8;
    table.per_byte = 8 / bits;
    table.usual_zero = int64_t{1} << (bits - 1);  // half of the range
  } else {
    table.encoding = type == i4 ? Encoding::kI4 : Encoding::kU4;
  }
}

void set_block(const BlockQuantized& node, QuantizedTable& table) {
  table.block = node.block_size;
  const bool whole = table.block == 0 && is_float(table.type);
  if (!whole && (table.block < 16 || (table.block & (table.block - 1)) != 0)) {
    throw BadNode(cat("block_size = ", table.block), "a power of two from 16 on");
  }
}

int axis_in(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    throw BadNode(cat("axis ", axis, " of a tensor of rank ", rank),
                  cat("an axis from ", -rank, " to ", rank - 1));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void set_axes(const BlockQuantized& node, QuantizedTable& table) {
  const int rank = table.sizes.size();
  table.gather_axis = axis_in(node.gather_axis, rank);
  table.axis = axis_in(node.quantize_axis, rank);
  if (table.type == u8 && (table.gather_axis != 0 || table.axis == 0 ||
                           (table.per_byte > 1 && table.axis != rank - 1))) {
    throw BadNode(cat("gather_axis = ", table.gather_axis, " and quantize_axis = ", table.axis,
                      " with data of type u8"),
                  "gather_axis = 0 and blocks along the last axis");
  }
}

}  // namespace

QuantizedTable quantized_table(const BlockQuantized& node, DType type, const Dims& stored) {
  if (stored.empty()) {
    throw BadNode("its data has no dimensions", "data of rank 1 or more");
  }
  QuantizedTable table;
  table.type = type;
  table.sizes = stored;
  set_encoding(node, table);
  set_block(node, table);
  set_axes(node, table);
  const auto elements = checked_mul(stored.back(), table.per_byte);
  if (!elements.has_value()) {
    throw BadNode("its rows have more than 2^63 - 1 elements", "smaller data");
  }
  table.sizes.back() = *elements;
  const int64_t extent = table.sizes[table.axis];
  table.scales = table.sizes;
  table.scales[table.axis] = table.block == 0
                                 ? std::min<int64_t>(extent, 1)
                                 : extent / table.block + (extent % table.block != 0 ? 1 : 0);
  table.zeros = table.scales;
  table.zeros.back() =
      table.zeros.back() / table.per_byte + (table.zeros.back() % table.per_byte != 0 ? 1 : 0);
  return table;
}

void check_scales(const QuantizedTable& table, const TensorSpec& scales) {
  bool fits = scales.rank() == table.scales.size();
  for (int d = 0; fits && d < table.scales.size(); ++d) {
    fits = scales.sizes[d] == table.scales[d] ||
           (is_float(table.type) && d != table.axis && scales.sizes[d] == 1);
  }
  if (!fits) {
    throw BadNode(cat("its scales have sizes ", bracketed(scales.sizes), ", but ",
                      bracketed(table.scales), " are needed"),
                  "a scale for each block");
  }
  if (scales.dtype != f32 && scales.dtype != f16 && scales.dtype != bf16) {
    throw BadNode(cat("its scales are of type ", scales.dtype.name()), "f32, f16 or bf16");
  }
}

void check_zeros(const QuantizedTable& table, DType type, const Dims& sizes) {
  if (is_float(table.type) || type != table.type || sizes != table.zeros) {
    throw BadNode(cat("its zero_points are ", type.name(), bracketed(sizes), " for data of type ",
                      table.type.name()),
                  is_float(table.type) ? std::string("no zero_points")
                                       : cat(table.type.name(), bracketed(table.zeros)));
  }
}

}  // namespace sheaf::onnx
