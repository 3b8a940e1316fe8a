// SPDX-License-Identifier: MIT
//
// Memory by address. A device need not have loads and stores of less than a word: bytes and halves
// are parts of words. Allocations end at whole words.
#ifndef SHEAF_MEMORY
#define SHEAF_MEMORY

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_GOOGLE_include_directive : require
#include "wide.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Pair { uvec2 v; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quad { uvec4 v; };

uint load_word(uvec2 at) { return Word(at).v; }
void store_word(uvec2 at, uint value) { Word(at).v = value; }

uvec2 word_around(uvec2 at) { return uvec2(at.x & ~3u, at.y); }

// 1 to 4 bytes at any address, the first lowest.
uint load_bytes(uvec2 at, uint bytes) {
  const uint skipped = at.x & 3u;
  const uvec2 word = word_around(at);
  uint value = load_word(word) >> (8u * skipped);
  if (skipped + bytes > 4u) {
    value |= load_word(plus(word, 4u)) << (32u - 8u * skipped);
  }
  return bytes == 4u ? value : value & ((1u << (8u * bytes)) - 1u);
}

// The bits of `mask` in a word whose other bits belong to others, who may write them now. Several
// may write the same bits if they write the same value.
void store_part(uvec2 word, uint mask, uint value) {
  atomicAnd(Word(word).v, ~mask | value);
  atomicOr(Word(word).v, value);
}

// 1 or 2 bytes at a multiple of their number.
void store_unit(uvec2 at, uint bytes, uint value) {
  const uint shift = 8u * (at.x & 3u);
  const uint mask = bytes == 1u ? 0xFFu : 0xFFFFu;
  store_part(word_around(at), mask << shift, (value & mask) << shift);
}

#endif
