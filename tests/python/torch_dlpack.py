# SPDX-License-Identifier: MIT
"""What the oldest PyTorch that is supported does not hand out: floats of 8 bits by DLPack, and the C functions to read
tensors by, without which every call goes through a capsule."""

import pytest


def needs_dlpack_of(dtype):
    import torch

    try:
        torch.utils.dlpack.to_dlpack(torch.empty(1, dtype=dtype))
    except (RuntimeError, BufferError) as error:
        pytest.skip(f"this PyTorch: {error}")


def needs_c_functions():
    import sheaf
    import torch

    if not sheaf._sheaf.are_plain_tensors(torch.zeros(1), torch.zeros(1)):
        pytest.skip("this PyTorch has no C functions to read tensors by (before 2.10)")
