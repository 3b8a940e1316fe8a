# SPDX-License-Identifier: MIT
"""The exceptions. Each is an Error of Sheaf and also what a user of NumPy would expect; all are
RuntimeErrors, which PyTorch's own mostly are.

A text has up to four lines: who refuses and what is wrong; the value, where it stands and the
limit; all shapes and types; a next step.
"""

import builtins

import numpy

# numpy.exceptions is new in NumPy 1.25.
_NumpyAxisError: type = getattr(numpy, "exceptions", numpy).AxisError


class Error(RuntimeError):
    """Every refusal of Sheaf."""


class IndexError(Error, builtins.IndexError):
    """An index out of range under the rule "fail". The output is untouched."""

    position: tuple[int, ...] = ()  # of the first bad index, in row-major order
    bad_count: int = 0  # how many indices are out of range


class ArgumentError(Error, ValueError):
    """Shapes, strides or options that do not fit."""


class AxisError(ArgumentError, _NumpyAxisError):  # type: ignore[misc]
    """An axis that the array does not have."""

    def __init__(self, *arguments: object) -> None:
        super(RuntimeError, self).__init__(*arguments)  # NumPy's, which stands behind that


class DTypeError(Error, TypeError):
    """Element types that do not fit."""


class IndexDTypeError(DTypeError, builtins.IndexError):
    """Indices that are not integers."""


class BufferError(ArgumentError, builtins.BufferError):
    """An array that does not hand out its memory."""


class UnsupportedError(Error, NotImplementedError):
    """A sound request that this build cannot run."""


class OutOfMemoryError(Error, MemoryError):
    """No memory for the output."""


class FileError(OSError, Error):  # in this order OSError makes it, whose size it has
    """A file that cannot be opened, read, understood or written. `errno` is the system's number, or
    None if the content is at fault; `filename` is the path."""

    def __str__(self) -> str:  # OSError would put errno and filename together instead
        return str(self.args[0]) if self.args else ""


class FileNotFoundError(FileError, builtins.FileNotFoundError):
    """No file has this path."""


class PermissionError(FileError, builtins.PermissionError):
    """The file or its folder may not be used like this."""


class DeviceError(Error):
    """The device reported an error."""


def refusal(what: str, detail: str, next: str) -> str:
    """The text of a refusal, in the lines that all of them have."""
    from . import _sheaf  # which imports this module
    return _sheaf.refusal_text(what, detail, next)


for _class in list(Error.__subclasses__()) + [
        Error, AxisError, BufferError, FileNotFoundError, IndexDTypeError, PermissionError]:
    _class.__module__ = "sheaf"  # where users find them
del _class
