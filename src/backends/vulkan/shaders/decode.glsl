// SPDX-License-Identifier: MIT
//
// What a stored element means. src/plan/decode.h and encoded_rows.h are the definition; the tests
// hold this to it. Numbers are bits of f32.
//
// Encodings are told apart while a kernel runs, not by a constant of its pipeline: SwiftShader loses
// invocations behind loops that a constant has made dead.
#ifndef SHEAF_DECODE
#define SHEAF_DECODE

#include "reduce.glsl"

// Of the enumeration Encoding.
const uint kI8 = 2u, kU4 = 3u, kI4 = 4u, kU2 = 5u, kI2 = 6u;
const uint kF8E4M3 = 7u, kF8E4M3Fnuz = 8u, kF8E5M2 = 9u, kF8E5M2Fnuz = 10u, kF4E2M1 = 11u;
const uint kRowU8F32 = 12u, kRowU8F16Front = 13u, kRowU4F16 = 14u, kRowU2F16 = 15u;
const uint kQ8_0 = 16u, kQ4_0 = 17u, kQ4_1 = 18u, kQ5_0 = 19u, kQ5_1 = 20u;
const uint kQ4K = 21u, kQ5K = 22u, kQ6K = 23u;

// EncodedRows with its memory.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Table {
  uvec2 stored, scales, zeros;
  uvec2 elements, row_stride, element_stride;
  uvec2 extent, inner, block_rows, block_elements;
  uvec2 outer_step, axis_step, inner_step, element_step;
  uvec2 scale_columns;
  uint encoding, kind;  // kind: of elements that are not encoded
  uint scale_kind, zero_kind, zero_bits, zeros_form;
  uint usual_zero;  // bits
  uint unused0;
};
const uint kE8M0 = 255u;  // a scale_kind
const uint kUsualZero = 0u, kZeroPoints = 1u, kBiases = 2u;  // a zeros_form

const uint kNan32 = 0x7FC00000u, kInfinity32 = 0x7F800000u;

// units * 2^power, exactly: units < 2^24, and the number is 0 or normal.
uint scaled_units(uint sign, uint units, int power) {
  const uint bits = units == 0u ? 0u : floatBitsToUint(float(units)) + (uint(power) << 23);
  return (sign << 31) | bits;
}

// A number of a format without infinities and NaN.
uint small_float(uint code, uint exponent_bits, uint mantissa_bits, int bias) {
  const uint fraction = code & ((1u << mantissa_bits) - 1u);
  const uint field = (code >> mantissa_bits) & ((1u << exponent_bits) - 1u);
  const uint units = field == 0u ? fraction : fraction | (1u << mantissa_bits);
  return scaled_units((code >> (mantissa_bits + exponent_bits)) & 1u, units,
                      int(max(field, 1u)) - bias - int(mantissa_bits));
}

// A float of f32 or narrower as f32, exactly.
uint widened(uint kind, uint bits) {
  if (kind == kFloat32 || kind == kBFloat16) {
    return kind == kFloat32 ? bits : bits << 16;
  }
  const Format f = format_of(kind);
  const uint magnitude = bits & ((1u << (f.exponent_bits + f.mantissa_bits)) - 1u);
  const uint infinity = infinity_of(f).x;
  if (f.ieee ? magnitude >= infinity : magnitude == nan_of(f).x) {
    const uint sign = bits >> (f.exponent_bits + f.mantissa_bits);
    return f.ieee && magnitude == infinity ? (sign << 31) | kInfinity32 : kNan32;
  }
  return small_float(bits, f.exponent_bits, f.mantissa_bits, bias_of(f));
}

uint integer_value(int value) { return floatBitsToUint(float(value)); }  // of few digits

// A product of an f16 and an integer of up to 8 bits, which an f32 holds exactly.
uint half_times(uint bits, int factor) {
  const uint sign = (bits >> 15) ^ (factor < 0 ? 1u : 0u);
  const uint field = (bits >> 10) & 31u, fraction = bits & 1023u;
  if (field == 31u) {
    return fraction != 0u || factor == 0 ? kNan32 : (sign << 31) | kInfinity32;
  }
  const uint units = field == 0u ? fraction : fraction | 1024u;
  return scaled_units(sign, units * uint(abs(factor)), int(max(field, 1u)) - 25);
}

uint stored_byte(uvec2 at) { return load_bytes(at, 1u); }
uint stored_half(uvec2 at) { return load_bytes(at, 2u); }

// Code `element` of codes of 8, 4 or 2 bits.
uint packed_code(uvec2 codes, uvec2 element, uint bits) {
  const uint log_per_byte = bits == 8u ? 0u : bits == 4u ? 1u : 2u;
  const uint place = element.x & ((1u << log_per_byte) - 1u);
  const uint byte = stored_byte(plus(codes, shifted_right(element, log_per_byte)));
  return (byte >> (bits * place)) & ((1u << bits) - 1u);
}
int signed_code(uint code, uint bits) { return bitfieldExtract(int(code), 0, int(bits)); }

