# SPDX-License-Identifier: MIT
"""What PyTorch hands out by DLPack: the oldest one that is supported has no floats of 8 bits there."""

import pytest


def needs_dlpack_of(dtype):
    import torch

    try:
        torch.utils.dlpack.to_dlpack(torch.empty(1, dtype=dtype))
    except (RuntimeError, BufferError) as error:
        pytest.skip(f"this PyTorch: {error}")
