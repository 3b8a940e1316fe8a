// SPDX-License-Identifier: MIT
//
// What the module is put together from: each fills in its part.
#pragma once

#include <nanobind/nanobind.h>

namespace sheaf::python {

void bind_functions(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_cuda(nanobind::module_& module);
void bind_jax(nanobind::module_& module);
void bind_files(nanobind::module_& module);
void bind_moves(nanobind::module_& module);

}  // namespace sheaf::python
