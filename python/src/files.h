// SPDX-License-Identifier: MIT
//
// How the other functions notice a table in a file.
#pragma once

#include <nanobind/nanobind.h>

#include "options.h"

namespace sheaf::python {

// Is this a sheaf.Table? One comparison: every call asks.
bool is_table(nb::handle object);

// The gather of a table: rows are fetched from its file.
nb::object gather_from_table(Op op, nb::handle table, nb::handle indices,
                             const GatherKeywords& keywords, nb::handle out);

}  // namespace sheaf::python
