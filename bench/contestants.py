# SPDX-License-Identifier: MIT
"""Who is measured: for each library, a call that does a case into an output made beforehand.

Every maker returns a function without arguments, or None where the library has no such call.
What each does with a bad index: sheaf refuses before it writes, PyTorch and ONNX Runtime raise
while they write, NumPy runs with mode="clip" (its fastest; "raise" buffers the output).
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from cases import Case

Call = Callable[[], object]
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # data, indices, output


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


CONTESTANTS = {
    "sheaf": sheaf_call,
    "numpy": numpy_call,
    "torch": torch_call,
    "onnxruntime": onnxruntime_call,
}
MODULES = {"sheaf": ["sheaf"], "numpy": ["numpy"], "torch": ["torch"],
           "onnxruntime": ["onnxruntime", "onnx"]}


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
