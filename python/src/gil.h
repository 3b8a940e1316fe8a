// SPDX-License-Identifier: MIT
//
// Work without Python's lock.
#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

#include <exception>

namespace sheaf::python {

[[noreturn]] inline void park_thread() {
  for (;;) {
    pause();
  }
}

// Takes the lock again. In a daemon thread that outlives the interpreter it never returns: before
// Python 3.14 PyEval_RestoreThread ends such a thread by unwinding its stack, which no C++ frame on
// the way survives; later ones park it, and so does this.
inline void take_gil(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (const abi::__forced_unwind&) {
    park_thread();  // inside the handler: leaving it would abort the process
  }
}

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
