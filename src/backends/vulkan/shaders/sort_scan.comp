#version 460
// SPDX-License-Identifier: MIT
//
// One pass of a radix sort, second part: counts become places. One group.
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

shared uint sums[kGroup];

void main() {
  Call call = Call(push.call);
  if (refused(call)) {
    return;
  }
  const uint total = push.count * kDigits;
  const uint each = (total + kGroup - 1u) / kGroup;
  const uint first = min(gl_LocalInvocationID.x * each, total);
  const uint end = min(first + each, total);
  uint sum = 0u;
  for (uint i = first; i < end; ++i) {
    sum += load_number(call.histogram, i);
  }
  sums[gl_LocalInvocationID.x] = sum;
  barrier();
  uint before = 0u;
  for (uint i = 0u; i < gl_LocalInvocationID.x; ++i) {
    before += sums[i];
  }
  for (uint i = first; i < end; ++i) {
    const uint count = load_number(call.histogram, i);
    store_word(number_address(call.histogram, i), before);
    before += count;
  }
}
