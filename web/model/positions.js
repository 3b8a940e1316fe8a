// SPDX-License-Identifier: MIT
//
// Element numbers as people write them: output[0, 2].

export function positionOf(element, sizes) {
  const position = Array(sizes.length).fill(0);
  for (let d = sizes.length - 1, rest = element; d >= 0; --d) {
    position[d] = rest % sizes[d];
    rest = Math.floor(rest / sizes[d]);
  }
  return position;
}

export const nameOf = (tensor, element, sizes) =>
  sizes.length ? `${tensor}[${positionOf(element, sizes).join(", ")}]` : tensor;
