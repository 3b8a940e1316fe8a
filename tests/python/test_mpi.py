# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LAUNCH = Path(__file__).parents[1] / "distributed" / "launch"
PROGRAM = Path(__file__).with_name("mpi_program.py")


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_same_bits_and_errors(ranks):
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("no mpirun.openmpi")
    environment = {**os.environ, "MPI4PY_RC_THREADS": "0"}
    done = subprocess.run([LAUNCH, "openmpi", str(ranks), sys.executable, PROGRAM], timeout=120,
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "good" in done.stdout, done.stdout + done.stderr
