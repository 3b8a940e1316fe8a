// SPDX-License-Identifier: MIT
//
// What other libraries call the operators: the one table of names. Each name stands for an operator
// of the library and an index rule; `takes` are the attributes that the name's own call has, `fixed`
// what it cannot change. Everything else is the library's.
//
//   id, call   the name, and how a call is written: {axis}, {batch_dims}, {reduction} are filled in
//   rule       [negative, out_of_range]

const FROM_END_FAIL = ["from_end", "fail"];
const FROM_END_CLAMP = ["from_end", "clamp"];
const PLAIN_FAIL = ["out_of_range", "fail"];
const PLAIN_CLAMP = ["out_of_range", "clamp"];
const FROM_END_SKIP = ["from_end", "skip"];
const FROM_END_FILL = ["from_end", "fill"];

const AXIS = ["axis"];
const BATCH = ["batch_dims"];
const BOTH = ["axis", "batch_dims"];
const XLA_GATHER = ["offset_dims", "collapsed_slice_dims", "operand_batching_dims",
  "start_indices_batching_dims", "start_index_map", "index_vector_dim", "slice_sizes"];
const XLA_SCATTER = ["update_window_dims", "inserted_window_dims", "input_batching_dims",
  "scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim", "reduction"];

const name = (id, op, rule, takes, call, more = {}) => ({ id, op, rule, takes, call, ...more });

