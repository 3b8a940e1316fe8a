# SPDX-License-Identifier: MIT
"""Whole models in ONNX Runtime, with Sheaf's execution provider and without.

usage: scripts/python bench/onnxruntime_models.py [--runs N] [--threads N]

Three shapes of models, with random weights:

  embedding   a table of 4-bit blocks (GatherBlockQuantized), then a projection
  beams       one step of a beam search: the caches of all layers are put in the order of the beams (Gather),
              and the new keys are written into them (ScatterND)
  graph       a layer of a graph network: rows of the senders (Gather), a projection, sums at the receivers
              (ScatterND, add)

Each has the time of its gathers and scatters, from ONNX Runtime's own profile, and that of whole runs, without
profile. The first are medians, the second the best of their runs; those with and without take turns. Not a
test: nothing is asserted but the results.
"""

import argparse
import os
import time

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import sheaf.onnxruntime

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model_of(nodes, inputs, outputs, initializers=()):
    def infos(values):
        return [helper.make_tensor_value_info(name, *value) for name, value in values.items()]
    graph = helper.make_graph(nodes, "model", infos(inputs), infos(outputs), list(initializers))
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def embedding(rng, tokens=512, words=32_000, width=1024, out=256, block=32):
    codes = rng.integers(0, 256, (words, width // 2), dtype="u1")
    scales = rng.random((words, width // block), dtype="f4")
    nodes = [helper.make_node("GatherBlockQuantized", ["table", "tokens", "scales"], ["rows"],
                              domain="com.microsoft", name="lookup", block_size=block, bits=4),
             helper.make_node("MatMul", ["rows", "weights"], ["out"], name="projection")]
    weights = rng.random((width, out), dtype="f4")
    initializers = [numpy_helper.from_array(array, name) for name, array in
                    (("table", codes), ("scales", scales), ("weights", weights))]
    model = model_of(nodes, {"tokens": (INT64, ["n"])}, {"out": (FLOAT, ["n", out])}, initializers)
    return model, {"tokens": rng.integers(0, words, tokens)}


def beams(rng, beam=8, heads=8, length=128, width=64, layers=4):
    nodes = []
    shape = [beam, heads, length, width]
    inputs = {"order": (INT64, [beam]), "new": (FLOAT, [beam, heads, width]), "places": (INT64, [beam, 2])}
    outputs = {}
    for layer in range(layers):
        past, moved, cache = f"past{layer}", f"moved{layer}", f"cache{layer}"
        inputs[past] = (FLOAT, shape)
        nodes += [helper.make_node("Gather", [past, "order"], [moved], name=f"reorder{layer}", axis=0),
                  helper.make_node("Transpose", [moved], [f"turned{layer}"], perm=[0, 2, 1, 3]),
                  helper.make_node("ScatterND", [f"turned{layer}", "places", "new"], [cache],
                                   name=f"append{layer}"),
                  helper.make_node("Relu", [cache], [f"out{layer}"])]
        outputs[f"out{layer}"] = (FLOAT, None)
    feeds = {f"past{layer}": rng.random(shape, dtype="f4") for layer in range(layers)}
    feeds["order"] = rng.integers(0, beam, beam)
    feeds["new"] = rng.random((beam, heads, width), dtype="f4")
    feeds["places"] = numpy.stack([numpy.arange(beam), numpy.full(beam, length - 1)], axis=1)
    return model_of(nodes, inputs, outputs), feeds


def graph(rng, vertices=10_000, edges=60_000, width=64):
    weights = rng.random((width, width), dtype="f4")
    nodes = [helper.make_node("Gather", ["vertices", "senders"], ["sent"], name="senders"),
             helper.make_node("MatMul", ["sent", "weights"], ["messages"], name="projection"),
             helper.make_node("Neg", ["vertices"], ["base"], name="base"),
             helper.make_node("ScatterND", ["base", "receivers", "messages"], ["sums"], name="receivers",
                              reduction="add"),
             helper.make_node("Relu", ["sums"], ["out"], name="activation")]
    model = model_of(nodes, {"vertices": (FLOAT, [vertices, width]), "senders": (INT64, ["edges"]),
                             "receivers": (INT64, ["edges", 1])}, {"out": (FLOAT, None)},
                     [numpy_helper.from_array(weights, "weights")])
    return model, {"vertices": rng.random((vertices, width), dtype="f4"),
                   "senders": rng.integers(0, vertices, edges),
                   "receivers": rng.integers(0, vertices, (edges, 1))}


def whole(model, feeds, runs, threads):
    """The best of whole runs, with and without."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    cpu = "CPUExecutionProvider"
    sessions = [onnxruntime.InferenceSession(model, options, providers=providers)
                for providers in ([sheaf.onnxruntime.NAME, cpu], [cpu])]
    # One thread: from several, ONNX Runtime's ScatterND loses summands (docs/onnxruntime.md).
    alone = onnxruntime.SessionOptions()
    alone.intra_op_num_threads = 1
    right = onnxruntime.InferenceSession(model, alone, providers=[cpu]).run(None, feeds)
    for ours, theirs in zip(sessions[0].run(None, feeds), right):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-4)
    times = [[], []]
    for _ in range(runs):
        for own, session in zip(times, sessions):
            start = time.perf_counter()
            session.run(None, feeds)
            own.append(time.perf_counter() - start)
    return [min(own) * 1e6 for own in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--threads", type=int, default=0, help="of the session; 0: ONNX Runtime's choice")
    arguments = parser.parse_args()
    sheaf.onnxruntime.register()
    print(f"ONNX Runtime {onnxruntime.__version__}, {os.cpu_count()} cores; microseconds")
    print(f"{'model':<12} {'gathers with':>13} {'without':>10} {'ratio':>6} {'whole with':>12} {'without':>10} "
          f"{'ratio':>6}")
    for make in (embedding, beams, graph):
        model, feeds = make(numpy.random.default_rng(7))
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            parts = sheaf.onnxruntime.profile(model, feeds, runs=arguments.runs, file=nowhere)
        ours = sum(node.with_sheaf for node in parts.nodes)
        theirs = sum(node.without for node in parts.nodes)
        mine, cpu = whole(model, feeds, arguments.runs, arguments.threads)
        print(f"{make.__name__:<12} {ours:13.0f} {theirs:10.0f} {theirs / ours:6.2f} {mine:12.0f} {cpu:10.0f} "
              f"{cpu / mine:6.2f}")


if __name__ == "__main__":
    main()
