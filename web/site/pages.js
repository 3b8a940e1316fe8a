// SPDX-License-Identifier: MIT
//
// Which pages a site has: one per name, one per pair of names that people ask about.
import { allNames } from "../model/dialects.js";
import { COMPOSED } from "../model/bag/others.js";
import { exampleFor, findPreset, sharedExampleFor } from "../model/presets.js";
import { toHash } from "../model/url.js";

// By slug; "gather" is Sheaf's own.
const PAIRS = [
  ["gather", "gather_elements"], ["gather", "gather_nd"], ["gather_elements", "gather_nd"],
  ["scatter", "scatter_elements"], ["scatter", "scatter_nd"], ["scatter_elements", "scatter_nd"],
  ["torch.gather", "tf.gather"], ["torch.gather", "numpy.take_along_axis"], ["torch.gather", "torch.take_along_dim"],
  ["torch.gather", "onnx.GatherElements"], ["torch.gather", "tf.gather_nd"], ["tf.gather", "tf.gather_nd"],
  ["numpy.take", "numpy.take_along_axis"], ["numpy.take", "numpy.take-clip"], ["numpy.take", "jnp.take"],
  ["numpy.take", "tf.gather"], ["numpy.take_along_axis", "jnp.take_along_axis"], ["onnx.Gather", "onnx.GatherElements"],
  ["onnx.Gather", "onnx.GatherND"], ["onnx.Gather", "DML_GATHER"], ["onnx.GatherElements", "DML_GATHER_ELEMENTS"],
  ["DML_GATHER", "DML_GATHER_ND"], ["DML_GATHER", "webnn.gather"], ["DML_GATHER_ND", "BNNSGatherND"],
  ["Tensor.scatter", "Tensor.scatter_add"], ["Tensor.scatter", "onnx.ScatterElements"],
  ["Tensor.scatter_add", "numpy.add.at"], ["onnx.ScatterElements", "onnx.ScatterND"],
];

const NAMES = allNames();
const bySlug = (slug) => NAMES.find((n) => n.slug === slug || n.slug === `sheaf.${slug}`);
const shortSlug = (entry) => entry.slug.replace(/^sheaf\./, "");

function namePage(entry) {
  const problem = exampleFor(entry);
  return {
    path: `${entry.slug}/`, label: entry.id, group: entry.dialect, entries: [entry], problems: [problem],
    title: `${entry.id}, drawn`, hash: toHash({ call: problem, as: entry.id }),
    description: `Which element ${entry.id} takes from where: a picture to point at and to step through.`,
  };
}

function pairPage(entries) {
  const [a, b] = entries;
  const problems = entries.map(sharedExampleFor);
  return {
    path: `vs/${entries.map(shortSlug).join("-")}/`, label: `${a.id} and ${b.id}`, group: "Compared", entries, problems,
    title: `${a.id} or ${b.id}?`, hash: toHash({ call: problems[0], as: a.id, with: b.id, show: "compare" }),
    description: `${a.id} and ${b.id} on the same tensors: two pictures that step together, and the first cell that differs.`,
  };
}

// Bags and tables have no names in other libraries' tables: pages of their own.
function examplePage(path, label, preset, description, more = {}) {
  const { problem } = findPreset(preset);
  return { path, label, group: more.show ? "Compared" : "Sheaf", entries: [], problems: [problem], title: `${label}, drawn`,
    hash: toHash({ call: problem, ...more }), description };
}

const EXAMPLES = [
  examplePage("sheaf.bag/", "sheaf.bag", "embedding-bag",
    "Which rows an embedding bag picks and pools: a picture to point at and to step through."),
  examplePage("quantised-rows/", "Quantised rows", "weighted-bag",
    "Rows of 8 bits, decoded as they are read, weighted and added up: step by step."),
  examplePage("tables/", "Tables that lie anywhere", "table-cache",
    "How rows of a file reach a GPU: in pieces, past the rows that the GPU keeps."),
  examplePage("vs/embedding_bag-gather_scatter/", "EmbeddingBag and gather, then sum", "embedding-bag",
    "An embedding bag beside a gather and a scatter: two pictures that step together.",
    { with: COMPOSED, show: "compare" }),
];

export const PAGES = [...NAMES.map(namePage), ...PAIRS.map((pair) => pairPage(pair.map(bySlug))), ...EXAMPLES];
