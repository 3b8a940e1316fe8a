# SPDX-License-Identifier: MIT
"""A DLPack exporter written with ctypes, which counts what is done to its capsules."""

import ctypes
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

import numpy


class Device(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class DType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device", Device), ("ndim", c_int32), ("dtype", DType),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class Managed(Structure):
    _fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class ManagedVersioned(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p),
                ("deleter", c_void_p), ("flags", c_uint64), ("tensor", Tensor)]


DELETER = ctypes.CFUNCTYPE(None, c_void_p)
_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [c_void_p, ctypes.c_char_p, c_void_p]
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.py_object]


def name_of(capsule):
    return _api.PyCapsule_GetName(capsule).decode()


class Exporter:
    """An int32 array that exports itself by DLPack. Attributes may be changed to lie."""

    def __init__(self, values, version=(1, 0)):
        self.array = numpy.array(values, dtype="i4")
        self.version = version  # None: a producer from before version 1
        self.device = (1, 0)
        self.dtype = (0, 32, 1)
        self.flags = 0
        self.strides = None
        self.shape = list(self.array.shape)
        self.byte_offset = 0
        self.capsules = []
        self.deleted = 0
        self._deleter = DELETER(self._delete)
        self._alive = []

    def _delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device

    def _tensor(self):
        shape = (c_int64 * len(self.shape))(*self.shape)
        strides = (c_int64 * len(self.shape))(*self.strides) if self.strides else None
        self._alive += [shape, strides]
        return Tensor(self.array.ctypes.data, Device(*self.device), len(self.shape),
                      DType(*self.dtype), shape, strides, self.byte_offset)

    def __dlpack__(self, **keywords):
        deleter = ctypes.cast(self._deleter, c_void_p)
        if self.version is None:
            if keywords:
                raise TypeError(f"unknown keywords {keywords}")
            managed, name = Managed(self._tensor(), None, deleter), b"dltensor"
        else:
            managed = ManagedVersioned(*self.version, None, deleter, self.flags, self._tensor())
            name = b"dltensor_versioned"
        self._alive += [managed, name]
        capsule = _api.PyCapsule_New(ctypes.addressof(managed), name, None)
        self.capsules.append(capsule)
        return capsule
