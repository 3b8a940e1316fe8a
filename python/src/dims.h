// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include "sheaf/fixed.h"

namespace sheaf::python {

inline nanobind::tuple tuple_of(const Dims& dims) {
  nanobind::list list;
  for (const int64_t dim : dims) {
    list.append(dim);
  }
  return nanobind::tuple(list);
}

}  // namespace sheaf::python
