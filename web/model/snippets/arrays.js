// SPDX-License-Identifier: MIT
//
// NumPy, JAX, PyTorch and TensorFlow. Where the library has a function that does the same, that is
// called; else the formula itself is written down as an index expression, which all of them know.
import { nested, refuseUnless } from "./common.js";

const FLOAT_WORDS = { nan: "nan", "-nan": "nan", inf: "inf", "-inf": "-inf" };

function pythonValue(text) {
  if (text in FLOAT_WORDS) return `float("${FLOAT_WORDS[text]}")`;
  if (text === "true") return "True";
  if (text === "false") return "False";
  if (text.startsWith("(")) return `complex${text.replace(",", ", ")}`;
  return text;
}

const NUMPY_TYPES = {
  f32: "np.float32", f64: "np.float64", f16: "np.float16", i8: "np.int8", i16: "np.int16",
  i32: "np.int32", i64: "np.int64", u8: "np.uint8", u16: "np.uint16", u32: "np.uint32",
  u64: "np.uint64", bool: "np.bool_", c64: "np.complex64", c128: "np.complex128",
  bf16: "ml_dtypes.bfloat16", f8e4m3: "ml_dtypes.float8_e4m3fn", f8e5m2: "ml_dtypes.float8_e5m2",
};
const TORCH_TYPES = {
  f32: "torch.float32", f64: "torch.float64", f16: "torch.float16", bf16: "torch.bfloat16",
  f8e4m3: "torch.float8_e4m3fn", f8e5m2: "torch.float8_e5m2", i8: "torch.int8",
  i16: "torch.int16", i32: "torch.int32", i64: "torch.int64", u8: "torch.uint8",
  u16: "torch.int64", u32: "torch.int64", u64: "torch.int64", bool: "torch.bool",
  c64: "torch.complex64", c128: "torch.complex128",
};

// How a library says things. `grid` gives the coordinates of the output, or of the updates.
const NUMPY = {
  word: "np",
  imports: (r) => [...(usesMlDtypes(r) ? ["import ml_dtypes"] : []), "import numpy as np", ""],
  tensor: (t) => `np.array(${nested(t, pythonValue)}, dtype=${NUMPY_TYPES[t.dtype]})` +
    reshaped(t),
  where: (c, a, b) => `np.where(${c}, ${a}, ${b})`,
  clip: (n) => `np.clip(indices, 0, ${n} - 1)`,
  list: (items) => `np.array([${items.join(", ")}])`,
  range: (size) => `np.arange(${size})`,
  grid: (sizes) => `np.ogrid[${sizes.map((s) => ":" + s).join(", ")}]`,
  fullGrid: (sizes) => `np.indices((${sizes.join(", ")},))`,
};
const JAX = {
  ...NUMPY,
  word: "jnp",
  imports: (r) => ["import jax", "import jax.numpy as jnp",
    ...(usesMlDtypes(r) ? ["import ml_dtypes"] : []), "import numpy as np", "",
    "jax.config.update(\"jax_enable_x64\", True)", ""],
  tensor: (t) => `jnp.asarray(${NUMPY.tensor(t)})`,
  where: (c, a, b) => `jnp.where(${c}, ${a}, ${b})`,
  clip: (n) => `jnp.clip(indices, 0, ${n} - 1)`,
  list: (items) => `jnp.array([${items.join(", ")}])`,
  range: (size) => `jnp.arange(${size})`,
};
const TORCH = {
  word: "torch",
  imports: () => ["import torch", ""],
  // An index has to be int64; types without arithmetic become it too.
  tensor: (t, isIndex) =>
    `torch.tensor(${nested(t, pythonValue)}, dtype=${isIndex ? "torch.int64" : TORCH_TYPES[t.dtype]})` +
    reshaped(t),
  where: (c, a, b) => `torch.where(${c}, ${a}, ${b})`,
  clip: (n) => `torch.minimum(indices.clamp(min=0), torch.as_tensor(${n}) - 1)`,
  list: (items) => `torch.tensor([${items.join(", ")}])`,
  range: (size) => `torch.arange(${size})`,
  grid: (sizes) => `torch.meshgrid(${sizes.map((s) => `torch.arange(${s})`).join(", ")}, indexing="ij")`,
};
TORCH.fullGrid = TORCH.grid; // torch.meshgrid is full already

