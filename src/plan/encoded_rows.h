// SPDX-License-Identifier: MIT
//
// An encoded tensor as kernels see it: rows at one distance, and for each element the place of its
// scale. Element numbers of the decoded tensor are row * elements + element, whatever its rank.
#pragma once

#include <optional>

#include "plan/decode.h"
#include "plan/reduce.h"
#include "sheaf/encoding.h"

namespace sheaf {

// The encodings, for tables and for switches that pick an instance: X(Name, "name").
#define SHEAF_ENCODINGS(X)             \
  X(U8, "u8")                          \
  X(I8, "i8")                          \
  X(U4, "u4")                          \
  X(I4, "i4")                          \
  X(U2, "u2")                          \
  X(I2, "i2")                          \
  X(F8E4M3, "f8e4m3")                  \
  X(F8E4M3Fnuz, "f8e4m3fnuz")          \
  X(F8E5M2, "f8e5m2")                  \
  X(F8E5M2Fnuz, "f8e5m2fnuz")          \
  X(F4E2M1, "f4e2m1")                  \
  X(RowU8F32, "row_u8_f32")            \
  X(RowU8F16Front, "row_u8_f16_front") \
  X(RowU4F16, "row_u4_f16")            \
  X(RowU2F16, "row_u2_f16")            \
  X(Q8_0, "q8_0")                      \
  X(Q4_0, "q4_0")                      \
  X(Q4_1, "q4_1")                      \
  X(Q5_0, "q5_0")                      \
  X(Q5_1, "q5_1")                      \
  X(Q4K, "q4_k")                       \
  X(Q5K, "q5_k")                       \
  X(Q6K, "q6_k")

constexpr bool has_scales_beside(Encoding encoding) {
  return encoding >= Encoding::kU8 && encoding <= Encoding::kF4E2M1;
}
constexpr bool has_scale_in_row(Encoding encoding) {
  return encoding >= Encoding::kRowU8F32 && encoding <= Encoding::kRowU2F16;
}
constexpr bool has_blocks(Encoding encoding) {
  return encoding >= Encoding::kQ8_0 && encoding <= Encoding::kQ6K;
}

struct EncodedRows {
  Encoding encoding = Encoding::kPlain;
  DType type = f32;            // kPlain: of an element
  int64_t rows = 0;            // in all
  int64_t elements = 0;        // of a row
  int64_t row_stride = 0;      // bytes from a row to the next
  int64_t element_stride = 0;  // kPlain: bytes from an element to the next
  // Of codes. Row r is the entry r / inner % extent of the axis of the blocks, if that is not the
  // last; its element e then has the scale
  //   r / (inner * extent) * outer_step + r / inner % extent / block_rows * axis_step
  //     + r % inner * inner_step + e / block_elements * element_step.
  int64_t extent = 1, inner = 1, block_rows = 1, block_elements = 1;
  int64_t outer_step = 0, axis_step = 0, inner_step = 0, element_step = 0;
  DType scale_type = f32;
  bool e8m0 = false;  // scales are exponents
  bool has_zeros = false, adds_bias = false;
  DType zero_type = f32;
  int zero_bits = 0;          // packed zero points; 0: elements of zero_type
  int64_t scale_columns = 1;  // zero points are packed along rows of this many
  float usual_zero = 0;

