// SPDX-License-Identifier: MIT
//
// Runs of elements as people write them: output[0,:], data[2,0:2].
import { positionOf } from "./positions.js";

// `count` elements from `first` on: whole trailing dimensions as ":", a part of the last one as 0:2.
export function rangeName(tensor, first, count, sizes) {
  if (!sizes.length) return tensor;
  const position = positionOf(first, sizes);
  const named = (parts) => `${tensor}[${parts.join(",")}]`;
  if (count === 1) return named(position);
  for (let d = sizes.length - 1, rows = sizes[d]; d >= 0; rows *= sizes[--d]) {
    if (rows === count && first % count === 0) {
      return named([...position.slice(0, d), ...Array(sizes.length - d).fill(":")]);
    }
  }
  const last = position.at(-1);
  if (last + count <= sizes.at(-1)) return named([...position.slice(0, -1), `${last}:${last + count}`]);
  return `${named(position)} … ${named(positionOf(first + count - 1, sizes))}`;
}
