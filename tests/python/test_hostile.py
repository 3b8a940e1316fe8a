# SPDX-License-Identifier: MIT
"""Arguments whose own code changes other arguments during the call, threads that outlive the
interpreter, and exceptions of other libraries: a refusal of Sheaf's, never a wrong access."""

import builtins
import gc
import subprocess
import sys
import textwrap

import numpy
import pytest

import sheaf
from capsules import Exporter
from torch_dlpack import needs_c_functions


class Runs:
    """Indices that run `action` when they are asked for their values."""

    def __init__(self, action, values):
        self.action, self.values = action, values

    def __array__(self, dtype=None, copy=None):
        self.action()
        return numpy.asarray(self.values, dtype=dtype)


class RunsAsNumber:
    """A fill_value that runs `action`."""

    def __init__(self, action):
        self.action = action

    def item(self):
        self.action()
        return 0


class RunsAsAxis:
    def __init__(self, action):
        self.action = action

    def __index__(self):
        self.action()
        return 0


def shrink_dtype(array):
    def action():
        array.dtype = "u1"
    return action


def shrink_shape(array):
    return lambda: array.resize((1,), refcheck=False)


CHANGES = [shrink_dtype, shrink_shape]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", [
    lambda x, act: sheaf.gather(x, Runs(act, [7, 3])),
    lambda x, act: sheaf.take(x, Runs(act, [7, 3])),
    lambda x, act: sheaf.take(x, Runs(act, [7, 3]), axis=0),
    lambda x, act: sheaf.take_along_axis(x, Runs(act, [7, 3]), axis=0),
    lambda x, act: sheaf.gather(x, [9, 3], out_of_range="fill", fill_value=RunsAsNumber(act)),
    lambda x, act: sheaf.scatter(x, [7, 3], Runs(act, [1.0, 2.0])),
    lambda x, act: sheaf.plan_gather(x, sheaf.Spec("i64", [2])).run(x, Runs(act, [7, 3])),
])
def test_data_that_changes_during_the_call(change, call):
    x = numpy.arange(8.0)
    with pytest.raises(sheaf.ArgumentError, match="changed during the call"):
        call(x, change(x))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", [
    lambda x, act: sheaf.scatter(numpy.zeros(8), Runs(act, [7, 3]), [1.0, 2.0], out=x),
    lambda x, act: sheaf.put_along_axis(x, Runs(act, [7, 3]), 1.0, axis=0),
    lambda x, act: sheaf.put_along_axis(x, [7, 3], Runs(act, [1.0, 2.0]), axis=None),
])
def test_an_output_that_changes_before_it_is_read(change, call):
    """It is read last, so the changed array is what counts; where it does not fit, that is said."""
    x = numpy.arange(8.0)
    try:
        call(x, change(x))
    except sheaf.Error:
        pass
    else:
        assert x.dtype == "u1" and x.shape == (64,)


def test_a_flat_copy_is_not_made_of_memory_that_is_gone():
    x = numpy.arange(64.0).reshape(8, 8, order="F")
    x = numpy.array(x, order="F")
    with pytest.raises(sheaf.ArgumentError, match="changed during the call"):
        sheaf.take(x, Runs(lambda: x.resize((1, 1), refcheck=False), [63]))


def test_an_axis_is_read_before_the_arrays_are():
    x = numpy.arange(8.0)
    result = sheaf.take(x, [0, 1], axis=RunsAsAxis(shrink_dtype(x)))
    assert result.dtype == "u1" and result.tolist() == x[:2].tolist()


def test_a_finaliser_that_runs_during_the_call():
    """The garbage collector may run code of the caller's wherever Python allocates."""
    class Cycle:
        def __del__(self):
            if x.dtype != "u1":
                x.dtype = "u1"

    before = gc.get_threshold()
    try:
        gc.set_threshold(1)
        for _ in range(20):
            x = numpy.arange(64.0)
            cycle = Cycle()
            cycle.itself = cycle
            del cycle
            try:
                assert sheaf.gather(x, [5, 63]).tobytes() in (
                    numpy.array([5.0, 63.0]).tobytes(), x[[5, 63]].tobytes())
            except sheaf.ArgumentError as error:
                assert "changed during the call" in str(error)
    finally:
        gc.set_threshold(*before)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")


