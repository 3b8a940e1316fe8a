# SPDX-License-Identifier: MIT
"""The example of the README."""


def test_readme_example() -> None:
    # [example readme-python]
    import numpy as np

    import sheaf

    table = np.arange(8, dtype=np.float32).reshape(4, 2)
    rows = sheaf.take(table, [3, 0, -1], axis=0)  # NumPy in, NumPy out; the same for other arrays
    # [/example]
    assert isinstance(rows, np.ndarray)
    assert rows.tolist() == [[6, 7], [0, 1], [6, 7]]
