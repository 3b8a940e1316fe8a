// SPDX-License-Identifier: MIT
//
// Arrays as people have them: [[1, 3], [0, 2]], tensor([...]), np.array([...], dtype=np.int32), what print
// shows, columns of a text.

const NUMBER = /[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)\b\.?|\b(?:True|False)\b/gi;
const MAKER = /^(?:[\w.]+\s*=\s*)?(?:(?:torch|np|numpy|jnp|jax\.numpy|tf|mx)\.)?(?:tensor|array|asarray|Tensor|LongTensor|constant|Array)\s*\(/;
const TYPES = {
  float16: "f16", half: "f16", bfloat16: "bf16", float32: "f32", float: "f32", float64: "f64", double: "f64",
  int8: "i8", int16: "i16", int32: "i32", int: "i64", int64: "i64", long: "i64", uint8: "u8", uint16: "u16",
  uint32: "u32", uint64: "u64", bool: "bool", bool_: "bool",
};

// As the library writes them.
function numberText(text) {
  if (/^true$/i.test(text)) return "1";
  if (/^false$/i.test(text)) return "0";
  return text.replace(/^\+/, "").replace(/\.(?=$|[eE])/, "").toLowerCase();
}

// Nested brackets: {sizes, values}. Throws a sentence if the rows differ in length.
function nested(text) {
  const root = [];
  const open = [root];
  const tokens = text.matchAll(new RegExp(`[[({]|[\\])}]|${NUMBER.source}`, "gi"));
  for (const [token] of tokens) {
    if ("[({".includes(token)) {
      const list = [];
      open.at(-1).push(list);
      open.push(list);
    } else if ("])}".includes(token)) {
      if (open.length === 1) throw new Error("a bracket closes that was not opened");
      open.pop();
    } else open.at(-1).push(numberText(token));
  }
  if (open.length > 1) throw new Error("a bracket is not closed");
  return measured(root.length === 1 && Array.isArray(root[0]) ? root[0] : root);
}

function measured(list) {
  const sizes = [];
  for (let at = list; Array.isArray(at); [at] = at) sizes.push(at.length);
  const values = [];
  const walk = (node, depth) => {
    if (!Array.isArray(node)) {
      if (depth !== sizes.length) throw new Error("values and rows are mixed");
      values.push(node);
      return;
    }
    if (node.length !== sizes[depth]) throw new Error(`rows of ${sizes[depth]} and of ${node.length} values`);
    for (const each of node) walk(each, depth + 1);
  };
  walk(list, 0);
  return { sizes, values };
}

// Lines of numbers: several of the same length are rows.
function columns(text) {
  const rows = text.trim().split(/\n+/).map((line) => (line.match(NUMBER) ?? []).map(numberText)).filter((row) => row.length);
  if (!rows.length) return null;
  if (rows.length === 1) return { sizes: [rows[0].length], values: rows[0] };
  if (rows.every((row) => row.length === 1)) return { sizes: [rows.length], values: rows.flat() };
  if (rows.some((row) => row.length !== rows[0].length)) {
    throw new Error(`rows of ${rows[0].length} and of ${rows.find((r) => r.length !== rows[0].length).length} values`);
  }
  return { sizes: [rows.length, rows[0].length], values: rows.flat() };
}

// {sizes, values, dtype or null}; null if the text is no array. Throws Error with what is wrong with one.
export function parseArray(text) {
  let body = text.trim().replace(/^[\w.]+\s*=\s*(?=[[({])/, "");
  let dtype = null;
  const made = body.match(MAKER);
  if (made) {
    body = body.slice(made[0].length);
    if (/LongTensor/.test(made[0])) dtype = "i64";
    const named = body.match(/dtype\s*=\s*['"]?(?:[\w]+\.)*(\w+)/);
    if (named) dtype = TYPES[named[1]] ?? null;
    // Everything behind the values: dtype, device, the closing bracket.
    const end = body.search(/,\s*(?:dtype|device|requires_grad|shape|grad_fn|size)\s*=/);
    body = (end >= 0 ? body.slice(0, end) : body.replace(/\)\s*;?\s*$/, "")).trim().replace(/,$/, "");
  }
  if (body.includes("[") || /^\(/.test(body)) {
    if (/[A-Za-z_]/.test(body.replace(NUMBER, ""))) return null;
    return { ...nested(body), dtype };
  }
  if (/[A-Za-z_=]/.test(body.replace(NUMBER, ""))) return null;
  const found = made && !/[,\s]/.test(body) ? { sizes: [], values: (body.match(NUMBER) ?? []).map(numberText) } : columns(body);
  return found && { ...found, dtype };
}
