// SPDX-License-Identifier: MIT
//
// Bags as code: Sheaf's own functions, and what other libraries have for them. Where a library has no function
// that does the same, it gathers the rows, and adds them up by the number of their bag.
import { NUMPY, pythonValue, TORCH } from "./arrays.js";
import { refuseUnless } from "./common.js";
import { CPP_TYPES, cppRule, cppTensor, cppValue, cRule, cTensor, flat, pascal, view } from "./sheaf.js";

const SEGMENTS = ["offsets", "lengths", "ids"];

// The answer about a bag, ready to be written down.
export function bagOf(answer) {
  const tensors = Object.fromEntries(answer.tensors.map((t) => [t.name, t]));
  const segments = SEGMENTS.map((name) => tensors[name]).find(Boolean) ?? null;
  const { call } = answer;
  return {
    ...call, ...tensors, segments, plain: call.encoding === "plain",
    signed: tensors.indices?.dtype.startsWith("i") ?? false,
    leavesOut: call.out_of_range === "skip" || call.padding !== null,
  };
}

const isUsual = { negative: "from_end", out_of_range: "fail" };

// Python -------------------------------------------------------------------------------------

function pythonData(b) {
  if (b.plain) return [`data = ${NUMPY.tensor(b.data)}`];
  const lines = [`stored = ${NUMPY.tensor(b.data.stored)}`];
  const parts = ["scales", "zeros"].filter((name) => b[name]);
  lines.push(...parts.map((name) => `${name} = ${NUMPY.tensor(b[name])}`));
  const more = parts.length ? `, ${parts.map((name) => `${name}=${name}`).join(", ")}, block=${b.block}, axis=${b.block_axis}` : "";
  return [...lines, `data = sheaf.Encoded("${b.encoding}", stored${more}, shape=(${b.data.sizes.join(", ")}))`];
}

function pythonKeywords(b) {
  const words = [];
  if (b.form === "ids") words.push(`ids=ids, bags=${b.bags}`);
  else if (b.segments) words.push(`${b.form}=${b.form}`);
  if (b.last_offset) words.push("last_offset=True");
  if (b.weighted) words.push("weights=weights");
  if (b.pool !== "sum") words.push(`pool="${b.pool}"`);
  if (b.padding !== null) words.push(`padding_index=${b.padding}`);
  if (b.empty_value !== "0") words.push(`empty_value=${pythonValue(b.empty_value)}`);
  if (!b.accumulate_f32) words.push("accumulate=None");
  if (b.indexed && b.negative !== "from_end") words.push(`negative="${b.negative}"`);
  if (b.indexed && b.out_of_range !== "fail") words.push(`out_of_range="${b.out_of_range}"`);
  if (b.out_of_range === "fill") words.push(`fill_value=${pythonValue(b.fill_value)}`);
  return words;
}

const others = (b) => [...(b.indexed ? ["indices"] : []), ...(b.segments ? [b.form] : []), ...(b.weighted ? ["weights"] : [])];

export function pythonBag(b) {
  const args = ["data", ...(b.indexed ? ["indices"] : []), ...pythonKeywords(b)];
  return [...NUMPY.imports(b).slice(0, -1), "import sheaf", "", ...pythonData(b),
    ...others(b).map((name) => `${name} = ${NUMPY.tensor(b[name])}`), "",
    `output = sheaf.${b.indexed ? "bag" : "segment_reduce"}(${args.join(", ")})`, ""].join("\n");
}

// C++ and C ----------------------------------------------------------------------------------

const cppEncoding = (name) => (/^q\d_\d$/.test(name) ? name.toUpperCase() : /^f\de/.test(name)
  ? name.toUpperCase().replace("FNUZ", "Fnuz") : pascal(name));

function bagOptions(b) {
  const options = [];
  if (b.pool !== "sum") options.push(`.pool = sheaf::Pool::k${b.pool === "sqrtn" ? "SqrtN" : pascal(b.pool)}`);
  if (b.form === "lengths" || b.form === "ids") options.push(`.segments = sheaf::SegmentForm::k${pascal(b.form)}`);
  if (b.last_offset) options.push(".last_offset = true");
  if (b.form === "ids") options.push(`.bags = ${b.bags}`);
  if (b.padding !== null) options.push(`.padding_index = ${b.padding}`);
  if (b.empty_value !== "0") options.push(`.empty_value = ${cppValue(b.empty_value, "f64")}`);
  if (!b.accumulate_f32) options.push(".accumulate_f32 = false");
  const rule = b.indexed ? cppRule(b, isUsual) : "";
  return rule ? [...options, rule] : options;
}