export const DIALECTS = [
  {
    name: "Sheaf",
    names: [
      name("sheaf.gather", "gather", FROM_END_FAIL, BOTH,
        "sheaf.gather(data, indices, axis={axis}, batch_dims={batch_dims})"),
      name("sheaf.gather_elements", "gather_elements", FROM_END_FAIL, AXIS,
        "sheaf.gather_elements(data, indices, axis={axis})"),
      name("sheaf.gather_nd", "gather_nd", FROM_END_FAIL, BATCH,
        "sheaf.gather_nd(data, indices, batch_dims={batch_dims})"),
      name("sheaf.scatter", "scatter", FROM_END_FAIL, [...BOTH, "reduction", "include_self"],
        "sheaf.scatter(data, indices, updates, axis={axis}, reduction=\"{reduction}\")"),
      name("sheaf.scatter_elements", "scatter_elements", FROM_END_FAIL,
        ["axis", "reduction", "include_self"],
        "sheaf.scatter_elements(data, indices, updates, axis={axis}, reduction=\"{reduction}\")"),
      name("sheaf.scatter_nd", "scatter_nd", FROM_END_FAIL,
        ["batch_dims", "reduction", "include_self"],
        "sheaf.scatter_nd(data, indices, updates, reduction=\"{reduction}\")"),
    ],
  },
  {
    name: "DirectML",
    names: [
      name("DML_GATHER", "gather", FROM_END_CLAMP, AXIS,
        "DML_GATHER_OPERATOR_DESC{…, .Axis = {axis}}"),
      name("DML_GATHER_ELEMENTS", "gather_elements", FROM_END_CLAMP, AXIS,
        "DML_GATHER_ELEMENTS_OPERATOR_DESC{…, .Axis = {axis}}"),
      name("DML_GATHER_ND", "gather_nd", FROM_END_CLAMP, [],
        "DML_GATHER_ND_OPERATOR_DESC{…}"),
      name("DML_GATHER_ND1", "gather_nd", FROM_END_CLAMP, BATCH,
        "DML_GATHER_ND1_OPERATOR_DESC{…, .BatchDimensionCount = {batch_dims}}"),
      name("DML_SCATTER_ELEMENTS", "scatter_elements", FROM_END_CLAMP, AXIS,
        "DML_SCATTER_ELEMENTS_OPERATOR_DESC{…, .Axis = {axis}}"),
      name("DML_SCATTER_ND", "scatter_nd", FROM_END_CLAMP, [],
        "DML_SCATTER_ND_OPERATOR_DESC{…}"),
    ],
  },
  {
    name: "BNNS",
    names: [
      name("BNNSGather (vector)", "gather", PLAIN_FAIL, AXIS,
        "BNNSGather({axis}, &data, &indices, &output, NULL)"),
      name("BNNSGather (output's shape)", "gather_elements", PLAIN_FAIL, AXIS,
        "BNNSGather({axis}, &data, &indices, &output, NULL)"),
      name("BNNSGatherND", "gather_nd", PLAIN_FAIL, [],
        "BNNSGatherND(&data, &indices, &output, NULL)"),
      name("BNNSScatter (vector)", "scatter", PLAIN_FAIL, ["axis", "reduction"],
        "BNNSScatter({axis}, {reduction}, &updates, &indices, &output, NULL)"),
      name("BNNSScatter (input's shape)", "scatter_elements", PLAIN_FAIL, ["axis", "reduction"],
        "BNNSScatter({axis}, {reduction}, &updates, &indices, &output, NULL)"),
      name("BNNSScatterND", "scatter_nd", PLAIN_FAIL, ["reduction"],
        "BNNSScatterND({reduction}, &updates, &indices, &output, NULL)"),
    ],
  },
  {
    name: "ONNX",
    names: [
      name("Gather", "gather", FROM_END_FAIL, AXIS, "Gather(data, indices, axis={axis})"),
      name("GatherElements", "gather_elements", FROM_END_FAIL, AXIS,
        "GatherElements(data, indices, axis={axis})"),
      name("GatherND", "gather_nd", FROM_END_FAIL, BATCH,
        "GatherND(data, indices, batch_dims={batch_dims})"),
      name("ScatterElements", "scatter_elements", FROM_END_FAIL, ["axis", "reduction"],
        "ScatterElements(data, indices, updates, axis={axis}, reduction={reduction})"),
      name("ScatterND", "scatter_nd", FROM_END_FAIL, ["reduction"],
        "ScatterND(data, indices, updates, reduction={reduction})"),
    ],
  },
  {
    name: "NumPy",
    names: [
      name("numpy.take", "gather", FROM_END_FAIL, AXIS, "numpy.take(data, indices, axis={axis})"),
      name("numpy.take, clip", "gather", PLAIN_CLAMP, AXIS,
        "numpy.take(data, indices, axis={axis}, mode=\"clip\")"),
      name("numpy.take, wrap", "gather", ["out_of_range", "wrap"], AXIS,
        "numpy.take(data, indices, axis={axis}, mode=\"wrap\")"),
      name("numpy.take_along_axis", "gather_elements", FROM_END_FAIL, AXIS,
        "numpy.take_along_axis(data, indices, axis={axis})", { fixed: { broadcast: "1" } }),
      name("data[indices]", "gather", FROM_END_FAIL, [], "data[indices]"),
      name("data[i, j]", "gather_nd", FROM_END_FAIL, [],
        "data[tuple(numpy.moveaxis(indices, -1, 0))]"),
      name("numpy.put_along_axis", "scatter_elements", FROM_END_FAIL, AXIS,
        "numpy.put_along_axis(data, indices, updates, axis={axis})"),
      name("numpy.add.at", "scatter", FROM_END_FAIL, [], "numpy.add.at(data, indices, updates)",
        { fixed: { reduction: "add" } }),
    ],
  },
  {
    name: "PyTorch",
    names: [
      name("torch.gather", "gather_elements", PLAIN_FAIL, AXIS,
        "torch.gather(data, dim={axis}, index=indices)"),
      name("torch.take_along_dim", "gather_elements", ["from_end", "wrap"], AXIS,
        "torch.take_along_dim(data, indices, dim={axis})", { fixed: { broadcast: "1" } }),
      name("torch.index_select", "gather", PLAIN_FAIL, AXIS,
        "torch.index_select(data, dim={axis}, index=indices)"),
      name("torch: data[indices]", "gather", FROM_END_FAIL, [], "data[indices]"),
      name("torch.nn.functional.embedding", "gather", PLAIN_FAIL, [],
        "torch.nn.functional.embedding(indices, data)"),
      name("Tensor.scatter", "scatter_elements", PLAIN_FAIL, AXIS,
        "data.scatter(dim={axis}, index=indices, src=updates)"),
      name("Tensor.scatter_add", "scatter_elements", PLAIN_FAIL, AXIS,
        "data.scatter_add(dim={axis}, index=indices, src=updates)",
        { fixed: { reduction: "add" } }),
      name("Tensor.scatter_reduce", "scatter_elements", PLAIN_FAIL,
        ["axis", "reduction", "include_self"],
        "data.scatter_reduce(dim={axis}, index=indices, src=updates, reduce={reduction})"),
      name("Tensor.index_add", "scatter", PLAIN_FAIL, AXIS,
        "data.index_add(dim={axis}, index=indices, source=updates)",
        { fixed: { reduction: "add" } }),
      name("Tensor.index_copy", "scatter", PLAIN_FAIL, AXIS,
        "data.index_copy(dim={axis}, index=indices, source=updates)"),
      name("Tensor.index_put", "scatter_nd", FROM_END_FAIL, [],
        "data.index_put(tuple(indices.unbind(-1)), updates)"),
    ],
  },
  {
    name: "TensorFlow",
    names: [
      name("tf.gather", "gather", PLAIN_FAIL, BOTH,
        "tf.gather(data, indices, axis={axis}, batch_dims={batch_dims})"),
      name("tf.gather_nd", "gather_nd", PLAIN_FAIL, BATCH,
        "tf.gather_nd(data, indices, batch_dims={batch_dims})"),
      name("tf.nn.embedding_lookup", "gather", PLAIN_FAIL, [],
        "tf.nn.embedding_lookup(data, indices)"),
      name("tf.tensor_scatter_nd_update", "scatter_nd", PLAIN_FAIL, [],
        "tf.tensor_scatter_nd_update(data, indices, updates)"),
      name("tf.tensor_scatter_nd_add", "scatter_nd", PLAIN_FAIL, [],
        "tf.tensor_scatter_nd_add(data, indices, updates)", { fixed: { reduction: "add" } }),
      name("tf.tensor_scatter_nd_max", "scatter_nd", PLAIN_FAIL, [],
        "tf.tensor_scatter_nd_max(data, indices, updates)", { fixed: { reduction: "max" } }),
      name("tf.scatter_nd", "scatter_nd", PLAIN_FAIL, [],
        "tf.scatter_nd(indices, updates, shape)",
        { fixed: { reduction: "add", onto_zeros: "1" } }),
    ],
  },
  {
    name: "JAX and XLA",
    names: [
      name("jnp.take", "gather", FROM_END_FILL, AXIS, "jnp.take(data, indices, axis={axis})",
        { fixed: { fill_value: "lost" } }),
      name("jnp.take_along_axis", "gather_elements", FROM_END_FILL, AXIS,
        "jnp.take_along_axis(data, indices, axis={axis})",
        { fixed: { broadcast: "1", fill_value: "lost" } }),
      name("jax: data[indices]", "gather", FROM_END_CLAMP, [], "data[indices]"),
      name("data.at[indices].set", "scatter", FROM_END_SKIP, [], "data.at[indices].set(updates)"),
      name("data.at[indices].add", "scatter", FROM_END_SKIP, [], "data.at[indices].add(updates)",
        { fixed: { reduction: "add" } }),
      name("stablehlo.gather", "xla_gather", PLAIN_CLAMP, XLA_GATHER, "stablehlo.gather(data, indices, …)"),
      name("stablehlo.scatter", "xla_scatter", ["out_of_range", "skip"], XLA_SCATTER,
        "stablehlo.scatter(data, indices, updates, …)"),
      name("XLA Scatter", "xla_scatter", ["out_of_range", "skip"], XLA_SCATTER,
        "Scatter(data, indices, updates, …)", { fixed: { skip_whole_window: "1" } }),
    ],
  },
  {
    name: "WebNN",
    names: [
      name("gather", "gather", FROM_END_CLAMP, AXIS,
        "builder.gather(data, indices, {axis: {axis}})"),
      name("gatherElements", "gather_elements", FROM_END_CLAMP, AXIS,
        "builder.gatherElements(data, indices, {axis: {axis}})"),
      name("gatherND", "gather_nd", FROM_END_CLAMP, [], "builder.gatherND(data, indices)"),
      name("scatterElements", "scatter_elements", FROM_END_CLAMP, AXIS,
        "builder.scatterElements(data, indices, updates, {axis: {axis}})"),
      name("scatterND", "scatter_nd", FROM_END_CLAMP, [],
        "builder.scatterND(data, indices, updates)"),
    ],
  },
];