const usesMlDtypes = (r) => ["bf16", "f8e4m3", "f8e5m2"].includes(r.data.dtype);

// A list without entries does not show all of its sizes.
const reshaped = (t) => (t.sizes.includes(0) ? `.reshape(${t.sizes.join(", ")})` : "");

const isElements = (r) => r.op === "gather_elements" || r.op === "scatter_elements";

function inputs(lib, r) {
  const lines = [...lib.imports(r), `data = ${lib.tensor(r.data)}`,
    `indices = ${lib.tensor(r.indices, true)}`];
  if (r.scatters) lines.push(`updates = ${lib.tensor(r.updates)}`);
  return lines;
}

// The number of entries that each index chooses among.
function extents(lib, r) {
  if (r.extents.length === 0) return "1";
  if (r.extents.every((e) => e === r.extents[0])) return String(r.extents[0]);
  const after = r.tupleDim === null ? 0 : r.indices.sizes.length - 1 - r.tupleDim;
  return lib.list(r.extents) + (after ? `.reshape(${["-1", ...Array(after).fill("1")].join(", ")})` : "");
}

// Lines that make of each index what the rule says, so that the rest meets only indices in range.
function ruleLines(lib, r) {
  const mode = r.out_of_range;
  const checked = mode === "fail" || mode === "trust";
  const fromEnd = r.negative === "from_end" && r.signed && (!checked || r.hasNegative);
  const n = extents(lib, r);
  const named = n.includes("(");
  const lines = [];
  const count = named ? "n" : n;
  const refused = checked && r.hasOutside;
  if (named && (fromEnd || !checked || refused)) lines.push(`n = ${n}`);
  if (fromEnd) {
    lines.push(`indices = ${lib.where("indices < 0", `indices + ${count}`, "indices")}  # from the end`);
  }
  if (mode === "clamp") lines.push(`indices = ${lib.clip(count)}`);
  if (mode === "wrap") lines.push(`indices = indices % ${count}`);
  if (mode === "fill" || (mode === "skip" && r.skip_whole_window) || refused) {
    lines.push(`outside = (indices < 0) | (indices >= ${count})`);
  }
  if (mode === "fill") lines.push(`indices = ${lib.clip(count)}`);
  if (refused) lines.push("if outside.any():", "    raise IndexError(\"index out of range\")");
  return lines;
}

// "i, j = np.ogrid[:2, :3]"; nothing for a single element.
function gridLines(lib, r) {
  if (r.letters.length === 0) return [];
  if (r.letters.length === 1) return [`${r.letters[0]} = ${lib.range(r.gridSizes[0])}`];
  // Tuples of no indices leave coordinates unused: then broadcasting would not bring them back.
  const unused = r.letters.some((letter) => !new RegExp(`\\b${letter}\\b`).test(r.place));
  const grid = unused ? lib.fullGrid(r.gridSizes) : lib.grid(r.gridSizes);
  return [`${r.letters.join(", ")} = ${grid}`];
}

// True where any index of an element's tuple is outside: "outside[i, 0] | outside[i, 1]".
function outsideText(r) {
  const terms = r.place.match(/indices(\[[^\]]*\])?/g) ?? [];
  return terms.map((term) => term.replace("indices", "outside")).join(" | ") || "False";
}

const sameOffAxis = (r) => r.data.sizes.every((size, d) => d === r.axis || size === r.indices.sizes[d]);

function numpyGather(lib, r) {
  if (r.op === "gather" && r.batch_dims === 0) {
    return [[], `${lib.word}.take(data, indices, axis=${r.axis})`];
  }
  if (r.op === "gather_elements" && (r.broadcast || sameOffAxis(r))) {
    return [[], `${lib.word}.take_along_axis(data, indices, axis=${r.axis})`];
  }
  return [gridLines(lib, r), `data[${r.place}]`];
}

function torchGather(lib, r) {
  if (r.op === "gather" && r.batch_dims === 0 && r.indices.sizes.length === 1) {
    return [[], `torch.index_select(data, ${r.axis}, indices)`];
  }
  if (r.op === "gather_elements") {
    const call = r.broadcast ? `torch.take_along_dim(data, indices, ${r.axis})`
      : `torch.gather(data, ${r.axis}, indices)`;
    return [[], call];
  }
  return [gridLines(lib, r), `data[${r.place}]`];
}

