# SPDX-License-Identifier: MIT
"""The package itself: types, stubs, documentation, and the price of a small call."""

import importlib.metadata
import importlib.util
import io
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy
import pytest

import sheaf

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "sheaf"


def run(*command):
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=ROOT)


def test_version_is_that_of_the_library():
    header = (ROOT / "include/sheaf/version.h").read_text()
    assert f'"{sheaf.__version__}"' in header


def test_it_is_typed():
    assert (Path(sheaf.__file__).parent / "py.typed").is_file()
    # PyTorch's own types are those of the version that all tests run with: older ones have fewer.
    wanted, = re.findall(r"(?m)^torch==([\d.]+)$", (ROOT / "python/requirements-peers.txt").read_text())
    if importlib.util.find_spec("torch") and not importlib.metadata.version("torch").startswith(wanted):
        pytest.skip(f"the types of PyTorch are checked with {wanted}")
    # Without PyTorch and JAX their types are unknown, and so is what is done with them.
    missing = [name for name in ("torch", "jax") if not importlib.util.find_spec(name)]
    without = [part for name in missing for part in ("--exclude", f"/{name}/")]
    if missing:
        without.append("--follow-imports=silent")  # or what imports them brings them back
    result = run("-m", "mypy", "--strict", *without, str(PACKAGE))
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_stubs_are_up_to_date(tmp_path):
    stub = tmp_path / "_sheaf.pyi"
    result = run("-m", "nanobind.stubgen", "-m", "sheaf._sheaf", "-o", str(stub))
    assert result.returncode == 0, result.stderr
    assert (PACKAGE / "_sheaf.pyi").read_text() == stub.read_text(), (
        "run: scripts/python -m nanobind.stubgen -m sheaf._sheaf -o python/sheaf/_sheaf.pyi")


#: Part of the package: how it is recognised, by the name of its licence.
BUNDLED = {
    "highway": lambda: list(Path(sheaf.__file__).parent.glob("libhwy*")),
    "onetbb": lambda: list(Path(sheaf.__file__).parent.glob("libtbb*")),
    "liburing": lambda: list(Path(sheaf.__file__).parent.glob("liburing*")),
    "xla": sheaf._sheaf.has_jax_ffi,
    "nanobind": lambda: True,
    "robin_map": lambda: True,
}


def test_the_licences_of_all_parts_are_in_the_package():
    try:
        files = importlib.metadata.files("sheaf-tensors")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package was built, but not installed")
    licences = {Path(file).stem: Path(file.locate()).read_text(encoding="utf-8")
                for file in files if Path(file).parent.name == "licenses"}
    assert "MIT License" in licences["LICENSE"]
    for part, is_there in BUNDLED.items():
        assert not is_there() or len(licences.get(part, "")) > 500, part
    for part, text in licences.items():  # what Debian names instead of quoting it
        for name in re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text):
            assert len(licences.get(name, "")) > 1000, f"{name}, which {part} names"


def test_the_versions_of_jax_are_stated_once():
    text = (ROOT / "pyproject.toml").read_text()
    built, = re.findall(r"jaxlib==([\d.]+);", text)
    least, = re.findall(r'"jax>=([\d.]+);', text)
    stated, = re.findall(r"JAX ([\d.]+) and later", (ROOT / "docs/python.md").read_text())
    tested, = re.findall(r"(?m)^jax==([\d.]+)$", (ROOT / "python/requirements-oldest.txt").read_text())
    assert built == least == stated == tested


def test_every_public_function_has_help():
    for name in sheaf.__all__:
        assert getattr(sheaf, name).__doc__, name


def test_it_works_without_torch():
    code = "import sys; sys.modules['torch'] = None; import sheaf; print(sheaf.take([1, 2], 1))"
    assert run("-c", code).stdout == "2\n"


# A fenced block of Python whose output stands in the fenced block after it.
EXAMPLE = re.compile(r"```python\n(.*?)```\n(?:\n*```text\n(.*?)```)?", re.DOTALL)


def documented(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [(match[1], match[2] or "") for match in EXAMPLE.finditer(text)]


@pytest.mark.parametrize("page", ["python.md", "bags.md", "tutorial_bags.md"])
@pytest.mark.parametrize("peers", [(), ("torch",), ("torch", "jax")])
def test_the_documentation_runs(page, peers, tmp_path, monkeypatch):
    for peer in peers:
        pytest.importorskip(peer, reason=f"{peer} is not installed (scripts/peers)")
    if "jax" in peers and not sheaf._sheaf.has_jax_ffi():
        pytest.skip("the package was built without jaxlib")
    monkeypatch.chdir(tmp_path)
    namespace = {}
    examples = [example for example in documented(page)
                if all(peer in peers or f"import {peer}" not in example[0]
                       for peer in ("torch", "jax"))]
    assert len(examples) >= 5
    for code, expected in examples:
        output = io.StringIO()
        with redirect_stdout(output):
            exec(compile(code, f"docs/{page}", "exec"), namespace)
        assert output.getvalue() == expected, code
