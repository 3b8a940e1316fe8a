# SPDX-License-Identifier: MIT
"""sheaf.Table: rows of a file, of host memory or of a device, to where indices and output are."""

from __future__ import annotations

import os
from typing import Any, Sequence, Union

import numpy

from . import _sheaf
from ._bag_segments import segments_of
from ._encoded import dtype_name
from ._errors import ArgumentError, DTypeError, refusal
from ._functions import scatter, scatter_elements, scatter_nd
from ._interop import is_on_gpu, is_small_integer, like_array, on_host
from ._options import Accumulate, BagRule, Negative, Pool
from ._table_index import select
from ._table_types import (BITS, DECODED, file_settings, index_array, numpy_dtype,
                           refuse_traced)

Path = Union[str, "os.PathLike[str]"]
_FILE_SETTINGS = {"memory", "depth", "direct", "reader", "cache", "format"}
_SCATTERS: dict[str, Any] = {"scatter": scatter, "scatter_elements": scatter_elements,
                             "scatter_nd": scatter_nd}


def _named(op: str, where: tuple[int, ...]) -> dict[str, Any]:
    return dict(zip({"scatter": ("axis", "batch_dims"), "scatter_elements": ("axis",),
                     "scatter_nd": ("batch_dims",)}[op], where))


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def _is_foreign(array: Any) -> bool:
    """An array of another library than NumPy: what comes of it is of that library, too."""
    return hasattr(array, "__dlpack__") and not isinstance(array, numpy.ndarray)


