# SPDX-License-Identifier: MIT
"""The page says of the cpu backend what a build that has it says."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from conftest import ROOT

PROGRAM = ROOT / "build" / "release" / "bin" / "sheaf"
PROBLEMS = [
    "gather f32[1000000,64] i64[4096] axis=0",
    "gather f32[1000000,2] i64[4096] axis=0",
    "gather f32[20,2] i64[4] axis=0 out_of_range=fill",
    "gather f32[512,1000] i64[300] axis=1",
    "gather_elements f32[1000,256] i64[2000,256] axis=0",
    "gather_nd f32[8,9,10] i64[700,2]",
    "scatter f32[100,2] i64[4000] f32[4000,2] reduction=add",
    "scatter f32[4,65536] i64[40] f32[4,40] axis=1 reduction=max",
    "scatter f32[64,4096] i64[9] axis=0",
    "xla_scatter f32[6] i64[3,1] f32[3,3] update_window_dims=[1] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1",
]


def reports(page: Any, problem: str) -> dict[str, list[tuple[str, str]]]:
    return {backend["backend"]: [(k["name"], k["refusal"]) for k in backend["kernels"]]
            for backend in page.explain(problem)["kernels"]}


def kernels_of(reports: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without movers, which depend on the processor: a kernel that has some accepts."""
    kernels = dict.fromkeys(name.partition("/")[0] for name, _ in reports)
    refusals = {name: refusal for name, refusal in reports if "/" not in name}
    return [(name, refusals.get(name, "")) for name in kernels]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_refusals_are_those_of_the_backend(page: Any, problem: str) -> None:
    if not PROGRAM.is_file():
        pytest.skip("needs the release build of the command line")
    done = subprocess.run([PROGRAM, "explain", problem, "--json"], check=True, capture_output=True)
    native = kernels_of([(k["name"], k["refusal"]) for k in json.loads(done.stdout)["kernels"]])
    if not any(name.startswith("cpu.") for name, _ in native):
        pytest.skip("needs a build with the cpu backend")
    said = reports(page, problem)
    assert said["cpu"] + said["reference"] == native


def test_table_shows_who_runs_and_why_the_others_do_not(page: Any) -> None:
    page.show("gather f32[1000000,64] i64[4096] axis=0", show="kernels")
    panel = page.tab.locator("#panel-kernels")
    assert "cpu.rows" in panel.locator("tr.runs").first.inner_text()
    assert "refuses: no loop around the indices" in panel.inner_text()
    assert "depends on the GPU" in panel.inner_text()
