// SPDX-License-Identifier: MIT
//
// A call from pasted text: lines of code, an error text, or both. What the text does not say is made up so
// that the call can be drawn.
import { attributesFor, findName } from "../dialects.js";
import { usualAttributes } from "../operators.js";
import { formatProblem } from "../problem.js";
import { parseCode } from "./code.js";
import { parseArray } from "./literal.js";
import { parseComplaint } from "./traceback.js";

const INDEX_TYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
const countOf = (sizes) => sizes.reduce((a, b) => a * b, 1);

// The fields of a tensor in the form.
const fieldsOf = ({ sizes, values, dtype }, usual) => ({
  dtype: dtype ?? usual, sizes: sizes.join(", "), values: values ? values.join(", ") : "",
});

// How many entries the axis needs: what the error says, or one more than the largest index.
function extentOf(indices, complaint) {
  if (complaint) return complaint.size;
  return Math.max(3, ...(indices?.values ?? []).map((value) => Number(value) + 1));
}

// Shapes for tensors that the text does not have. `along` is the axis.
function madeUp(op, { data, indices }, along, complaint) {
  const elements = op.endsWith("_elements");
  const nd = op.endsWith("_nd");
  const extent = extentOf(indices, complaint);
  const axis = along < 0 ? (indices && elements ? indices.sizes.length + along : 1) : along;
  const shape = (rank) => Array.from({ length: rank }, (_, d) => (d === axis ? extent : 3));
  if (!data && nd) {
    const length = indices?.sizes.at(-1) ?? 1;
    data = { sizes: [...Array(length).fill(extent), ...(indices ? [] : [3])], values: null };
  } else if (!data && elements && indices) {
    data = { sizes: indices.sizes.map((size, d) => (d === axis ? extent : size)), values: null };
  } else if (!data) data = { sizes: shape(Math.max(axis + 1, 2)), values: null };
  if (!indices && elements) indices = { sizes: data.sizes.map((size, d) => (d === axis ? Math.min(size, 3) : size)), values: null };
  else if (!indices) indices = { sizes: nd ? [2, 1] : [3], values: null };
  return { data, indices };
}

// The indices with the value that the error is about: where it says, or in the second place.
function withOffender(indices, { value, size, at }) {
  if (indices.values?.includes(String(value))) return indices;
  const count = countOf(indices.sizes);
  const values = indices.values ? [...indices.values] : Array.from({ length: count }, (_, e) => String(e % Math.max(1, size)));
  const said = at?.length === indices.sizes.length
    ? at.reduce((element, p, d) => element * indices.sizes[d] + p, 0) : Math.min(1, count - 1);
  values[Math.min(said, count - 1)] = String(value);
  return { ...indices, values };
}

function noteOf(entry, code, complaint) {
  const missing = code?.missing ?? [];
  const absent = missing.length ? ` The text does not say what ${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"}: made up.` : "";
  const about = complaint ? ` Index ${complaint.value} is out of range: axis ${complaint.axis} has ${complaint.size} entries.` : "";
  return `Read as ${entry.id}.${about}${absent}`;
}

// {problem, entry, note}, or null if the text is neither code nor an error about an index.
export function callFromText(text) {
  const complaint = parseComplaint(text);
  const code = parseCode(text);
  const entry = findName(code?.id ?? complaint?.name ?? "");
  if (!entry) return null;
  const said = { ...(complaint ? { axis: String(complaint.axis) } : {}), ...(code?.attributes ?? {}) };
  const attributes = attributesFor(entry, said, usualAttributes(entry.op), code?.data?.dtype ?? "f32");
  const along = Number(attributes.axis ?? 0);
  const tensors = madeUp(entry.op, { data: code?.data ?? null, indices: code?.indices ?? null }, along, complaint);
  if (complaint) tensors.indices = withOffender(tensors.indices, complaint);
  const indexType = INDEX_TYPES.includes(tensors.indices.dtype) ? tensors.indices.dtype : "i64";
  const data = fieldsOf(tensors.data, "f32");
  const call = {
    op: entry.op, data, indices: fieldsOf({ ...tensors.indices, dtype: indexType }, "i64"), attributes,
    updates: code?.updates ? fieldsOf({ ...code.updates, dtype: null }, data.dtype) : { dtype: data.dtype, sizes: null, values: "" },
  };
  return { problem: formatProblem(call), entry, note: noteOf(entry, code, complaint) };
}

// The fields that pasted values change in a tensor: sizes too, unless they are as many as before in one row.
// Null if the text is a plain list as the form has it. Throws Error with what is wrong with the text.
export function fieldsFromText(text, before) {
  const plain = before.dtype.startsWith("c") || !/^\(|[[\]\n]|tensor|array|[\w.]+\(|\d\s+[-.\d]/.test(text.trim());
  const array = plain ? null : parseArray(text);
  if (!array) return null;
  const count = before.sizes === null ? 0 : countOf((before.sizes.match(/\d+/g) ?? []).map(Number));
  const row = array.sizes.length === 1 && count === array.values.length && !text.includes("[");
  const fractions = array.values.some((value) => /[.e]|nan|inf/.test(value));
  const dtype = array.dtype ?? (fractions && /^[iu]|bool/.test(before.dtype) ? "f32" : null);
  return { values: array.values.join(", "), ...(row ? {} : { sizes: array.sizes.join(", ") }), ...(dtype ? { dtype } : {}) };
}
