// SPDX-License-Identifier: MIT
//
// Work without Python's lock.
#pragma once

#include <Python.h>

#include <exception>

namespace sheaf::python {

// Takes the lock again. In a daemon thread that outlives the interpreter it never returns: before
// Python 3.14 PyEval_RestoreThread ends such a thread by unwinding its stack, which no C++ frame on
// the way survives; later ones park it, and so does this.
void take_gil(PyThreadState* state);

// Calls `work` with the lock released. What it throws arrives with the lock held.
template <class Work>
void without_gil(const Work& work) {
  std::exception_ptr thrown;
  PyThreadState* state = PyEval_SaveThread();
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  take_gil(state);
  if (thrown != nullptr) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace sheaf::python
