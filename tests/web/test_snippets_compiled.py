# SPDX-License-Identifier: MIT
"""The code for compilers that the page hands out: C++, C, BNNS and DirectML."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from calls import bags_of, expected, problems_of, snippets  # noqa: E402  (needs NumPy)
from conftest import ROOT  # noqa: E402

LIBRARY = ROOT / "build" / "release" / "src" / "libsheaf.a"

pytestmark = pytest.mark.skipif(not LIBRARY.is_file() or shutil.which("g++") is None,
                                reason="needs the release build of the library, and g++")


@pytest.fixture(scope="module")
def problems(page: Any) -> list[str]:
    return problems_of(page) + bags_of(page)


def libraries() -> list[str]:
    """What the library wants to be linked with, by the package file of the same build."""
    text = (LIBRARY.parents[1] / "sheaf.pc").read_text()
    libs = re.search(r"^Libs: \S+ -lsheaf (.*)$", text, re.MULTILINE)
    assert libs
    return libs[1].split()


def run_program(source: Path, text: str) -> list[list[float]]:
    """Compiles and runs; the numbers that it prints, up to each line of --."""
    source.write_text(text)
    program = source.with_suffix("")
    compiler = ["g++", "-std=c++20"] if source.suffix == ".cc" else ["gcc", "-std=c11"]
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-Wno-unused", f"-I{ROOT / 'include'}",
                    source, LIBRARY, *libraries(), "-o", program], check=True)
    done = subprocess.run([program], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [[float(value) for value in part.split()] for part in done.stdout.split("--")[:-1]]


def as_functions(code: dict[str, str], main: str) -> tuple[list[str], list[str]]:
    """Includes, and each program's main() as a function of its own: one compilation for all."""
    includes = sorted({line for text in code.values() for line in text.splitlines()
                       if line.startswith("#include")})
    functions = []
    for number, text in enumerate(code.values()):
        body = "\n".join(line for line in text.splitlines() if not line.startswith("#include"))
        functions.append(body.replace(main, f"int call_{number}(void)"))
    return includes, functions


def compare(page: Any, problems: list[str], parts: list[list[float]]) -> None:
    assert len(parts) == len(problems)
    for problem, part in zip(problems, parts):
        wanted = expected(page, problem)
        np.testing.assert_array_equal(np.array(part).astype(wanted.dtype), wanted.ravel(), problem)


def test_cpp(page: Any, problems: list[str], tmp_path: Path) -> None:
    code = snippets(page, "cpp", problems)
    assert len(code) == len(problems)
    includes, functions = as_functions(code, "int main()")
    functions = [f.rstrip()[:-1] + "  return 0;\n}" for f in functions]
    calls = "".join(f"  call_{n}(); std::cout << \"--\\n\";\n" for n in range(len(functions)))
    parts = run_program(tmp_path / "calls.cc", "\n".join(includes + functions) +
                        f"\nint main() {{\n  std::cout.precision(17);\n{calls}}}\n")
    compare(page, list(code), parts)


def test_c(page: Any, problems: list[str], tmp_path: Path) -> None:
    code = snippets(page, "c", problems)
    assert len(code) == len(problems)
    includes, functions = as_functions(code, "int main(void)")
    functions = [f.replace("%g\\n", "%.17g\\n") for f in functions]
    calls = "".join(f"  if (call_{n}()) return 1;\n  puts(\"--\");\n" for n in range(len(functions)))
    parts = run_program(tmp_path / "calls.c", "\n".join(includes + functions) +
                        f"\nint main(void) {{\n{calls}  return 0;\n}}\n")
    compare(page, list(code), parts)


def test_bnns(page: Any, problems: list[str], tmp_path: Path) -> None:
    code = {problem: text for problem, text in snippets(page, "bnns", problems).items()}
    assert len(code) >= 20
    functions = []
    for number, (problem, text) in enumerate(code.items()):
        body = "\n".join(text.splitlines()[1:])
        count = expected(page, problem).size
        functions.append(
            f"static int call_{number}(void) {{\n{body}\n"
            f"for (int i = 0; i < {count}; ++i) printf(\"%.17g\\n\", (double)output_values[i]);\n"
            "puts(\"--\");\nreturn status;\n}\n")
    calls = "".join(f"  if (call_{n}()) return 1;\n" for n in range(len(functions)))
    parts = run_program(tmp_path / "bnns.c", "#include <sheaf/bnns.h>\n#include <stdio.h>\n" +
                        "\n".join(functions) + f"\nint main(void) {{\n{calls}  return 0;\n}}\n")
    compare(page, list(code), parts)


def test_directml_descriptors_are_accepted(page: Any, problems: list[str], tmp_path: Path) -> None:
    code = snippets(page, "directml", problems)
    assert len(code) >= 20
    functions = []
    for number, text in enumerate(code.values()):
        body = "\n".join(text.splitlines()[1:])
        functions.append(f"static int call_{number}(IDMLDevice* device) {{\n{body}\n"
                         "if (FAILED(result)) std::puts(sheaf::dml::LastErrorText());\n"
                         "return FAILED(result) ? 1 : 0;\n}\n")
    calls = "".join(f"  bad += call_{n}(device.Get());\n" for n in range(len(functions)))
    run_program(tmp_path / "dml.cc", "#include <sheaf/directml.h>\n#include <cstdio>\n" +
                "\n".join(functions) +
                "\nint main() {\n  sheaf::dml::ComPtr<IDMLDevice> device;\n"
                "  DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device);\n  int bad = 0;\n"
                f"{calls}  return bad;\n}}\n")


def test_vendors_descriptors(page: Any) -> None:
    problem = "gather f32[3,2]={1,2,3,4,5,6} u32[4]={0,1,1,2} out_of_range=clamp"
    directml = page.tab.evaluate("p => sheaf.snippet('directml', p).code", problem)
    assert "const UINT indicesSizes[] = {1, 4};" in directml  # padded to the rank of the others
    assert "/*Axis*/ 0, /*IndexDimensions*/ 1" in directml
    bnns = page.tab.evaluate("p => sheaf.snippet('bnns', p).code", problem)
    assert "BNNSGather(0, &data, &indices, &output, NULL)" in bnns
    assert ".layout = BNNSDataLayoutVector" in bnns
