# SPDX-License-Identifier: MIT
"""Who is measured: for each library, its fastest call that does a case into an output made
beforehand, or in place for a scatter.

Every maker returns a function without arguments, or None where the library has no such call.
What each does with a bad index: sheaf refuses before it writes, PyTorch and ONNX Runtime raise
while they write, NumPy runs with mode="clip" (its fastest; "raise" buffers the output), JAX as well.

What they promise for several updates to one element: Sheaf and NumPy's ufunc.at reduce them in the
order of the updates; PyTorch and ONNX Runtime name no order for sums, and for "put" they leave open
which update stays, hence the unique indices there. ONNX Runtime 1.31 loses updates when ScatterND
adds on several threads (microsoft/onnxruntime issue 18048): there it is measured on one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from cases import Case, ScatterCase, expected, whole_numbers
from measure import Timing, time_call

Call = Callable[[], object]
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # data, indices, and output or updates


def sheaf_call(case: Case, arrays: Arrays, threads: int) -> Call | None:
    import sheaf

    x, i, out = arrays
    if case.op == "take":
        return lambda: sheaf.take(x, i, axis=case.axis, out=out, threads=threads)
    if case.op == "elements":
        return lambda: sheaf.gather_elements(x, i, axis=case.axis, out=out, threads=threads)
    return lambda: sheaf.gather_nd(x, i, out=out, threads=threads)


def numpy_call(case: Case, arrays: Arrays, threads: int) -> Call | None:
    x, i, out = arrays
    if case.op == "take":
        return lambda: np.take(x, i, axis=case.axis, out=out, mode="clip")
    if case.op == "elements":  # no out=: the copy into it is not counted, its allocation is
        return lambda: np.take_along_axis(x, i, axis=case.axis)
    columns = tuple(np.ascontiguousarray(i[..., c]) for c in range(i.shape[-1]))
    return lambda: x[columns]


def torch_call(case: Case, arrays: Arrays, threads: int) -> Call | None:
    import torch

    torch.set_num_threads(threads)
    x, i, out = (torch.from_numpy(array) for array in arrays)
    if case.op == "take":
        return lambda: torch.index_select(x, case.axis, i, out=out)
    if case.op == "elements":
        return lambda: torch.gather(x, case.axis, i, out=out)
    columns = [i[..., c].contiguous() for c in range(i.shape[-1])]
    return lambda: torch.ops.aten.index.Tensor_out(x, columns, out=out)


def onnxruntime_call(case: Case, arrays: Arrays, threads: int) -> Call | None:
    import onnxruntime
    from onnx import TensorProto, helper

    operator = {"take": "Gather", "elements": "GatherElements", "nd": "GatherND"}[case.op]
    attributes = {} if case.op == "nd" else {"axis": case.axis}
    x, i, out = arrays
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "i"], ["y"], **attributes)],
        "gather",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
            helper.make_tensor_value_info("i", TensorProto.INT64, i.shape),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out.shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_cpu_input("i", i)
    binding.bind_output("y", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    return lambda: session.run_with_iobinding(binding)


def on_jax(arrays: Arrays) -> list[Any]:
    """Copies in JAX's memory of the processor, with the int32 indices that it takes by default."""
    import jax

    x, i, other = arrays
    return [jax.device_put(array, jax.devices("cpu")[0]) for array in (x, i.astype(np.int32), other)]


def jax_call(case: Case, arrays: Arrays, threads: int) -> Call | None:
    import jax
    from jax import numpy as jnp

    if threads != usable_threads():
        return None  # the number is fixed when JAX starts
    x, i, _ = on_jax(arrays)
    if case.op == "take":
        work = jax.jit(lambda x, i: jnp.take(x, i, axis=case.axis, mode="clip"))
    elif case.op == "elements":
        work = jax.jit(lambda x, i: jnp.take_along_axis(x, i, axis=case.axis, mode="clip"))
    else:
        work = jax.jit(lambda x, i: x.at[tuple(jnp.moveaxis(i, -1, 0))].get(mode="clip"))
    return lambda: work(x, i).block_until_ready()


CONTESTANTS = {
    "sheaf": sheaf_call,
    "numpy": numpy_call,
    "torch": torch_call,
    "onnxruntime": onnxruntime_call,
    "jax": jax_call,
}
MODULES = {"sheaf": ["sheaf"], "numpy": ["numpy"], "torch": ["torch"],
           "onnxruntime": ["onnxruntime", "onnx"], "jax": ["jax"]}


def installed(contestants: dict[str, list[str]]) -> dict[str, str]:
    """Those of the contestants whose modules are at hand, with their versions."""
    import importlib

    found = {}
    for name, modules in contestants.items():
        try:
            loaded = [importlib.import_module(module) for module in modules]
        except ImportError:
            continue
        found[name] = loaded[0].__version__
    return found


def usable_threads() -> int:
    return len(os.sched_getaffinity(0))


SLOW = 0.6  # seconds: of a call that takes longer, the one that was checked is the measurement


def sheaf_scatter(case: ScatterCase, arrays: Arrays, threads: int) -> Call:
    import sheaf

    x, i, u = arrays
    options = {"reduction": case.reduction, "out": x, "threads": threads}
    if case.op == "rows":
        return lambda: sheaf.scatter(x, i, u, **options)
    if case.op == "elements":
        return lambda: sheaf.scatter_elements(x, i, u, case.axis, **options)
    return lambda: sheaf.scatter_nd(x, i, u, **options)


