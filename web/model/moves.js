// SPDX-License-Identifier: MIT
//
// The steps of a plan in elements: output[0,1] = data[2,1].
import { bagMoveText } from "./bag/ticks.js";
import { rangeName } from "./range.js";

const SIGNS = { none: "=", add: "+=", sub: "-=", mul: "*=", min: "min=", max: "max=", mean: "+=" };

export function moveText(answer, step) {
  if (answer.bag) return bagMoveText(answer, step);
  const sizes = Object.fromEntries(answer.tensors.map((t) => [t.name, t.sizes]));
  const name = (tensor, first) => rangeName(tensor, first, step.count, sizes[tensor]);
  if (answer.call.scatters) {
    const update = name("updates", step.grid);
    return step.data === null ? `${update} is skipped`
      : `${name("output", step.data)} ${SIGNS[answer.call.reduction]} ${update}`;
  }
  return `${name("output", step.grid)} = ${step.data === null ? answer.call.fill_value : name("data", step.data)}`;
}
