# SPDX-License-Identifier: MIT
"""The modules of the package do not import each other in a circle."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "sheaf"


def module_name(path, package):
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, package, modules):
    """Also those inside functions and those for types only. Importing a module also runs the
    __init__ of its package; that does not count, or everything would be a circle."""
    name = module_name(path, package)
    home = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            above = home.split(".")[:len(home.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            parts = {f"{source}.{alias.name}" for alias in node.names}
            if source in modules and not parts <= modules:
                yield source
            yield from parts & modules


def circle(package):
    """The modules of a circle, or nothing."""
    paths = {module_name(path, package): path  # *.pyi: the compiled part
             for kind in ("*.py", "*.pyi") for path in sorted(package.rglob(kind))}
    edges = {name: set(imports_of(path, package, set(paths))) - {name}
             for name, path in paths.items()}
    done = set()

    def search(name, above):
        if name in above:
            return above[above.index(name):]
        if name in done:
            return []
        for other in sorted(edges[name]):
            if found := search(other, [*above, name]):
                return found
        done.add(name)
        return []

    return next((found for name in edges if (found := search(name, []))), [])


def test_there_is_no_circle():
    assert circle(PACKAGE) == []


def test_a_circle_is_found(tmp_path):
    package = tmp_path / "sheaf"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("from ._a import x\n")
    (package / "_a.py").write_text("def f():\n    from .inner import _b\n")
    (package / "_c.py").write_text("")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "_b.py").write_text("from .._c import x\n")
    assert circle(package) == []
    (package / "_c.py").write_text("if TYPE_CHECKING:\n    import sheaf._a\n")
    assert circle(package) == ["sheaf._a", "sheaf.inner._b", "sheaf._c"]
