// SPDX-License-Identifier: MIT
//
// A radix sort of tuples by key: stable, so that a cell's updates keep their order. push.count is
// the number of blocks.
#ifndef SHEAF_SORT
#define SHEAF_SORT

#include "scatter.glsl"

const uint kDigits = 16u;
const uint kEach = 8u;  // tuples of one invocation
const uint kBlock = kGroup * kEach;

uint digit_of(Call call, uint tuple) {
  const uint word = push.shift < 32u ? load_number(call.keys, tuple)
                                     : load_number(call.high_keys, tuple);
  return (word >> (push.shift & 31u)) & (kDigits - 1u);
}

#endif
