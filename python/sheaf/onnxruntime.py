# SPDX-License-Identifier: MIT
"""Sheaf inside ONNX Runtime: an execution provider that runs a model's gathers and scatters.

    import onnxruntime, sheaf.onnxruntime
    sheaf.onnxruntime.register()
    session = onnxruntime.InferenceSession(
        "model.onnx", providers=["SheafExecutionProvider", "CPUExecutionProvider"])

It takes Gather, GatherElements, GatherND, Scatter, ScatterElements, ScatterND and GatherBlockQuantized;
all other nodes stay where they are. docs/onnxruntime.md has the details.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import numpy
import onnxruntime

__all__ = ["NAME", "NodeCost", "Profile", "add_to", "library", "profile", "register", "unregister"]

NAME = "SheafExecutionProvider"
_REGISTRATION = "sheaf"
_lock = threading.Lock()
_registered = ""


def library() -> str:
    """Where the provider's library is: for programs in C++ that register it themselves."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in ("libsheaf_onnxruntime.so", "libsheaf_onnxruntime.dylib"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise ImportError(f"this package was built without ONNX Runtime's provider: no {name} in {folder}\n"
                      "  try: pip install --force-reinstall --no-cache-dir . with -DSHEAF_ONNXRUNTIME=ON")


def register(path: str | None = None) -> None:
    """Makes the provider known to ONNX Runtime, for all sessions that are made afterwards.

    A second call does nothing. `path` names another build of the library.
    """
    global _registered
    path = os.path.abspath(path) if path is not None else library()
    with _lock:
        if _registered == path:
            return
        if _registered:
            raise RuntimeError(f"the provider is registered already, from {_registered}\n"
                               "  try: sheaf.onnxruntime.unregister() first")
        if not hasattr(onnxruntime, "register_execution_provider_library"):
            raise ImportError("Sheaf's execution provider needs ONNX Runtime 1.24 or a later 1.x\n"
                              f"  this is ONNX Runtime {onnxruntime.__version__}\n"
                              "  try: pip install 'onnxruntime>=1.24,<2'")
        onnxruntime.register_execution_provider_library(_REGISTRATION, path)
        _registered = path


def unregister() -> None:
    """Takes it back and unloads the library. No session that uses it may be alive."""
    global _registered
    with _lock:
        if _registered:
            onnxruntime.unregister_execution_provider_library(_REGISTRATION)
            _registered = ""


def add_to(options: Any) -> Any:
    """Gives SessionOptions the provider, and returns them: for InferenceSession(model, options).

    The same as providers=[NAME, "CPUExecutionProvider"], which ONNX Runtime 1.24 does not take yet for a
    provider that was registered.
    """
    register()
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    options.add_provider_for_devices(devices[:1], {})
    return options


@dataclass(frozen=True)
class NodeCost:
    """A node that the provider runs, in microseconds per run; NaN where the other session, after its own
    optimisations, has no such node."""

    name: str
    op: str
    with_sheaf: float
    without: float


@dataclass(frozen=True)
class Profile:
    """What profile() found; it prints as a table. Times are medians, in microseconds."""

    nodes: list[NodeCost]
    with_sheaf: float  # whole runs
    without: float

    def __str__(self) -> str:
        lines = [f"{'node':<32} {'operator':<22} {'with':>10} {'without':>10}  µs"]
        for node in self.nodes:
            lines.append(f"{node.name:<32.32} {node.op:<22} {node.with_sheaf:10.1f} {node.without:10.1f}")
        lines.append(f"{f'{len(self.nodes)} of Sheaf':<32} {'':<22} "
                     f"{sum(node.with_sheaf for node in self.nodes):10.1f} "
                     f"{sum(node.without for node in self.nodes):10.1f}")
        lines.append(f"{'the whole model':<32} {'':<22} {self.with_sheaf:10.1f} {self.without:10.1f}")
        return "\n".join(lines)


def _feeds(session: Any, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Zeros for integers, which name an entry everywhere, and random numbers for floats."""
    rng = numpy.random.default_rng(0)
    feeds = {}
    for value in session.get_inputs():
        name = value.type.removeprefix("tensor(").removesuffix(")")
        dtype = numpy.dtype({"float": "float32", "double": "float64"}.get(name, name))
        shape = [extent if isinstance(extent, int) else sizes.get(extent or "", 1) for extent in value.shape]
        random = dtype.kind == "f"
        feeds[value.name] = rng.random(shape).astype(dtype) if random else numpy.zeros(shape, dtype)
    return feeds


def _events(model: Any, feeds: Mapping[str, Any] | None, sizes: Mapping[str, int], runs: int,
            folder: str, *, ours: bool) -> list[dict[str, Any]]:
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.log_severity_level = 3  # not: "some nodes were not assigned to the preferred providers"
    options.profile_file_prefix = os.path.join(folder, "ours" if ours else "theirs")
    if ours:
        session = onnxruntime.InferenceSession(model, add_to(options))
    else:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    given = dict(feeds) if feeds is not None else _feeds(session, sizes)
    for _ in range(runs):
        session.run(None, given)
    with open(session.end_profiling(), encoding="utf-8") as file:
        events: list[dict[str, Any]] = json.load(file)
    return events


def _node_times(events: list[dict[str, Any]]) -> dict[str, tuple[str, str, float]]:
    """Operator, provider and median time of each node."""
    times: dict[str, list[float]] = {}
    facts: dict[str, tuple[str, str]] = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            name = event["name"].removesuffix("_kernel_time")
            times.setdefault(name, []).append(event["dur"])
            facts[name] = event["args"]["op_name"], event["args"]["provider"]
    return {name: (*facts[name], statistics.median(times[name])) for name in times}


def _whole(events: list[dict[str, Any]]) -> float:
    return float(statistics.median(event["dur"] for event in events if event["name"] == "model_run"))


def profile(model: Any, feeds: Mapping[str, Any] | None = None, *, sizes: Mapping[str, int] | None = None,
            runs: int = 30, file: TextIO | None = None) -> Profile:
    """Runs a model (a path, or the bytes of one) with and without Sheaf, and prints which nodes Sheaf takes
    and what they cost.

    `feeds` are the inputs. Without them floats are random and integers 0, in the model's shapes, where
    `sizes` gives the extents that the model leaves open (1 if it does not).
    """
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        ours = _events(model, feeds, sizes or {}, runs, folder, ours=True)
        theirs = _events(model, feeds, sizes or {}, runs, folder, ours=False)
    without = _node_times(theirs)
    missing = ("", "", float("nan"))
    nodes = [NodeCost(name, op, time, without.get(name, missing)[2])
             for name, (op, provider, time) in _node_times(ours).items() if provider == NAME]
    found = Profile(nodes, _whole(ours), _whole(theirs))
    print(found, file=file or sys.stdout)
    return found
