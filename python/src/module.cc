// SPDX-License-Identifier: MIT
//
// The extension module: sheaf._sheaf. What users see of it is re-exported by sheaf/__init__.py.
#define SHEAF_LOAD_NUMPY
#include <nanobind/stl/string.h>

#include "arrays.h"
#include "bindings.h"
#include "errors.h"
#include "sheaf/version.h"

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

#ifndef SHEAF_LACKS
#define SHEAF_LACKS ""  // the build found everything
#endif

using nanobind::literals::operator""_a;

NB_MODULE(_sheaf, module) {
  if (_import_array() < 0) {
    throw nanobind::python_error();
  }
  module.doc() = "The compiled part of sheaf.";
  module.def(
      "version", [] { return SHEAF_VERSION; }, "The version of the library.");
  module.def(
      "compiler", [] { return std::string(kCompiler); }, "Who compiled this.");
  module.def(
      "lacks", [] { return std::string(SHEAF_LACKS); },
      "The libraries that the build did not find, without which there is no cpu backend.");
  module.def("refusal_text", sheaf::python::refusal_text, "what"_a, "detail"_a, "next"_a,
             "The lines of a refusal.");
  sheaf::python::load_errors();
  sheaf::python::bind_bag_gradients(module);
  sheaf::python::bind_plans(module);
  sheaf::python::bind_functions(module);
  sheaf::python::bind_gpu(module);
  sheaf::python::bind_jax(module);
  sheaf::python::bind_files(module);
  sheaf::python::bind_tables(module);
  sheaf::python::bind_moe(module);
  sheaf::python::bind_moves(module);
  sheaf::python::bind_sharded(module);
  sheaf::python::bind_sums(module);
  sheaf::python::bind_torch(module);
  sheaf::python::bind_encoded(module);
  sheaf::python::bind_bags(module);
  sheaf::python::bind_pictures(module);
  sheaf::python::bind_vulkan(module);
}