@pytest.mark.parametrize("subclass", [False, True])
def test_a_torch_storage_that_goes_away(torch, subclass):
    needs_c_functions()
    x = torch.arange(1 << 16, dtype=torch.float64)
    if subclass:
        x = x.as_subclass(type("Mine", (torch.Tensor,), {}))
    with pytest.raises(sheaf.ArgumentError, match="data changed during the call"):
        sheaf.gather(x, Runs(lambda: x.untyped_storage().resize_(0), [60000]))


def test_negated_and_conjugated_views(torch):
    z = torch.tensor([1 + 10j, 2 + 20j])
    negated = torch.imag(z.conj())
    assert negated.is_neg()
    assert sheaf.gather(negated, torch.tensor([1, 0])).tolist() == [-20.0, -10.0]
    assert sheaf.scatter(negated, torch.tensor([0]), torch.tensor([5.0])).tolist() == [5.0, -20.0]
    assert sheaf.gather(z.conj(), torch.tensor([1])).tolist() == [2 - 20j]
    sheaf.scatter(torch.zeros(2), torch.tensor([0]), torch.tensor([5.0]), out=negated)
    assert negated.tolist() == [5.0, 0.0] and z.tolist() == [1 - 5j, 2]
    with pytest.raises(sheaf.ArgumentError, match="out is a negated or conjugated view"):
        sheaf.scatter(numpy.zeros(2, "f4"), [0], [1.0], out=negated)  # not PyTorch's dispatcher


def test_a_new_empty_that_gives_something_else(torch):
    needs_c_functions()

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), keywords=None):
            if function.__name__ == "new_empty":
                return made
            return function(*arguments, **(keywords or {}))

    for made, text in ((torch.empty(1), "f32[1]"), (torch.empty(2).double(), "f64[2]"),
                       (torch.empty(4)[::2], "f32[2] strides [2]")):
        with pytest.raises(sheaf.ArgumentError) as caught, Mode():
            sheaf.take(torch.arange(8.0), numpy.array([7, 3]))
        assert str(caught.value) == ("new_empty: not what was asked for\n"
                                     f"  asked for f32[2], got {text}\n"
                                     "  try: out=, an array for the result")


@pytest.mark.parametrize("name", ["requires_grad", "is_neg", "new_empty"])
def test_torch_subclasses_whose_methods_raise(torch, name):
    def raises(*_):
        raise OSError("no")

    if name == "new_empty":
        needs_c_functions()
    kind = type("Mine", (torch.Tensor,), {
        name: property(raises) if name == "requires_grad" else raises,
        # The result of one of PyTorch's own classes is made by its new_empty.
        "__module__": "torch.nn.parameter" if name == "new_empty" else "mine"})
    with pytest.raises(sheaf.ArgumentError, match="OSError: no"):
        sheaf.take(torch.arange(8.0).as_subclass(kind), numpy.array([7, 3]))


def test_a_result_that_torch_has_no_memory_for(torch):
    with pytest.raises(sheaf.Error, match="no array for the result|tensor: out of memory"):
        sheaf.gather(torch.zeros(3), torch.zeros(1, dtype=torch.int64).expand(2**50))


@pytest.mark.parametrize("device", [(10, 0), (4, 0)])  # ROCm, OpenCL
def test_memory_of_a_device_that_is_not_announced(device):
    class Unannounced:
        def __init__(self):
            self.exporter = Exporter([1, 2, 3])
            self.exporter.device = device
            self.exporter.array = None

        def __dlpack__(self, **keywords):
            self.exporter.array = numpy.zeros(3, "i4")
            return self.exporter.__dlpack__(**keywords)

    for call in (lambda: sheaf.gather(Unannounced(), [0]), lambda: sheaf.gather([1], Unannounced())):
        with pytest.raises(sheaf.UnsupportedError, match="unsupported device"):
            call()


