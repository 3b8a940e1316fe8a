// SPDX-License-Identifier: MIT
//
// Values that outlive a change of sizes: what is at a position stays there as long as the position does.
import { positionOf } from "./positions.js";

const MOST_VALUES = 16384; // what the engine draws

// "2, 3" → [2, 3]; null if it is not a list of sizes (yet).
export function parseSizes(text) {
  const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
  return parts.every((part) => /^\d+$/.test(part)) ? parts.map(Number) : null;
}

// Commas separate values, but not the two parts of a complex number: "(1,2), (3,4)".
export const splitValues = (text) => (text.match(/\([^)]*\)|[^,\s][^,]*/g) ?? []).map((value) => value.trim());

const countOf = (sizes) => sizes.reduce((a, b) => a * b, 1);

// Values of shape `from` in shape `to`. Sizes of the same count are the same values read otherwise; of the
// same rank, positions are kept; else the order. New elements are 0.
export function fitValues(values, from, to) {
  const count = countOf(to);
  if (count === values.length || from.length !== to.length) {
    return Array.from({ length: count }, (_, e) => values[e] ?? "0");
  }
  return Array.from({ length: count }, (_, e) => {
    const position = positionOf(e, to);
    if (position.some((p, d) => p >= from[d])) return "0";
    return values[position.reduce((at, p, d) => at * from[d] + p, 0)] ?? "0";
  });
}

// The same for the texts of a form. `kept` is {sizes, values} from before the sizes were changed.
export function fitted(kept, sizes) {
  const from = parseSizes(kept.sizes ?? "");
  const to = parseSizes(sizes ?? "");
  const values = splitValues(kept.values);
  if (!values.length || !from || !to || countOf(to) > MOST_VALUES) return "";
  return fitValues(values, from, to).join(", ");
}
