// SPDX-License-Identifier: MIT
//
// The steps of a plan in elements: output[0,1] = data[2,1].
import { positionOf } from "./positions.js";

const SIGNS = { none: "=", add: "+=", sub: "-=", mul: "*=", min: "min=", max: "max=", mean: "+=" };

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

export function moveText(answer, step) {
  const sizes = Object.fromEntries(answer.tensors.map((t) => [t.name, t.sizes]));
  const name = (tensor, first) => rangeName(tensor, first, step.count, sizes[tensor]);
  if (answer.call.scatters) {
    const update = name("updates", step.grid);
    return step.data === null ? `${update} is skipped`
      : `${name("output", step.data)} ${SIGNS[answer.call.reduction]} ${update}`;
  }
  return `${name("output", step.grid)} = ${step.data === null ? answer.call.fill_value : name("data", step.data)}`;
}