// What JAX writes where an index leads nowhere: not a number, or the integer farthest from use.
const LOST = {
  i8: "-128", i16: "-32768", i32: "-2147483648", i64: "-9223372036854775808", u8: "255",
  u16: "65535", u32: "4294967295", u64: "18446744073709551615", bool: "1", f8e4m3: "nan",
  f8e5m2: "nan", f16: "nan", bf16: "nan", f32: "nan", f64: "nan", c64: "(nan,nan)",
  c128: "(nan,nan)",
};

const ALL = DIALECTS.flatMap((d) => d.names.map((n) => ({ ...n, dialect: d.name })));

// Ids are unique across dialects, so that an address needs only one word.
export const findName = (id) => ALL.find((n) => n.id === id);
export const allNames = () => ALL;

// The name under which a bare problem string is shown.
export const nameOfOperator = (op) => ALL.find((n) => n.op === op);

// The attributes of a call by this name: those it takes from `attributes`, its own for the others.
export function attributesFor(entry, attributes, usual, dtype) {
  const [negative, out_of_range] = entry.rule;
  const own = { ...usual, negative, out_of_range, ...(entry.fixed ?? {}) };
  if (own.fill_value === "lost") own.fill_value = LOST[dtype] ?? "0";
  for (const key of entry.takes) {
    if (attributes[key] !== undefined && key in usual) own[key] = attributes[key];
  }
  return own;
}

// The call as its dialect writes it.
export function callText(entry, attributes) {
  return entry.call.replace(/\{(axis|batch_dims|reduction)\}/g, (_, key) => attributes[key] ?? "0");
}
