// SPDX-License-Identifier: MIT
//
// What a name's own library would say to a call that this library takes: names.json has the rules and
// the sentences, this fills them in.
import { attributesFor, SAYS } from "./dialects.js";
import { usualAttributes } from "./operators.js";

const RULES = ["negative", "out_of_range", "fill_value"];

const filled = (key, values) => SAYS[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const dimensions = (count) => `${count} dimension${count === 1 ? "" : "s"}`;
const ranks = ([least, most]) => (least === most ? dimensions(least) : `${least} ${most - least === 1 ? "or" : "to"} ${most} dimensions`);
const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words[0]);
const shape = (sizes) => `[${sizes.join(", ")}]`;

const refuses = (key, values) => ({ kind: "refuses", reason: filled(key, values) });
const differs = (key, values) => ({ kind: "differs", reason: filled(key, values) });

function* offAxis(how, { data, indices }, axis) {
  const at = axis < 0 ? axis + data.sizes.length : axis;
  const values = { indices: shape(indices.sizes), data: shape(data.sizes), axis: at };
  const unequal = indices.sizes.map((size, d) => [size, data.sizes[d], d]).filter(([i, d, dim]) => dim !== at && i !== d);
  const ones = unequal.filter(([i, d]) => i === 1 || d === 1);
  if (how === "equal" && unequal.length) yield refuses("equal", values);
  else if (ones.length < unequal.length) yield refuses("equal_or_1", values);
  else if (how === "stretches" && ones.length) yield differs("stretches", values);
}

function* shapesAndTypes({ needs = {} }, tensors, axis) {
  const { data, indices } = tensors;
  const outside = (rank, [least, most]) => rank < least || rank > most;
  if (needs.index_types && !needs.index_types.includes(indices.dtype)) {
    yield refuses("index_types", { got: indices.dtype, wanted: listed(needs.index_types) });
  }
  for (const [key, { sizes }] of [["index_rank", indices], ["data_rank", data]]) {
    if (needs[key] && outside(sizes.length, needs[key])) {
      yield refuses(key, { got: dimensions(sizes.length), wanted: ranks(needs[key]) });
    }
  }
  if (needs.unsigned_axis && axis < 0) yield refuses("unsigned_axis", { got: axis });
  if (needs.off_axis) yield* offAxis(needs.off_axis, tensors, axis);
  if (needs.scalar_is_vector && indices.sizes.length === 0) yield differs("scalar_is_vector", {});
}

// Attributes that its call has no place for, and an index rule that is not its own.
function* attributes(entry, call, { dtype, sizes: { length: rank } }) {
  const usual = usualAttributes(entry.op);
  const own = attributesFor({ ...entry, words: undefined }, call, usual, dtype);
  for (const key of Object.keys(usual)) {
    const got = call[key] ?? usual[key];
    const free = entry.may?.includes(key) || (key === "fill_value" && call.out_of_range !== "fill");
    const sameAxis = key === "axis" && Number(got) + rank === Number(own[key]);
    if (free || sameAxis || got === own[key] || (key === "broadcast" && entry.needs?.off_axis)) continue;
    const values = { attribute: key, got: got.replaceAll("_", " "), wanted: own[key].replaceAll("_", " ") };
    if (RULES.includes(key)) yield differs(key, values);
    else yield refuses(entry.fixed?.[key] ? "fixed_attribute" : "no_attribute", values);
  }
  if (entry.words && !(call.reduction in entry.words)) {
    yield refuses("reduction", { got: call.reduction, wanted: listed(Object.keys(entry.words)) });
  }
}

// [{kind: "refuses" or "differs", text}] for a call with these attributes and tensors; refusals first.
export function objections(entry, call, tensors) {
  const byName = Object.fromEntries(tensors.map((t) => [t.name, t]));
  const found = [...shapesAndTypes(entry, byName, Number(call.axis ?? 0)),
    ...attributes(entry, call, byName.data)];
  return found.sort((a, b) => (a.kind < b.kind ? 1 : a.kind > b.kind ? -1 : 0))
    .map(({ kind, reason }) => ({ kind, text: filled(kind, { name: entry.id, reason }) }));
}
