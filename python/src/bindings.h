// SPDX-License-Identifier: MIT
//
// What the parts of the module offer each other: the functions that bind them, work without
// Python's lock, and gathers from tables in files.
#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <exception>

#include "call.h"
#include "interrupt.h"

namespace sheaf::python {

// Each fills in its part of the module.
void bind_bag_gradients(nanobind::module_& module);
void bind_functions(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_gpu(nanobind::module_& module);
void bind_jax(nanobind::module_& module);
void bind_files(nanobind::module_& module);
void bind_moe(nanobind::module_& module);
void bind_moves(nanobind::module_& module);
void bind_sharded(nanobind::module_& module);
void bind_sums(nanobind::module_& module);
void bind_tables(nanobind::module_& module);
void bind_torch(nanobind::module_& module);
void bind_encoded(nanobind::module_& module);
void bind_bags(nanobind::module_& module);
void bind_vulkan(nanobind::module_& module);
void bind_bag_plans(nanobind::module_& module);
void bind_pictures(nanobind::module_& module);

// Is this a sheaf.Table? One comparison: every call asks.
bool is_table(nb::handle object);

// The gather of a table: rows are fetched from its file.
nb::object gather_from_table(Op op, nb::handle table, nb::handle indices,
                             const GatherKeywords& keywords, nb::handle out);

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

// Calls `work` with the lock released. What it throws arrives with the lock held. Ctrl-C ends what
// it runs on the host: then the handler's exception, KeyboardInterrupt, is thrown.
template <class Work>
void without_gil(const Work& work) {
  std::exception_ptr thrown;
  PyThreadState* state = PyEval_SaveThread();
  InterruptWatch watch(state);
  try {
    const CancelScope scope(watch.cancel());
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  take_gil(state);
  if (watch.interrupted()) {
    throw Interrupted{nb::python_error()};
  }
  if (thrown != nullptr) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace sheaf::python
