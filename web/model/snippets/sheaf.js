// SPDX-License-Identifier: MIT
//
// The library's own faces: C++, C and Python.
import { nested, refuseUnless } from "./common.js";
import { NUMPY, pythonValue } from "./arrays.js";

const pascal = (word) => word.split("_").map((w) => w[0].toUpperCase() + w.slice(1)).join("");

// C++ ----------------------------------------------------------------------------------------

const CPP_TYPES = {
  f32: "float", f64: "double", i8: "int8_t", i16: "int16_t", i32: "int32_t", i64: "int64_t",
  u8: "uint8_t", u16: "uint16_t", u32: "uint32_t", u64: "uint64_t",
  c64: "std::complex<float>", c128: "std::complex<double>",
};

const needsSuffix = (text) => !/[.en]/.test(text);

function cppValue(text, dtype) {
  const words = { nan: "NAN", "-nan": "NAN", inf: "INFINITY", "-inf": "-INFINITY" };
  if (text in words) return words[text];
  if (text.startsWith("(")) return `{${text.slice(1, -1).replace(",", ", ")}}`;
  if (dtype === "f32" && !needsSuffix(text)) return text + "f";
  if (dtype === "u64") return text + "u";
  return text === "-9223372036854775808" ? "INT64_MIN" : text;
}

const flat = (tensor, value) => tensor.values.map((v) => value(v, tensor.dtype)).join(", ");

function cppTensor(name, tensor) {
  const type = CPP_TYPES[tensor.dtype];
  refuseUnless(type, `no literals of type ${tensor.dtype}: fill the memory in your own way`);
  return `const std::vector<${type}> ${name} = {${flat(tensor, cppValue)}};`;
}

const view = (name, tensor) => `sheaf::view(${name}, {${tensor.sizes.join(", ")}})`;

function cppRule(r, usual) {
  const parts = [];
  if (r.negative !== usual.negative) {
    parts.push(`.negative = sheaf::Negative::k${pascal(r.negative)}`);
  }
  if (r.out_of_range !== usual.out_of_range) {
    parts.push(`.out_of_range = sheaf::OutOfRange::k${pascal(r.out_of_range)}`);
  }
  if (r.out_of_range === "fill") parts.push(`.fill_value = ${cppValue(r.fill_value, "f64")}`);
  // A rule that is written at all is written whole: the members it leaves out are the plain default.
  if (parts.length && usual.negative === "out_of_range") {
    return `.rule = {.negative = sheaf::Negative::k${pascal(r.negative)}, ` +
      `.out_of_range = sheaf::OutOfRange::k${pascal(r.out_of_range)}}`;
  }
  return parts.length ? `.rule = {${parts.join(", ")}}` : "";
}

const isXla = (r) => r.op.startsWith("xla_");
const usualRule = (r) => ({
  negative: isXla(r) ? "out_of_range" : "from_end",
  out_of_range: isXla(r) ? (r.scatters ? "skip" : "clamp") : "fail",
});

function cppOptions(r) {
  const options = [];
  const number = (key) => r[key] && options.push(`.${key} = ${r[key]}`);
  if (isXla(r)) {
    for (const [key, value] of Object.entries(r.xla)) {
      options.push(`.${key} = ${Array.isArray(value) ? `{${value.join(", ")}}` : value}`);
    }
  } else {
    if (!r.op.endsWith("_nd")) number("axis");
    if (!r.op.endsWith("_elements")) number("batch_dims");
    if (r.broadcast) options.push(".broadcast = true");
  }
  if (r.scatters) {
    if (r.reduction !== "none") options.push(`.reduction = sheaf::Reduction::k${pascal(r.reduction)}`);
    if (!r.include_self) options.push(".include_self = false");
    if (r.onto_zeros) options.push(".onto_zeros = true");
    if (r.skip_whole_window) options.push(".skip_whole_window = true");
  }
  const rule = cppRule(r, usualRule(r));
  if (rule) options.push(rule);
  return options;
}

export function cppCode(r) {
  const options = cppOptions(r);
  const tensors = [["data", r.data], ["indices", r.indices], ...(r.scatters ? [["updates", r.updates]] : [])];
  const args = tensors.map(([name, tensor]) => view(name, tensor));
  if (options.length) args.push(`sheaf::${pascal(r.op)}Options{${options.join(", ")}}`);
  const complex = r.data.dtype.startsWith("c") ? ["#include <complex>"] : [];
  return ["#include <sheaf/sheaf.h>", "", "#include <cmath>", ...complex, "#include <iostream>",
    "#include <vector>", "", "int main() {",
    ...tensors.map(([name, tensor]) => "  " + cppTensor(name, tensor)),
    `  const sheaf::Array output = sheaf::${r.op}(`,
    ...args.map((arg, at) => `      ${arg}${at + 1 < args.length ? "," : ");"}`),
    `  for (const auto value : output.elements<${CPP_TYPES[r.data.dtype]}>()) {`,
    `    std::cout << ${/^[iu]8$/.test(r.data.dtype) ? "int{value}" : "value"} << '\\n';`, "  }", "}", ""].join("\n");
}

// C ------------------------------------------------------------------------------------------

const C_TYPES = { ...CPP_TYPES };
delete C_TYPES.c64;
delete C_TYPES.c128;
const dlpackType = (dtype) =>
  `{${{ f: "kDLFloat", i: "kDLInt", u: "kDLUInt" }[dtype[0]]}, ${dtype.slice(1)}, 1}`;

