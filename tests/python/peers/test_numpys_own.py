# SPDX-License-Identifier: MIT
"""NumPy's own tests of take, take_along_axis, put_along_axis and add.at, with Sheaf in their place."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

#: Their tests, and how many of them there are at least.
SUITES = {
    "numpy.lib.tests.test_shape_base": ("AlongAxis", 5),
    "numpy._core.tests.test_multiarray": ("TestTake or test_take", 8),
    "numpy._core.tests.test_numeric": ("test_take", 1),
    "numpy._core.tests.test_regression": ("take", 3),
    "numpy._core.tests.test_ufunc": ("(inplace_fancy or ufunc_at or at_) and not loops_complex", 10),
    "numpy._core.tests.test_umath": ("add_at or ufunc_at or test_at", 0),
}
#: Dtypes whose elements are references or of a type added to NumPy, and an error that must be of a class private to NumPy. (The
#: tests left out by `loops_complex` look whether a ufunc is numpy.add itself.)
EXPECTED = re.compile(r"object|StringDType|test_ufunc_at_basic\[a1\]|test_at_no_loop_for_op")


@pytest.mark.parametrize("suite", SUITES)
def test_numpys_own(suite):
    if importlib.util.find_spec(suite) is None:
        pytest.skip("this NumPy comes without its tests")
    which, least = SUITES[suite]
    here = str(Path(__file__).parent)
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=line", "-p", "patched_numpy", "-p",
         "no:cacheprovider", "-c", os.devnull, "--rootdir", here, "--pyargs", suite, "-k", which],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    failed = [line for line in run.stdout.splitlines() if line.startswith("FAILED")]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert [line for line in failed if not EXPECTED.search(line)] == [], run.stdout
    assert (int(passed[1]) if passed else 0) >= least, run.stdout + run.stderr