uint bits_of_code(uint encoding) {
  switch (encoding) {
    case kU4: case kI4: case kF4E2M1: case kRowU4F16: return 4u;
    case kU2: case kI2: case kRowU2F16: return 2u;
  }
  return 8u;
}

uint code_value(uint encoding, uvec2 codes, uvec2 element) {
  const uint bits = bits_of_code(encoding);
  const uint code = packed_code(codes, element, bits);
  switch (encoding) {
    case kI8: case kI4: case kI2: return integer_value(signed_code(code, bits));
    case kF8E4M3: return widened(kFloat8E4M3, code);
    case kF8E5M2: return widened(kFloat8E5M2, code);
    case kF8E4M3Fnuz: return code == 0x80u ? kNan32 : small_float(code, 4u, 3u, 8);
    case kF8E5M2Fnuz: return code == 0x80u ? kNan32 : small_float(code, 5u, 2u, 16);
    case kF4E2M1: return small_float(code, 2u, 1u, 1);
  }
  return integer_value(int(code));
}

// An element before its rounded operations: value, then `first` with a, then `second` with b. kNone
// leaves the value as it is.
struct Decoding {
  uint value, first, a, second, b;
};

uint stored_float(uint kind, uvec2 floats, uvec2 number) {
  if (kind == kE8M0) {
    const uint code = stored_byte(plus(floats, number));
    return code == 0xFFu ? kNan32 : code == 0u ? 0x00400000u : code << 23;
  }
  const uint bytes = bytes_of_kind(kind);
  return widened(kind, load_bytes(plus(floats, times(number, bytes)), bytes));
}

uvec2 scale_number(Table table, uvec2 row, uvec2 element) {
  uvec2 unused;
  const uvec2 number =
      times(divided(element, table.block_elements, unused), table.element_step);
  if (table.extent == uvec2(1u, 0u) && table.inner == uvec2(1u, 0u)) {
    return plus(number, times(row, table.outer_step));
  }
  uvec2 within, at;
  const uvec2 outer = divided(divided(row, table.inner, within), table.extent, at);
  const uvec2 block = divided(at, table.block_rows, unused);
  return plus(plus(number, times(outer, table.outer_step)),
              plus(times(block, table.axis_step), times(within, table.inner_step)));
}

uint zero_point(Table table, uvec2 number) {
  const uint bits = table.zero_bits == 0u ? 8u : table.zero_bits;
  uvec2 codes = table.zeros, column = number;
  if (bits != 8u) {  // packed along rows
    const uint log_per_byte = bits == 4u ? 1u : 2u;
    const uvec2 row = divided(number, table.scale_columns, column);
    const uvec2 row_bytes =
        shifted_right(plus(table.scale_columns, (1u << log_per_byte) - 1u), log_per_byte);
    codes = plus(codes, times(row, row_bytes));
  }
  const uint code = packed_code(codes, column, bits);
  return integer_value(table.zero_kind == kInt8 ? signed_code(code, bits) : int(code));
}

Decoding scaled_beside(Table table, uvec2 stored, uvec2 row, uvec2 element) {
  const uint code = code_value(table.encoding, stored, element);
  const uvec2 number = scale_number(table, row, element);
  const uint scale = stored_float(table.scale_kind, table.scales, number);
  if (table.zeros_form == kBiases) {
    return Decoding(code, kMul, scale, kAdd, stored_float(table.zero_kind, table.zeros, number));
  }
  const uint zero =
      table.zeros_form == kZeroPoints ? zero_point(table, number) : table.usual_zero;
  return Decoding(code, kSub, zero, kMul, scale);
}

Decoding scaled_in_row(Table table, uvec2 stored, uvec2 element) {
  if (table.encoding == kRowU8F16Front) {
    return Decoding(code_value(table.encoding, plus(stored, 4u), element), kMul,
                    widened(kFloat16, stored_half(stored)), kAdd,
                    widened(kFloat16, stored_half(plus(stored, 2u))));
  }
  const uint bits = bits_of_code(table.encoding);
  const uint log_per_byte = bits == 8u ? 0u : bits == 4u ? 1u : 2u;
  const uvec2 behind = plus(
      stored, shifted_right(plus(table.elements, (1u << log_per_byte) - 1u), log_per_byte));
  const uint kind = table.encoding == kRowU8F32 ? kFloat32 : kFloat16;
  return Decoding(code_value(table.encoding, stored, element), kMul,
                  stored_float(kind, behind, uvec2(0u)), kAdd,
                  stored_float(kind, behind, uvec2(1u, 0u)));
}

