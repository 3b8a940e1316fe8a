# SPDX-License-Identifier: MIT
"""Settings of hypothesis, and what several test files need."""

import os

import numpy
import pytest

try:
    from hypothesis import settings
except ImportError:  # machines with a GPU may lack it: their tests, test_cuda_*.py, do without
    pass
else:
    settings.register_profile("default", max_examples=100, deadline=None)
    settings.register_profile("thorough", max_examples=2000, deadline=None)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def rng():
    return numpy.random.default_rng(20240607)


@pytest.fixture
def jax_on_cpu():
    """JAX, whose arrays are then in host memory, also where it has a GPU."""
    jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")
    with jax.default_device(jax.devices("cpu")[0]):
        yield jax
