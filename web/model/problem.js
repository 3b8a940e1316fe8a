// SPDX-License-Identifier: MIT
//
// A call as the form has it, and the problem string that says the same. Fields are the text as it was
// typed: the library reads them, and says what is wrong with them.
//
//   {op, data: {dtype, sizes, values}, indices: {…}, updates: {…}, attributes: {axis: "0", …}}
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

// A change of type or sizes: values of another shape would only be refused. The updates go back to
// the shape that the operator takes.
export function withTensor(call, name, change) {
  const next = { ...call, [name]: { ...call[name], ...change } };
  const reshaped = "sizes" in change || "dtype" in change;
  if (reshaped && !("values" in change)) {
    next[name].values = "";
  }
  if (reshaped && name !== "updates" && call.op !== "xla_scatter") {
    next.updates = { dtype: next.data.dtype, sizes: null, values: "" };
  }
  return next;
}

// One value of a tensor; `values` are all of them, as the library wrote them.
export function withValue(call, name, values, element, text) {
  const changed = values.map((value, e) => (e === element ? text : value));
  return { ...call, [name]: { ...call[name], values: changed.join(", ") } };
}
