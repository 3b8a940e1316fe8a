#version 460
// SPDX-License-Identifier: MIT
//
// One pass of a radix sort, second part: counts become places. One group, tile by tile.
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

const uint kTile = kGroup * 8u;  // counts; there are a multiple of 16

shared uint sums[kGroup];

uint sum_of_four(uvec4 v) { return v.x + v.y + v.z + v.w; }

// The sums of all four before each.
uvec4 before_four(uvec4 v, uint before) {
  return uvec4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
}

// What the invocations before this one have, and all have together.
uint before_self(uint mine, out uint all) {
  const uint self = gl_LocalInvocationID.x;
  uint sum = mine;
  for (uint step = 1u; step < kGroup; step *= 2u) {
    sums[self] = sum;
    barrier();
    sum += self >= step ? sums[self - step] : 0u;
    barrier();
  }
  sums[self] = sum;
  barrier();
  all = sums[kGroup - 1u];
  barrier();
  return sum - mine;
}

void main() {
  Call call = Call(push.call);
  if (refused(call)) {
    return;
  }
  const uint total = push.count * kDigits;
  uint before = 0u;
  for (uint tile = 0u; tile < total; tile += kTile) {
    const uint first = tile + gl_LocalInvocationID.x * 8u;
    const uvec2 at = number_address(call.histogram, first);
    uvec4 low = uvec4(0u), high = uvec4(0u);
    if (first < total) {
      low = Quad(at).v;
      high = Quad(plus(at, 16u)).v;
    }
    uint all;
    const uint own = before + before_self(sum_of_four(low) + sum_of_four(high), all);
    if (first < total) {
      Quad(at).v = before_four(low, own);
      Quad(plus(at, 16u)).v = before_four(high, own + sum_of_four(low));
    }
    before += all;
  }
}