function cTensor(name, tensor, values) {
  const type = C_TYPES[tensor.dtype];
  refuseUnless(type, `no literals of type ${tensor.dtype}: fill the memory in your own way`);
  const rank = tensor.sizes.length;
  return [`  ${type} ${name}_values[] = {${values}};`,
    ...(rank ? [`  int64_t ${name}_shape[] = {${tensor.sizes.join(", ")}};`] : []),
    `  const DLTensor ${name} = {.data = ${name}_values, .device = {kDLCPU, 0}, .ndim = ${rank},`,
    `                          .dtype = ${dlpackType(tensor.dtype)}` +
      (rank ? `, .shape = ${name}_shape};` : "};")];
}

function cRule(r, usual) {
  const rule = [];
  if (r.negative !== usual.negative) rule.push(`.negative = SHEAF_NEGATIVE_${r.negative.toUpperCase()}`);
  if (r.out_of_range !== usual.out_of_range) rule.push(`.out_of_range = SHEAF_${r.out_of_range.toUpperCase()}`);
  if (r.out_of_range === "fill") rule.push(`.fill_value = sheaf_float(${cppValue(r.fill_value, "f64")})`);
  return rule;
}

function cOptions(r) {
  const rule = cRule(r, usualRule(r));
  const options = cppOptions(r).filter((o) => /^\.(axis|batch_dims)/.test(o));
  if (r.broadcast) options.push(".broadcast = 1");
  if (r.scatters && r.reduction !== "none") options.push(`.reduction = SHEAF_REDUCE_${r.reduction.toUpperCase()}`);
  if (r.scatters && !r.include_self) options.push(".exclude_self = 1");
  if (r.onto_zeros) options.push(".onto_zeros = 1");
  if (r.skip_whole_window) options.push(".skip_whole_window = 1");
  if (rule.length) options.push(`.rule = {${rule.join(", ")}}`);
  return options;
}

function cXlaDims(r) {
  const lists = Object.entries(r.xla).filter(([, v]) => Array.isArray(v) && v.length);
  return {
    lines: lists.map(([key, v]) => `  const int64_t ${key}[] = {${v.join(", ")}};`),
    options: [...lists.map(([key, v]) => `.${key} = {${key}, ${v.length}}`),
      `.index_vector_dim = ${r.xla.index_vector_dim}`],
  };
}

const C_FORMATS = { f: "%g\\n", i: "%lld\\n", u: "%llu\\n" };
const C_CASTS = { f: "(double)", i: "(long long)", u: "(unsigned long long)" };

export function cCode(r) {
  const xla = isXla(r) ? cXlaDims(r) : { lines: [], options: [] };
  const options = [...xla.options, ...cOptions(r)];
  const names = ["data", "indices", ...(r.scatters ? ["updates"] : [])];
  const { count } = r.output;
  const kind = r.data.dtype[0];
  return ["#include <sheaf/c.h>", "", "#include <math.h>", "#include <stdio.h>", "", "int main(void) {",
    ...names.flatMap((name) => cTensor(name, r[name], flat(r[name], cppValue))),
    ...cTensor("output", { ...r.output, dtype: r.data.dtype }, "0").map((line) =>
      line.replace("output_values[] = {0}", `output_values[${Math.max(count, 1)}] = {0}`)),
    ...xla.lines,
    `  const sheaf_${r.op}_options options = {${options.join(", ") || "0"}};`,
    `  if (sheaf_${r.op}(${[...names, "output"].map((n) => "&" + n).join(", ")}, &options) != SHEAF_OK) {`,
    "    fprintf(stderr, \"%s\\n\", sheaf_last_error());", "    return 1;", "  }",
    `  for (int i = 0; i < ${count}; ++i) {`,
    `    printf("${C_FORMATS[kind]}", ${C_CASTS[kind]}output_values[i]);`, "  }", "  return 0;", "}", ""].join("\n");
}

// Python -------------------------------------------------------------------------------------

export function pythonCode(r) {
  refuseUnless(!isXla(r), "no function for the general operators of XLA yet; C++ and C have");
  const tensors = ["data", "indices", ...(r.scatters ? ["updates"] : [])];
  const args = [...tensors];
  if (!r.op.endsWith("_nd") && r.axis) args.push(`axis=${r.axis}`);
  if (!r.op.endsWith("_elements") && r.batch_dims) args.push(`batch_dims=${r.batch_dims}`);
  if (r.broadcast) args.push("broadcast=True");
  if (r.scatters && r.reduction !== "none") args.push(`reduction="${r.reduction}"`);
  if (r.scatters && !r.include_self) args.push("include_self=False");
  if (r.negative !== "from_end") args.push(`negative="${r.negative}"`);
  if (r.out_of_range !== "fail") args.push(`out_of_range="${r.out_of_range}"`);
  if (r.out_of_range === "fill") args.push(`fill_value=${pythonValue(r.fill_value)}`);
  return [...NUMPY.imports(r).slice(0, -1), "import sheaf", "",
    ...tensors.map((name) => `${name} = ${NUMPY.tensor(r[name])}`),
    ...(r.onto_zeros ? ["data = np.zeros_like(data)"] : []), "",
    `output = sheaf.${r.op}(${args.join(", ")})`, ""].join("\n");
}

export { cppRule, cppTensor, cppValue, CPP_TYPES, cRule, cTensor, flat, nested, pascal, view };