def test_a_daemon_thread_that_is_inside_at_exit():
    program = textwrap.dedent("""
        import threading, time
        import numpy, sheaf
        x = numpy.zeros((1 << 14, 16))
        indices = numpy.zeros(1 << 21, dtype=numpy.int64)
        def work(threads):
            out = numpy.empty((1 << 21, 16))
            while True:
                sheaf.gather(x, indices, out=out, threads=threads)
        for threads in (1, 2):
            threading.Thread(target=work, args=(threads,), daemon=True).start()
        time.sleep(0.3)
    """)
    for _ in range(2):
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
        assert (ended.returncode, ended.stderr) == (0, b"")


PACKED = numpy.zeros(2, [("a", "u1"), ("b", "f4")])


class Raises:
    def __init__(self, error):
        self.error = error

    def __dlpack__(self, **_):
        raise self.error


@pytest.mark.parametrize("call, kind, original", [
    (lambda: sheaf.gather([[1, 2], [3]], [0]), sheaf.ArgumentError, ValueError),
    (lambda: sheaf.gather([1, 2], [[0], [1, 2]]), sheaf.ArgumentError, ValueError),
    (lambda: sheaf.gather(Raises(BufferError("no")), [0]), sheaf.BufferError, builtins.BufferError),
    (lambda: sheaf.gather(Raises(OSError("no")), [0]), sheaf.ArgumentError, OSError),
    (lambda: sheaf.gather([1], Raises(MemoryError())), sheaf.OutOfMemoryError, MemoryError),
    (lambda: sheaf.gather(numpy.zeros(1, "V64"), numpy.broadcast_to(numpy.int64(0), 2**50)),
     sheaf.OutOfMemoryError, MemoryError),
    (lambda: sheaf.take([1], numpy.broadcast_to(numpy.array(0, ">i8"), 2**50)),
     sheaf.OutOfMemoryError, MemoryError),  # there is no copy in the byte order of this machine
    (lambda: sheaf.take(numpy.broadcast_to(PACKED["b"][:, None], (2, 2**50)), [0], axis=0),
     sheaf.OutOfMemoryError, MemoryError),  # nor one with strides in elements
    (lambda: sheaf.take(numpy.broadcast_to(numpy.zeros((2, 1)), (2, 2**50)), [0]),
     sheaf.OutOfMemoryError, MemoryError),  # nor a flat one
])
def test_errors_of_others_become_refusals(call, kind, original):
    with pytest.raises(sheaf.Error) as caught:
        call()
    assert type(caught.value) is kind
    assert isinstance(caught.value.__cause__, original)
    assert len(str(caught.value).splitlines()) == 3


def test_none_is_refused_by_name():
    for name, arguments in (("data", (None, [0])), ("indices", ([1], None))):
        with pytest.raises(sheaf.Error, match=f"{name} "):
            sheaf.gather(*arguments)


def test_interrupts_pass_through():
    with pytest.raises(KeyboardInterrupt):
        sheaf.gather(Raises(KeyboardInterrupt()), [0])


@pytest.mark.parametrize("pair", [("a", 0), (1,), 7, (2**40, 0)])
def test_a_device_that_is_no_pair_of_numbers(pair):
    exporter = Exporter([1, 2, 3])
    exporter.device = pair
    with pytest.raises(sheaf.Error):
        sheaf.gather(exporter, [0])


def test_elements_of_several_lanes():
    exporter = Exporter([[1, 2], [3, 4]])
    exporter.shape, exporter.dtype = [2], (0, 32, 2)
    with pytest.raises(sheaf.Error):  # NumPy has no such dtype to give the result
        sheaf.gather(exporter, [0])
    assert exporter.deleted == len(exporter.capsules)


def test_strides_that_are_no_numbers():
    with pytest.raises(sheaf.Error):
        sheaf.Spec("f4", [2], strides=["a"])
