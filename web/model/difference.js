// SPDX-License-Identifier: MIT
//
// The first cell in which two outputs differ, in row-major order of the left one.
import { nameOf, positionOf } from "./positions.js";

function elementAt(position, sizes) {
  if (position.length !== sizes.length || position.some((p, d) => p >= sizes[d])) return null;
  return position.reduce((element, p, d) => element * sizes[d] + p, 0);
}

// {a, b}: element numbers, null where one output has no such cell; null if all cells are the same.
// Outputs of other ranks are compared in the order of their elements.
export function firstDifference(a, b) {
  if (!a?.values || !b?.values) return null;
  const sameRank = a.sizes.length === b.sizes.length;
  const partner = (e, from, to) => (sameRank ? elementAt(positionOf(e, from.sizes), to.sizes)
    : e < to.count ? e : null);
  for (let e = 0; e < a.count; ++e) {
    const other = partner(e, a, b);
    if (other === null || a.values[e] !== b.values[other]) return { a: e, b: other };
  }
  for (let e = 0; e < b.count; ++e) if (partner(e, b, a) === null) return { a: null, b: e };
  return null;
}

const said = (tensor, e) => (e === null ? "is not there" : `${nameOf("output", e, tensor.sizes)} = ${tensor.values[e]}`);

export function differenceText(a, b, { a: left, b: right }) {
  return `First cell that differs: ${said(a, left)} on the left, ${said(b, right)} on the right.`;
}
