// SPDX-License-Identifier: MIT
//
// NumPy's C interface, one copy for the whole extension. Built with the headers of NumPy 2, it
// runs with NumPy 1.22 and later. module.cc loads it (and defines SHEAF_LOAD_NUMPY to do so).
#pragma once

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL sheaf_numpy_api
#ifndef SHEAF_LOAD_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace sheaf::python {

inline PyArrayObject* as_array(PyObject* object) {
  return reinterpret_cast<PyArrayObject*>(object);
}

}  // namespace sheaf::python
