// SPDX-License-Identifier: MIT
//
// Calls to start from: the examples of the specifications, and what people use gathers and scatters
// for. `problem` is all there is to a call; `as` is the name it is shown under.
import { attributesFor } from "./dialects.js";
import { usualAttributes } from "./operators.js";

const preset = (id, title, as, problem, note = "") => ({ id, title, as, problem, note });

export const PRESETS = [
  {
    name: "Real uses",
    presets: [
      preset("embedding", "Embedding lookup", "torch.nn.functional.embedding",
        "gather f32[6,4]={0,1,2,3,10,11,12,13,20,21,22,23,30,31,32,33,40,41,42,43,50,51,52,53} " +
        "i64[2,3]={1,4,0,5,1,1} negative=out_of_range",
        "Each token number picks a row of the table. Rows may repeat."),
      preset("beams", "Beam search reorder", "tf.gather",
        "gather f32[2,3,4]={0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23} " +
        "i64[2,3]={1,1,0,2,0,2} axis=1 batch_dims=1 negative=out_of_range",
        "In each batch, the surviving beams take the state of the beam they came from."),
      preset("top-k", "Top-k values", "torch.gather",
        "gather_elements f32[2,5]={3,9,1,7,5,8,2,6,4,0} i64[2,3]={1,3,4,0,2,3} axis=1 " +
        "negative=out_of_range",
        "The numbers of the k largest entries of each row bring back their values."),
      preset("one-hot", "One-hot", "Tensor.scatter",
        "scatter_elements f32[4,3]={0,0,0,0,0,0,0,0,0,0,0,0} i64[4,1]={2,0,1,2} " +
        "f32[4,1]={1,1,1,1} axis=1 negative=out_of_range",
        "Each row gets a 1 where its label says."),
      preset("masked", "Masked scatter", "data.at[indices].set",
        "scatter f32[6]={0,0,0,0,0,0} i64[5]={4,-9,0,-9,2} f32[5]={10,20,30,40,50} " +
        "out_of_range=skip",
        "An index that is out of range masks its update: it is skipped."),
      preset("graph-mean", "Graph mean", "sheaf.scatter",
        "scatter f32[4,2]={0,0,0,0,0,0,0,0} i64[5]={1,0,1,3,1} " +
        "f32[5,2]={2,20,4,40,6,60,8,80,1,10} reduction=mean include_self=0",
        "Messages along edges; each node takes the mean of those it gets. Node 2 gets none."),
      preset("rotary", "Rotary positions", "torch: data[indices]",
        "gather f32[5,3]={0,0.5,1,10,10.5,11,20,20.5,21,30,30.5,31,40,40.5,41} " +
        "i64[2,3]={0,1,2,2,3,4}",
        "Rows of a table of angles, by the position of each token in its sequence."),
      preset("batched", "Batched gather", "tf.gather_nd",
        "gather_nd f32[2,3,2]={0,1,2,3,4,5,6,7,8,9,10,11} i64[2,2,1]={2,0,1,1} batch_dims=1 " +
        "negative=out_of_range",
        "Each batch has a table and tuples of its own."),
      preset("permutation", "Permutation", "numpy.take",
        "gather f32[2,4]={1,2,3,4,5,6,7,8} i64[4]={2,0,3,1} axis=1",
        "Columns in another order: each index appears once."),
      preset("histogram", "Histogram", "numpy.add.at",
        "scatter i32[5]={0,0,0,0,0} i64[8]={1,3,1,0,4,1,3,1} i32[8]={1,1,1,1,1,1,1,1} reduction=add",
        "Each sample adds 1 to its bin. Step through it to see the bins grow."),
    ],
  },
  {
    name: "Bags",
    presets: [
      preset("embedding-bag", "Embedding bag, mean", "",
        "bag f32[5,3] i64[6]={4,0,2,2,1,3} offsets=i64[3]={0,2,3} pool=mean",
        "Rows are picked and pooled at once: each bag is the mean of its rows."),
      preset("weighted-bag", "Weighted sum of quantised rows", "",
        "bag row_u8_f32[5,4] i64[2,2]={4,0,2,2} weights=f32[2,2]={1,2,0.5,1}",
        "Rows of 8 bits with a scale each, decoded as they are read; each counts by its weight."),
      preset("segment-max", "Segments, largest", "",
        "bag f32[6,2]={1,9,2,8,3,7,4,6,5,5,6,4} lengths=i64[3]={2,1,3} pool=max",
        "No indices: neighbouring rows are pooled, by how many each segment has."),
      preset("q4-rows", "Rows of 4 bits", "",
        "bag q4_0[4,32] i64[2]={3,1} offsets=i64[2]={0,1}",
        "Blocks of 32 elements in 4 bits each, with a scale per block: a bag of one row decodes it."),
    ],
  },
  {
    name: "Tables",
    presets: [
      preset("table-ring", "Host memory to a GPU", "",
        "table f32[6,2] i64[7]={4,1,4,0,5,4,2} to=gpu piece_rows=3",
        "Host threads fetch the rows of a piece; it is copied while the next one is fetched."),
      preset("table-cache", "A file to a GPU that keeps a row", "",
        "table f32[6,2] i64[7]={4,1,4,0,5,4,2} from=file to=gpu piece_rows=3 cached=i64[1]={4}",
        "Row 4 is asked for most: it stays on the device, and is read from the file no more."),
      preset("table-mapped", "Long rows of locked memory", "",
        "table f32[4,512] i64[3]={3,0,3} to=gpu locked=1",
        "Rows of 2 KiB and more: kernels read them where they lie."),
    ],
  },
  {
    name: "DirectML",
    presets: [
      preset("dml-gather-1", "DML_GATHER, example 1", "DML_GATHER",
        "gather f32[4]={11,12,13,14} u32[5]={3,1,3,0,2} out_of_range=clamp"),
      preset("dml-gather-2", "DML_GATHER, example 2", "DML_GATHER",
        "gather f32[3,2]={1,2,3,4,5,6} u32[4]={0,1,1,2} out_of_range=clamp"),
      preset("dml-gather-3", "DML_GATHER, example 3", "DML_GATHER",
        "gather f32[3,2]={1,2,3,4,5,6} u32[2]={1,0} axis=1 out_of_range=clamp"),
      preset("dml-gather-4", "DML_GATHER, example 4", "DML_GATHER",
        "gather f32[3,3]={1,2,3,4,5,6,7,8,9} u32[1,2]={0,2} axis=1 out_of_range=clamp"),
      preset("dml-gather-5", "DML_GATHER, example 5", "DML_GATHER",
        "gather f32[3,2]={1,2,3,4,5,6} u32[2,2]={0,1,1,2} out_of_range=clamp"),
      preset("dml-gather-dims", "DML_GATHER, IndexDimensions", "DML_GATHER",
        "gather f32[7]={0,10,20,30,40,50,60} u32[1,4,6]={0,5,3,1,6,4,2,0,5,3,1,6,4,2,0,5,3,1,6,4,2,0,5,3} " +
        "out_of_range=clamp"),
      preset("dml-gather-elements", "DML_GATHER_ELEMENTS", "DML_GATHER_ELEMENTS",
        "gather_elements f32[3,3]={1,2,3,4,5,6,7,8,9} u32[2,3]={1,2,0,2,0,0} out_of_range=clamp"),
      preset("dml-gather-nd-1", "DML_GATHER_ND, example 1", "DML_GATHER_ND",
        "gather_nd f32[2,2]={0,1,2,3} u32[2,1]={1,0} out_of_range=clamp"),
      preset("dml-gather-nd-2", "DML_GATHER_ND, example 2", "DML_GATHER_ND",
        "gather_nd f32[2,2,2]={0,1,2,3,4,5,6,7} u32[2,2]={0,1,1,0} out_of_range=clamp"),
      preset("dml-gather-nd-shape", "DML_GATHER_ND, shapes", "DML_GATHER_ND",
        "gather_nd f32[3,4,5,6,7] u32[2,3]={2,0,1,0,3,4} out_of_range=clamp",
        "Five dimensions: the window scrolls to what is picked."),
      preset("dml-gather-nd-tuples", "DML_GATHER_ND, tuples", "DML_GATHER_ND",
        "gather_nd f32[3,2]={0,1,2,3,4,5} " +
        "u32[4,5,2]={0,0,1,1,2,0,0,1,1,0,2,1,0,0,1,1,2,0,0,1,1,0,2,1,0,0,1,1,2,0,0,1,1,0,2,1,0,0,1,1} " +
        "out_of_range=clamp"),
      preset("dml-gather-nd-dims", "DML_GATHER_ND, InputDimensionCount", "DML_GATHER_ND",
        "gather_nd f32[1,4,6] u32[1,2]={0,3} out_of_range=clamp"),
      preset("dml-gather-nd1-1", "DML_GATHER_ND1, example 1", "DML_GATHER_ND1",
        "gather_nd f32[2,2]={0,1,2,3} u32[2,1]={1,0} out_of_range=clamp"),
      preset("dml-gather-nd1-2", "DML_GATHER_ND1, example 2", "DML_GATHER_ND1",
        "gather_nd f32[3,2,2]={0,1,2,3,4,5,6,7,8,9,10,11} " +
        "u32[3,2,2]={0,0,1,1,1,1,0,0,0,1,1,0} batch_dims=1 out_of_range=clamp"),
      preset("dml-scatter", "DML_SCATTER, example 1", "DML_SCATTER_ELEMENTS",
        "scatter_elements f32[5]={0,1,2,3,4} u32[4]={3,1,3,0} f32[4]={5,6,7,8} out_of_range=clamp",
        "Two updates go to element 3; the later one stays."),
    ],
  },
  {
    name: "BNNS",
    presets: [
      preset("bnns-gather-nd-1", "BNNSGatherND, a block", "BNNSGatherND",
        "gather_nd f32[3,2,2]={10,11,12,13,20,21,22,23,30,31,32,33} i32[1]={1} negative=out_of_range"),
      preset("bnns-gather-nd-2", "BNNSGatherND, a row", "BNNSGatherND",
        "gather_nd f32[3,2,2]={10,11,12,13,20,21,22,23,30,31,32,33} i32[1,2]={1,0} " +
        "negative=out_of_range"),
      preset("bnns-gather-nd-3", "BNNSGatherND, an element", "BNNSGatherND",
        "gather_nd f32[3,2,2]={10,11,12,13,20,21,22,23,30,31,32,33} i32[1,1,3]={1,1,1} " +
        "negative=out_of_range"),
      preset("bnns-scatter", "BNNSScatter, sum", "BNNSScatter (vector)",
        "scatter f32[3]={100,200,300} i32[3]={0,0,2} f32[3]={1,2,3} reduction=add " +
        "negative=out_of_range"),
    ],
  },
  {
    name: "ONNX",
    presets: [
      preset("onnx-gather-0", "Gather, axis 0", "Gather",
        "gather f32[3,2]={1.0,1.2,2.3,3.4,4.5,5.7} i64[2,2]={0,1,1,2}"),
      preset("onnx-gather-1", "Gather, axis 1", "Gather",
        "gather f32[3,3]={1.0,1.2,1.9,2.3,3.4,3.9,4.5,5.7,5.9} i64[1,2]={0,2} axis=1"),
      preset("onnx-gather-elements-0", "GatherElements, axis 1", "GatherElements",
        "gather_elements f32[2,2]={1,2,3,4} i64[2,2]={0,0,1,0} axis=1"),
      preset("onnx-gather-elements-1", "GatherElements, axis 0", "GatherElements",
        "gather_elements f32[3,3]={1,2,3,4,5,6,7,8,9} i64[2,3]={1,2,0,2,0,0}"),
      preset("onnx-gather-nd-1", "GatherND, example 1", "GatherND",
        "gather_nd i32[2,2]={0,1,2,3} i64[2,2]={0,0,1,1}"),
      preset("onnx-gather-nd-2", "GatherND, example 2", "GatherND",
        "gather_nd i32[2,2]={0,1,2,3} i64[2,1]={1,0}"),
      preset("onnx-gather-nd-3", "GatherND, example 3", "GatherND",
        "gather_nd i32[2,2,2]={0,1,2,3,4,5,6,7} i64[2,2]={0,1,1,0}"),
      preset("onnx-gather-nd-4", "GatherND, example 4", "GatherND",
        "gather_nd i32[2,2,2]={0,1,2,3,4,5,6,7} i64[2,1,2]={0,1,1,0}"),
      preset("onnx-gather-nd-5", "GatherND, example 5", "GatherND",
        "gather_nd i32[2,2,2]={0,1,2,3,4,5,6,7} i64[2,1]={1,0} batch_dims=1"),
      preset("onnx-scatter-elements-1", "ScatterElements, example 1", "ScatterElements",
        "scatter_elements f32[3,3]={0,0,0,0,0,0,0,0,0} i64[2,3]={1,0,2,0,2,1} " +
        "f32[2,3]={1.0,1.1,1.2,2.0,2.1,2.2}"),
      preset("onnx-scatter-elements-2", "ScatterElements, example 2", "ScatterElements",
        "scatter_elements f32[1,5]={1,2,3,4,5} i64[1,2]={1,3} f32[1,2]={1.1,2.1} axis=1"),
      preset("onnx-scatter-nd-1", "ScatterND, example 1", "ScatterND",
        "scatter_nd f32[8]={1,2,3,4,5,6,7,8} i64[4,1]={4,3,1,7} f32[4]={9,10,11,12}"),
      preset("onnx-scatter-nd-2", "ScatterND, example 2", "ScatterND",
        "scatter_nd f32[4,4,4]={1,2,3,4,5,6,7,8,8,7,6,5,4,3,2,1,1,2,3,4,5,6,7,8,8,7,6,5,4,3,2,1," +
        "8,7,6,5,4,3,2,1,1,2,3,4,5,6,7,8,8,7,6,5,4,3,2,1,1,2,3,4,5,6,7,8} i64[2,1]={0,2} " +
        "f32[2,4,4]={5,5,5,5,6,6,6,6,7,7,7,7,8,8,8,8,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4}"),
    ],
  },
  {
    name: "XLA",
    presets: [
      preset("xla-gather", "A window per index", "stablehlo.gather",
        "xla_gather f32[4,4]={1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16} i64[2,2]={0,1,3,3} " +
        "offset_dims=[1,2] start_index_map=[0,1] index_vector_dim=1 slice_sizes=[2,2]",
        "Starts are clamped so that the whole window stays inside: [3, 3] becomes [2, 2]."),
      preset("xla-scatter", "Windows that are cut", "stablehlo.scatter",
        "xla_scatter f32[5]={0,0,0,0,0} i64[2,1]={1,4} f32[2,3]={1,2,3,4,5,6} " +
        "update_window_dims=[1] scatter_dims_to_operand_dims=[0] index_vector_dim=1 reduction=add",
        "The window at 4 is partly outside: only what is inside is added."),
    ],
  },
];

