# SPDX-License-Identifier: MIT
"""The rules of DLPack: a capsule is taken once, its deleter called once, hostile ones refused."""

import numpy
import pytest

import sheaf
from capsules import Exporter, name_of


@pytest.mark.parametrize("version", [None, (1, 0), (1, 7)])
def test_a_capsule_is_taken_once_and_deleted_once(version):
    exporter = Exporter([[1, 2, 3], [4, 5, 6]], version)
    result = sheaf.take(exporter, [1], axis=0)
    assert type(result) is numpy.ndarray  # it has no namespace of its own
    assert result.tolist() == [[4, 5, 6]]
    used = "used_dltensor" if version is None else "used_dltensor_versioned"
    assert [name_of(capsule) for capsule in exporter.capsules] == [used]
    assert exporter.deleted == 1


def test_the_result_is_writable_and_outlives_everything():
    result = sheaf.gather(Exporter([1, 2, 3]), [2, 2])
    result[0] = 9
    assert result.tolist() == [9, 3]


def test_a_refused_call_deletes_too():
    exporter = Exporter([1, 2, 3])
    with pytest.raises(sheaf.IndexError):
        sheaf.take(exporter, [7])
    with pytest.raises(sheaf.DTypeError):
        sheaf.take(numpy.arange(3.0), exporter, out=numpy.empty(3, "f4"))
    assert exporter.deleted == len(exporter.capsules) == 2


def test_a_used_capsule_is_refused():
    exporter = Exporter([1, 2, 3])

    class Again:
        def __dlpack__(self, **_):
            return capsule

    capsule = exporter.__dlpack__()
    assert sheaf.take(Again(), [0]).tolist() == [1]
    with pytest.raises(sheaf.ArgumentError, match="did not give a fresh DLPack capsule"):
        sheaf.take(Again(), [0])
    assert exporter.deleted == 1


def test_an_unknown_version_is_not_touched():
    exporter = Exporter([1, 2, 3], (2, 0))
    with pytest.raises(sheaf.UnsupportedError, match="DLPack version 2.0"):
        sheaf.take(exporter, [0])
    assert [name_of(capsule) for capsule in exporter.capsules] == ["dltensor_versioned"]
    assert exporter.deleted == 0


def test_out_and_the_read_only_flag():
    exporter = Exporter([0, 0])
    assert sheaf.take(numpy.arange(5, dtype="i4"), [4, 3], out=exporter) is exporter
    assert exporter.array.tolist() == [4, 3]
    exporter.flags = 1
    assert sheaf.take(exporter, [1]).tolist() == [3]
    with pytest.raises(sheaf.ArgumentError, match="out is read-only"):
        sheaf.take(numpy.arange(5, dtype="i4"), [4, 3], out=exporter)
    assert exporter.deleted == len(exporter.capsules)


@pytest.mark.skipif(sheaf.cuda.is_available(), reason="there is a GPU to use")
def test_arrays_on_a_gpu_without_cuda():
    exporter = Exporter([1, 2, 3])
    for device in ((2, 0), (13, 0)):
        exporter.device = device
        for call in (lambda: sheaf.take(exporter, [0]), lambda: sheaf.plan_gather(exporter, [0])):
            with pytest.raises(sheaf.UnsupportedError) as caught:
                call()
            name, where, try_this = str(caught.value).splitlines()
            assert name.endswith(": the GPU is not available")
            assert where == f"  data is on cuda:0, but {sheaf.cuda.description()}"
            assert try_this == "  try: a copy of the array in CPU memory"
    assert exporter.capsules == []


def test_devices_that_are_out_of_reach():
    exporter = Exporter([1, 2, 3])
    exporter.device = (10, 0)
    with pytest.raises(sheaf.UnsupportedError) as caught:
        sheaf.take([1, 2, 3], exporter)
    assert str(caught.value).startswith(
        "take: unsupported device\n  indices is on DLPack device type 10, but Sheaf reaches")
    exporter.device = (3, 0)  # pinned memory of the host
    assert sheaf.take(exporter, [0]).tolist() == [1]
    assert exporter.deleted == len(exporter.capsules) == 1


def test_the_two_methods_must_agree():
    class Liar(Exporter):
        def __dlpack_device__(self):
            return (1, 0)

    liar = Liar([1, 2, 3])
    liar.device = (2, 0)
    with pytest.raises(sheaf.ArgumentError, match="take: two devices for one array"):
        sheaf.take(liar, [0])
    assert liar.deleted == 1


@pytest.mark.skipif(not sheaf.cuda.is_available(), reason="needs a CUDA device")
def test_the_two_methods_must_agree_on_the_gpu():
    class Liar(Exporter):
        def __dlpack_device__(self):
            return (2, 0)

    liar = Liar([1, 2, 3])
    liar.device = (2, 1)
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf.take(liar, [0])
    assert str(caught.value) == (
        "take: two devices for one array\n"
        "  __dlpack_device__() of data says cuda:0, but __dlpack__() gave memory of cuda:1\n"
        "  try: an array whose two methods agree")
    assert liar.deleted == len(liar.capsules) == 1


def test_strides_and_offset():
    exporter = Exporter([1, 2, 3, 4, 5, 6])
    exporter.shape, exporter.strides, exporter.byte_offset = [3], [-2], 20
    assert sheaf.take(exporter, [0, 1, 2]).tolist() == [6, 4, 2]


@pytest.mark.parametrize("change, text", [
    ({"shape": [-1]}, "negative size"),
    ({"shape": [2**40, 2**40], "strides": [0, 0]}, "too large"),
    ({"dtype": (0, 4, 1)}, "unsupported element type"),
    ({"dtype": (99, 32, 1)}, "unsupported element type"),
    ({"shape": [1] * 33}, "32"),
])
def test_hostile_tensors(change, text):
    exporter = Exporter([1, 2, 3])
    for name, value in change.items():
        setattr(exporter, name, value)
    with pytest.raises(sheaf.ArgumentError, match=text):
        sheaf.gather(exporter, [0])
    assert exporter.deleted == 1


def test_errors_of_the_exporter_pass_through():
    class Broken:
        calls = 0

        def __dlpack__(self, **_):
            self.calls += 1
            raise BufferError("not today")

    broken = Broken()
    with pytest.raises(BufferError, match="not today"):
        sheaf.take(broken, [0])
    assert broken.calls == 1  # only one that does not know max_version is asked again

    class NoCapsule:
        def __dlpack__(self, **_):
            return 7

    with pytest.raises(sheaf.ArgumentError, match="fresh DLPack capsule"):
        sheaf.take(NoCapsule(), [0])
