# SPDX-License-Identifier: MIT
"""Tables whose elements are stored in a few bits: described, never converted as a whole."""

from __future__ import annotations

from typing import Any, Sequence

import numpy

from . import _sheaf
from ._errors import ArgumentError, refusal

_BYTE_TYPES = ("uint8", "int8", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
               "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2")


def dtype_name(dtype: Any) -> str | None:
    """The name of a dtype of NumPy, PyTorch or JAX; names as they are."""
    if dtype is None or isinstance(dtype, str):
        return dtype
    text = str(dtype)
    return text[len("torch."):] if text.startswith("torch.") else numpy.dtype(dtype).name


def _as_bytes(array: Any) -> Any:
    """The same memory as unsigned bytes, if elements have one byte."""
    name = dtype_name(getattr(array, "dtype", None))
    if name not in _BYTE_TYPES or name == "uint8":
        return array
    if hasattr(array, "__torch_function__"):
        import torch
        return array.view(torch.uint8)
    return array.view("uint8")


def _as_scales(array: Any) -> Any:
    """Powers of two (e8m0) are stored exponents to the compiled part."""
    is_exponent = dtype_name(getattr(array, "dtype", None)) == "float8_e8m0fnu"
    return _as_bytes(array) if is_exponent else array


def _decoded_shape(encoding: str, stored: Any) -> tuple[int, ...]:
    sizes = tuple(stored.shape)
    elements = _sheaf.elements_of_row(encoding, sizes[-1]) if sizes else -1
    if elements < 0:
        raise ArgumentError(refusal(
            "Encoded: rows of another length",
            f"stored has shape {list(sizes)}, but {encoding} has no such rows",
            "the bytes of whole rows, in the last dimension"))
    return (*sizes[:-1], elements)


class Encoded:
    """A table as it is stored: bytes, and what is needed to decode them.

    stored has the shape of the table, with the bytes of a row in place of the last size. Encodings
    of codes (u8, i4, f8e4m3, ...) have scales beside them, one per `block` elements along `axis`
    (0: one for all of them), and may have zeros: integers are zero points, floats biases.
    docs/bags.md lists the encodings.

    shape is that of the decoded table. It is only needed where codes of less than a byte leave
    room at the end of a row. The parts may be arrays of NumPy, PyTorch or JAX; nothing is copied.
    """

    __slots__ = ("axis", "block", "encoding", "scales", "shape", "stored", "usual_zero", "zeros")

    def __init__(self, encoding: str, stored: Any, scales: Any = None, zeros: Any = None, *,
                 shape: Sequence[int] | None = None, block: int = 0, axis: int = -1,
                 usual_zero: int = 0) -> None:
        is_array = hasattr(stored, "shape")
        self.encoding = encoding
        self.stored = _as_bytes(stored if is_array else numpy.asarray(stored, numpy.uint8))
        self.scales = _as_scales(scales)
        self.zeros = zeros
        self.shape = tuple(map(int, _decoded_shape(encoding, self.stored) if shape is None
                               else shape))
        self.block, self.axis, self.usual_zero = int(block), int(axis), int(usual_zero)
        if not hasattr(self.stored, "_trace"):  # which JAX has no memory for yet
            _sheaf.check_encoded(self)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Of all that is stored."""
        parts = (self.stored, self.scales, self.zeros)
        return sum(int(part.nbytes) for part in parts if hasattr(part, "nbytes"))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<sheaf.Encoded {self.encoding}{list(self.shape)}>"

    def like(self, stored: Any, scales: Any, zeros: Any, shape: Sequence[int], **others: Any
             ) -> Encoded:
        """Other rows of the same encoding."""
        keywords = {"block": self.block, "axis": self.axis, "usual_zero": self.usual_zero, **others}
        return Encoded(self.encoding, stored, scales, zeros, shape=shape, **keywords)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.encoding, self.stored, self.scales, self.zeros, self.shape, self.block,
                        self.axis, self.usual_zero)


def _again(encoding: str, stored: Any, scales: Any, zeros: Any, shape: Any, block: int, axis: int,
           usual_zero: int) -> Encoded:
    """What pickle calls."""
    return Encoded(encoding, stored, scales, zeros, shape=shape, block=block, axis=axis,
                   usual_zero=usual_zero)


def encoded_rows(encoding: str, stored: Any, *, shape: Sequence[int] | None = None) -> Encoded:
    """Rows that hold their own scales ("row_u8_f32", "row_u4_f16", ..., "q4_k"): Encoded without
    the rest."""
    return Encoded(encoding, stored, shape=shape)


_sheaf.set_encoded_type(Encoded)
