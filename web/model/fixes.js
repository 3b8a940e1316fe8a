// SPDX-License-Identifier: MIT
//
// Ways out of a call whose indices are out of range, as calls to go on with.
import { parseSizes } from "./fit.js";
import { nameOf } from "./positions.js";
import { withTensor } from "./problem.js";

// Which entry of the tuple an index is, and so how many entries its axis has and which axis that is.
function axisOf({ tuple }, element) {
  const component = Math.floor(element / tuple.step) % tuple.length;
  return { extent: tuple.extents[component], axis: tuple.axes[component] };
}

const withIndices = (call, values) => ({ ...call, indices: { ...call.indices, values: values.join(", ") } });
const withAttribute = (call, name, value) => ({ ...call, attributes: { ...call.attributes, [name]: value } });

function nearest(answer, call, bad, values) {
  const least = call.attributes.negative === "from_end" ? (extent) => -extent : () => 0;
  const changed = values.map((value, e) => {
    if (!bad.includes(e)) return value;
    const { extent } = axisOf(answer, e);
    return String(Math.min(Math.max(Number(value), least(extent)), extent - 1));
  });
  const [first] = bad;
  const name = nameOf("indices", first, answer.tensors[1].sizes);
  return {
    id: "nearest", call: withIndices(call, changed),
    label: bad.length === 1 ? `Set ${name} to ${changed[first]}` : `Set ${bad.length} indices to the nearest that exist`,
  };
}

// Indices that count from 1 reach the size, and never 0.
function fromOne(answer, call, values) {
  const all = values.map(Number);
  const reaches = all.some((value, e) => value === axisOf(answer, e).extent);
  if (!reaches || all.some((value, e) => value < 1 || value > axisOf(answer, e).extent)) return [];
  return [{ id: "from-one", label: "Subtract 1: they count from 1", call: withIndices(call, all.map((v) => v - 1)) }];
}

function larger(answer, call, bad, values) {
  const sizes = parseSizes(call.data.sizes);
  const { axis } = axisOf(answer, bad[0]);
  const needed = Math.max(...bad.filter((e) => axisOf(answer, e).axis === axis).map((e) => Number(values[e]))) + 1;
  if (!sizes || !(needed > sizes[axis]) || needed > 64) return [];
  const grown = sizes.map((size, d) => (d === axis ? needed : size)).join(", ");
  return [{ id: "larger", label: `Give axis ${axis} of data ${needed} entries`, call: withTensor(call, "data", { sizes: grown }) }];
}

// [{id, label, call}]: what a button could do about it.
export function fixesOf(answer, call) {
  const bad = answer.out_of_range ?? [];
  if (!bad.length || !answer.error?.about_indices) return [];
  const { values } = answer.tensors[1];
  const negative = bad.every((e) => Number(values[e]) < 0 && Number(values[e]) >= -axisOf(answer, e).extent);
  if (bad.some((e) => axisOf(answer, e).extent === 0)) return [];
  return [
    ...(negative && call.attributes.negative === "out_of_range"
      ? [{ id: "from-end", label: "Count negative ones from the end", call: withAttribute(call, "negative", "from_end") }] : []),
    ...fromOne(answer, call, values),
    nearest(answer, call, bad, values),
    { id: "clamp", label: "Clamp what is out of range", call: withAttribute(call, "out_of_range", "clamp") },
    ...larger(answer, call, bad, values),
  ];
}
