#version 460
// SPDX-License-Identifier: MIT
//
// One pass of a radix sort, third part: every tuple goes to its place.
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

// Of each digit: how many tuples invocations have, then how many those before have.
shared uint counts[kDigits * kGroup];

void main() {
  Call call = Call(push.call);
  if (refused(call)) {
    return;
  }
  const uint block = group_number();
  const uint self = gl_LocalInvocationID.x;
  const uint first = block * kBlock + self * kEach;
  uint numbers[kEach], digits[kEach];
  for (uint digit = 0u; digit < kDigits; ++digit) {
    counts[digit * kGroup + self] = 0u;
  }
  for (uint i = 0u; i < kEach; ++i) {
    if (first + i < call.tuples) {
      numbers[i] = load_number(call.numbers, first + i);
      digits[i] = digit_of(call, numbers[i]);
      counts[digits[i] * kGroup + self] += 1u;
    }
  }
  barrier();
  if (self < kDigits && block < push.count) {
    uint before = load_number(call.histogram, self * push.count + block);
    for (uint i = 0u; i < kGroup; ++i) {
      const uint count = counts[self * kGroup + i];
      counts[self * kGroup + i] = before;
      before += count;
    }
  }
  barrier();
  for (uint i = 0u; i < kEach; ++i) {
    if (first + i < call.tuples) {
      const uint place = counts[digits[i] * kGroup + self]++;
      store_word(number_address(call.sorted, place), numbers[i]);
    }
  }
}