def numpy_scatter(case: ScatterCase, arrays: Arrays, threads: int) -> Call:
    x, i, u = arrays
    if case.op == "nd":
        at = tuple(np.ascontiguousarray(column) for column in np.moveaxis(i, -1, 0))
    elif case.op == "elements":
        other = np.arange(x.shape[1 - case.axis])
        at = (i, other[None, :]) if case.axis == 0 else (other[:, None], i)
    else:
        at = (i,)
    if case.reduction == "none":
        return lambda: x.__setitem__(at, u)
    return lambda: np.add.at(x, at, u)


def torch_scatter(case: ScatterCase, arrays: Arrays, threads: int) -> Call:
    import torch

    torch.set_num_threads(threads)
    x, i, u = (torch.from_numpy(array) for array in arrays)
    adds = case.reduction == "add"
    if case.op == "rows":
        return (lambda: x.index_add_(0, i, u)) if adds else (lambda: x.index_copy_(0, i, u))
    if case.op == "elements":
        return lambda: x.scatter_add_(case.axis, i, u)
    columns = [i[..., c].contiguous() for c in range(i.shape[-1])]
    return lambda: x.index_put_(columns, u, accumulate=adds)


def onnxruntime_scatter(case: ScatterCase, arrays: Arrays, threads: int) -> Call:
    import onnxruntime
    from onnx import TensorProto, helper

    x, i, u = arrays
    i = i[:, None] if case.op == "rows" else i  # ScatterND with tuples of one
    operator = "ScatterElements" if case.op == "elements" else "ScatterND"
    attributes = {"axis": case.axis} if case.op == "elements" else {}
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "i", "u"], ["y"], reduction=case.reduction, **attributes)],
        "scatter",
        [info("x", TensorProto.FLOAT, x.shape), info("i", TensorProto.INT64, i.shape),
         info("u", TensorProto.FLOAT, u.shape)],
        [info("y", TensorProto.FLOAT, x.shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    options = onnxruntime.SessionOptions()
    loses_updates = operator == "ScatterND" and case.reduction == "add"
    options.intra_op_num_threads = 1 if loses_updates else threads
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    for name, array, kind in (("x", x, np.float32), ("i", i, np.int64), ("u", u, np.float32)):
        binding.bind_input(name, "cpu", 0, kind, array.shape, array.ctypes.data)
    # The same memory as x: the kernel then has nothing to copy first.
    binding.bind_output("y", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    return lambda: session.run_with_iobinding(binding)


def jax_scatter(case: ScatterCase, arrays: Arrays, threads: int) -> Call | None:
    """Each call hands its data to the next, so that JAX may work in place."""
    import jax
    from jax import numpy as jnp

    if threads != usable_threads():
        return None
    x, i, u = on_jax(arrays)

    def work(x: Any, i: Any, u: Any) -> Any:
        if case.op == "nd":
            at = x.at[tuple(jnp.moveaxis(i, -1, 0))]
        elif case.op == "elements":
            other = jnp.arange(i.shape[1 - case.axis])
            at = x.at[(i, other[None, :]) if case.axis == 0 else (other[:, None], i)]
        else:
            at = x.at[i]
        return at.add(u, mode="clip") if case.reduction == "add" else at.set(u, mode="clip")

    run = jax.jit(work, donate_argnums=0)
    held = [x]

    def call() -> object:
        held[0] = run(held[0], i, u).block_until_ready()
        return held[0]

    return call


SCATTERERS = {
    "sheaf": sheaf_scatter,
    "numpy": numpy_scatter,
    "torch": torch_scatter,
    "onnxruntime": onnxruntime_scatter,
    "jax": jax_scatter,
}


@lru_cache(maxsize=1)
def scatter_inputs(case: ScatterCase) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Data, indices, updates, and what data has to become."""
    rng = np.random.default_rng(1)
    start = whole_numbers(rng, case.data)
    i = case.make_indices(rng)
    u = whole_numbers(rng, case.updates())
    return start, i, u, expected(case, start, i, u)


def run_scatter(case: ScatterCase, names: list[str], threads: int, seconds: float
                ) -> dict[str, Timing]:
    """Each library on its own copy of the data, compared after one call and then timed."""
    start, i, u, want = scatter_inputs(case)
    x = np.empty_like(start)
    timings = {}
    for name in names:
        if name == "numpy" and threads > 1:
            continue  # NumPy has one thread: it is in the table for one
        x[...] = start
        call = SCATTERERS[name](case, (x, i, u), threads)
        if call is None:
            continue
        begin = time.perf_counter()
        result = call()
        once = time.perf_counter() - begin
        if not np.array_equal(np.asarray(result) if name == "jax" else x, want):
            text = f"{name} gives another result than expected on: {case.name}"
            if name == "sheaf":
                raise SystemExit(text)
            print(f"{text}; left out")
            continue
        result = None  # else JAX could not work in place
        slow = once > SLOW and name != "jax"  # whose first call compiles
        timings[name] = Timing(once, once, once, once, 1) if slow else time_call(call, seconds)
    return timings
