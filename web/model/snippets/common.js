// SPDX-License-Identifier: MIT
//
// What the generators of code share: the call as the library answered it, ready to be written down.

// The text between the outermost brackets that follow `word`: "indices[i, 0], j" of "data[…]".
function subscript(formula, word) {
  const start = formula.indexOf(word + "[");
  if (start < 0) return "";
  let depth = 0;
  for (let at = start + word.length; at < formula.length; ++at) {
    if (formula[at] === "[") ++depth;
    if (formula[at] === "]" && --depth === 0) return formula.slice(start + word.length + 1, at);
  }
  return "";
}

// Everything a generator needs of an answer of engine.explain.
export function requestOf(answer) {
  const tensor = (name) => answer.tensors.find((t) => t.name === name);
  const { call, tuple } = answer;
  const grid = call.scatters ? "updates" : "output";
  const letters = subscript(answer.formula, grid);
  const indices = tensor("indices");
  return {
    ...call,
    data: tensor("data"),
    indices,
    updates: tensor("updates"),
    output: tensor("output"),
    gridSizes: tensor(grid).sizes,
    letters: letters ? letters.split(", ") : [],
    // Where in data, as the library's formula has it: "i, indices[i, j], k".
    place: subscript(answer.formula, call.scatters ? "output" : "data"),
    extents: tuple.extents,
    tupleDim: tuple.dim,
    hasNegative: indices.values?.some((v) => v.startsWith("-")) ?? false,
    hasOutside: (answer.out_of_range ?? []).length > 0,
    signed: indices.dtype.startsWith("i"),
  };
}

// Values nested as the sizes are: [[1, 2], [3, 4]].
export function nested(tensor, value, [open, close] = "[]") {
  const { sizes, values } = tensor;
  let at = 0;
  const level = (dim) => {
    if (dim === sizes.length) return value(values[at++], tensor.dtype);
    const items = Array.from({ length: sizes[dim] }, () => level(dim + 1));
    return open + items.join(", ") + close;
  };
  return level(0);
}

// A call that a dialect cannot make. `why` completes "… has no …".
export class NotExpressible extends Error {}

export function refuseUnless(condition, why) {
  if (!condition) throw new NotExpressible(why);
}
