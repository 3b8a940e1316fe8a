// SPDX-License-Identifier: MIT
//
// The reduction of two elements. src/plan/reduce.h is the definition; the tests hold this to it.
#ifndef SHEAF_REDUCE
#define SHEAF_REDUCE

#include "float.glsl"
#include "nest.glsl"

const uint kBool = 0u;
// Of the enumeration Reduction.
const uint kNone = 0u, kAdd = 1u, kSub = 2u, kMul = 3u, kMin = 4u, kMax = 5u, kMean = 6u;

uint bytes_of_kind(uint kind) {
  switch (kind) {
    case kBool: case kInt8: case kUInt8: case kFloat8E4M3: case kFloat8E5M2: return 1u;
    case kInt16: case kUInt16: case kFloat16: case kBFloat16: return 2u;
    case kInt32: case kUInt32: case kFloat32: return 4u;
    case kComplex128: return 16u;
  }
  return 8u;
}

// An element at a multiple of its size, or of its parts' size; unused words are 0.
uvec4 load_element(uint kind, uvec2 at) {
  const uint bytes = bytes_of_kind(kind);
  uvec4 value = uvec4(bytes < 4u ? load_bytes(at, bytes) : load_word(at), 0u, 0u, 0u);
  for (uint w = 1u; w < bytes / 4u; ++w) {
    value[w] = load_word(plus(at, 4u * w));
  }
  return value;
}

void store_element(uint kind, uvec2 at, uvec4 value) {
  const uint bytes = bytes_of_kind(kind);
  if (bytes < 4u) {
    store_unit(at, bytes, value.x);
    return;
  }
  for (uint w = 0u; w < bytes / 4u; ++w) {
    store_word(plus(at, 4u * w), value[w]);
  }
}

// Narrow integers as 64 bits, by their sign. Whatever stands above them does not count.
uvec2 widened_integer(uint kind, uvec2 bits) {
  switch (kind) {
    case kInt8: return sign_extended(bitfieldExtract(int(bits.x), 0, 8));
    case kInt16: return sign_extended(bitfieldExtract(int(bits.x), 0, 16));
    case kInt32: return sign_extended(int(bits.x));
    case kUInt8: return uvec2(bits.x & 0xFFu, 0u);
    case kUInt16: return uvec2(bits.x & 0xFFFFu, 0u);
    case kUInt32: return uvec2(bits.x, 0u);
  }
  return bits;
}

uvec2 reduced_integer(uint kind, uint reduction, uvec2 cell, uvec2 update) {
  switch (reduction) {
    case kSub: return minus(cell, update);
    case kMul: return times(cell, update);
    case kMin: case kMax: {
      const uvec2 a = widened_integer(kind, cell);
      const uvec2 b = widened_integer(kind, update);
      const bool less = kind == kUInt64 ? below(b, a) : below_signed(b, a);
      const bool more = kind == kUInt64 ? below(a, b) : below_signed(a, b);
      return (reduction == kMin ? less : more) ? update : cell;
    }
  }
  return plus(cell, update);
}

uint reduced_truth(uint reduction, bool a, bool b) {
  switch (reduction) {
    case kAdd: case kMax: return a || b ? 1u : 0u;
    case kSub: return a != b ? 1u : 0u;
  }
  return a && b ? 1u : 0u;
}

bool is_less(Number a, Number b) {
  if (a.kind == kZero && b.kind == kZero) {
    return false;
  }
  if (a.kind == kZero || b.kind == kZero) {
    return a.kind == kZero ? b.sign == 0u : a.sign != 0u;
  }
  if (a.sign != b.sign) {
    return a.sign != 0u;
  }
  const bool smaller = a.kind != b.kind ? b.kind == kInfinite
                       : a.exponent != b.exponent ? a.exponent < b.exponent
                                                  : below(a.mantissa, b.mantissa);
  const bool same =
      a.kind == b.kind && a.exponent == b.exponent && a.mantissa == b.mantissa;
  return !same && smaller == (a.sign == 0u);
}

#if defined(NATIVE_F32) || defined(NATIVE_F64)
#include "native.glsl"
#endif

uvec2 reduced_float(Format f, uint reduction, uvec2 cell, uvec2 update) {
#if defined(NATIVE_F32) || defined(NATIVE_F64)
  uvec2 quick;
  if (native_reduced(reduction, cell, update, quick)) {
    return quick;
  }
#endif
  const Number a = unpacked(f, cell);
  Number b = unpacked(f, update);
  if (reduction == kMin || reduction == kMax) {  // of two zeros, and of equals, the first stays
    if (a.kind == kNan || b.kind == kNan) {
      return nan_of(f);
    }
    const bool smaller = reduction == kMin;
    return is_less(smaller ? b : a, smaller ? a : b) ? update : cell;
  }
  b.sign ^= reduction == kSub ? 1u : 0u;
  Number result;
  if (reduction == kMul) {
    result = product_of(a, b);
  } else {
    result = sum_of(a, b);
  }
  return packed(f, result);
}

