// SPDX-License-Identifier: MIT
//
// What shaders that decode and pool take: the structs of shaders/decode.glsl and segments.glsl,
// word for word.
#pragma once

#include "backends/vulkan/nest.h"
#include "plan/encoded_rows.h"

namespace sheaf::vulkan {

struct ShaderTable {
  Address stored, scales, zeros;
  int64_t elements, row_stride, element_stride;
  int64_t extent, inner, block_rows, block_elements;
  int64_t outer_step, axis_step, inner_step, element_step;
  int64_t scale_columns;
  uint32_t encoding, kind;
  uint32_t scale_kind, zero_kind, zero_bits, zeros_form;
  uint32_t usual_zero, unused;
};

struct ShaderPlaces {
  int64_t columns, outer, inner;
};

struct ShaderBag {
  Address weights, segments, offsets, faults, state, carried;
  int64_t extent, rows_per_entry, elements, entries, bags, per_bag, padding;
  int64_t segment_count, segment_stride, bag_stride, element_stride;
  ShaderPlaces index_places, weight_places;
  uint32_t indexed, segment_kind, weighted, weight_kind;
  uint32_t pool, reduction, computed, output_kind;
  uint32_t in_order, unused;
  uint32_t neutral[4], fill[4], empty[4];
};

static_assert(std::is_trivially_copyable_v<ShaderTable> && std::is_trivially_copyable_v<ShaderBag>);
static_assert(sizeof(ShaderTable) == 152 && sizeof(ShaderBag) == 272);

inline uint32_t kind_number(DType type) { return static_cast<uint32_t>(type.kind()); }

ShaderTable shader_table(const EncodedRows& rows, const EncodedMemory& memory);

}  // namespace sheaf::vulkan
