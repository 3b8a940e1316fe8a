# SPDX-License-Identifier: MIT
"""Every node test of the onnx package that has one of the provider's operators, through ONNX Runtime."""

import warnings

import numpy
import pytest

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed (scripts/peers)")

import onnxruntime  # noqa: E402
from onnx.backend.test.case.node import collect_testcases  # noqa: E402
from ort_models import THEIRS, providers_of, session_of  # noqa: E402

import sheaf.onnxruntime  # noqa: E402

OPERATORS = {"Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND"}


def nodes_of(graph):
    return [node.op_type for node in graph.node]


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    CASES = [case for case in collect_testcases(None)
             if OPERATORS & set(nodes_of(case.model.graph))]
PLAIN = [case for case in CASES if len(case.model.graph.node) == 1]


@pytest.fixture(scope="module", autouse=True)
def registered():
    sheaf.onnxruntime.register()


def as_list(values):
    return list(values.values()) if isinstance(values, dict) else list(values)


def check(case, session):
    for inputs, outputs in case.data_sets:
        names = [value.name for value in session.get_inputs()]
        found = session.run(None, dict(zip(names, as_list(inputs))))
        for got, wanted in zip(found, as_list(outputs)):
            numpy.testing.assert_allclose(got.astype("f8"), numpy.asarray(wanted).astype("f8"),
                                          rtol=case.rtol, atol=case.atol)


def test_there_are_some():
    assert len(PLAIN) >= 26 and len(CASES) >= 80


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_one_node(case, tmp_path):
    session = session_of(case.model.SerializeToString(), folder=tmp_path)
    check(case, session)
    assert {provider for _, provider in providers_of(session)} == {sheaf.onnxruntime.NAME}


@pytest.mark.parametrize("case", [case for case in CASES if case not in PLAIN], ids=lambda case: case.name)
def test_among_others(case, tmp_path):
    model = case.model.SerializeToString()
    # Without optimisations: they would fold the constants, and with them most of these gathers.
    options = {"graph_optimization_level": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL}
    try:
        check(case, session_of(model, THEIRS, **options))
    except Exception as error:  # a type that it has no kernel for, or a rule that it does not keep
        pytest.skip(f"not by ONNX Runtime alone: {type(error).__name__}")
    session = session_of(model, folder=tmp_path, **options)
    check(case, session)
    ran = providers_of(session)
    taken = [provider for op, provider in ran if op in OPERATORS]
    assert taken and set(taken) == {sheaf.onnxruntime.NAME}
