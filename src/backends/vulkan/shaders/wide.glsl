// SPDX-License-Identifier: MIT
//
// Numbers of 64 bits as pairs of words, x the low one. Many devices have no others; where there are,
// their compilers make pairs of them too.
#ifndef SHEAF_WIDE
#define SHEAF_WIDE

uvec2 plus(uvec2 a, uvec2 b) {
  uint carry;
  const uint low = uaddCarry(a.x, b.x, carry);
  return uvec2(low, a.y + b.y + carry);
}

uvec2 plus(uvec2 a, uint b) { return plus(a, uvec2(b, 0u)); }

uvec2 minus(uvec2 a, uvec2 b) {
  uint borrow;
  const uint low = usubBorrow(a.x, b.x, borrow);
  return uvec2(low, a.y - b.y - borrow);
}

uvec2 times(uint a, uint b) {
  uint high, low;
  umulExtended(a, b, high, low);
  return uvec2(low, high);
}

// The low 64 bits, which are those of signed numbers too.
uvec2 times(uvec2 a, uint b) {
  uvec2 product = times(a.x, b);
  product.y += a.y * b;
  return product;
}

uvec2 times(uvec2 a, uvec2 b) {
  uvec2 product = times(a, b.x);
  product.y += a.x * b.y;
  return product;
}

bool is_zero(uvec2 a) { return (a.x | a.y) == 0u; }
bool is_negative(uvec2 a) { return (a.y >> 31) != 0u; }
bool below(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
bool below_signed(uvec2 a, uvec2 b) {
  return below(uvec2(a.x, a.y ^ 0x80000000u), uvec2(b.x, b.y ^ 0x80000000u));
}
uvec2 negated(uvec2 a) { return minus(uvec2(0u), a); }

// By 0 to 63 places.
uvec2 shifted_left(uvec2 a, uint places) {
  if (places == 0u) {
    return a;
  }
  return places >= 32u ? uvec2(0u, a.x << (places - 32u))
                       : uvec2(a.x << places, (a.y << places) | (a.x >> (32u - places)));
}

uvec2 shifted_right(uvec2 a, uint places) {
  if (places == 0u) {
    return a;
  }
  return places >= 32u ? uvec2(a.y >> (places - 32u), 0u)
                       : uvec2((a.x >> places) | (a.y << (32u - places)), a.y >> places);
}

uint leading_zeros(uvec2 a) {
  return a.y != 0u ? 31u - uint(findMSB(a.y)) : 63u - uint(findMSB(a.x));  // a is not 0
}

// Unsigned. `divisor` is not 0.
uvec2 divided(uvec2 number, uvec2 divisor, out uvec2 rest) {
  if ((number.y | divisor.y) == 0u) {
    rest = uvec2(number.x % divisor.x, 0u);
    return uvec2(number.x / divisor.x, 0u);
  }
  uvec2 quotient = uvec2(0u);
  rest = uvec2(0u);
  for (int bit = 63; bit >= 0; --bit) {
    const bool carry = is_negative(rest);  // a bit that the shift loses
    rest = shifted_left(rest, 1u);
    rest.x |= shifted_right(number, uint(bit)).x & 1u;
    quotient = shifted_left(quotient, 1u);
    if (carry || !below(rest, divisor)) {
      rest = minus(rest, divisor);
      quotient.x |= 1u;
    }
  }
  return quotient;
}

#endif
