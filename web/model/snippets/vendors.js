// SPDX-License-Identifier: MIT
//
// ONNX, DirectML and BNNS. Each has one index rule, and not every operator: where a call does not fit
// the answer says what is missing.
import { refuseUnless } from "./common.js";
import { NUMPY, sameOffAxis } from "./arrays.js";
import { CPP_TYPES, cppValue, flat } from "./sheaf.js";

// A rule only matters to indices that meet it: a call without such indices means the same under all.
function refuseOtherRule(r, negative, outOfRange) {
  refuseUnless(r.out_of_range === outOfRange || !r.hasOutside,
    `rule ${r.out_of_range} for indices out of range: it knows ${outOfRange}`);
  refuseUnless(r.negative === negative || !r.hasNegative,
    negative === "from_end" ? "way to refuse negative indices: they count from the end"
      : "negative indices");
}

// ONNX ---------------------------------------------------------------------------------------

const ONNX_TYPES = {
  f32: "FLOAT", f64: "DOUBLE", f16: "FLOAT16", bf16: "BFLOAT16", i8: "INT8", i16: "INT16",
  i32: "INT32", i64: "INT64", u8: "UINT8", u16: "UINT16", u32: "UINT32", u64: "UINT64",
  bool: "BOOL", c64: "COMPLEX64", c128: "COMPLEX128", f8e4m3: "FLOAT8E4M3FN", f8e5m2: "FLOAT8E5M2",
};
const ONNX_OPS = {
  gather: "Gather", gather_elements: "GatherElements", gather_nd: "GatherND",
  scatter_elements: "ScatterElements", scatter_nd: "ScatterND",
};

export function onnxCode(r) {
  const op = ONNX_OPS[r.op];
  refuseUnless(op, `operator for ${r.op}`);
  refuseUnless(r.op === "gather_nd" || !r.batch_dims, `batch_dims in ${op}`);
  refuseUnless(!r.broadcast, "broadcast in GatherElements");
  refuseUnless(r.op !== "gather_elements" || sameOffAxis(r),
    "indices that are smaller than data off the axis, by the letter");
  refuseUnless(["none", "add", "mul", "min", "max"].includes(r.reduction), `reduction ${r.reduction}`);
  refuseUnless(r.include_self, "scatter that leaves the old value out");
  refuseUnless(!r.op.endsWith("_nd") || r.extents.length > 0, "tuples of no indices");
  refuseOtherRule(r, "from_end", "fail");
  const inputs = ["data", "indices", ...(r.scatters ? ["updates"] : [])];
  const attributes = [];
  if (!r.op.endsWith("_nd")) attributes.push(`axis=${r.axis}`);
  if (r.op === "gather_nd" && r.batch_dims) attributes.push(`batch_dims=${r.batch_dims}`);
  if (r.scatters && r.reduction !== "none") attributes.push(`reduction="${r.reduction}"`);
  const info = (name, t) =>
    `helper.make_tensor_value_info("${name}", TensorProto.${ONNX_TYPES[t.dtype]}, [${t.sizes.join(", ")}])`;
  const wide = { ...r.indices, dtype: r.indices.dtype === "i32" ? "i32" : "i64" };
  const given = { ...r, indices: wide };
  return [...NUMPY.imports(r).slice(0, -1), "from onnx import TensorProto, helper",
    "from onnx.reference import ReferenceEvaluator", "",
    ...inputs.map((name) => `${name} = ${NUMPY.tensor(given[name])}`),
    ...(r.onto_zeros ? ["data = np.zeros_like(data)"] : []), "",
    `node = helper.make_node("${op}", [${inputs.map((n) => `"${n}"`).join(", ")}], ["output"]` +
      attributes.map((a) => ", " + a).join("") + ")",
    "graph = helper.make_graph([node], \"call\", [",
    ...inputs.map((name) => `    ${info(name, given[name])},`),
    `], [${info("output", { ...r.output, dtype: r.data.dtype })}])`,
    "model = helper.make_model(graph, opset_imports=[helper.make_opsetid(\"\", 18)])",
    `feeds = {${inputs.map((n) => `"${n}": ${n}`).join(", ")}}`,
    "output, = ReferenceEvaluator(model).run(None, feeds)", ""].join("\n");
}

// DirectML -----------------------------------------------------------------------------------

const DML_TYPES = {
  f32: "FLOAT32", f16: "FLOAT16", f64: "FLOAT64", i8: "INT8", i16: "INT16", i32: "INT32",
  i64: "INT64", u8: "UINT8", u16: "UINT16", u32: "UINT32", u64: "UINT64",
};
const DML_OPS = {
  gather: "GATHER", gather_elements: "GATHER_ELEMENTS", gather_nd: "GATHER_ND1",
  scatter_elements: "SCATTER_ELEMENTS", scatter_nd: "SCATTER_ND",
};

const padded = (sizes, rank) => [...Array(rank - sizes.length).fill(1), ...sizes];

function dmlTensor(name, tensor, rank) {
  const type = `DML_TENSOR_DATA_TYPE_${DML_TYPES[tensor.dtype]}`;
  return [`const UINT ${name}Sizes[] = {${padded(tensor.sizes, rank).join(", ")}};`,
    `const DML_BUFFER_TENSOR_DESC ${name}Buffer = {`,
    `    ${type}, DML_TENSOR_FLAG_NONE, ${rank}, ${name}Sizes, nullptr,`,
    `    DMLCalcBufferTensorSize(${type}, ${rank}, ${name}Sizes, nullptr), 0};`,
    `const DML_TENSOR_DESC ${name} = {DML_TENSOR_TYPE_BUFFER, &${name}Buffer};`];
}