// Elements and bytes of a block.
uvec2 block_shape(uint encoding) {
  switch (encoding) {
    case kQ8_0: return uvec2(32u, 34u);
    case kQ4_0: return uvec2(32u, 18u);
    case kQ4_1: return uvec2(32u, 20u);
    case kQ5_0: return uvec2(32u, 22u);
    case kQ5_1: return uvec2(32u, 24u);
    case kQ4K: return uvec2(256u, 144u);
    case kQ5K: return uvec2(256u, 176u);
  }
  return uvec2(256u, 210u);
}

int halves_code(uvec2 codes, uint i) {
  const uint byte = stored_byte(plus(codes, i & 15u));
  return int(i < 16u ? byte & 15u : byte >> 4);
}

// Blocks of 32 elements: a scale, a minimum or none, fifth bits or none, codes.
Decoding short_block(uint encoding, uvec2 block, uint i) {
  const uint d = stored_half(block);
  if (encoding == kQ8_0) {
    return Decoding(half_times(d, signed_code(stored_byte(plus(block, 2u + i)), 8u)), kNone, 0u,
                    kNone, 0u);
  }
  const bool has_minimum = encoding == kQ4_1 || encoding == kQ5_1;
  const bool has_fifth = encoding == kQ5_0 || encoding == kQ5_1;
  uvec2 codes = plus(block, has_minimum ? 4u : 2u);
  int code = 0;
  if (has_fifth) {
    code = int((load_bytes(codes, 4u) >> i) & 1u) << 4;
    codes = plus(codes, 4u);
  }
  code |= halves_code(codes, i);
  if (has_minimum) {
    return Decoding(half_times(d, code), kAdd, widened(kFloat16, stored_half(plus(block, 2u))),
                    kNone, 0u);
  }
  return Decoding(half_times(d, code - (has_fifth ? 16 : 8)), kNone, 0u, kNone, 0u);
}

// The 6-bit scale and minimum of group `g`, out of 12 bytes.
uvec2 group_scale(uvec2 packed_scales, uint g) {
  const uint low = stored_byte(plus(packed_scales, g + 4u));
  if (g < 4u) {
    return uvec2(stored_byte(plus(packed_scales, g)) & 63u, low & 63u);
  }
  return uvec2((low & 15u) | (stored_byte(plus(packed_scales, g - 4u)) >> 6 << 4),
               (low >> 4) | (stored_byte(plus(packed_scales, g)) >> 6 << 4));
}

Decoding grouped_block(uint encoding, uvec2 block, uint i) {
  const bool has_fifth = encoding == kQ5K;
  const uint g = i / 32u;
  const uvec2 group = group_scale(plus(block, 4u), g);
  const uint byte = stored_byte(plus(block, (has_fifth ? 48u : 16u) + g / 2u * 32u + i % 32u));
  const uint fifth = has_fifth ? (stored_byte(plus(block, 16u + i % 32u)) >> g) & 1u : 0u;
  const uint code = ((g & 1u) == 0u ? byte & 15u : byte >> 4) | (fifth << 4);
  return Decoding(half_times(stored_half(block), int(group.x)), kMul, integer_value(int(code)),
                  kSub, half_times(stored_half(plus(block, 2u)), int(group.y)));
}

Decoding six_bit_block(uvec2 block, uint i) {
  const uint half_of = i / 128u, g = i % 128u / 32u, at = i % 32u;
  const uint low = stored_byte(plus(block, half_of * 64u + g % 2u * 32u + at));
  const uint high = (stored_byte(plus(block, 128u + half_of * 32u + at)) >> (2u * g)) & 3u;
  const int code = int((g < 2u ? low & 15u : low >> 4) | (high << 4)) - 32;
  const uint scale = stored_byte(plus(block, 192u + half_of * 8u + g * 2u + at / 16u));
  return Decoding(half_times(stored_half(plus(block, 208u)), signed_code(scale, 8u)), kMul,
                  integer_value(code), kNone, 0u);
}

// Element `element` of row `row`. Not of plain rows.
Decoding decoding_of(Table table, uvec2 row, uvec2 element) {
  const uvec2 stored = plus(table.stored, times(row, table.row_stride));
  if (table.encoding <= kF4E2M1) {
    return scaled_beside(table, stored, row, element);
  }
  if (table.encoding <= kRowU2F16) {
    return scaled_in_row(table, stored, element);
  }
  const uvec2 shape = block_shape(table.encoding);
  uvec2 i;
  const uvec2 block =
      plus(stored, times(divided(element, uvec2(shape.x, 0u), i), shape.y));
  switch (table.encoding) {
    case kQ4K: case kQ5K: return grouped_block(table.encoding, block, i.x);
    case kQ6K: return six_bit_block(block, i.x);
  }
  return short_block(table.encoding, block, i.x);
}

// From one float type to another, rounded once.
uvec2 converted(uint from, uint to, uvec2 bits) {
  return from == to ? bits : packed(format_of(to), unpacked(format_of(from), bits));
}

#endif
