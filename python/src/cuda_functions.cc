// SPDX-License-Identifier: MIT
//
// What sheaf/cuda.py is made of.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "sheaf/cuda.h"
#include "verdicts.h"

namespace sheaf::python {

using nb::literals::operator""_a;

void bind_cuda(nb::module_& module) {
  module.def("cuda_available", cuda::available,
             "Whether this build can run on the current device.");
  module.def("cuda_description", cuda::description, "The current device, or why there is none.");
  module.def("cuda_defer", defer_verdicts, "change"_a,
             "Runs do not wait for verdicts while the sum of all changes is positive.");
  module.def("cuda_check", check_verdicts, "Waits for all verdicts that were put off.");
  module.def("cuda_forget", forget_captured, "Lets go of the verdicts of captured graphs.");
}

}  // namespace sheaf::python
