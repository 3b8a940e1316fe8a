# SPDX-License-Identifier: MIT
"""sheaf.cuda as far as it goes without a GPU; with one, test_cuda_*.py go on."""

import numpy
import pytest

import sheaf
from capsules import Exporter


def test_it_tells_what_there_is():
    assert sheaf.cuda.is_available() in (True, False)
    assert sheaf.cuda.description()
    assert all(getattr(sheaf.cuda, name).__doc__ for name in sheaf.cuda.__all__)


def test_on_the_cpu_nothing_is_put_off():
    with pytest.raises(sheaf.IndexError):
        with sheaf.cuda.deferred_errors():
            sheaf.take([1, 2], [5])
    with sheaf.cuda.deferred_errors():
        assert sheaf.take([1, 2], [1]).tolist() == [2]
    sheaf.cuda.check()
    sheaf.cuda.forget_captured()


def test_types_of_a_users_own_come_and_go():
    import gc
    import weakref

    class Own(Exporter):
        pass

    gone = weakref.ref(Own)
    assert sheaf.take(Own([1, 2, 3]), [2]).tolist() == [3]
    del Own
    gc.collect()
    assert gone() is None


def test_tensors_of_a_derived_class():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")

    class Derived(torch.Tensor):
        pass

    x = numpy.arange(4.0)
    for tensor in (torch.from_numpy(x).as_subclass(Derived),
                   torch.nn.Parameter(torch.from_numpy(x), requires_grad=False)):
        assert sheaf.gather(tensor, torch.tensor([3, 0])).tolist() == [3, 0]