function cppData(b) {
  if (b.plain) return { lines: [cppTensor("data", b.data)], text: view("data", b.data) };
  const lines = [cppTensor("stored", b.data.stored),
    `sheaf::EncodedSpec table = sheaf::encoded_rows(sheaf::Encoding::k${cppEncoding(b.encoding)}, {${b.data.sizes.join(", ")}});`];
  const parts = ["scales", "zeros"].filter((name) => b[name]);
  for (const name of parts) {
    lines.push(cppTensor(name, b[name]), `table.${name} = ${view(name, b[name])}.spec;`);
  }
  if (parts.length) lines.push(`table.block = ${b.block};`, `table.axis = ${b.block_axis};`);
  return { lines, text: `sheaf::Encoded(table, stored.data()${parts.map((name) => `, ${name}.data()`).join("")})` };
}

export function cppBag(b) {
  const { lines, text } = cppData(b);
  const part = (name) => (name && b[name] ? view(name, b[name]) : "std::nullopt");
  const tensors = [text, part(b.indexed ? "indices" : ""), part(b.segments ? b.form : ""), part(b.weighted ? "weights" : "")];
  const options = bagOptions(b);
  const type = CPP_TYPES[b.output.dtype];
  refuseUnless(type, `no literals of type ${b.output.dtype}: fill the memory in your own way`);
  return ["#include <sheaf/sheaf.h>", "", "#include <cmath>", "#include <iostream>", "#include <vector>", "", "int main() {",
    ...[...lines, ...others(b).map((name) => cppTensor(name, b[name]))].map((line) => `  ${line}`),
    "  const sheaf::Array output = sheaf::bag(", `      {${tensors.join(",\n       ")}}${options.length ? "," : ");"}`,
    ...(options.length ? [`      {${options.join(", ")}});`] : []),
    `  for (const auto value : output.elements<${type}>()) {`,
    `    std::cout << ${/^[iu]8$/.test(b.output.dtype) ? "int{value}" : "value"} << '\\n';`, "  }", "}", ""].join("\n");
}

function cBagOptions(b) {
  const options = [];
  if (b.pool !== "sum") options.push(`.pool = SHEAF_POOL_${b.pool.toUpperCase()}`);
  if (b.form === "lengths" || b.form === "ids") options.push(`.form = SHEAF_${b.form.toUpperCase()}`);
  if (b.last_offset) options.push(".last_offset = 1");
  if (b.padding !== null) options.push(".has_padding = 1", `.padding = ${b.padding}`);
  if (b.form === "ids") options.push(`.bags = ${b.bags}`);
  if (!b.accumulate_f32) options.push(".accumulate_narrow = 1");
  const rule = b.indexed ? cRule(b, isUsual).filter((part) => !part.startsWith(".fill_value")) : [];
  if (rule.length) options.push(`.rule = {${rule.join(", ")}}`);
  return options;
}

// Numbers that are made by a function are no constants of a struct in C.
function cAssignments(b) {
  return [...(b.empty_value === "0" ? [] : [`  options.empty_value = sheaf_float(${cppValue(b.empty_value, "f64")});`]),
    ...(b.out_of_range === "fill" ? [`  options.rule.fill_value = sheaf_float(${cppValue(b.fill_value, "f64")});`] : [])];
}

const C_FORMATS = { f: ["%g\\n", "(double)"], i: ["%lld\\n", "(long long)"], u: ["%llu\\n", "(unsigned long long)"] };

export function cBag(b) {
  const stored = b.plain ? b.data : b.data.stored;
  const parts = ["scales", "zeros"].filter((name) => b[name]);
  const names = [...parts, ...others(b)];
  const encoding = b.plain ? [] : [`.encoding = SHEAF_${b.encoding.toUpperCase().replace("FNUZ", "_FNUZ")}`,
    `.sizes = {data_sizes, ${b.data.sizes.length}}`, ...parts.map((name) => `.${name} = &${name}`),
    ...(parts.length ? [`.block = ${b.block}`, ".has_axis = 1", `.axis = ${b.block_axis}`] : [])];
  const tensors = [".data = &table", ...(b.indexed ? [".indices = &indices"] : []),
    ...(b.segments ? [`.segments = &${b.form}`] : []), ...(b.weighted ? [".weights = &weights"] : [])];
  const { count } = b.output;
  const [format, cast] = C_FORMATS[b.output.dtype[0]] ?? C_FORMATS.f;
  return ["#include <sheaf/c.h>", "", "#include <math.h>", "#include <stdio.h>", "", "int main(void) {",
    ...cTensor("data", stored, flat(stored, cppValue)), ...names.flatMap((name) => cTensor(name, b[name], flat(b[name], cppValue))),
    ...cTensor("output", b.output, "0").map((line) => line.replace("output_values[] = {0}", `output_values[${Math.max(count, 1)}] = {0}`)),
    ...(b.plain ? [] : [`  const int64_t data_sizes[] = {${b.data.sizes.join(", ")}};`]),
    `  const sheaf_table table = {.stored = &data${encoding.map((part) => `, ${part}`).join("")}};`,
    `  const sheaf_bag_tensors tensors = {${tensors.join(", ")}};`,
    `  sheaf_bag_options options = {${cBagOptions(b).join(", ") || "0"}};`, ...cAssignments(b),
    "  if (sheaf_bag(&tensors, &output, &options) != SHEAF_OK) {",
    "    fprintf(stderr, \"%s\\n\", sheaf_last_error());", "    return 1;", "  }",
    `  for (int i = 0; i < ${count}; ++i) {`, `    printf("${format}", ${cast}output_values[i]);`, "  }", "  return 0;", "}", ""].join("\n");
}