function gatherLines(lib, r, natural) {
  const [before, value] = natural(lib, r);
  if (r.out_of_range !== "fill") return [...before, `output = ${value}`];
  const fill = pythonValue(r.fill_value);
  const grid = before.length ? before : gridLines(lib, r);
  const filled = lib === TORCH ? `torch.as_tensor(${fill}, dtype=data.dtype)`
    : `data.dtype.type(${fill})`;
  return [...grid, `output = ${lib.where(outsideText(r), filled, value)}`];
}

const isFloat = (r) => /^(f|bf|c)/.test(r.data.dtype);

// What a reduction without the old value starts from.
function neutral(lib, r) {
  const limits = lib === TORCH ? "torch.iinfo(data.dtype)" : `${lib.word}.iinfo(data.dtype)`;
  if (r.reduction === "mul") return "1";
  if (r.reduction === "min") return isFloat(r) ? "float(\"inf\")" : `${limits}.max`;
  if (r.reduction === "max") return isFloat(r) ? "float(\"-inf\")" : `${limits}.min`;
  return "0";
}

const AT = { add: "add", mean: "add", sub: "subtract", mul: "multiply", min: "minimum", max: "maximum" };

// Python's tuple of one has a comma after it.
const trailing = (place) => (place.replace(/\[[^\]]*\]/g, "").includes(",") ? place : place + ",");

function skipLines(lib, r) {
  if (r.out_of_range !== "skip") return [];
  const inside = r.skip_whole_window ? `~(${outsideText(r)})`
    : "np.all([(0 <= w) & (w < size) for w, size in zip(where, data.shape)], axis=0)";
  return ["where = np.broadcast_arrays(*where)",
    `keep = np.broadcast_to(${inside}, updates.shape)`,
    "where = tuple(w[keep] for w in where)", "updates = updates[keep]"];
}

function numpyScatter(lib, r) {
  const lines = [...gridLines(lib, r), `where = (${trailing(r.place)})`, ...skipLines(lib, r),
    `output = ${r.onto_zeros ? "np.zeros_like(data)" : "data.copy()"}`];
  if (r.reduction === "none") return [...lines, "output[where] = updates  # the last one stays"];
  if (!r.include_self) lines.push(`output[where] = ${neutral(lib, r)}`);
  lines.push(`np.${AT[r.reduction]}.at(output, where, updates)`);
  if (r.reduction === "mean") {
    lines.push("counts = np.zeros(data.shape, dtype=np.int64)", "np.add.at(counts, where, 1)",
      "got = counts > 0",
      `output[got] = output[got] ${isFloat(r) ? "/" : "//"} ` +
        (r.include_self ? "(counts[got] + 1)" : "counts[got]"));
  }
  return lines;
}

const JAX_AT = { none: "set", add: "add", sub: "add", mean: "add", mul: "multiply", min: "min", max: "max" };

function jaxScatter(lib, r) {
  const skips = r.out_of_range === "skip";
  const lines = [...gridLines(lib, r), `where = (${trailing(r.place)})`];
  if (skips) {
    const inside = r.skip_whole_window ? `~(${outsideText(r)})` : "(0 <= w) & (w < size)";
    lines.push(`where = tuple(jnp.where(${inside}, w, size) for w, size in zip(where, data.shape))`);
  }
  const mode = skips ? ", mode=\"drop\"" : "";
  let base = r.onto_zeros ? "jnp.zeros_like(data)" : "data";
  if (!r.include_self && r.reduction !== "none") {
    const start = neutral(lib, r);
    base += `.at[where].set(${start}${mode})`;
  }
  const value = r.reduction === "sub" ? "-updates" : "updates";
  lines.push(`output = ${base}.at[where].${JAX_AT[r.reduction]}(${value}${mode})`);
  if (r.reduction === "mean") {
    lines.push(`counts = jnp.zeros(data.shape, dtype=int).at[where].add(1${mode})`,
      `counts = jnp.where(counts > 0, counts + ${r.include_self ? 1 : 0}, 1)`,
      `output = (output ${isFloat(r) ? "/" : "//"} counts).astype(data.dtype)`);
  }
  return lines;
}

const TORCH_REDUCE = { add: "sum", sub: "sum", mean: "mean", mul: "prod", min: "amin", max: "amax" };