export const findPreset = (id) => PRESETS.flatMap((g) => g.presets).find((p) => p.id === id);

// What an operator starts with when it is chosen and the tensors at hand do not fit it.
const EXAMPLES = {
  gather: "gather f32[4,3]={0,1,2,10,11,12,20,21,22,30,31,32} i64[3]={3,0,3} axis=0",
  gather_elements: "gather_elements f32[3,3]={1,2,3,4,5,6,7,8,9} i64[2,3]={1,2,0,2,0,0} axis=0",
  gather_nd: "gather_nd f32[3,3]={1,2,3,4,5,6,7,8,9} i64[3,2]={0,0,2,1,1,2}",
  xla_gather: "xla_gather f32[4,4] i64[2,2]={0,1,3,3} offset_dims=[1,2] start_index_map=[0,1] " +
    "index_vector_dim=1 slice_sizes=[2,2]",
  scatter: "scatter f32[4,2]={0,0,0,0,0,0,0,0} i64[3]={3,0,3} f32[3,2]={1,2,3,4,5,6} axis=0",
  scatter_elements: "scatter_elements f32[3,3]={0,0,0,0,0,0,0,0,0} i64[2,3]={1,2,0,1,0,0} " +
    "f32[2,3]={1,2,3,4,5,6} axis=0",
  scatter_nd: "scatter_nd f32[3,3]={0,0,0,0,0,0,0,0,0} i64[3,2]={0,0,2,1,0,0} f32[3]={1,2,3}",
  xla_scatter: "xla_scatter f32[5]={0,0,0,0,0} i64[2,1]={1,3} f32[2,2]={1,2,3,4} " +
    "update_window_dims=[1] scatter_dims_to_operand_dims=[0] index_vector_dim=1",
};

// Data and indices that every gather and scatter takes: to compare any two of them.
const SHARED = "f32[3,2]={1,2,3,4,5,6} i64[2,2]={0,1,1,0}";

// With the name's rule, reduction and the like.
function asNamed(entry, problem) {
  const usual = usualAttributes(entry.op);
  const own = attributesFor(entry, {}, usual, "f32");
  const given = Object.keys(own).filter((key) => own[key] !== usual[key] && !problem.includes(` ${key}=`));
  return [problem, ...given.map((key) => `${key}=${own[key]}`)].join(" ");
}

// The example of an operator as a name makes it.
export const exampleFor = (entry) => asNamed(entry, EXAMPLES[entry.op]);

export const sharedExampleFor = (entry) => asNamed(entry, `${entry.op} ${SHARED}`);
