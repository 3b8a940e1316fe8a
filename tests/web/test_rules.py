# SPDX-License-Identifier: MIT
"""The index rules in the table of names, tried on the libraries that have the names."""

from __future__ import annotations

from typing import Any, Callable

import pytest

np = pytest.importorskip("numpy")

DATA = [10.0, 20.0, 30.0]
UPDATE = 5.0
INDICES = [1, -1, -5, 7]  # plain, from the end, before the start, behind the end


def numpy_calls() -> dict[str, Callable[[int], Any]]:
    data = np.array(DATA)

    def put(index: int) -> Any:
        copy = data.copy()
        np.put_along_axis(copy, np.array([index]), np.array([UPDATE]), axis=0)
        return copy

    def add(index: int) -> Any:
        copy = data.copy()
        np.add.at(copy, np.array([index]), np.array([UPDATE]))
        return copy

    return {
        "numpy.take": lambda i: np.take(data, [i], axis=0),
        "numpy.take, clip": lambda i: np.take(data, [i], axis=0, mode="clip"),
        "numpy.take, wrap": lambda i: np.take(data, [i], axis=0, mode="wrap"),
        "numpy.take_along_axis": lambda i: np.take_along_axis(data, np.array([i]), axis=0),
        "data[indices]": lambda i: data[[i]],
        "numpy.put_along_axis": put,
        "numpy.add.at": add,
    }


def torch_calls() -> dict[str, Callable[[int], Any]]:
    torch = pytest.importorskip("torch", reason="needs PyTorch (scripts/peers)")
    data = torch.tensor(DATA)

    def at(index: int) -> Any:
        return torch.tensor([index])

    update = torch.tensor([UPDATE])
    return {
        "torch.gather": lambda i: torch.gather(data, 0, at(i)),
        "torch.take_along_dim": lambda i: torch.take_along_dim(data, at(i), 0),
        "torch.index_select": lambda i: torch.index_select(data, 0, at(i)),
        "torch: data[indices]": lambda i: data[at(i)],
        "torch.nn.functional.embedding":
            lambda i: torch.nn.functional.embedding(at(i), data.reshape(3, 1)).reshape(1),
        "Tensor.scatter": lambda i: data.scatter(0, at(i), update),
        "Tensor.scatter_add": lambda i: data.scatter_add(0, at(i), update),
        "Tensor.index_add": lambda i: data.index_add(0, at(i), update),
        "Tensor.index_copy": lambda i: data.index_copy(0, at(i), update),
    }


def jax_calls() -> dict[str, Callable[[int], Any]]:
    pytest.importorskip("jax", reason="needs JAX (scripts/peers)")
    import jax.numpy as jnp
    data = jnp.array(DATA)

    def at(index: int) -> Any:
        return jnp.array([index])

    return {
        "jnp.take": lambda i: jnp.take(data, at(i), axis=0),
        "jnp.take_along_axis": lambda i: jnp.take_along_axis(data, at(i), axis=0),
        "jax: data[indices]": lambda i: data[at(i)],
        "data.at[indices].set": lambda i: data.at[at(i)].set(UPDATE),
        "data.at[indices].add": lambda i: data.at[at(i)].add(UPDATE),
    }


def of_the_page(page: Any, name: dict[str, Any], index: int) -> Any:
    """What the page shows for a call by this name; None if it is refused."""
    negative, out_of_range = name["rule"]
    fill = " fill_value=nan" if out_of_range == "fill" else ""
    updates = f" f64[1]={{{UPDATE}}}" if name["op"].startswith("scatter") else ""
    reduction = name.get("fixed", {}).get("reduction")
    values = ",".join(map(str, DATA))
    answer = page.explain(f"{name['op']} f64[3]={{{values}}} i64[1]={{{index}}}{updates} "
                          f"negative={negative} out_of_range={out_of_range}{fill}"
                          + (f" reduction={reduction}" if reduction else ""))
    output = answer["tensors"][-1]
    return [float(v) for v in output["values"]] if "values" in output else None


@pytest.mark.parametrize("make_calls", [numpy_calls, torch_calls, jax_calls])
def test_rule(page: Any, make_calls: Callable[[], dict[str, Callable[[int], Any]]]) -> None:
    calls = make_calls()
    names = {n["id"]: n for d in page.tab.evaluate("sheaf.dialects") for n in d["names"]}
    for name, call in calls.items():
        for index in INDICES:
            try:
                theirs = np.asarray(call(index), dtype=np.float64).tolist()
            except (IndexError, RuntimeError):
                theirs = None
            np.testing.assert_equal(of_the_page(page, names[name], index), theirs, f"{name} of {index}")