function torchScatter(lib, r) {
  const value = r.reduction === "sub" ? "-updates" : "updates";
  const base = r.onto_zeros ? "torch.zeros_like(data)" : "data";
  const self = r.include_self ? "" : ", include_self=False";
  if (isElements(r) && r.out_of_range !== "skip") {
    return [`output = ${base}.` + (r.reduction === "none" ? `scatter(${r.axis}, indices, updates)`
      : `scatter_reduce(${r.axis}, indices, ${value}, "${TORCH_REDUCE[r.reduction]}"${self})`)];
  }
  const lines = [...gridLines(lib, r),
    `where = torch.broadcast_tensors(*map(torch.as_tensor, (${trailing(r.place)})))`];
  if (r.out_of_range === "skip") {
    const inside = r.skip_whole_window ? `~(${outsideText(r)})`
      : "torch.stack([(0 <= w) & (w < size) for w, size in zip(where, data.shape)]).all(0)";
    lines.push(`keep = (${inside}).expand(updates.shape)`,
      "where = [w[keep] for w in where]", "updates = updates[keep]");
  }
  lines.push("cell = sum(w * step for w, step in zip(where, data.stride())).reshape(-1)");
  const call = r.reduction === "none" ? "scatter(0, cell, updates.reshape(-1))"
    : `scatter_reduce(0, cell, ${value === "updates" ? "" : "-"}updates.reshape(-1), ` +
      `"${TORCH_REDUCE[r.reduction]}"${self})`;
  return [...lines, `output = ${base}.reshape(-1).${call}.reshape(data.shape)`];
}

function script(lib, r, gather, scatter) {
  refuseUnless(r.place, "index expression for a tensor without dimensions");
  const body = r.scatters ? scatter(lib, r) : gatherLines(lib, r, gather);
  return [...inputs(lib, r), "", ...ruleLines(lib, r), ...body].join("\n") + "\n";
}

export const numpyCode = (r) => script(NUMPY, r, numpyGather, numpyScatter);
export const jaxCode = (r) => script(JAX, r, numpyGather, jaxScatter);
export const torchCode = (r) => script(TORCH, r, torchGather, torchScatter);

// TensorFlow takes positions only as tuples: where it has no function of its own, NumPy makes them.
const TF_SCATTER = { none: "update", add: "add", sub: "sub", min: "min", max: "max" };

function tensorflowCall(r) {
  if (r.op === "gather") {
    return [`output = tf.gather(data, indices, axis=${r.axis}, batch_dims=${r.batch_dims})`];
  }
  if (r.op === "gather_nd") {
    return [`output = tf.gather_nd(data, indices, batch_dims=${r.batch_dims})`];
  }
  if (!r.scatters) {
    return [...gridLines(NUMPY, r),
      `where = np.stack(np.broadcast_arrays(${r.place}), axis=-1)`,
      "output = tf.gather_nd(data, where)"];
  }
  refuseUnless(r.reduction in TF_SCATTER, `no scatter with the reduction ${r.reduction}`);
  refuseUnless(r.include_self, "no scatter that leaves the old value out");
  const base = r.onto_zeros ? "tf.zeros_like(data)" : "data";
  const call = `output = tf.tensor_scatter_nd_${TF_SCATTER[r.reduction]}(${base}, where, updates)`;
  if (r.op === "scatter_nd" && r.batch_dims === 0 && r.out_of_range !== "skip") {
    return [call.replace("where", "indices")];
  }
  return [...gridLines(NUMPY, r), `where = (${trailing(r.place)})`,
    ...(r.out_of_range === "skip" ? skipLines(NUMPY, r)
      : ["where = np.broadcast_arrays(*where)"]),
    "where = np.stack(where, axis=-1)", call];
}

export function tensorflowCode(r) {
  const filled = r.out_of_range === "fill"
    ? [...gridLines(NUMPY, r), `output = tf.where(${outsideText(r)}, tf.cast(${pythonValue(r.fill_value)}, data.dtype), output)`]
    : [];
  return ["import numpy as np", "import tensorflow as tf", "", `data = ${NUMPY.tensor(r.data)}`,
    `indices = ${NUMPY.tensor(r.indices)}`,
    ...(r.scatters ? [`updates = ${NUMPY.tensor(r.updates)}`] : []), "", ...ruleLines(NUMPY, r),
    ...tensorflowCall(r), ...filled].join("\n") + "\n";
}

export { pythonValue, NUMPY, sameOffAxis, TORCH };
