// SPDX-License-Identifier: MIT
#include "demo_examples.h"

#include "sheaf/gather.h"
#include "sheaf/scatter.h"
#include "support/text.h"

namespace sheaf::cli {

namespace {

// DirectML counts negative indices from the end and clamps; BNNS refuses both kinds. DirectML
// pads sizes with leading ones, which are left out here.
const Example kDemoProblems[] = {
    {"DML_GATHER, example 1: pick single elements",
     "gather f32[4]={11,12,13,14} u32[5]={3,1,3,0,2} axis=0 out_of_range=clamp",
     {5},
     {14, 12, 14, 11, 13}},
    {"DML_GATHER, example 2: pick rows, one of them twice",
     "gather f32[3,2]={1,2,3,4,5,6} u32[4]={0,1,1,2} axis=0 out_of_range=clamp",
     {4, 2},
     {1, 2, 3, 4, 3, 4, 5, 6}},
    {"DML_GATHER, example 3: swap columns",
     "gather f32[3,2]={1,2,3,4,5,6} u32[2]={1,0} axis=1 out_of_range=clamp",
     {3, 2},
     {2, 1, 4, 3, 6, 5}},
    {"DML_GATHER, example 4: pick columns with a 1 x 2 grid of indices",
     "gather f32[3,3]={1,2,3,4,5,6,7,8,9} u32[1,2]={0,2} axis=1 out_of_range=clamp",
     {3, 1, 2},
     {1, 3, 4, 6, 7, 9}},
    {"DML_GATHER, example 5: pick rows with a 2 x 2 grid of indices",
     "gather f32[3,2]={1,2,3,4,5,6} u32[2,2]={0,1,1,2} axis=0 out_of_range=clamp",
     {2, 2, 2},
     {1, 2, 3, 4, 3, 4, 5, 6}},
    {"DML_GATHER_ELEMENTS: pick within each column",
     "gather_elements f32[3,3]={1,2,3,4,5,6,7,8,9} u32[2,3]={1,2,0,2,0,0} axis=0 "
     "out_of_range=clamp",
     {2, 3},
     {4, 8, 3, 7, 2, 3}},
    {"DML_GATHER_ND, example 1: tuples of one index pick rows",
     "gather_nd f32[2,2]={0,1,2,3} u32[2,1]={1,0} out_of_range=clamp",
     {2, 2},
     {2, 3, 0, 1}},
    {"DML_GATHER_ND, example 2: tuples of two indices pick rows of blocks",
     "gather_nd f32[2,2,2]={0,1,2,3,4,5,6,7} u32[2,2]={0,1,1,0} out_of_range=clamp",
     {2, 2},
     {2, 3, 4, 5}},
    {"DML_GATHER_ND1, example 2: three batches, each with tuples of its own",
     "gather_nd f32[3,2,2]={0,1,2,3,4,5,6,7,8,9,10,11} "
     "u32[3,2,2]={0,0,1,1,1,1,0,0,0,1,1,0} batch_dims=1 out_of_range=clamp",
     {3, 2},
     {0, 3, 7, 4, 9, 10}},
    {"BNNSGatherND: one index picks a block",
     "gather_nd f32[3,2,2]={10,11,12,13,20,21,22,23,30,31,32,33} i32[1]={1} "
     "negative=out_of_range",
     {2, 2},
     {20, 21, 22, 23}},
    {"BNNSGatherND: two indices pick a row",
     "gather_nd f32[3,2,2]={10,11,12,13,20,21,22,23,30,31,32,33} i32[1,2]={1,0} "
     "negative=out_of_range",
     {1, 2},
     {20, 21}},
    {"BNNSGatherND: three indices pick an element",
     "gather_nd f32[3,2,2]={10,11,12,13,20,21,22,23,30,31,32,33} i32[1,1,3]={1,1,1} "
     "negative=out_of_range",
     {1, 1},
     {23}},
    {"DML_SCATTER, example 1: of two updates to one element the later one stays",
     "scatter_elements f32[5]={0,1,2,3,4} u32[4]={3,1,3,0} f32[4]={5,6,7,8} axis=0",
     {5},
     {8, 6, 2, 7, 4}},
    {"BNNSScatter with BNNSReduceFunctionSum: updates are added to what is there",
     "scatter f32[3]={100,200,300} i32[3]={0,0,2} f32[3]={1,2,3} axis=0 reduction=add "
     "negative=out_of_range",
     {3},
     {103, 200, 303}},
};

}  // namespace

std::span<const Example> demo_examples() { return kDemoProblems; }

Array run_example(const Problem& problem) {
  const Request& r = problem.request;
  const ConstTensor data{problem.data->data(), r.data};
  const ConstTensor indices{problem.indices->data(), r.indices};
  const ConstTensor updates{problem.updates ? problem.updates->data() : nullptr, r.updates};
  switch (r.op) {
    case Op::kGather:
      return gather(data, indices,
                    GatherOptions{.axis = r.axis, .batch_dims = r.batch_dims, .rule = r.rule});
    case Op::kGatherElements:
      return gather_elements(
          data, indices,
          GatherElementsOptions{.axis = r.axis, .broadcast = r.broadcast, .rule = r.rule});
    case Op::kGatherNd:
      return gather_nd(data, indices, GatherNdOptions{.batch_dims = r.batch_dims, .rule = r.rule});
    case Op::kXlaGather: return xla_gather(data, indices, *r.xla);
    case Op::kScatter:
      return scatter(data, indices, updates,
                     ScatterOptions{.axis = r.axis, .reduction = r.reduction, .rule = r.rule});
    case Op::kScatterElements:
      return scatter_elements(
          data, indices, updates,
          ScatterElementsOptions{.axis = r.axis, .reduction = r.reduction, .rule = r.rule});
    case Op::kScatterNd:
    case Op::kXlaScatter: break;  // no example has them
  }
  return Array(r.data);
}

std::string difference(const Example& example, const Array& output) {
  if (output.sizes() != example.sizes) {
    return cat("the output is ", bracketed(output.sizes()), ", expected ",
               bracketed(example.sizes));
  }
  const std::span<const float> got = output.elements<float>();
  for (size_t i = 0; i < got.size(); ++i) {
    if (i >= example.expected.size() || got[i] != example.expected[i]) {
      return cat("output element ", i, " is ", got[i], ", expected ",
                 i < example.expected.size() ? cat(example.expected[i]) : "none");
    }
  }
  return "";
}

}  // namespace sheaf::cli
