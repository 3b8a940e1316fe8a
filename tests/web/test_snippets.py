# SPDX-License-Identifier: MIT
"""The code that the page hands out is run here, and gives the page's result."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")

from calls import bags_of, expected, problems_of, snippets  # noqa: E402  (needs NumPy)


@pytest.fixture(scope="module")
def problems(page: Any) -> list[str]:
    return problems_of(page)


def run_python(page: Any, problems: list[str], language: str, least: int) -> None:
    code = snippets(page, language, problems)
    assert len(code) >= least
    for problem, text in code.items():
        names: dict[str, Any] = {}
        exec(compile(text, f"<{language}: {problem}>", "exec"), names)
        got = np.asarray(names["output"])
        wanted = expected(page, problem)
        assert got.shape == wanted.shape, f"{problem}\n{text}"
        if language == "jax" and "pool=mean" in problem:
            np.testing.assert_array_max_ulp(got, wanted)  # on some processors XLA divides vectors so
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=f"{problem}\n{text}")


def test_python(page: Any, problems: list[str]) -> None:
    pytest.importorskip("sheaf", reason="needs the package")
    run_python(page, problems, "python", len(problems) - 6)  # XLA's general operators


def test_numpy(page: Any, problems: list[str]) -> None:
    run_python(page, problems, "numpy", len(problems))


def test_pytorch(page: Any, problems: list[str]) -> None:
    pytest.importorskip("torch", reason="needs PyTorch (scripts/peers)")
    run_python(page, problems, "pytorch", len(problems))


def test_jax(page: Any, problems: list[str]) -> None:
    pytest.importorskip("jax", reason="needs JAX (scripts/peers)")
    run_python(page, problems, "jax", len(problems))


def test_tensorflow(page: Any, problems: list[str]) -> None:
    pytest.importorskip("tensorflow", reason="needs TensorFlow")
    run_python(page, problems, "tensorflow", len(problems) - 24)


def test_onnx(page: Any, problems: list[str]) -> None:
    pytest.importorskip("onnx", reason="needs onnx (scripts/peers)")
    run_python(page, problems, "onnx", 20)


@pytest.mark.parametrize("language, module", [
    ("python", "sheaf"), ("numpy", "numpy"), ("pytorch", "torch"), ("jax", "jax"), ("tensorflow", "tensorflow")])
def test_bags(page: Any, language: str, module: str) -> None:
    pytest.importorskip(module, reason=f"needs {module}")
    bags = bags_of(page)
    run_python(page, bags, language, len(bags))


@pytest.mark.parametrize("language", ["onnx", "directml", "bnns"])
def test_who_has_no_bags(page: Any, language: str) -> None:
    answer = page.tab.evaluate("([l, p]) => sheaf.snippet(l, p)", [language, bags_of(page)[0]])
    assert answer["missing"].startswith("bags")


@pytest.mark.parametrize("language, problem, missing", [
    ("onnx", "gather f32[2,3] i64[2,2]={0,1,2,0} axis=1 batch_dims=1", "batch_dims in Gather"),
    ("onnx", "gather f32[3] i64[2]={0,7} out_of_range=clamp", "rule clamp"),
    ("directml", "scatter_elements f32[3] i64[2]={0,1} f32[2] reduction=add", "reduction add"),
    ("bnns", "gather f32[3] i64[2]={0,-1}", "negative indices"),
    ("python", "xla_gather f32[3] i64[1,1] offset_dims=[1] start_index_map=[0] index_vector_dim=1 "
               "slice_sizes=[2]", "XLA"),
])
def test_what_a_dialect_cannot_say(page: Any, language: str, problem: str, missing: str) -> None:
    answer = page.tab.evaluate("([l, p]) => sheaf.snippet(l, p)", [language, problem])
    assert missing in answer["missing"]