// Arrays -------------------------------------------------------------------------------------

// Decoded values where the rows are encoded: these libraries have no such tables.
const decoded = (b) => (b.plain ? b.data : { ...b.data, dtype: "f32" });

// Lines that leave `rows`, one per entry that counts, and `ids`, the bag of each; in NumPy's words.
function rowLines(lib, b) {
  const n = b.data.sizes[0];
  const entries = b.indexed ? b.indices.count : n;
  const lines = [];
  if (b.form === "rows") lines.push(`ids = np.repeat(np.arange(${b.bags}), ${b.per_bag})`);
  if (b.form === "lengths") lines.push(`ids = np.repeat(np.arange(${b.bags}), lengths)`);
  if (b.form === "offsets") {
    lines.push(b.last_offset ? `ids = np.repeat(np.arange(${b.bags}), np.diff(offsets))`
      : `ids = np.repeat(np.arange(${b.bags}), np.diff(np.append(offsets, ${entries})))`);
  }
  const cut = b.last_offset ? "[:len(ids)]" : "";
  const checks = b.out_of_range === "fail" || b.out_of_range === "trust";
  lines.push(b.indexed ? `picked = indices.reshape(-1)${cut}.astype(np.int64)` : `picked = np.arange(${entries})${cut}`);
  if (b.weighted) lines.push(`weights = weights.reshape(-1)${cut}`);
  if (b.indexed && b.negative === "from_end" && b.signed) lines.push(`picked = np.where(picked < 0, picked + ${n}, picked)  # from the end`);
  if (b.indexed && !checks) lines.push(`outside = (picked < 0) | (picked >= ${n})`);
  if (b.out_of_range === "wrap") lines.push(`picked = picked % ${n}`);
  if (b.indexed && !checks && b.out_of_range !== "wrap") lines.push(`picked = np.clip(picked, 0, ${n - 1})`);
  const left = [...(b.out_of_range === "skip" ? ["outside"] : []), ...(b.padding === null ? [] : [`(picked == ${b.padding})`])];
  if (left.length) {
    lines.push(`keep = ~(${left.join(" | ")})`, "picked, ids = picked[keep], ids[keep]", ...(b.weighted ? ["weights = weights[keep]"] : []));
  }
  lines.push("rows = data[picked]");
  if (b.computed === "f32" && decoded(b).dtype !== "f32") lines.push("rows = rows.astype(np.float32)");
  if (b.out_of_range === "fill") lines.push(`rows[outside] = ${pythonValue(b.fill_value)}`);
  const tail = b.data.sizes.length - 1;
  if (b.weighted) lines.push(`rows = rows * weights.reshape(${["-1", ...Array(tail).fill("1")].join(", ")})`);
  lines.push(`counts = np.bincount(ids, minlength=${b.bags}).reshape(${["-1", ...Array(tail).fill("1")].join(", ")})`);
  return lines;
}

const numpyType = (dtype) => NUMPY.tensor({ dtype, sizes: [0], values: [] }).match(/dtype=([\w.]+)/)[1];
const shape = (b) => `(${b.output.sizes.join(", ")}${b.output.sizes.length === 1 ? "," : ""})`;
const AT = { sum: "add", mean: "add", sqrtn: "add", max: "maximum", min: "minimum", mul: "multiply" };
const isFloat = (b) => /^(f|bf)/.test(b.output.dtype);

function start(b, limits) {
  if (b.pool === "mul") return "1";
  if (b.pool === "max" || b.pool === "min") {
    const low = b.pool === "max";
    return isFloat(b) ? `${low ? "-" : ""}np.inf` : `${limits}.${low ? "min" : "max"}`;
  }
  return "0";
}

