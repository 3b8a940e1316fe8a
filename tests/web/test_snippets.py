# SPDX-License-Identifier: MIT
"""The code that the page hands out is run here, and gives the page's result."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

np = pytest.importorskip("numpy")

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


@pytest.fixture(scope="module")
def problems(page: Any) -> list[str]:
    groups = page.tab.evaluate("sheaf.presets")
    presets = [p["problem"] for group in groups for p in group["presets"]]
    return list(dict.fromkeys(presets + PROBLEMS))


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


def run_python(page: Any, problems: list[str], language: str, least: int) -> None:
    code = snippets(page, language, problems)
    assert len(code) >= least
    for problem, text in code.items():
        names: dict[str, Any] = {}
        exec(compile(text, f"<{language}: {problem}>", "exec"), names)
        got = np.asarray(names["output"])
        wanted = expected(page, problem)
        assert got.shape == wanted.shape, f"{problem}\n{text}"
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


def library() -> Path:
    path = ROOT / "build" / "release" / "src" / "libsheaf.a"
    if not path.is_file() or shutil.which("g++") is None:
        pytest.skip("needs the release build of the library, and g++")
    return path


def output_of(program: Path) -> list[str]:
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_cpp(page: Any, problems: list[str], tmp_path: Path) -> None:
    """All snippets in one program, each main() a function of its own: they are compiled once."""
    code = snippets(page, "cpp", problems)
    assert len(code) == len(problems)
    includes = sorted({line for text in code.values() for line in text.splitlines()
                       if line.startswith("#include")})
    functions = []
    for number, text in enumerate(code.values()):
        body = "\n".join(line for line in text.splitlines() if not line.startswith("#include"))
        functions.append(body.replace("int main()", f"void call_{number}()"))
    calls = "".join(f"  call_{n}(); std::cout << \"--\\n\";\n" for n in range(len(functions)))
    source = tmp_path / "calls.cc"
    source.write_text("\n".join(includes + functions) +
                      f"\nint main() {{\n  std::cout.precision(17);\n{calls}}}\n")
    program = tmp_path / "calls"
    subprocess.run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source,
                    library(), "-lhwy", "-ltbb", "-lpthread", *cuda_libraries(), "-o", program],
                   check=True)
    parts = "\n".join(output_of(program)).split("--")
    for problem, part in zip(code, parts):
        wanted = expected(page, problem)
        got = np.array([float(v) for v in part.split()]).astype(wanted.dtype)
        np.testing.assert_array_equal(got, wanted.ravel(), err_msg=problem)


def cuda_libraries() -> list[str]:
    """What a library with the cuda backend wants to be linked with."""
    cache = ROOT / "build" / "release" / "CMakeCache.txt"
    if not cache.is_file() or "SHEAF_CUDA:BOOL=ON" not in cache.read_text():
        return []
    match = re.search(r"^CUDA_cudart_static_LIBRARY:FILEPATH=(.+)$", cache.read_text(), re.MULTILINE)
    return [match[1], "-ldl", "-lrt"] if match else []


def test_c(page: Any, problems: list[str], tmp_path: Path) -> None:
    """A C program is quick to compile; some of them stand for all."""
    code = snippets(page, "c", problems)
    assert len(code) == len(problems)
    for number, (problem, text) in enumerate(list(code.items())[::12]):
        source = tmp_path / f"call_{number}.c"
        source.write_text(text)
        program = source.with_suffix("")
        subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source,
                        library(), "-lstdc++", "-lhwy", "-ltbb", "-lpthread", "-lm",
                        *cuda_libraries(), "-o", program], check=True)
        wanted = expected(page, problem)
        got = np.array([float(v) for v in output_of(program)]).astype(wanted.dtype)
        np.testing.assert_allclose(got, wanted.ravel(), rtol=1e-5, err_msg=problem)


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


def test_vendors_descriptors(page: Any) -> None:
    problem = "gather f32[3,2]={1,2,3,4,5,6} u32[4]={0,1,1,2} out_of_range=clamp"
    directml = page.tab.evaluate("p => sheaf.snippet('directml', p).code", problem)
    assert "const UINT indicesSizes[] = {1, 4};" in directml  # padded to the rank of the others
    assert "/*Axis*/ 0, /*IndexDimensions*/ 1" in directml
    bnns = page.tab.evaluate("p => sheaf.snippet('bnns', p).code", problem)
    assert "BNNSGather(0, &data, &indices, &output, NULL)" in bnns
    assert ".layout = BNNSDataLayoutVector" in bnns