  friend bool operator==(const EncodedRows&, const EncodedRows&) = default;
};

struct EncodedMemory {
  const std::byte* stored = nullptr;
  const std::byte* scales = nullptr;
  const std::byte* zeros = nullptr;
};

constexpr int64_t scale_number(const EncodedRows& rows, int64_t row, int64_t element) {
  int64_t number = element / rows.block_elements * rows.element_step;
  if (rows.extent == 1 && rows.inner == 1) {
    return number + row * rows.outer_step;
  }
  const int64_t entry = row / rows.inner;
  return number + entry / rows.extent * rows.outer_step +
         entry % rows.extent / rows.block_rows * rows.axis_step +
         row % rows.inner * rows.inner_step;
}

// A float of a type that scales and biases may have.
constexpr float stored_float(DType type, const std::byte* memory, int64_t number) {
  switch (type.kind()) {
    case Kind::kFloat16: return stored_f16(memory + 2 * number);
    case Kind::kBFloat16: return stored_bf16(memory + 2 * number);
    case Kind::kFloat8E4M3:
      return static_cast<float>(
          from_float_bits(kFormatF8E4M3, static_cast<uint16_t>(stored_u8(memory + number))));
    default: return stored_f32(memory + 4 * number);
  }
}

constexpr float stored_zero(const EncodedRows& rows, const std::byte* zeros, int64_t number) {
  if (rows.zero_bits == 0) {
    const uint32_t byte = stored_u8(zeros + number);
    return rows.zero_type == i8 ? static_cast<float>(signed_code<8>(byte))
                                : static_cast<float>(byte);
  }
  const bool is_signed = rows.zero_type == i8;
  const int64_t row = number / rows.scale_columns;
  const int64_t column = number % rows.scale_columns;
  const int per_byte = 8 / rows.zero_bits;
  const std::byte* const packed = zeros + row * ((rows.scale_columns + per_byte - 1) / per_byte);
  if (rows.zero_bits == 4) {
    const uint32_t code = packed_code<4>(packed, column);
    return static_cast<float>(is_signed ? signed_code<4>(code) : static_cast<int>(code));
  }
  const uint32_t code = packed_code<2>(packed, column);
  return static_cast<float>(is_signed ? signed_code<2>(code) : static_cast<int>(code));
}

// Element `element` of row `row`, in f32. Not of kPlain.
template <Encoding kEncoding>
constexpr float decoded(const EncodedRows& rows, const EncodedMemory& memory, int64_t row,
                        int64_t element) {
  const std::byte* const stored = memory.stored + row * rows.row_stride;
  if constexpr (has_blocks(kEncoding)) {
    constexpr int64_t kElements = kBlockOf<kEncoding>.elements;
    const std::byte* const block = stored + element / kElements * kBlockOf<kEncoding>.bytes;
    return one_nan(block_element<kEncoding>(block, static_cast<int>(element % kElements)));
  } else if constexpr (has_scale_in_row(kEncoding)) {
    const RowScale scale = row_scale<kEncoding>(stored, rows.elements);
    const float product = code_value<kEncoding>(stored + scale.codes, element) * scale.scale;
    return one_nan(product + scale.bias);
  } else {
    const float code = code_value<kEncoding>(stored, element);
    const int64_t number = scale_number(rows, row, element);
    const float scale = rows.e8m0 ? power_of_two(stored_u8(memory.scales + number))
                                  : stored_float(rows.scale_type, memory.scales, number);
    if (rows.adds_bias) {
      return one_nan(code * scale + stored_float(rows.zero_type, memory.zeros, number));
    }
    const float zero = rows.has_zeros ? stored_zero(rows, memory.zeros, number) : rows.usual_zero;
    return one_nan((code - zero) * scale);
  }
}

// Calls f.template operator()<Encoding::kX>() for an encoding that is not kPlain.
template <class F>
auto with_encoding(Encoding encoding, F f) {
  switch (encoding) {
#define SHEAF_CASE(Name, name) \
  case Encoding::k##Name: return f.template operator()<Encoding::k##Name>();
    SHEAF_ENCODINGS(SHEAF_CASE)
#undef SHEAF_CASE
    case Encoding::kPlain: break;
  }
  return f.template operator()<Encoding::kU8>();
}

// The geometry of a sound description. Otherwise says what is wrong with it.
struct EncodedProblem {
  std::string what, detail, next;
  const char* tensor;
};
std::optional<EncodedProblem> problem_of(const EncodedSpec& spec);
EncodedRows rows_of(const EncodedSpec& spec);  // of one without a problem

}  // namespace sheaf
