// SPDX-License-Identifier: MIT
//
// Built instead of jax/ffi.cc where jaxlib, which has the headers, is not there.
#include <nanobind/stl/vector.h>

#include <vector>

#include "bindings.h"
#include "sheaf/bag.h"

namespace sheaf::python {

void bind_jax(nanobind::module_& module) {
  module.def(
      "has_jax_ffi", [] { return false; }, "Whether compiled programs of JAX can call Sheaf.");
  module.def(
      "jax_handlers", [] { return nanobind::dict(); },
      nanobind::sig("def jax_handlers() -> dict[str, typing.Any]"),
      "Handlers for XLA's FFI, by name.");
  module.def(
      "jax_workspace", [](const Plan&, const std::vector<int>&) { return size_t{0}; },
      nanobind::arg("plan"), nanobind::arg("devices"),
      "Bytes that a run of the plan needs on any of these GPUs.");
  module.def(
      "jax_bag_workspace", [](const BagPlan&, const std::vector<int>&) { return size_t{0}; },
      nanobind::arg("plan"), nanobind::arg("devices"),
      "Bytes that a run of the plan needs on any of these GPUs.");
}

}  // namespace sheaf::python
