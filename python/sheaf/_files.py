# SPDX-License-Identifier: MIT
"""Tables in files: sheaf.open(path)["name"] is data for every operator, without being loaded."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from typing import Any, Union

import numpy

from . import _sheaf
from ._errors import ArgumentError, DTypeError, refusal
from ._sheaf import RowCache
from ._table_index import select

Path = Union[str, "os.PathLike[str]"]

_NUMPY_NAMES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}
# Types that NumPy knows through ml_dtypes; without it, their bits come as unsigned integers.
_ML_NAMES = {
    "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2",
}


def _numpy_dtype(name: str) -> numpy.dtype[Any]:
    if name in _NUMPY_NAMES:
        return numpy.dtype(_NUMPY_NAMES[name])
    if name in _ML_NAMES:
        try:
            import ml_dtypes
        except ImportError:
            return numpy.dtype("uint16" if name == "bf16" else "uint8")
        dtype: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, _ML_NAMES[name]))
        return dtype
    return numpy.dtype(f"V{name.removeprefix('opaque')}")


# What encoded rows may become.
_DECODED = {"f32": "f32", "float32": "f32", "f16": "f16", "float16": "f16",
            "bf16": "bf16", "bfloat16": "bf16"}
# Built-in types of as many bytes.
_BITS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
_INDEX_NAMES = {numpy.dtype(numpy_name): name for name, numpy_name in _NUMPY_NAMES.items()}


def _indices(values: Any) -> tuple[Any, str]:
    """A contiguous copy of the indices, and Sheaf's name of their type. A copy, because nobody else
    must change type or shape of the array while the call runs."""
    array = numpy.array(values, order="C", subok=False)
    if array.size == 0 and array.dtype == numpy.float64:
        array = array.astype(numpy.int64)  # an empty list has no type of its own
    name = _INDEX_NAMES.get(array.dtype, "f32")
    return array, name


class Table:
    """One tensor of a file. Rows are read when they are asked for; results are NumPy arrays."""

    def __init__(self, table: Any, origin: tuple[Any, ...]) -> None:
        self._table = table
        self._origin = origin  # what opens it again
        self._info: tuple[Any, ...] = table.info()
        self._encoding = None if self._info[9] == "plain" else self._info[9]
        self._shape = self._info[10] if self._encoding else self._info[2]
        self._dtype = _numpy_dtype("f32" if self._encoding else self._info[1])
        self._stats: dict[str, Any] = {}

    # None of these can be assigned: calls depend on them.
    name = property(lambda self: self._info[0], doc="The tensor's name in its file.")
    shape = property(lambda self: self._shape)
    nbytes = property(lambda self: self._info[3])
    path = property(lambda self: self._info[4], doc="The file that holds the data.")
    offset = property(lambda self: self._info[5], doc="Of the first byte in that file.")
    order = property(lambda self: self._info[6], doc='"C" or "F".')
    storage = property(lambda self: self._info[7],
                       doc='"plain"; "deflate", "fields" or "packed": decoded as it is read.')
    encoding = property(lambda self: self._encoding,
                        doc='Of rows that are stored in a few bits ("q8_0"); None for all others.')
    dtype = property(lambda self: self._dtype, doc="Of elements; of encoded ones, once decoded.")
    stats = property(lambda self: self._stats,
                     doc="What the last call read: blocks, bytes, requests, cache hits.")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a table without dimensions")
        return int(self.shape[0])

    def __repr__(self) -> str:
        kind = self.encoding or self.dtype
        return f"sheaf.Table({self.name!r}, {kind}, {list(self.shape)}, {self.path!r})"

    def __reduce__(self) -> Any:
        """A pickled table is opened again, by its path, where it is unpickled."""
        return _reopen, self._origin

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a table in a file cannot be shown without a copy")
        array: numpy.ndarray[Any, Any]
        if self.encoding:  # one tuple without components names everything
            array = self._gather("gather_nd", numpy.zeros(0, numpy.int64))
        else:
            array = self._table.load().view(self.dtype).reshape(self.shape)
        return array if dtype is None else array.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        """As NumPy means it: integers, slices, ..., arrays of integers and masks."""
        return select(self, key)

    def _gather(self, op: str, indices: Any, axis: int = 0, batch_dims: int = 0,
                broadcast: bool = False, *, out_of_range: str = "fail",
                negative: str = "from_end", fill_value: Any = 0,
                out: Path | None = None, dtype: Any = None, packed: bool = False,
                **settings: Any) -> Any:
        # What runs the caller's code comes first; then nothing but this call sees the indices.
        path = None if out is None else os.fspath(out)
        how = _settings(settings)
        decoded, result_type = self._result_type(dtype, packed)
        array, type_name = _indices(indices)
        result, shape, self._stats = self._table.gather(
            op, array, type_name, axis, batch_dims, broadcast, out_of_range, negative, fill_value,
            b"" if path is None else os.fsencode(path), how, decoded)
        return path if result is None else result.view(result_type).reshape(shape)

    def _result_type(self, dtype: Any, packed: bool) -> tuple[str, numpy.dtype[Any]]:
        """What encoded rows are decoded to, by Sheaf's name; "" if nothing is decoded."""
        if self.encoding is None:
            if dtype is not None or packed:
                raise ArgumentError(refusal(
                    "gather: dtype and packed are for encoded tables",
                    f"{self.name!r} is {self.dtype}{list(self.shape)}", "neither; result.astype()"))
            return "", self.dtype
        if packed:
            if dtype is not None:
                raise ArgumentError(refusal("gather: dtype of packed rows", f"dtype = {dtype!r}",
                                            "packed=True alone: rows of bytes"))
            return "", numpy.dtype(numpy.uint8)
        name = "f32" if dtype is None else _DECODED.get(
            dtype if isinstance(dtype, str) else numpy.dtype(dtype).name, "")
        if not name:
            raise DTypeError(refusal("gather: unsupported dtype",
                                     f"encoded rows become no {dtype!r}",
                                     '"float32", "float16" or "bfloat16"'))
        return name, _numpy_dtype(name)

    def gather(self, indices: Any, *, axis: int = 0, batch_dims: int = 0, **rest: Any) -> Any:
        """sheaf.gather with this table as data. Keywords besides those of the operator:
        out (a path: the result becomes a file), format (of that file, whatever its suffix says),
        memory (bytes), cache (a RowCache), depth (reads in flight), direct (past the page cache),
        reader ("io_uring" or "pread"); of an encoded table dtype ("float32", "float16", "bfloat16")
        and packed (rows of bytes, as they are stored)."""
        return self._gather("gather", indices, axis, batch_dims, **rest)

    def gather_elements(self, indices: Any, *, axis: int = 0, broadcast: bool = False,
                        **rest: Any) -> Any:
        """sheaf.gather_elements with this table as data; more keywords as in gather."""
        return self._gather("gather_elements", indices, axis, 0, broadcast, **rest)

    def gather_nd(self, indices: Any, *, batch_dims: int = 0, **rest: Any) -> Any:
        """sheaf.gather_nd with this table as data; more keywords as in gather."""
        return self._gather("gather_nd", indices, 0, batch_dims, **rest)

    def _scatter(self, op: str, indices: Any, updates: Any, axis: int = 0, batch_dims: int = 0, *,
                 reduction: str = "none", include_self: bool = True, out_of_range: str = "fail",
                 negative: str = "from_end", out: Path | None = None, **settings: Any) -> None:
        if self.encoding:
            raise DTypeError(refusal(f"{op}: encoded rows are only read",
                                     f"{self.name!r} is {self.encoding}{list(self.shape)}",
                                     "a scatter into the decoded table: gather(..., out=PATH)"))
        path = b"" if out is None else os.fsencode(out)
        how = _settings(settings)
        values = numpy.asarray(updates, order="C")
        if values.dtype != self.dtype:
            values = values.astype(self.dtype, casting="same_kind")
        array, type_name = _indices(indices)
        if values.dtype.kind == "V" or values.dtype.isbuiltin == 2:  # no buffer protocol
            values = values.view(_BITS[values.dtype.itemsize])
        self._stats = self._table.scatter(
            op, array, type_name, values, axis, batch_dims, reduction, include_self, out_of_range,
            negative, path, how)

    def scatter(self, indices: Any, updates: Any, *, axis: int = 0, batch_dims: int = 0,
                **rest: Any) -> None:
        """sheaf.scatter into the file: a new file with the updates applied takes the old one's
        place, and this table follows it; or goes to `out`."""
        self._scatter("scatter", indices, updates, axis, batch_dims, **rest)

    def scatter_elements(self, indices: Any, updates: Any, *, axis: int = 0, **rest: Any) -> None:
        """sheaf.scatter_elements into the file; see scatter."""
        self._scatter("scatter_elements", indices, updates, axis, **rest)

    def scatter_nd(self, indices: Any, updates: Any, *, batch_dims: int = 0, **rest: Any) -> None:
        """sheaf.scatter_nd into the file; see scatter."""
        self._scatter("scatter_nd", indices, updates, 0, batch_dims, **rest)


def _settings(values: dict[str, Any]) -> Any:
    settings = _sheaf.FileSettings()
    for name, value in values.items():
        if name not in ("memory", "depth", "direct", "reader", "cache", "format"):
            raise TypeError(f"unexpected keyword '{name}'")
        if value is not None:
            setattr(settings, name, value)
    return settings


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
        return Table(self._open_file().table(name), (self.path, name))

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
        return Table(self._open_file().table(""), (self.path, ""))

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
    return Table(_sheaf.raw_table(os.fsencode(file), name, sizes, offset),
                 (file, name, sizes, offset))


def _reopen(path: Path, *rest: Any) -> Table:
    return Table(File(path)._file.table(rest[0]), (path, *rest)) if len(rest) == 1 else open_raw(
        path, *rest)


for _class in (File, Table):
    _class.__module__ = "sheaf"
_sheaf.set_table_type(Table)  # sheaf.gather and the others know it from here on
__all__ = ["File", "RowCache", "Table", "open", "open_raw"]
