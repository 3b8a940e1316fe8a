// SPDX-License-Identifier: MIT
//
// A few lines of NumPy, PyTorch, JAX or TensorFlow: the arrays they make, and the gather or scatter they do.
// This reads what people paste, not a language: what it does not know, it leaves to made-up values.
import { parseArray } from "./literal.js";
import { FUNCTIONS, METHODS, MODULES, roleOf } from "./signatures.js";

// Statements without prompts and comments; a bracket that is open goes on in the next line.
function statements(text) {
  const lines = text.split("\n").map((line) => line.replace(/^\s*(?:>>>|\.\.\.|In \[\d+\]:|-+>\s*\d+|\d+\s{2,})\s?/, "").replace(/#.*$/, ""));
  const found = [];
  let open = "";
  for (const line of lines) {
    open += (open ? " " : "") + line.trim();
    const depth = (open.match(/[[({]/g) ?? []).length - (open.match(/[\])}]/g) ?? []).length;
    if (depth > 0) continue;
    if (open) found.push(open);
    open = "";
  }
  return open ? [...found, open] : found;
}

// The arguments between the brackets that open at `from`: ["x", "dim=1"]; null if they do not close.
function argumentsAt(text, from) {
  const parts = [""];
  let depth = 0;
  for (let at = from; at < text.length; ++at) {
    const c = text[at];
    if ("[({".includes(c) && depth++ === 0) continue;
    if ("])}".includes(c) && --depth === 0) {
      return { parts: parts.map((part) => part.trim()).filter(Boolean), end: at + 1 };
    }
    if (c === "," && depth === 1) parts.push("");
    else parts[parts.length - 1] += c;
  }
  return null;
}

const numbers = (text) => (/^[\s\d,()[\]]*$/.test(text) ? (text.match(/\d+/g) ?? []).map(Number) : null);

// An array by its maker: values if it has them, else only sizes.
function arrayOf(text, known) {
  const name = text.trim();
  if (known.has(name)) return known.get(name);
  const reshaped = name.match(/^(.*)\.(?:reshape|view)\s*\(([\s\d,()[\]-]*)\)$/);
  if (reshaped) {
    const array = arrayOf(reshaped[1], known);
    const sizes = numbers(reshaped[2]);
    return array && sizes ? { ...array, sizes } : null;
  }
  const ranged = name.match(/^(?:torch|np|numpy|jnp|tf)\.(?:arange|range)\s*\(\s*(\d+)\s*\.?\s*(?:,.*)?\)$/);
  if (ranged) {
    const count = Number(ranged[1]);
    return { sizes: [count], values: Array.from({ length: count }, (_, e) => String(e)), dtype: null };
  }
  const made = name.match(/^(?:torch|np|numpy|jnp|tf)\.(?:random\.)?(zeros|ones|empty|rand|randn|random|full)\s*\((.*)\)$/);
  if (made) {
    const sizes = numbers(made[2].replace(/,\s*\w+\s*=.*$/, ""));
    const count = sizes?.reduce((a, b) => a * b, 1);
    const value = { zeros: "0", ones: "1" }[made[1]];
    return sizes && { sizes, values: value && count <= 16384 ? Array(count).fill(value) : null, dtype: null };
  }
  try {
    return parseArray(name);
  } catch {
    return null;
  }
}

// {signature, self, parts}: the first call of a statement that is a gather or scatter.
function findCall(text) {
  for (const each of FUNCTIONS) {
    const at = text.search(new RegExp(`(?<![\\w.])${each.written.replaceAll(".", "\\.")}\\s*\\(`));
    const found = at >= 0 && argumentsAt(text, text.indexOf("(", at));
    if (found) return { ...each, parts: found.parts };
  }
  for (const each of METHODS) {
    const match = text.match(new RegExp(`([\\w.]+)\\.${each.written}_?\\s*\\(`));
    const found = match && argumentsAt(text, match.index + match[0].length - 1);
    if (found) return { ...each, parts: [match[1], ...found.parts], roles: ["data", ...each.roles] };
  }
  const updated = text.match(/([\w.]+)\.at\[(.+?)\]\.(set|add)\s*\((.*)\)/);
  if (updated) {
    return { id: `data.at[indices].${updated[3]}`, roles: ["data", "indices", "updates"], parts: [updated[1], updated[2], updated[4]] };
  }
  return null;
}

// data[indices], where both are arrays: slices and single numbers are no gathers.
function findIndexing(text, known) {
  const match = text.match(/(?:^|[=(,\s])([A-Za-z_]\w*)\s*\[\s*([A-Za-z_]\w*|\[[^\]]*\])\s*\]\s*$/);
  if (!match || (!known.has(match[2]) && !match[2].startsWith("["))) return null;
  return { id: null, roles: ["data", "indices"], parts: [match[1], match[2]] };
}

const plainModules = (text) => Object.entries(MODULES).reduce((all, [long, short]) =>
  all.replace(new RegExp(`(?<![\\w.])${long.replaceAll(".", "\\.")}\\.(?=[a-z])`, "g"), `${short}.`), text);

const REDUCTIONS = { sum: "add", prod: "mul", amax: "max", amin: "min", mean: "mean" };
const MODES = { clip: "numpy.take, clip", wrap: "numpy.take, wrap" };

function attributeOf(role, text) {
  if (role === "reduction") return REDUCTIONS[text.replace(/['"]/g, "")] ?? "none";
  if (role === "include_self") return /True/.test(text) ? "1" : "0";
  return /^-?\d+$/.test(text) ? text : null;
}

// {id, data, indices, updates, attributes, missing}: tensors as {sizes, values or null, dtype} or null if the
// text does not say; null if there is no call in it.
export function parseCode(text) {
  const known = new Map();
  let call = null;
  let library = "";
  for (const statement of statements(text).map(plainModules)) {
    library = statement.match(/\b(torch|np|jnp|tf)\./)?.[1] ?? library;
    const found = findCall(statement) ?? findIndexing(statement, known);
    if (found) call = found;
    const assigned = !found && statement.match(/^([A-Za-z_]\w*)\s*(?::[^=]*)?=\s*(.+)$/);
    const array = assigned && arrayOf(assigned[2], known);
    if (array) known.set(assigned[1], array);
  }
  if (!call) return null;
  const indexing = { torch: "torch: data[indices]", jnp: "jax: data[indices]" };
  const read = { id: call.id ?? indexing[library] ?? "data[indices]", data: null, indices: null, updates: null, attributes: {}, missing: [] };
  let position = 0;
  for (const part of call.parts) {
    const keyword = part.match(/^(\w+)\s*=(?!=)\s*(.*)$/s);
    const role = keyword ? roleOf(keyword[1]) : call.roles[position++];
    const said = keyword ? keyword[2] : part;
    if (role === "mode") read.id = MODES[said.replace(/['"]/g, "")] ?? read.id;
    else if (["data", "indices", "updates"].includes(role)) {
      read[role] = arrayOf(said, known);
      if (!read[role]) read.missing.push(said);
    } else if (role && role !== "validate") {
      const value = attributeOf(role, said);
      if (value !== null) read.attributes[role] = value;
    }
  }
  return read;
}
