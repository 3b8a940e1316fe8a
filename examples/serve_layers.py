# SPDX-License-Identifier: MIT
"""A language model whose per-layer embeddings stay on disk: a token brings one row for every layer.

    python3 serve_layers.py [device]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

import sheaf.torch

VOCABULARY, LAYERS, WIDTH = 1000, 4, 16


# [example serve-layers]
class Model(torch.nn.Module):
    """Layers on a device; of their embeddings only the rows of the batch come there."""

    def __init__(self, path):
        super().__init__()
        # [vocabulary, layers, width], in a file; rows that are asked for often stay on the device.
        self.embeddings = sheaf.torch.Table(path, cache_bytes=64 << 20)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))

    def forward(self, tokens):
        rows = self.embeddings(tokens)  # one read for all layers
        state = torch.zeros_like(rows[..., 0, :])
        for layer, row in zip(self.layers, rows.unbind(-2)):
            state = state + torch.tanh(layer(state + row))
        return state
# [/example]


def main(device="cpu"):
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "per_layer.npy"
        table = np.random.default_rng(0).standard_normal((VOCABULARY, LAYERS, WIDTH))
        np.save(path, table.astype(np.float32))
        model = Model(path).to(device)
        with torch.no_grad():
            for _ in range(3):
                tokens = torch.randint(VOCABULARY, (2, 12), device=device)
                state = model(tokens)
        stats = model.embeddings.rows.stats()
        print(f"states {tuple(state.shape)} on {state.device.type}; "
              f"{stats['rows']} rows by the way {stats['way']!r}")
        return state, model


if __name__ == "__main__":
    main(*sys.argv[1:])
