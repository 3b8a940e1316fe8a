#version 460
// SPDX-License-Identifier: MIT
//
// One pass of a radix sort, first part: how often each digit occurs in each block of tuples.
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

shared uint counts[kDigits];

void main() {
  Call call = Call(push.call);
  if (refused(call)) {
    return;
  }
  const uint block = group_number();
  if (gl_LocalInvocationID.x < kDigits) {
    counts[gl_LocalInvocationID.x] = 0u;
  }
  barrier();
  for (uint i = 0u; i < kEach; ++i) {
    const uint at = block * kBlock + i * kGroup + gl_LocalInvocationID.x;
    if (at < call.tuples) {
      atomicAdd(counts[digit_of(call, load_number(call.numbers, at))], 1u);
    }
  }
  barrier();
  if (gl_LocalInvocationID.x < kDigits && block < push.count) {
    const uint digit = gl_LocalInvocationID.x;
    store_word(number_address(call.histogram, digit * push.count + block), counts[digit]);
  }
}
