// SPDX-License-Identifier: MIT
#include "backends/vulkan/table.h"

#include "support/bit_cast.h"

namespace sheaf::vulkan {
namespace {

// Values that the shaders know by number.
constexpr uint32_t kE8M0 = 255;
constexpr uint32_t kUsualZero = 0, kZeroPoints = 1, kBiases = 2;
constexpr bool is_number(Encoding encoding, int number) {
  return static_cast<int>(encoding) == number;
}
static_assert(is_number(Encoding::kI8, 2) && is_number(Encoding::kF8E4M3, 7) &&
              is_number(Encoding::kF4E2M1, 11) && is_number(Encoding::kRowU8F32, 12) &&
              is_number(Encoding::kRowU2F16, 15) && is_number(Encoding::kQ8_0, 16) &&
              is_number(Encoding::kQ5_1, 20) && is_number(Encoding::kQ6K, 23));

}  // namespace

ShaderTable shader_table(const EncodedRows& rows, const EncodedMemory& memory) {
  ShaderTable table{};
  table.stored = address_of(memory.stored);
  table.scales = address_of(memory.scales);
  table.zeros = address_of(memory.zeros);
  table.elements = rows.elements;
  table.row_stride = rows.row_stride;
  table.element_stride = rows.element_stride;
  table.extent = rows.extent;
  table.inner = rows.inner;
  table.block_rows = rows.block_rows;
  table.block_elements = rows.block_elements;
  table.outer_step = rows.outer_step;
  table.axis_step = rows.axis_step;
  table.inner_step = rows.inner_step;
  table.element_step = rows.element_step;
  table.scale_columns = rows.scale_columns;
  table.encoding = static_cast<uint32_t>(rows.encoding);
  table.kind = kind_number(rows.type);
  table.scale_kind = rows.e8m0 ? kE8M0 : kind_number(rows.scale_type);
  table.zero_kind = kind_number(rows.zero_type);
  table.zero_bits = static_cast<uint32_t>(rows.zero_bits);
  table.zeros_form = rows.adds_bias ? kBiases : rows.has_zeros ? kZeroPoints : kUsualZero;
  table.usual_zero = bit_cast<uint32_t>(rows.usual_zero);
  return table;
}

}  // namespace sheaf::vulkan
