// SPDX-License-Identifier: MIT
//
// The hardware's own floats, where a device promises to round to nearest and to keep signs of zeros,
// infinities and NaN. Few promise to keep subnormals: whatever has to do with them is left to the
// integers of float.glsl, and the bits are the same.
//
// Included with NATIVE_F32 or NATIVE_F64. As float controls have no words in GLSL, those of SPIR-V:
// the capabilities and execution modes SignedZeroInfNanPreserve and RoundingModeRTE.
#ifndef SHEAF_NATIVE
#define SHEAF_NATIVE

#extension GL_EXT_spirv_intrinsics : require

#ifdef NATIVE_F64
#define WIDTH 64
#define FLOAT double
#else
#define WIDTH 32
#define FLOAT float
#endif
spirv_execution_mode(capabilities = [4466], 4461, WIDTH);
spirv_execution_mode(capabilities = [4467], 4462, WIDTH);

#ifdef NATIVE_F64
double float_of(uvec2 bits) { return packDouble2x32(bits); }
uvec2 bits_of(double value) { return unpackDouble2x32(value); }
uint exponent_of(uvec2 bits) { return bits.y & 0x7FF00000u; }
uvec2 magnitude_of(uvec2 bits) { return uvec2(bits.x, bits.y & 0x7FFFFFFFu); }
const uvec2 kNativeInfinity = uvec2(0u, 0x7FF00000u), kNativeNan = uvec2(0u, 0x7FF80000u);
#else
float float_of(uvec2 bits) { return uintBitsToFloat(bits.x); }
uvec2 bits_of(float value) { return uvec2(floatBitsToUint(value), 0u); }
uint exponent_of(uvec2 bits) { return bits.x & 0x7F800000u; }
uvec2 magnitude_of(uvec2 bits) { return uvec2(bits.x & 0x7FFFFFFFu, 0u); }
const uvec2 kNativeInfinity = uvec2(0x7F800000u, 0u), kNativeNan = uvec2(0x7FC00000u, 0u);
#endif

bool is_subnormal(uvec2 bits) {
  return exponent_of(bits) == 0u && !is_zero(magnitude_of(bits));
}

// False if the integers have to say.
bool native_reduced(uint reduction, uvec2 cell, uvec2 update, out uvec2 result) {
  result = cell;
  if (reduction == kMin || reduction == kMax || is_subnormal(cell) || is_subnormal(update)) {
    return false;
  }
  const FLOAT a = float_of(cell), b = float_of(update);
  precise FLOAT value;
  switch (reduction) {
    case kMul: value = a * b; break;
    case kSub: value = a - b; break;
    default: value = a + b;
  }
  result = bits_of(value);
  if (below(kNativeInfinity, magnitude_of(result))) {
    result = kNativeNan;
  }
  if (exponent_of(result) != 0u) {
    return true;
  }
  // A zero may have been a subnormal, unless it had to be zero.
  return reduction == kMul ? is_zero(magnitude_of(cell)) || is_zero(magnitude_of(update))
                           : magnitude_of(cell) == magnitude_of(update);
}

#endif
