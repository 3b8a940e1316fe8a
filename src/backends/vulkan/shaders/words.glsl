// SPDX-License-Identifier: MIT
//
// Included behind the constant kWords (1, 2 or 4): words of a row that are moved at once.
uvec4 load_words(uvec2 at) {
  return kWords == 4u   ? Quad(at).v
         : kWords == 2u ? uvec4(Pair(at).v, 0u, 0u)
                        : uvec4(load_word(at), 0u, 0u, 0u);
}

void store_words(uvec2 at, uvec4 value) {
  if (kWords == 4u) {
    Quad(at).v = value;
  } else if (kWords == 2u) {
    Pair(at).v = value.xy;
  } else {
    store_word(at, value.x);
  }
}

// What stands at byte `at` of a row that is filled.
uvec4 fill_words(Call call, uvec2 at) {
  uvec4 value = uvec4(0u);
  for (uint w = 0u; w < kWords; ++w) {
    value[w] = fill_bytes(call, fill_phase(call, plus(at, 4u * w)), 4u);
  }
  return value;
}