class Table:
    """Rows along the first axis, wherever they lie: sheaf.Table("model.safetensors", "embed.weight")
    is a table in a file, sheaf.Table(array) one in the memory of the array, of the host or of a GPU;
    sheaf.Table(encoded) has rows that are decoded on their way. Nothing is copied, and the array is
    held. sheaf.Table(table, ...) has the same rows with other options.

    Results are where indices are: arrays on a GPU give arrays on that GPU, of the same library, in
    the order of its current stream.

    way forces one of "host", "device", "mapped", "ring", "file", "download"; rows travel in `pieces`
    pieces of piece_bytes; threads gather from host memory; lock=True locks host memory, so that the
    device can read it by itself; cache_bytes keeps rows on the device, those of cached_rows or those
    that are asked for most often. memory, depth, direct, reader and cache are those of gather().
    """

    def __init__(self, data: Any, name: str = "", **options: Any) -> None:
        if isinstance(data, Table):
            self._take(data._handle, data._base, data._data, data._origin)
        elif _is_path(data):
            path = os.fspath(data)
            self._take(_sheaf.FileHandle(os.fsencode(path)).table(name), None, None, (path, name))
        elif name:
            raise ArgumentError(refusal("Table: a name with an array", f"name = {name!r}",
                                        "a name with the path of a file"))
        else:
            array = data if hasattr(data, "shape") else numpy.asarray(data)
            self._take(None, _sheaf.rows_of_array(array), array, None)
        self._set_options(options)

    @classmethod
    def _of_file(cls, handle: Any, origin: tuple[Any, ...]) -> Table:
        table = cls.__new__(cls)
        table._take(handle, None, None, origin)
        table._set_options({})
        return table

    def _take(self, handle: Any, base: Any, data: Any, origin: Any) -> None:
        self._handle = handle  # of a file
        self._base = base or _sheaf.rows_of_file(handle)
        self._data = data
        self._origin = origin  # what opens it again
        self._file_stats: dict[str, Any] = {}
        # By the calls that read a file to the host, or write it with arrays of the host.
        self._calls = self._rows_read = self._rows_scattered = 0
        self._last = ""
        self._describe()

    def _describe(self) -> None:
        kind, self._shape, self._nbytes, self._place, encoding = self._base.described()
        self._encoding = None if encoding == "plain" else encoding
        own = getattr(self._data, "dtype", None)  # of PyTorch, or a record of NumPy
        self._dtype: Any = (numpy_dtype("f32") if self._encoding else
                            numpy_dtype(kind) if own is None else own)
        self._info = self._handle.info() if self._handle is not None else (
            "", kind, self._shape, self._nbytes, None, None, None, "plain", "")

    def _set_options(self, options: dict[str, Any]) -> None:
        given = {name: value for name, value in options.items() if value is not None}
        if "cached_rows" in given:
            given["cached_rows"] = [int(row) for row in given["cached_rows"]]
        self._options = given
        self._rows = self._base.with_options(**given)

    # None of these can be assigned: calls depend on them.
    name = property(lambda self: self._info[0], doc='The tensor\'s name in its file, or "".')
    shape = property(lambda self: self._shape)
    nbytes = property(lambda self: self._nbytes)
    place = property(lambda self: self._place, doc='"file", "host", or a device and its number.')
    data = property(lambda self: self._data, doc="The array that has the rows; None for a file.")
    path = property(lambda self: self._info[4], doc="The file that holds the data, or None.")
    offset = property(lambda self: self._info[5], doc="Of the first byte in that file, or None.")
    order = property(lambda self: self._info[6], doc='"C" or "F" of a table in a file, or None.')
    storage = property(lambda self: self._info[7],
                       doc='"plain"; "deflate", "fields" or "packed": decoded as it is read.')
    encoding = property(lambda self: self._encoding,
                        doc='Of rows that are stored in a few bits ("q8_0"); None for all others.')
    dtype = property(lambda self: self._dtype, doc="Of elements; of encoded ones, once decoded.")
    file_stats = property(lambda self: self._file_stats,
                          doc="What the last call that read a file to the host read: blocks, "
                              "bytes_read, requests, cache_hits, cache_misses, reader.")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a table without dimensions")
        return int(self.shape[0])

    def __repr__(self) -> str:
        kind = self.encoding or self.dtype
        if self._handle is None:
            return f"sheaf.Table({kind}, {list(self.shape)}, {self.place!r})"
        return f"sheaf.Table({self.name!r}, {kind}, {list(self.shape)}, {self.path!r})"

    def __reduce__(self) -> Any:
        """A pickled table is opened again, by its path, where it is unpickled."""
        if self._origin is None:
            raise TypeError(refusal(
                "Table: a table in memory cannot be pickled", repr(self),
                "its array; or a table in a file, which is opened again by its path"))
        return _reopen, (self._origin, self._options)

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a table cannot be shown without a copy")
        array: numpy.ndarray[Any, Any]
        if self.encoding or self._handle is None:  # one tuple without components names everything
            array = self._gather("gather_nd", numpy.zeros(0, numpy.int64))
        else:
            array = self._handle.load().view(self.dtype).reshape(self.shape)
        return array if dtype is None else array.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        """As NumPy means it: integers, slices, ..., arrays of integers and masks."""
        return select(self, key)

    def _gather(self, op: str, indices: Any, axis: int = 0, batch_dims: int = 0,
                broadcast: bool = False, *, out_of_range: str = "fail",
                negative: str = "from_end", fill_value: Any = 0, out: Any = None,
                dtype: Any = None, packed: bool = False, threads: int = 0,
                **settings: Any) -> Any:
        refuse_traced(op, indices)
        decoded, result_type = self._result_type(dtype, packed)
        rule = {"out_of_range": out_of_range, "negative": negative, "fill_value": fill_value}
        to_host = out is None or _is_path(out)
        if self._handle is not None and to_host and not _is_foreign(indices):
            return self._read(op, indices, (axis, batch_dims, broadcast), rule, out, decoded,
                              result_type, settings)
        if settings:
            raise TypeError(f"unexpected keyword {next(iter(settings))!r}: of tables in files that "
                            "are read to the host; else sheaf.Table(table, ...) sets it")
        if _is_path(out):
            raise ArgumentError(refusal(f"{op}: a file for rows that are in memory",
                                        f"out = {os.fspath(out)!r}", "out=, an array"))
        return self._rows.gather(op, indices, out, axis=axis, batch_dims=batch_dims,
                                 broadcast=broadcast, dtype=decoded or None, packed=packed,
                                 threads=threads, **rule)

    def _read(self, op: str, indices: Any, where: tuple[Any, ...], rule: dict[str, Any], out: Any,
              decoded: str, result_type: Any, settings: dict[str, Any]) -> Any:
        # What runs the caller's code comes first; then nothing but this call sees the indices.
        path = None if out is None else os.fspath(out)
        given = {name: value for name, value in self._options.items()
                 if name in _FILE_SETTINGS}
        how = file_settings({**given, **settings})
        array, type_name = index_array(indices)
        result, shape, self._file_stats = self._handle.gather(
            op, array, type_name, *where, rule["out_of_range"], rule["negative"],
            rule["fill_value"], b"" if path is None else os.fsencode(path), how, decoded)
        self._calls, self._rows_read = self._calls + 1, self._rows_read + array.size
        self._last = "file"
        return path if result is None else result.view(result_type).reshape(shape)

    def _result_type(self, dtype: Any, packed: bool) -> tuple[str, Any]:
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
        if dtype is None and self._handle is None:
            return "", None  # out says
        name = "f32" if dtype is None else DECODED.get(
            dtype if isinstance(dtype, str) else dtype_name(dtype) or "", "")
        if not name:
            raise DTypeError(refusal("gather: unsupported dtype",
                                     f"encoded rows become no {dtype!r}",
                                     '"float32", "float16" or "bfloat16"'))
        return name, numpy_dtype(name)

    def gather(self, indices: Any, *, axis: int = 0, batch_dims: int = 0, **rest: Any) -> Any:
        """sheaf.gather with this table as data; the result is where indices are, and of their kind.
        Keywords besides those of the operator: threads; of an encoded table dtype ("float32",
        "float16", "bfloat16") and packed (rows of bytes, as they are stored). Of a table in a file
        that is read to the host: out may be a path (the result becomes a file), format (of that
        file, whatever its suffix says), memory (bytes), cache (a RowCache), depth (reads in flight),
        direct (past the page cache), reader ("io_uring" or "pread")."""
        return self._gather("gather", indices, axis, batch_dims, **rest)

    def gather_elements(self, indices: Any, *, axis: int = 0, broadcast: bool = False,
                        **rest: Any) -> Any:
        """sheaf.gather_elements with this table as data; more keywords as in gather."""
        return self._gather("gather_elements", indices, axis, 0, broadcast, **rest)

    def gather_nd(self, indices: Any, *, batch_dims: int = 0, **rest: Any) -> Any:
        """sheaf.gather_nd with this table as data; more keywords as in gather."""
        return self._gather("gather_nd", indices, 0, batch_dims, **rest)

    def bag(self, indices: Any, offsets: Any = None, *, lengths: Any = None, ids: Any = None,
            bags: int | None = None, weights: Any = None, pool: Pool = "sum",
            last_offset: bool = False, padding_index: int | None = None, empty_value: Any = 0,
            accumulate: Accumulate = "f32", dtype: Any = None, out_of_range: BagRule = "fail",
            negative: Negative = "from_end", fill_value: Any = 0, threads: int = 0,
            out: Any = None) -> Any:
        """sheaf.bag with this table as data; the result is where indices are, and of their kind."""
        refuse_traced("bag", indices, offsets, lengths, ids, weights)
        segments = segments_of("bag", offsets, lengths, ids, bags, last_offset)
        return self._rows.bag(indices, segments.array, weights, out, pool=pool, form=segments.form,
                              last_offset=last_offset, bags=segments.bags,
                              padding_index=padding_index, empty_value=empty_value,
                              accumulate=accumulate or "", dtype=dtype_name(dtype),
                              out_of_range=out_of_range, negative=negative, fill_value=fill_value,
                              threads=threads)

    def _scatter(self, op: str, indices: Any, updates: Any, *where: int,
                 out: Path | None = None, **rest: Any) -> None:
        refuse_traced(op, indices, updates)
        if self.encoding:
            raise DTypeError(refusal(f"{op}: encoded rows are only read",
                                     f"{self.name!r} is {self.encoding}{list(self.shape)}",
                                     "a scatter into the decoded table: gather(..., out=PATH)"))
        if self._handle is None:
            self._write(op, indices, updates, where, out, rest)
        elif out is None and self._may_travel(indices, updates) and not _FILE_SETTINGS & set(rest):
            self._run_scatter(op, indices, updates, where, rest)
        else:
            self._replace(op, indices, updates, *where, out=out, **rest)

    def _write(self, op: str, indices: Any, updates: Any, where: tuple[int, ...], out: Any,
               rest: dict[str, Any]) -> None:
        """Into memory."""
        if out is not None:
            raise ArgumentError(refusal(f"{op}: out of a table in memory", "the table is written to",
                                        "no out; a scatter of table.data for a copy"))
        if self.place == "host" and not self._may_travel(indices, updates):
            indices, updates = on_host(indices), on_host(updates)
        indices, updates = (array if is_on_gpu(array) else like_array(self._data, array)
                            for array in (indices, updates))
        if rest.get("accumulate") == "f32" and is_small_integer(self._data):
            _SCATTERS[op](self._data, indices, updates, out=self._data, **_named(op, where), **rest)
            self.forget_cached_rows()
        else:
            self._run_scatter(op, indices, updates, where, rest)

    def _run_scatter(self, op: str, indices: Any, updates: Any, where: tuple[int, ...],
                     rest: dict[str, Any]) -> None:
        accumulate = rest.pop("accumulate", None) or ""
        self._rows.scatter(op, indices, updates, accumulate=accumulate, **_named(op, where), **rest)

    def _may_travel(self, indices: Any, updates: Any) -> bool:
        """Whether the library brings both from a GPU as they are."""
        return (is_on_gpu(indices) and is_on_gpu(updates) and
                dtype_name(updates.dtype) == dtype_name(self.dtype))

    def _replace(self, op: str, indices: Any, updates: Any, axis: int = 0, batch_dims: int = 0, *,
                 reduction: str = "none", include_self: bool = True, out_of_range: str = "fail",
                 negative: str = "from_end", out: Path | None = None, **settings: Any) -> None:
        path = b"" if out is None else os.fsencode(out)
        how = file_settings(settings)
        values = numpy.asarray(on_host(updates), order="C")
        if values.dtype != self.dtype:
            values = values.astype(self.dtype, casting="same_kind")
        array, type_name = index_array(on_host(indices))
        if values.dtype.kind == "V" or values.dtype.isbuiltin == 2:  # no buffer protocol
            values = values.view(BITS[values.dtype.itemsize])
        if op == "scatter_nd":
            axis, batch_dims = 0, axis
        self._file_stats = self._handle.scatter(
            op, array, type_name, values, axis, batch_dims, reduction, include_self, out_of_range,
            negative, path, how)
        self._calls, self._rows_scattered = self._calls + 1, self._rows_scattered + array.size
        self._last = "file"

    def scatter(self, indices: Any, updates: Any, *, axis: int = 0, batch_dims: int = 0,
                **rest: Any) -> None:
        """sheaf.scatter into the table. Of a file: a new file with the updates applied takes the old
        one's place, and this table follows it; or goes to `out`. Memory is written in place, by
        indices and updates that are on the host or on a GPU. Rows that were written leave the caches
        of devices, of this table and of tables made of it."""
        self._scatter("scatter", indices, updates, axis, batch_dims, **rest)

    def scatter_elements(self, indices: Any, updates: Any, *, axis: int = 0, **rest: Any) -> None:
        """sheaf.scatter_elements into the table; see scatter."""
        self._scatter("scatter_elements", indices, updates, axis, **rest)

    def scatter_nd(self, indices: Any, updates: Any, *, batch_dims: int = 0, **rest: Any) -> None:
        """sheaf.scatter_nd into the table; see scatter."""
        self._scatter("scatter_nd", indices, updates, batch_dims, **rest)

    def prefetch(self, indices: Any, *, axis: int = 0, batch_dims: int = 0,
                 negative: Negative = "from_end") -> None:
        """A hint that a gather of these rows follows: those that the cache on the device of indices
        lacks (cache_bytes) are brought there, as many as it has room for; of a file without such a
        cache, into its RowCache (cache=). Results are the same without it, and indices out of range
        are left out. Nothing is done for indices on the host, without a cache, of encoded rows."""
        refuse_traced("prefetch", indices)
        if self.encoding is None:
            self._rows.prefetch("gather", indices, axis=axis, batch_dims=batch_dims,
                                negative=negative)

    def stats(self) -> dict[str, Any]:
        """What all calls did: calls, rows asked for, rows_fetched, bytes_to_device, cache_hits and
        cache_misses of the rows on the device, pieces, staging_bytes of host memory for them,
        staging_pinned, and the way of the last call; rows_scattered and bytes_to_host of the
        indices and updates of scatters; rows_prefetched."""
        stats = self._rows.stats()
        stats["way"] = stats["way"] or self._last
        for name, more in (("calls", self._calls), ("rows", self._rows_read),
                           ("rows_fetched", self._rows_read),
                           ("rows_scattered", self._rows_scattered)):
            stats[name] += more
        return stats

    def explain(self, indices: Any, *, axis: int = 0, batch_dims: int = 0) -> str:
        """The way that the rows of a gather take, and what every way says to it."""
        return self._rows.explain("gather", indices, axis=axis, batch_dims=batch_dims)

    def forget_cached_rows(self) -> None:
        """For memory that was written to by others: rows on the device are fetched again."""
        self._rows.forget_cached_rows()


def _reopen(origin: Sequence[Any], options: dict[str, Any]) -> Table:
    """What pickle calls."""
    if len(origin) == 2:
        return Table(origin[0], origin[1], **options)
    path, *raw = origin
    table = Table._of_file(_sheaf.raw_table(os.fsencode(path), *raw), tuple(origin))
    return Table(table, **options)


Table.__module__ = "sheaf"
_sheaf.set_table_type(Table)  # sheaf.gather and the others know it from here on
__all__ = ["Path", "Table"]
