// SPDX-License-Identifier: MIT
//
// A call as the form has it, and the problem string that says the same. Fields are the text as it was
// typed: the library reads them, and says what is wrong with them.
//
//   {op, data: {dtype, sizes, values}, indices: {…}, updates: {…}, attributes: {axis: "0", …}}
import { fitted } from "./fit.js";
import { OPERATORS, usualAttributes } from "./operators.js";

function tensorText({ dtype, sizes, values }) {
  return `${dtype}[${sizes.trim()}]` + (values.trim() ? `={${values.trim()}}` : "");
}

function attributeText({ name, kind, usual, only }, attributes) {
  const value = String(attributes[name] ?? usual).trim();
  if (value === usual || (only && !only(attributes))) return "";
  return kind === "dims" ? `${name}=[${value}]` : `${name}=${value}`;
}

// Updates without sizes are left to the library, which knows their shape.
export function formatProblem(call) {
  const { attributes, scatters } = OPERATORS[call.op];
  const updates = scatters && call.updates.sizes !== null ? [tensorText(call.updates)] : [];
  const given = attributes.map((a) => attributeText(a, call.attributes)).filter(Boolean);
  return [call.op, tensorText(call.data), tensorText(call.indices), ...updates, ...given].join(" ");
}

function tensorFields(tensor) {
  return {
    dtype: tensor.dtype,
    sizes: tensor.sizes.join(", "),
    values: tensor.given ? tensor.values.join(", ") : "",
  };
}

function attributeFields(answer) {
  const { call } = answer;
  const said = { ...call, ...(call.xla ?? {}) };
  const fields = usualAttributes(call.op);
  for (const name of Object.keys(fields)) {
    const value = said[name];
    if (value === undefined) continue;
    fields[name] = Array.isArray(value) ? value.join(", ")
      : typeof value === "boolean" ? (value ? "1" : "0") : String(value);
  }
  return fields;
}

// The form's fields for what the library made of a problem string.
export function callOf(answer) {
  const [data, indices] = answer.tensors;
  const updates = answer.tensors.find((t) => t.name === "updates");
  return {
    op: answer.call.op,
    data: tensorFields(data),
    indices: tensorFields(indices),
    updates: updates ? tensorFields(updates) : { dtype: data.dtype, sizes: null, values: "" },
    attributes: attributeFields(answer),
  };
}

// What a tensor held before its sizes were changed, so that typing "1" on the way to "12" loses nothing.
const keptOf = ({ kept, sizes, values }) => kept ?? { sizes, values };

// A change of type, sizes or values. Values that still fit stay. The updates go back to the shape that the
// operator takes.
export function withTensor(call, name, change) {
  const next = { ...call, [name]: { ...call[name], ...change } };
  const reshaped = "sizes" in change || "dtype" in change;
  if ("values" in change) next[name].kept = undefined;
  else if (reshaped) {
    next[name].kept = keptOf(call[name]);
    next[name].values = fitted(next[name].kept, next[name].sizes);
  }
  return reshaped && name !== "updates" && call.op !== "xla_scatter" ? withFreeUpdates(next) : next;
}

// Updates whose shape the library finds; their values wait in `kept`.
export function withFreeUpdates(call) {
  return { ...call, updates: { dtype: call.data.dtype, sizes: null, values: "", kept: keptOf(call.updates) } };
}

// The updates in the shape that the library found for them.
export function withFoundUpdates(call, sizes) {
  const { kept } = call.updates;
  return { ...call, updates: { ...call.updates, sizes: sizes.join(", "), values: fitted(kept, sizes.join(", ")) } };
}

export const withoutValues = (call, name) => ({ ...call, [name]: { ...call[name], values: "" } });

// One value of a tensor; `values` are all of them, as the library wrote them.
export function withValue(call, name, values, element, text) {
  const changed = values.map((value, e) => (e === element ? text : value));
  return { ...call, [name]: { ...call[name], values: changed.join(", "), kept: undefined } };
}
