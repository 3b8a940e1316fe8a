# SPDX-License-Identifier: MIT
"""Calls whose code is run, what the page says they give, and the code it hands out for them."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16,
          "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
          "u64": np.uint64, "bool": np.bool_}

# Beside the presets: every operator under every rule and reduction, negative indices, batches,
# broadcasting, indices of other sizes than data.
PROBLEMS = [
    *(f"gather f32[3,4,2] i64[2,3]={{0,-1,5,2,-9,1}} axis=1 out_of_range={rule}"
      for rule in ("clamp", "wrap", "fill fill_value=-7")),
    "gather f32[3,4,2] i64[5]={0,-1,3,-4,1} axis=1",
    "gather f32[3,4] i64[]={2} axis=0",
    "gather f32[2,3,4] i32[2,2]={2,0,-1,1} axis=2 batch_dims=1",
    "gather f64[4]={0.1,1e300,-2.5,3} u8[6]={3,0,200,1,1,2} out_of_range=clamp",
    "gather i32[5] i64[3]={-3,1,9} negative=out_of_range out_of_range=fill fill_value=-1",
    "gather u8[3,2] i16[2]={2,0} axis=-2",
    "gather_elements f32[3,4] i64[2,3]={0,2,1,-1,0,-3} axis=0",
    "gather_elements f32[3,4] i64[1,4]={2,0,5,-8} axis=0 broadcast=1 out_of_range=clamp",
    "gather_elements f32[3,4] i64[3,2]={0,9,1,-1,-9,3} axis=1 out_of_range=fill fill_value=0.5",
    "gather_elements f32[3,4] i64[3,2]={0,9,1,-1,-9,3} axis=1 out_of_range=wrap",
    "gather_nd f32[2,3,4] i64[3,2]={0,1,1,2,-1,-3}",
    "gather_nd f32[2,3,4] i64[3,2]={0,1,5,2,-1,-9} out_of_range=clamp",
    "gather_nd f32[2,3,4] i64[3,2]={0,1,5,2,-1,-9} out_of_range=wrap",
    "gather_nd f32[2,3,4] i64[3,2]={0,1,5,2,-1,-9} out_of_range=fill fill_value=-1",
    "gather_nd f32[2,3,4] i64[2,2,1]={0,2,1,1} batch_dims=1",
    "gather_nd f32[2,3] i64[2,0]",
    "xla_gather f32[4,4] i64[2,2]={0,1,3,9} offset_dims=[1,2] start_index_map=[0,1] "
    "index_vector_dim=1 slice_sizes=[2,3]",
    "xla_gather f32[4,3] i64[2,3]={0,2,3,1,0,2} offset_dims=[1] collapsed_slice_dims=[0] "
    "start_index_map=[0,1] index_vector_dim=0 slice_sizes=[1,1]",
    *(f"scatter f32[4,3] i64[5]={{0,2,-1,2,0}} axis=0 reduction={reduction} include_self={self}"
      for reduction in ("none", "add", "sub", "mul", "min", "max", "mean") for self in (0, 1)),
    "scatter f32[2,4] i64[3]={3,0,3} axis=1 reduction=add",
    "scatter f32[2,3,2] i64[2,2]={2,0,1,1} axis=1 batch_dims=1 reduction=add",
    "scatter f32[5] i64[4]={1,9,-7,3} out_of_range=skip reduction=add",
    "scatter f32[5] i64[4]={1,9,-7,3} out_of_range=clamp reduction=mul",
    "scatter f32[5] i64[4]={1,9,-7,3} out_of_range=wrap",
    "scatter i32[4] i64[5]={0,2,1,2,0} onto_zeros=1 reduction=max include_self=0",
    "scatter i32[4] i64[5]={0,2,1,2,0} reduction=min include_self=0",
    "scatter i64[4] i64[5]={0,2,1,2,0} reduction=mean",
    "scatter_elements f32[3,3] i64[2,3]={1,0,2,1,2,-3} axis=0 reduction=add",
    "scatter_elements f32[3,3] i64[2,2]={1,0,2,-1} axis=1 reduction=mean include_self=0",
    "scatter_elements f32[3,3] i64[2,2]={1,7,2,-9} axis=1 out_of_range=skip",
    "scatter_nd f32[3,4] i64[3,1]={2,0,2} reduction=add",
    "scatter_nd f32[3,4] i64[3,2]={2,3,0,0,-1,-1}",
    "scatter_nd f32[2,3,2] i64[2,2,1]={2,0,1,1} batch_dims=1 reduction=sub",
    "scatter_nd f32[3,4] i64[3,2]={2,3,5,0,-1,-7} out_of_range=skip reduction=max",
    "xla_scatter f32[6] i64[3,1]={1,4,5} f32[3,3] update_window_dims=[1] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 reduction=add",
    "xla_scatter f32[6] i64[3,1]={1,4,3} f32[3,3] update_window_dims=[1] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 reduction=add skip_whole_window=1",
]

# Bags: every pool, form and rule, and rows of every kind.
BAGS = [
    *(f"bag f32[4,2]={{1,2,3,4,5,6,7,8}} i64[5]={{3,0,1,1,2}} offsets=i64[3]={{0,2,2}} pool={pool}"
      for pool in ("sum", "mean", "max", "min", "mul", "sqrtn")),
    "bag f32[4,2] i64[5]={3,0,1,1,2} offsets=i64[3]={0,2,4} last_offset=1",
    "bag f32[4,2] i64[5]={3,0,-1,1,2} lengths=i32[3]={2,0,3} pool=max empty_value=-1",
    "bag f32[4,2] i64[5]={3,0,1,1,2} ids=i64[5]={0,0,2,2,2} bags=4",
    "bag f32[4,2] i64[2,3]={3,0,1,1,2,0} weights=f32[2,3]={1,2,0.5,4,1,3}",
    "bag f32[4,2] i64[2,3]={3,0,1,1,2,0} padding_index=1 pool=mean",
    *(f"bag f32[4,2] i64[4]={{3,9,-6,1}} offsets=i64[2]={{0,3}} out_of_range={rule} weights=f32[4]={{1,2,3,4}}"
      for rule in ("clamp", "wrap", "skip", "fill fill_value=7")),
    "bag f64[4,2] i64[4]={3,2,0,1} offsets=i64[2]={0,3} negative=out_of_range",
    "bag i32[4,2] i64[4]={3,2,0,1} offsets=i64[2]={0,3} pool=mean",
    "bag i64[4,2] i64[4]={3,2,0,1} offsets=i64[3]={0,3,4} pool=min empty_value=5",
    "bag f32[4,2,3] i64[4]={3,2,0,1} offsets=i64[2]={0,3} weights=f32[4]={1,2,3,4}",
    "bag f32[6,2] ids=i64[6]={0,0,1,1,1,3} bags=5 pool=sum",
    "bag row_u8_f16_front[4,3] i64[3]={3,0,1} offsets=i64[1]={0} pool=max",
    "bag row_u4_f16[4,6] i64[3]={3,0,1} offsets=i64[1]={0}",
    "bag q8_0[3,32] i64[3]={2,0,1} offsets=i64[2]={0,1} pool=mean",
    "bag u8[4,2] i64[3]={3,1,0} offsets=i64[1]={0} scales=f32[4,1]",
]


def problems_of(page: Any) -> list[str]:
    """The presets and PROBLEMS."""
    groups = page.tab.evaluate("sheaf.presets")
    presets = [p["problem"] for group in groups for p in group["presets"] if p["as"]]  # those without: bags, tables
    return list(dict.fromkeys(presets + PROBLEMS))


def bags_of(page: Any) -> list[str]:
    """The presets that are bags, and BAGS."""
    groups = page.tab.evaluate("sheaf.presets")
    presets = [p["problem"] for group in groups for p in group["presets"] if p["problem"].startswith("bag ")]
    return presets + BAGS


def expected(page: Any, problem: str) -> Any:
    output = page.explain(problem)["tensors"][-1]
    assert "values" in output, problem
    values = [float(v) if "f" in output["dtype"] else int(v) for v in output["values"]]
    return np.array(values, dtype=DTYPES[output["dtype"]]).reshape(output["sizes"])


def snippets(page: Any, language: str, problems: list[str]) -> dict[str, str]:
    """The code for each problem that the language has a way to say."""
    code = {}
    for problem in problems:
        answer = page.tab.evaluate("([l, p]) => sheaf.snippet(l, p)", [language, problem])
        if "code" in answer:
            code[problem] = answer["code"]
        else:
            assert answer["missing"], problem
    return code
