// SPDX-License-Identifier: MIT
//
// What a bag is compared with: the same rows pooled in another way, PyTorch's function, and the two calls that
// a bag stands for, a gather and a scatter.

const POOLS = ["sum", "mean", "max", "min", "mul", "sqrtn"];
const MODES = ["sum", "mean", "max"];
const TORCH = "torch.nn.functional.embedding_bag";
export const COMPOSED = "gather, then scatter";

// Split at spaces, but not at those within brackets and braces.
function wordsOf(problem) {
  const words = [""];
  let depth = 0;
  for (const c of problem.trim()) {
    depth += "[{".includes(c) ? 1 : "]}".includes(c) ? -1 : 0;
    if (c !== " " || depth > 0) words[words.length - 1] += c;
    else if (words.at(-1)) words.push("");
  }
  return words;
}

// A problem string with attributes set, or left out where the value is null.
export function withAttributes(problem, attributes) {
  const names = Object.keys(attributes);
  const kept = wordsOf(problem).filter((word) => !names.some((name) => word.startsWith(`${name}=`)));
  return [...kept, ...names.filter((name) => attributes[name] !== null).map((name) => `${name}=${attributes[name]}`)].join(" ");
}

// Whether a tensor's values stand in the problem string: those of encoded rows are made up.
export const isEditable = (answer, tensor) =>
  !["scales", "zeros", "output"].includes(tensor) && (tensor !== "data" || answer.call.encoding === "plain");

// The problem string with one value changed; all values of that tensor are then given.
export function withBagValue(problem, answer, tensor, element, text) {
  const { dtype, sizes, values } = answer.tensors.find((t) => t.name === tensor);
  const literal = `${dtype}[${sizes.join(",")}]={${values.map((value, e) => (e === element ? text : value)).join(",")}}`;
  const words = wordsOf(problem);
  const place = { data: 1, indices: 2 }[tensor];
  if (place) words[place] = literal;
  else words[words.findIndex((word) => word.startsWith(`${tensor}=`))] = `${tensor}=${literal}`;
  return words.join(" ");
}

const refuses = (text) => ({ kind: "refuses", text: `${TORCH} refuses: ${text}` });

// What PyTorch's function takes less of.
function torchObjections(answer, mode) {
  const { call } = answer;
  const against = [];
  if (!call.indexed) against.push(refuses("it needs indices"));
  if (call.encoding !== "plain") against.push(refuses("rows are plain floats; quantised ones have functions of their own"));
  if (call.weighted && mode !== "sum") against.push(refuses("per_sample_weights only with mode=\"sum\""));
  if (call.form === "lengths" || call.form === "ids") {
    against.push({ kind: "notes", text: `${TORCH} takes offsets: where each bag begins, as ${call.form} say.` });
  }
  if (answer.tensors[0].sizes.length !== 2) against.push(refuses("data has two dimensions"));
  return against;
}

function torchSide(problem, answer, mode) {
  return {
    problem: withAttributes(problem, { pool: mode, negative: "out_of_range", out_of_range: null, fill_value: null, empty_value: null }),
    call: `${TORCH}(indices, data${answer.call.form === "rows" ? "" : ", offsets"}${answer.call.weighted
      ? ", per_sample_weights=weights" : ""}, mode="${mode}")`,
    objections: torchObjections(answer, mode),
  };
}

const REDUCTIONS = { sum: "add", mean: "mean", max: "max", min: "min", mul: "mul", sqrtn: "add" };

// The rows in between as updates, and for each the bag that it goes to.
function composedSide(answer) {
  const { call } = answer;
  const entries = answer.steps.list.filter((step) => step.entry !== null && !step.left_out);
  const sizes = answer.tensors.at(-1).sizes;
  const dtype = call.computed;
  const tensor = (type, dims, values) => `${type}[${dims}]${values.length ? `={${values.join(",")}}` : ""}`;
  const start = Array(answer.tensors.at(-1).count).fill(call.empty_value);
  return {
    problem: ["scatter", tensor(dtype, sizes, start), tensor("i64", [entries.length], entries.map((step) => step.bag)),
      tensor(dtype, [entries.length, ...sizes.slice(1)], entries.flatMap((step) => step.product ?? step.values)),
      `reduction=${REDUCTIONS[call.pool]}`, "include_self=0"].join(" "),
    call: `rows = gather(data, indices)${call.weighted ? " * weights" : ""}; scatter(output, bag of each, rows, ${REDUCTIONS[call.pool]})`,
    objections: call.pool === "sqrtn" ? [{ kind: "notes", text: "No scatter divides by a root: that is a third call." }] : [],
  };
}

export const BAG_OTHERS = [
  ...POOLS.map((pool) => ({ id: `sheaf.bag, ${pool}`, group: "Sheaf" })),
  { id: COMPOSED, group: "Sheaf" },
  ...MODES.map((mode) => ({ id: `${TORCH}, ${mode}`, group: "PyTorch" })),
];

// {problem, call, objections}; null where the bag is refused already, or has no such side.
export function otherSide(id, problem, answer) {
  const [name, how] = id.split(", ");
  if (id === COMPOSED) return answer.steps?.list.length ? composedSide(answer) : null;
  if (name === TORCH) return torchSide(problem, answer, how);
  return { problem: withAttributes(problem, { pool: how }), call: bagCallText(answer, how), objections: [] };
}

export function bagCallText({ call }, pool = call.pool) {
  const words = ["data", ...(call.indexed ? ["indices"] : []),
    ...(call.form === "rows" ? [] : [call.form === "offsets" && call.indexed ? "offsets" : `${call.form}=${call.form}`]),
    ...(call.weighted ? ["weights=weights"] : []), ...(pool === "sum" ? [] : [`pool="${pool}"`])];
  return `${call.indexed ? "sheaf.bag" : "sheaf.segment_reduce"}(${words.join(", ")})`;
}

// How many rows were added when a bag has made `moves` moves: the moves of the scatter beside it.
export const rowsAfter = (answer, moves) =>
  answer.steps.list.slice(0, moves).filter((step) => step.entry !== null && !step.left_out).length;