export function directmlCode(r) {
  const op = DML_OPS[r.op];
  refuseUnless(op, `operator for ${r.op}`);
  refuseUnless(r.op === "gather_nd" || !r.batch_dims, "batch dimensions in this operator");
  refuseUnless(!r.broadcast, "broadcast in GATHER_ELEMENTS");
  refuseUnless(!r.op.endsWith("_elements") || sameOffAxis(r),
    "indices that are smaller than data off the axis");
  refuseUnless(r.reduction === "none", `reduction ${r.reduction}`);
  refuseUnless(!r.onto_zeros, "scatter onto zeros: bind zeros as the input");
  refuseOtherRule(r, "from_end", "clamp");
  for (const t of [r.data, r.indices]) {
    refuseUnless(DML_TYPES[t.dtype], `type ${t.dtype}`);
    refuseUnless(!t.sizes.includes(0), "tensors without elements");
  }
  refuseUnless(/^[iu](32|64)$/.test(r.indices.dtype), `indices of type ${r.indices.dtype}`);
  const names = ["input", "indices", ...(r.scatters ? ["updates"] : []), "output"];
  const of = { input: r.data, indices: r.indices, updates: r.updates, output: { ...r.output, dtype: r.data.dtype } };
  const rank = Math.max(1, ...names.map((name) => of[name].sizes.length));
  refuseUnless(rank <= 8, "tensors of more than 8 dimensions");
  const fields = [...names.map((n) => "&" + n)];
  if (!r.op.endsWith("_nd")) fields.push(`/*Axis*/ ${r.axis + rank - r.data.sizes.length}`);
  if (r.op === "gather") fields.push(`/*IndexDimensions*/ ${r.indices.sizes.length}`);
  if (r.op.endsWith("_nd")) {
    fields.push(`/*InputDimensionCount*/ ${r.data.sizes.length}`,
      `/*IndicesDimensionCount*/ ${r.indices.sizes.length}`);
  }
  if (r.op === "gather_nd") fields.push(`/*BatchDimensionCount*/ ${r.batch_dims}`);
  return ["#include <DirectML.h>  // here: <sheaf/directml.h>", "",
    ...names.flatMap((name) => dmlTensor(name, of[name], rank)), "",
    `const DML_${op}_OPERATOR_DESC call = {`, `    ${fields.join(", ")}};`,
    `const DML_OPERATOR_DESC desc = {DML_OPERATOR_${op}, &call};`,
    "sheaf::dml::ComPtr<IDMLOperator> op;",
    "const HRESULT result = device->CreateOperator(&desc, &op);", ""].join("\n");
}

// BNNS ---------------------------------------------------------------------------------------

const BNNS_TYPES = {
  f32: "Float32", f16: "Float16", bf16: "BFloat16", i8: "Int8", i16: "Int16", i32: "Int32",
  i64: "Int64", u8: "UInt8", u16: "UInt16", u32: "UInt32", u64: "UInt64",
};

function bnnsTensor(name, tensor, values) {
  const type = CPP_TYPES[tensor.dtype];
  refuseUnless(type && BNNS_TYPES[tensor.dtype], `literals of type ${tensor.dtype}`);
  const rank = tensor.sizes.length;
  const layout = rank === 1 ? "BNNSDataLayoutVector" : `BNNSDataLayout${rank}DFirstMajor`;
  return [values === null ? `${type} ${name}_values[${tensor.count}];` : `${type} ${name}_values[] = {${values}};`,
    `BNNSNDArrayDescriptor ${name} = {.layout = ${layout},`,
    `                               .size = {${tensor.sizes.join(", ")}},`,
    `                               .data = ${name}_values,`,
    `                               .data_type = BNNSDataType${BNNS_TYPES[tensor.dtype]}};`];
}

export function bnnsCode(r) {
  refuseUnless(!r.op.startsWith("xla_"), `function for ${r.op}`);
  refuseUnless(!r.batch_dims, "batch dimensions");
  refuseUnless(!r.broadcast, "broadcast");
  refuseUnless(["none", "add"].includes(r.reduction), `reduction ${r.reduction}`);
  refuseUnless(r.include_self && !r.onto_zeros, "scatter that leaves the old value out");
  refuseOtherRule(r, "out_of_range", "fail");
  const nd = r.op.endsWith("_nd");
  refuseUnless(nd || r.op.endsWith("_elements") || r.indices.sizes.length === 1,
    "grids of indices: a vector, or the shape of the output");
  for (const t of [r.data, r.indices, r.output]) {
    refuseUnless(t.sizes.length >= 1 && t.sizes.length <= 8, "tensors without dimensions, or of more than 8");
  }
  const reduce = r.reduction === "add" ? "BNNSReduceFunctionSum" : "BNNSReduceFunctionNone";
  const output = { ...r.output, dtype: r.data.dtype };
  const axis = nd ? "" : `${r.axis}, `;
  const call = r.scatters
    ? `BNNSScatter${nd ? "ND" : ""}(${axis}${reduce}, &updates, &indices, &output, NULL);`
    : `BNNSGather${nd ? "ND" : ""}(${axis}&data, &indices, &output, NULL);`;
  const tensors = r.scatters
    ? [...bnnsTensor("updates", r.updates, flat(r.updates, cppValue)),
      ...bnnsTensor("indices", r.indices, flat(r.indices, cppValue)),
      "// What is there already; the scatter changes it in its place.",
      ...bnnsTensor("output", output, flat(r.data, cppValue))]
    : [...bnnsTensor("data", r.data, flat(r.data, cppValue)),
      ...bnnsTensor("indices", r.indices, flat(r.indices, cppValue)),
      ...bnnsTensor("output", output, null)];
  return ["#include <Accelerate/Accelerate.h>  // here: <sheaf/bnns.h>", "", ...tensors, "",
    `const int status = ${call}`, ""].join("\n");
}
