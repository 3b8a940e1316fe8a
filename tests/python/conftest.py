# SPDX-License-Identifier: MIT
"""Settings of hypothesis, and what several test files need."""

import os

import hypothesis
import numpy
import pytest

hypothesis.settings.register_profile("default", max_examples=100, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def rng():
    return numpy.random.default_rng(20240607)
