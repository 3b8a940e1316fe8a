// SPDX-License-Identifier: MIT
#include "gil.h"

#include <cxxabi.h>
#include <unistd.h>

namespace sheaf::python {
namespace {

[[noreturn]] void park_thread() {
  for (;;) {
    pause();
  }
}

}  // namespace

void take_gil(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (const abi::__forced_unwind&) {
    park_thread();  // inside the handler: leaving it would abort the process
  }
}

}  // namespace sheaf::python
