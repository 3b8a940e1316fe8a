# SPDX-License-Identifier: MIT
"""Tables in files: sheaf.open(path)["name"] is data for every operator, without being loaded."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from . import _sheaf
from ._sheaf import RowCache
from ._tables import Path, Table

_MOST_NAMES = 8  # in the message about a wrong one


class File(Mapping[str, Table]):
    """The tensors of a file, by name. Opening reads the headers only.

    close(), or the end of a with block, lets go of the file; tables that were taken from it stay
    open as long as they are there.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self._file: Any = _sheaf.FileHandle(os.fsencode(self.path))
        self.format: str = self._file.format()
        self.metadata: dict[str, str] = dict(self._file.metadata())
        self._names = [info[0] for info in self._file.tensors()]

    def __getitem__(self, name: str) -> Table:
        if name not in self._names:
            raise KeyError(self._about_name(name))
        return Table._of_file(self._open_file().table(name), (self.path, name))

    def _about_name(self, name: Any) -> str:
        near = difflib.get_close_matches(str(name), self._names, 1)
        shown = ", ".join(self._names[:_MOST_NAMES])
        more = len(self._names) - _MOST_NAMES
        return (f"{name!r} is no tensor of {self.path}"
                f"{f'; did you mean {near[0]!r}?' if near else ';'} it has {shown or 'none'}"
                f"{f' and {more} more' if more > 0 else ''}")

    def _open_file(self) -> Any:
        if self._file is None:
            raise ValueError(f"{self!r} is closed")
        return self._file

    def close(self) -> None:
        """Lets go of the file. Names and metadata stay."""
        self._file = None

    def __enter__(self) -> File:
        self._open_file()
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def table(self) -> Table:
        """The only tensor of the file."""
        return Table._of_file(self._open_file().table(""), (self.path, ""))

    def __reduce__(self) -> Any:
        return File, (self.path,)

    def __repr__(self) -> str:
        return f"sheaf.File({self.path!r}, {self.format}, {len(self)} tensors)"


def open(path: Path) -> File:
    """Opens a .npy, .npz, .safetensors (or its .index.json), .onnx or .gguf file."""
    return File(path)


def open_raw(path: Path, dtype: Any, shape: Any, offset: int = 0) -> Table:
    """A table in a file without a header, `offset` bytes after its start. `dtype` is a NumPy type,
    or Sheaf's name of one ("bf16")."""
    name = dtype if isinstance(dtype, str) else str(numpy.dtype(dtype))
    file, sizes = os.fspath(path), [int(size) for size in shape]
    return Table._of_file(_sheaf.raw_table(os.fsencode(file), name, sizes, offset),
                          (file, name, sizes, offset))


File.__module__ = "sheaf"
__all__ = ["File", "RowCache", "open", "open_raw"]
