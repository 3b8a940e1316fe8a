// SPDX-License-Identifier: MIT
//
// The library's eight operators as forms: which attributes a problem string may have for each, and
// what they are when left out. The library checks them; this says which fields to show.

const NAMES = {
  negative: ["from_end", "out_of_range"],
  gatherRange: ["fail", "clamp", "fill", "wrap", "trust"],
  scatterRange: ["fail", "clamp", "skip", "wrap", "trust"],
  reduction: ["none", "add", "sub", "mul", "min", "max", "mean"],
};

const number = (name, label, hint) => ({ name, label, hint, kind: "number", usual: "0" });
const flag = (name, label, usual, hint) => ({ name, label, usual, hint, kind: "flag" });
const dims = (name, hint) => ({ name, label: name, hint, kind: "dims", usual: "" });
const choice = (name, label, choices, usual, hint) =>
  ({ name, label, choices, usual, hint, kind: "choice" });

const AXIS = number("axis", "axis", "Which dimension of data the index replaces. -1 is the last.");
const BATCH = number("batch_dims", "batch_dims", "Leading dimensions that data and indices share.");
const REDUCTION = [
  choice("reduction", "reduction", NAMES.reduction, "none",
    "How an update and the element that is there become one."),
  flag("include_self", "include_self", "1", "Off: what was there is no part of the reduction."),
  flag("onto_zeros", "onto_zeros", "0", "Start from zeros instead of data."),
];

function rule(scatters, negative, outOfRange) {
  return [
    choice("negative", "negative indices", NAMES.negative, negative,
      "Whether -1 is the last entry or out of range."),
    choice("out_of_range", "out of range",
      scatters ? NAMES.scatterRange : NAMES.gatherRange, outOfRange,
      "What happens to an index that is out of range."),
    ...(scatters ? [] : [{ name: "fill_value", label: "fill value", kind: "number", usual: "0",
      hint: "What fill writes.", only: (attributes) => attributes.out_of_range === "fill" }]),
  ];
}

const XLA_GATHER = [
  "offset_dims", "collapsed_slice_dims", "operand_batching_dims",
  "start_indices_batching_dims", "start_index_map", "slice_sizes",
].map((name) => dims(name, "A list of dimensions or sizes, as in 0, 1."));
const XLA_SCATTER = [
  "update_window_dims", "inserted_window_dims", "input_batching_dims",
  "scatter_indices_batching_dims", "scatter_dims_to_operand_dims",
].map((name) => dims(name, "A list of dimensions, as in 0, 1."));
const VECTOR_DIM = number("index_vector_dim", "index_vector_dim",
  "The dimension of indices that holds the tuples.");

const gather = (...own) => [...own, ...rule(false, "from_end", "fail")];
const scatter = (...own) => [...own, ...REDUCTION, ...rule(true, "from_end", "fail")];

export const OPERATORS = {
  gather: { attributes: gather(AXIS, BATCH) },
  gather_elements: {
    attributes: gather(AXIS, flag("broadcast", "broadcast", "0",
      "Off the axis, dimensions of size 1 stretch.")),
  },
  gather_nd: { attributes: gather(BATCH) },
  xla_gather: {
    attributes: [...XLA_GATHER, VECTOR_DIM, ...rule(false, "out_of_range", "clamp")],
  },
  scatter: { attributes: scatter(AXIS, BATCH), scatters: true },
  scatter_elements: { attributes: scatter(AXIS), scatters: true },
  scatter_nd: { attributes: scatter(BATCH), scatters: true },
  xla_scatter: {
    attributes: [...XLA_SCATTER, VECTOR_DIM,
      flag("skip_whole_window", "skip_whole_window", "0",
        "A window that is partly outside is left out as a whole."),
      ...REDUCTION, ...rule(true, "out_of_range", "skip")],
    scatters: true,
  },
};

export const DTYPES = ["f32", "f64", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64",
  "u8", "u16", "u32", "u64", "bool", "c64", "c128"];
export const INDEX_DTYPES = ["i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"];

export function usualAttributes(op) {
  return Object.fromEntries(OPERATORS[op].attributes.map((a) => [a.name, a.usual]));
}