// One operation of a reduction on registers: 0 and 1 are the parts of the cell, 2 and 3 those of the
// update, 4 to 7 products; 0 and 1 receive the result.
struct Operation {
  uint reduction, a, b, to;
};

// Part by part, as the textbook has it.
Operation complex_product(uint step) {
  switch (step) {
    case 0u: return Operation(kMul, 0u, 2u, 4u);
    case 1u: return Operation(kMul, 1u, 3u, 5u);
    case 2u: return Operation(kMul, 0u, 3u, 6u);
    case 3u: return Operation(kMul, 1u, 2u, 7u);
    case 4u: return Operation(kSub, 4u, 5u, 0u);
  }
  return Operation(kAdd, 6u, 7u, 1u);
}

// Floats and complex numbers. A loop over operations, so that the code of one is there once:
// compilers of shaders inline everything.
uvec4 reduced_floats(uint kind, uint reduction, uvec4 cell, uvec4 update) {
  const bool is_complex = kind == kComplex64 || kind == kComplex128;
  const bool pairs = kind == kComplex128 || kind == kFloat64;  // a part is two words
  const Format f = format_of(is_complex ? kind - 2u : kind);
  const bool multiplies = is_complex && reduction == kMul;
  uvec2 registers[8];
  registers[0] = pairs ? cell.xy : uvec2(cell.x, 0u);
  registers[1] = pairs ? cell.zw : uvec2(cell.y, 0u);
  registers[2] = pairs ? update.xy : uvec2(update.x, 0u);
  registers[3] = pairs ? update.zw : uvec2(update.y, 0u);
  const uint steps = multiplies ? 6u : is_complex ? 2u : 1u;
  for (uint step = 0u; step < steps; ++step) {
    Operation o = Operation(reduction, step, step + 2u, step);
    if (multiplies) {
      o = complex_product(step);
    }
    registers[o.to] = reduced_float(f, o.reduction, registers[o.a], registers[o.b]);
  }
  if (!is_complex) {
    return uvec4(registers[0], 0u, 0u);
  }
  return pairs ? uvec4(registers[0], registers[1])
               : uvec4(registers[0].x, registers[1].x, 0u, 0u);
}

uvec4 reduced_integers(uint kind, uint reduction, uvec4 cell, uvec4 update) {
  if (kind == kBool) {
    return uvec4(reduced_truth(reduction, cell.x != 0u, update.x != 0u), 0u, 0u, 0u);
  }
  return uvec4(reduced_integer(kind, reduction, cell.xy, update.xy), 0u, 0u);
}

// A sum over a number: in f64, then rounded to the type.
uvec2 quotient_of_float(Format f, uvec2 sum, Number divisor) {
  const Format wide = format_of(kFloat64);
  const uvec2 quotient = packed(wide, quotient_of_numbers(unpacked(f, sum), divisor));
  return packed(f, unpacked(wide, quotient));
}

uvec2 mean_of_integer(uint kind, uvec2 sum, uvec2 count) {
  uvec2 rest;
  const uvec2 value = widened_integer(kind, sum);
  if (kind == kUInt64 || !is_negative(value)) {
    return divided(value, count, rest);
  }
  const uvec2 quotient = divided(negated(value), count, rest);  // rounded down
  return negated(is_zero(rest) ? quotient : plus(quotient, 1u));
}

// Part by part.
uvec4 quotients_of_floats(uint kind, uvec4 sum, Number divisor) {
  const bool is_complex = kind == kComplex64 || kind == kComplex128;
  const bool pairs = kind == kComplex128 || kind == kFloat64;
  const Format f = format_of(is_complex ? kind - 2u : kind);
  uvec2 parts[2];
  for (uint part = 0u; part < 2u; ++part) {
    parts[part] = quotient_of_float(
        f, pairs ? (part == 0u ? sum.xy : sum.zw) : uvec2(part == 0u ? sum.x : sum.y, 0u),
        divisor);
  }
  if (!is_complex) {
    return uvec4(parts[0], 0u, 0u);
  }
  return pairs ? uvec4(parts[0], parts[1]) : uvec4(parts[0].x, parts[1].x, 0u, 0u);
}

uvec4 mean_of(uint kind, uvec4 sum, uvec2 count) {
  if (kind < kFloat8E4M3) {
    return kind == kBool ? sum : uvec4(mean_of_integer(kind, sum.xy, count), 0u, 0u);
  }
  return quotients_of_floats(kind, sum, number_of_count(count));
}

#endif
