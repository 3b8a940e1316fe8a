# SPDX-License-Identifier: MIT
"""The neighbours of gathers in ONNX models: Sheaf's moves beside the kernels of ONNX Runtime's CPU provider.

usage: scripts/python bench/onnxruntime_neighbours.py [--runs N] [--threads N]

Both write into memory that is there already, in one process and in turn, and the results are compared bit for
bit. Times are the best of their runs, calls from Python included: about 5 microseconds of either, and on
Sheaf's side a plan per call. The table of docs/onnxruntime.md: times of ONNX Runtime over times of Sheaf.
"""

import argparse
import time

import numpy
import onnxruntime
from onnx import helper, numpy_helper

import sheaf
from sheaf._sheaf import move  # into given outputs: the public functions make theirs

SHAPES = {"1,024": (2, 4, 8, 16), "524,288": (8, 8, 128, 64), "4,194,304": (8, 16, 512, 64)}


def bound_session(op, inputs, constants, outputs, attributes, threads):
    """One node whose inputs and outputs are bound; constants are initializers behind the inputs."""
    arrays = [*inputs, *constants]
    names = [f"in{number}" for number in range(len(arrays))]
    results = [f"out{number}" for number in range(len(outputs))]

    def info(name, array):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
    graph = helper.make_graph([helper.make_node(op, names, results, **attributes)], "g",
                              [info(name, array) for name, array in zip(names, inputs)],
                              [info(name, array) for name, array in zip(results, outputs)],
                              [numpy_helper.from_array(array, name)
                               for name, array in zip(names[len(inputs):], constants)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in zip(names, inputs):
        binding.bind_cpu_input(name, array)
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in outputs]
    for name, value in zip(results, values):
        if op == "NonZero":
            binding.bind_output(name)  # of a size that it finds
        else:
            binding.bind_ortvalue_output(name, value)
    return (lambda: session.run_with_iobinding(binding)), values


def cases(shape):
    """Name, operator, inputs, constants, outputs, attributes, and Sheaf's call on the outputs."""
    rng = numpy.random.default_rng(0)
    x = rng.random(shape, dtype="f4")
    *outer, rows, width = shape

    def numbers(*values):
        return numpy.array(values, "i8")

    def empty(*sizes, dtype="f4"):
        return numpy.zeros(sizes, dtype)

    def copies(view):
        return lambda out: move("copy", [view], out, [], 0, "edge", True)

    def by(name, inputs, dims=(), axis=0, mode="edge"):
        return lambda out: move(name, inputs, out, list(dims), axis, mode, True)

    for order in ((0, 2, 1, 3), (0, 1, 3, 2), (3, 2, 1, 0)):
        view = x.transpose(order)
        yield f"Transpose {order}", "Transpose", [x], [], [empty(*view.shape)], {"perm": order}, copies(view)
    for name, axis, start, end, step in (("whole rows", 2, 1, rows, 1), ("parts of rows", 3, 0, width // 2, 1),
                                         ("every second", 3, 0, width, 2)):
        view = x[:, :, start:end] if axis == 2 else x[..., start:end:step]
        yield (f"Slice, {name}", "Slice", [x], [numbers(start), numbers(end), numbers(axis), numbers(step)],
               [empty(*view.shape)], {}, copies(view))
    row, other = x[:, :, :1].copy(), x.copy()
    yield ("Concat, one row more", "Concat", [x, row], [], [empty(*outer, rows + 1, width)], {"axis": 2},
           by("concat", [x, row], axis=2))
    yield ("Concat, last axis", "Concat", [x, other], [], [empty(*outer, rows, 2 * width)], {"axis": 3},
           by("concat", [x, other], axis=3))
    half = width // 2
    yield ("Split, last axis", "Split", [x], [numbers(half, half)],
           [empty(*outer, rows, half), empty(*outer, rows, half)], {"axis": 3}, by("split", [x], axis=3))
    yield ("Tile, last axis", "Tile", [x], [numbers(1, 1, 1, 2)], [empty(*outer, rows, 2 * width)], {},
           by("tile", [x], (1, 1, 1, 2)))
    yield ("Tile, first axis", "Tile", [x], [numbers(2, 1, 1, 1)], [empty(2 * shape[0], *shape[1:])], {},
           by("tile", [x], (2, 1, 1, 1)))
    pads, padded = numbers(0, 0, 1, 1, 0, 0, 1, 1), empty(*outer, rows + 2, width + 2)
    for mode in ("edge", "reflect"):
        yield f"Pad, {mode}", "Pad", [x], [pads], [padded], {"mode": mode}, by("pad", [x], (0, 0, 1, 1), mode=mode)
    for name, part in (("rows", row), ("elements", x[..., :1].copy())):
        yield f"Expand, {name}", "Expand", [part], [numbers(*shape)], [empty(*shape)], {}, copies(part)
    places, off_on = rng.integers(0, width, shape[:3]), numpy.array([0, 1], "f4")
    yield ("OneHot", "OneHot", [places], [numpy.array(width), off_on], [empty(*shape)], {"axis": -1},
           by("one_hot", [places[..., None], off_on], axis=3))
    half_zero, coordinates = (x > 0.5).astype("f4"), empty(x.size, 4, dtype="i8")
    yield ("NonZero", "NonZero", [half_zero], [], [empty(4, 1, dtype="i8")], {},
           lambda out: move("nonzero", [half_zero], [coordinates], [], 0, "edge", True))
    for from_type, to_type in (("f4", "f2"), ("i4", "i8"), ("f4", "i8")):
        given = (100 * x).astype(from_type)
        yield (f"Cast, {from_type} to {to_type}", "Cast", [given], [], [empty(*shape, dtype=to_type)],
               {"to": helper.np_dtype_to_tensor_dtype(numpy.dtype(to_type))}, by("cast", [given]))


def ratio_of(case, runs, threads):
    name, op, inputs, constants, outputs, attributes, ours = case
    theirs, values = bound_session(op, inputs, constants, outputs, attributes, threads)
    own = [numpy.zeros_like(array) for array in outputs]
    best = [float("inf"), float("inf")]
    for _ in range(runs):
        times = [time.perf_counter()]
        for run in (theirs, lambda: ours(own)):
            run()
            times.append(time.perf_counter())
        best = [min(best[0], times[1] - times[0]), min(best[1], times[2] - times[1])]
    if op != "NonZero":
        for value, array in zip(values, own):
            assert value.numpy().tobytes() == array.tobytes(), name
    return best[0] / best[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="of the largest; smaller ones run more often")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    sheaf.set_num_threads(arguments.threads)
    ratios = {}
    for shape in SHAPES.values():
        runs = arguments.runs * max(1, min(50, 4_194_304 // numpy.prod(shape)))
        for case in cases(shape):
            ratios.setdefault(case[0], []).append(ratio_of(case, runs, arguments.threads))
    print(f"ONNX Runtime {onnxruntime.__version__}, {arguments.threads} threads")
    print("| operator | " + " | ".join(f"{size} elements" for size in SHAPES) + " |")
    print("|---|" + "---|" * len(SHAPES))
    for name, row in ratios.items():
        print(f"| {name} | " + " | ".join(f"{ratio:.2f}" for ratio in row) + " |")


if __name__ == "__main__":
    main()
