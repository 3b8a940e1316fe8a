# SPDX-License-Identifier: MIT
"""Models of one node, and sessions with and without Sheaf's provider."""

import json

import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import sheaf.onnxruntime

VERSION = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
OURS = ["SheafExecutionProvider", "CPUExecutionProvider"]
THEIRS = ["CPUExecutionProvider"]


def model_of(nodes, inputs, outputs, initializers=(), opset=18):
    """`inputs` and `outputs`: name → (type, shape)."""
    def infos(values):
        return [helper.make_tensor_value_info(name, *value) for name, value in values.items()]
    graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs), list(initializers))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return model.SerializeToString()


def type_of(array):
    return TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)


def node_model(op, arrays, constant=(), opset=18, domain="", shapes=None, **attributes):
    """One node over the arrays; those whose number is in `constant` are initializers."""
    names = [f"in{number}" for number in range(len(arrays))]
    node = helper.make_node(op, names, ["out"], domain=domain, name="node", **attributes)
    initializers = [numpy_helper.from_array(arrays[number], names[number]) for number in constant]
    inputs = {}
    for number, (name, array) in enumerate(zip(names, arrays)):
        if number not in constant:
            shape = list(array.shape) if shapes is None else shapes[number]
            inputs[name] = (type_of(array), shape)
    out = arrays[2] if op == "GatherBlockQuantized" else arrays[0]
    return model_of([node], inputs, {"out": (type_of(out), None)}, initializers, opset)


def feeds_of(arrays, constant=()):
    return {f"in{number}": array for number, array in enumerate(arrays) if number not in constant}


def session_of(model, providers=None, folder=None, **options):
    chosen = onnxruntime.SessionOptions()
    chosen.log_severity_level = 4
    for name, value in options.items():
        setattr(chosen, name, value)
    if folder is not None:
        chosen.enable_profiling = True
        chosen.profile_file_prefix = str(folder / "profile")
    if providers is None:
        return onnxruntime.InferenceSession(model, sheaf.onnxruntime.add_to(chosen))
    return onnxruntime.InferenceSession(model, chosen, providers=providers)


def providers_of(session):
    """Which provider ran each node: operator and provider, in the order of the run."""
    with open(session.end_profiling(), encoding="utf-8") as file:
        events = json.load(file)
    return [(event["args"]["op_name"], event["args"]["provider"]) for event in events
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time")]
