# SPDX-License-Identifier: MIT
"""An embedding table trained by hand: look rows up, then add their gradients."""

import numpy as np

import sheaf

table = np.zeros((4, 3), dtype=np.float32)
tokens = np.array([2, 0, 2])

rows = sheaf.take(table, tokens, axis=0)  # [3, 3]
gradients = np.ones_like(rows)

# Token 2 stands twice: both its gradients are added, in order.
table = sheaf.scatter(table, tokens, -0.1 * gradients, axis=0, reduction="add")
print(table[:, 0])  # [-0.1  0.  -0.2  0. ]

try:
    sheaf.take(table, [0, 4], axis=0)
except sheaf.IndexError as error:
    print(error)  # names the index, its place, and the range