// The sum over the count, and what an empty bag is.
function finishLines(b, word) {
  const over = isFloat(b) ? "/" : "//";
  const divided = b.pool === "mean" ? [`output = output ${over} np.maximum(counts, 1).astype(output.dtype)`]
    : b.pool === "sqrtn" ? ["output = output / np.sqrt(np.maximum(counts, 1))"] : [];
  return [...divided, `output = ${word}.where(counts > 0, output, ${pythonValue(b.empty_value)}).astype(${numpyType(b.output.dtype)})`];
}

const inputs = (b) => [`data = ${NUMPY.tensor(decoded(b))}${b.plain ? "" : `  # decoded from ${b.encoding}`}`,
  ...others(b).map((name) => `${name} = ${NUMPY.tensor(b[name])}`), ""];

export function numpyBag(b) {
  return [...NUMPY.imports(b), ...inputs(b), ...rowLines(NUMPY, b),
    `output = np.full(${shape(b)}, ${start(b, "np.iinfo(rows.dtype)")}, dtype=rows.dtype)`,
    `np.${AT[b.pool]}.at(output, ids, rows)`, ...finishLines(b, "np"), ""].join("\n");
}

const JAX_AT = { ...AT, max: "max", min: "min" };

export function jaxBag(b) {
  return ["import jax", "import jax.numpy as jnp", ...NUMPY.imports(b), "jax.config.update(\"jax_enable_x64\", True)", "",
    ...inputs(b), ...rowLines(NUMPY, b),
    `output = jnp.full(${shape(b)}, ${start(b, "np.iinfo(rows.dtype)")}, dtype=rows.dtype).at[ids].${JAX_AT[b.pool]}(rows)`,
    ...finishLines(b, "jnp"), ""].join("\n");
}

// Where PyTorch's own function takes the bag.
const isEmbeddingBag = (b) => b.indexed && ["sum", "mean", "max"].includes(b.pool) && (!b.weighted || b.pool === "sum") &&
  b.out_of_range === "fail" && b.empty_value === "0" && b.data.sizes.length === 2 && /^f(32|64)$/.test(decoded(b).dtype) &&
  (b.form === "rows" || b.form === "offsets") && !b.indices.values.some((value) => value.startsWith("-"));

const TORCH_REDUCE = { mul: "prod", max: "amax", min: "amin" };

export function torchBag(b) {
  if (isEmbeddingBag(b)) {
    const words = ["indices", "data", ...(b.segments ? ["offsets"] : []), `mode="${b.pool}"`,
      ...(b.weighted ? ["per_sample_weights=weights"] : []), ...(b.last_offset ? ["include_last_offset=True"] : []),
      ...(b.padding === null ? [] : [`padding_idx=${b.padding}`])];
    return ["import torch", "", `data = ${TORCH.tensor(decoded(b))}${b.plain ? "" : `  # decoded from ${b.encoding}`}`,
      ...others(b).map((name) => `${name} = ${TORCH.tensor(b[name], name !== "weights")}`), "",
      `output = torch.nn.functional.embedding_bag(${words.join(", ")})`, ""].join("\n");
  }
  refuseUnless(/^[fi](32|64|16|8)$/.test(b.output.dtype), `bags of ${b.output.dtype} here`);
  const call = TORCH_REDUCE[b.pool] ? `index_reduce(0, ids, rows, "${TORCH_REDUCE[b.pool]}")` : "index_add(0, ids, rows)";
  return ["import torch", ...NUMPY.imports(b), ...inputs(b), ...rowLines(NUMPY, b),
    `output = np.full(${shape(b)}, ${start(b, "np.iinfo(rows.dtype)")}, dtype=rows.dtype)`,
    "ids, rows = torch.from_numpy(ids), torch.from_numpy(rows)", `output = torch.from_numpy(output).${call}.numpy()`,
    ...finishLines(b, "np"), ""].join("\n");
}

const TF_SEGMENT = { sum: "sum", mean: "mean", sqrtn: "sqrt_n", max: "max", min: "min", mul: "prod" };

export function tensorflowBag(b) {
  return ["import tensorflow as tf", ...NUMPY.imports(b), ...inputs(b), ...rowLines(NUMPY, b),
    `output = tf.math.unsorted_segment_${TF_SEGMENT[b.pool]}(rows, ids, ${b.bags}).numpy()`,
    `output = np.where(counts > 0, output, ${pythonValue(b.empty_value)}).astype(${numpyType(b.output.dtype)})`, ""].join("\n");
}

export function noBag() {
  refuseUnless(false, "bags: rows that are pooled as they are gathered");
}
